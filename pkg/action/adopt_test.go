package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// An adoption records what the plan has seen, if the stack is still so. If somebody has changed
// it since, nobody knows what is deployed; if somebody has taken it, it is not recorded.
func TestAdopt(t *testing.T) {
	const other, gone = "web@prod", plan.Status("DELETE_COMPLETE")
	seen := plan.Adoption{StackID: "id", LastUpdated: epoch, Project: other, Template: "deployed"}
	for name, c := range map[string]struct {
		digest string // of what is deployed, if that is what is desired
		change func(*plan.Live)
		fails  fault.Kind // empty: the stack is adopted
		want   plan.Record
		says   string
	}{
		"as desired":       {"v2", func(*plan.Live) {}, "", plan.Record{Digest: "v2", Template: "deployed", LastUpdated: epoch}, "it is as the project says"},
		"different":        {"", func(*plan.Live) {}, "", plan.Record{Template: "deployed", LastUpdated: epoch}, "it differs from the project"},
		"changed":          {"v2", func(l *plan.Live) { l.LastUpdated = epoch.Add(time.Second) }, "", plan.Record{}, "it was changed after the plan was made"},
		"its tag is gone":  {"v2", func(l *plan.Live) { l.Project = "" }, "", plan.Record{Digest: "v2", Template: "deployed", LastUpdated: epoch}, "it is as the project says"},
		"it has our tag":   {"v2", func(l *plan.Live) { l.Project = "shop@prod" }, "", plan.Record{Digest: "v2", Template: "deployed", LastUpdated: epoch}, "it is as the project says"},
		"taken by another": {"v2", func(l *plan.Live) { l.Project = "lab@prod" }, fault.Taken, plan.Record{}, "project lab@prod has taken stack shop-vpc after the plan was made"},
		"busy":             {"v2", func(l *plan.Live) { l.Status = "UPDATE_IN_PROGRESS" }, fault.Busy, plan.Record{}, "stack shop-vpc is UPDATE_IN_PROGRESS: wait"},
		"deleted":          {"v2", func(l *plan.Live) { l.Status = gone }, fault.Missing, plan.Record{}, "stack shop-vpc was deleted after the plan was made"},
	} {
		live := plan.Live{StackID: "id", Status: "CREATE_COMPLETE", LastUpdated: epoch, Project: other, Outputs: map[string]string{"Id": "1"}, Protected: true, Tags: map[string]string{"team": "a"}}
		c.change(&live)
		at := task(plan.Adopt)
		at.Record = plan.Record{}
		seen.Digest = c.digest
		var err error
		if at.Step.Arguments, err = plan.NewArguments(plan.AdoptionVersion, seen); err != nil {
			t.Fatal(err)
		}
		p, err := action.Named(action.All(&cloud{live: map[string]plan.Live{"id": live}}, nil, nil, nil, nil)...).Of(plan.Adopt).Action.Poll(t.Context(), at)
		if err != nil || !p.Over {
			t.Fatalf("%s: %+v %v", name, p, err)
		}
		if c.fails != "" {
			if !fault.Is(p.Err, c.fails) || !strings.HasPrefix(p.Err.Error(), c.says) || p.Record != nil || p.Adopts != "" {
				t.Errorf("%s: %v, record %+v, adopts %q", name, p.Err, p.Record, p.Adopts)
			}
			continue
		}
		c.want.Node, c.want.Stack, c.want.Target, c.want.StackID, c.want.Adopted = "vpc", "shop-vpc", eu, "id", "id"
		c.want.Needs, c.want.Outputs, c.want.Run = []string{"net"}, live.Outputs, "r"
		c.want.Settings = plan.NewSettings(live, nil)
		if diff := cmp.Diff(&c.want, p.Record); diff != "" || p.Err != nil || p.Adopts != "id" || !strings.HasPrefix(p.Why, c.says) {
			t.Errorf("%s: %v %q adopts %q\n%s", name, p.Err, p.Why, p.Adopts, diff)
		}
	}
}
