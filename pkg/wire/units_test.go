package wire

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// An installation whose setting organization was taken away says how to get it back, and what goes on meanwhile. A partial request goes on without the unit.
func TestWithoutOrganization(t *testing.T) {
	f := &unit.Follower{Organization: (&App{}).organization(), Registered: func(context.Context) (map[string]project.Access, error) {
		return map[string]project.Access{"org": {Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-abcd-12345678"}}, nil
	}}
	is := func(err error) {
		t.Helper()
		for _, says := range []string{"its setting organization is missing: set it (make deploy SETTINGS=", "stacks elsewhere are deployed with --only", "stackwright forget deletes the records"} {
			if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want an error of kind Denied with %q", err, says)
			}
		}
	}
	_, err := f.Members(t.Context(), false, []string{"org"})
	is(err)
	all, err := f.Members(t.Context(), true, []string{"org"})
	if is(all.Lost["org"]); err != nil || len(all.Units["org"]) > 0 {
		t.Errorf("a partial request: %+v (%v)", all, err)
	}
	at := project.Target{Name: "org-111111111111", Account: "111111111111", Region: "eu-west-1"}
	left, err := f.Unreachable(t.Context(), []project.Target{at})
	if is(left.Unknown[at]); err != nil {
		t.Error(err)
	}
}
