package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A check finds each difference between a record and its stack, says what to do, and shows no value of an output. A stack that was rolled back is as
// recorded, and one that was adopted need not have the tag before its first update.
func TestCompared(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		change func(*plan.Record, *plan.Live)
		kinds  string
		says   string
	}{
		{func(*plan.Record, *plan.Live) {}, "", ""},
		{func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_ROLLBACK_COMPLETE" }, "", ""},
		{func(r *plan.Record, l *plan.Live) { r.Adopted, l.Project = "id", "" }, "", ""},
		{func(r *plan.Record, l *plan.Live) { r.Adopted, l.Project = "id", "other@prod" }, "project", `names "other@prod" instead of shop@prod`},
		{func(_ *plan.Record, l *plan.Live) { *l = plan.Live{} }, "missing", "it does not exist any more: refresh forgets it"},
		{func(_ *plan.Record, l *plan.Live) { l.Status = "DELETE_COMPLETE" }, "missing", ""},
		{func(_ *plan.Record, l *plan.Live) { l.StackID = "new" }, "other", "another stack has its name now"},
		{func(_ *plan.Record, l *plan.Live) { l.Project = "" }, "project", `names "" instead`},
		{func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_FAILED" }, "status", "it is UPDATE_FAILED: read its events"},
		{func(_ *plan.Record, l *plan.Live) { l.LastUpdated = at.Add(time.Hour) }, "updated", "outside Stackwright at 2026-03-01T13:00:00Z"},
		{func(r *plan.Record, _ *plan.Live) { r.Digest = "" }, "unproved", "it is not known what was last deployed"},
		{func(_ *plan.Record, l *plan.Live) { l.Outputs = map[string]string{"B": "secret", "C": "c"} }, "output output output", "other outputs than recorded: A, B, C: refresh"},
		{func(r *plan.Record, _ *plan.Live) { r.Settings = nil }, "", ""},
		{func(r *plan.Record, l *plan.Live) {
			r.Settings, l.Protected, l.Tags = nil, true, map[string]string{"other": "secret"}
		}, "", ""}, // an old record
		{func(_ *plan.Record, l *plan.Live) { l.Protected = true }, "protection", "its termination protection is on instead of off: the next deploy turns it off"},
		{func(_ *plan.Record, l *plan.Live) { l.Tags = map[string]string{"team": "secret", "aws:x": "y"} }, "tag", "other tags than recorded: team: the next deploy"},
		{func(_ *plan.Record, l *plan.Live) { l.Tags = map[string]string{"new": "secret"} }, "tag tag", "other tags than recorded: new, team: the next"},
		{func(_ *plan.Record, l *plan.Live) {
			l.Status, l.LastUpdated, l.Outputs = "UPDATE_FAILED", at.Add(time.Hour), map[string]string{"A": "secret", "B": "b"}
		}, "status updated output", "; other outputs than recorded: A: "},
	} {
		r := plan.Record{Node: "vpc", Stack: "shop-vpc", StackID: "id", Digest: "d", LastUpdated: at, Outputs: map[string]string{"A": "a", "B": "b"}, Settings: plan.NewSettings(plan.Live{Tags: map[string]string{"team": "a"}}, nil)}
		l := plan.Live{StackID: "id", Status: "UPDATE_COMPLETE", LastUpdated: at, Project: "shop@prod", Tags: map[string]string{"team": "a", "aws:cdk": "x"}, Outputs: map[string]string{"A": "a", "B": "b"}}
		c.change(&r, &l)
		var kinds []string
		found := r.Compared("shop@prod", l, "", project.StackPolicy{})
		for _, f := range found {
			kinds = append(kinds, f.Kind)
		}
		says := plan.SayCompared(found)
		if strings.Join(kinds, " ") != c.kinds || !strings.Contains(says, c.says) || strings.Contains(says+fmt.Sprint(found), "secret") {
			t.Errorf("%q, want %q: %s, want %s", kinds, c.kinds, says, c.says)
		}
	}
}

// A stack policy is compared with the one that the project has given to the stack last. One that allows every update is none. What an adopted stack
// had before is not known.
func TestComparedPolicy(t *testing.T) {
	deny, allow := project.NewStackPolicy("{deny}"), project.NewStackPolicy(project.AllowAll)
	for _, c := range []struct {
		recorded string
		adopted  bool
		live     project.StackPolicy
		says     string
	}{
		{"", false, project.StackPolicy{}, ""},
		{"", false, allow, ""},
		{allow.Digest, false, project.StackPolicy{}, ""},
		{deny.Digest, false, deny, ""},
		{"", true, deny, ""},
		{"", false, deny, "it has a stack policy that the project has not given it"},
		{deny.Digest, false, allow, "its stack policy was changed outside Stackwright: refresh records that"},
		{deny.Digest, true, project.StackPolicy{}, "its stack policy was changed outside Stackwright"},
	} {
		r := plan.Record{Node: "vpc", Stack: "shop-vpc", StackID: "id", Digest: "d", Policy: c.recorded}
		if c.adopted {
			r.Adopted = "id"
		}
		found := r.Compared("shop@prod", plan.Live{StackID: "id", Status: "UPDATE_COMPLETE", Project: "shop@prod"}, "", c.live)
		if says := plan.SayCompared(found); (says == "") != (c.says == "") || !strings.Contains(says, c.says) || len(found) > 0 && found[0].Expected == found[0].Actual {
			t.Errorf("recorded %q, live %q, adopted %t: %s, %+v, want %s", c.recorded, c.live.Body, c.adopted, says, found, c.says)
		}
	}
}
