package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// A plan says of a stack that a move has changed, and that was not updated since, what the run has moved, and compares
// the template that the move has left. It says what it knows from the records alone if that is another template.
func TestPlanAfterAMove(t *testing.T) {
	const (
		gives   = "run r has moved Orders to data, and the update that follows has not succeeded yet"
		takes   = "run r has moved Table here from app, and the update that follows has not succeeded yet"
		outside = "changed outside Stackwright since it was last deployed"
	)
	after := epoch.Add(time.Minute)
	for name, c := range map[string]struct {
		change func(stacks)
		want   map[string][]string // the reasons of each stack
		lost   []string            // the stacks that lose data, or may
	}{
		"the run has ended": {want: map[string][]string{"app": {gives, "changed here: template"}, "data": {takes, "changed here: template"}}},
		"before it has recorded the move": {change: func(s stacks) {
			r := s.Recorded["data"]
			r.Moved, r.Intent, r.LastUpdated = nil, true, epoch
			s.Recorded["data"] = r
		}, want: map[string][]string{"app": {gives, "changed here: template"}, "data": {takes, "changed here: template"}}},
		"another run has failed before": {change: func(s stacks) {
			r := s.Recorded["data"]
			r.Moved, r.Intent, r.LastUpdated, r.Run = nil, true, epoch, "other"
			s.Recorded["data"] = r
		}, want: map[string][]string{"app": {gives, "changed here: template"}, "data": {"never finished: its last operation failed or was interrupted", outside}}, lost: []string{"data"}},
		"the user has changed it since": {change: func(s stacks) {
			for name, l := range s.Live {
				l.LastUpdated = after.Add(time.Hour)
				s.Live[name] = l
			}
		}, want: map[string][]string{"app": {gives, outside, "changed here: template"}, "data": {takes, outside, "changed here: template"}}},
		"the user has deployed another template": {change: func(s stacks) {
			for name, f := range s.Found {
				f.Deployed = "other"
				s.Found[name] = f
			}
			s.Deployed["data"] = plan.Deployed{Digest: "moved data"} // that of app cannot be read
		}, want: map[string][]string{"app": {"never finished: its last operation failed or was interrupted", outside}, "data": {"never finished: its last operation failed or was interrupted", "changed here: template"}}, lost: []string{"app"}},
		"the update has failed": {change: func(s stacks) {
			r, l := s.Recorded["app"], s.Live["app"]
			l.Status, l.LastUpdated = "UPDATE_ROLLBACK_COMPLETE", after.Add(time.Hour)
			r.LastUpdated = l.LastUpdated
			s.Recorded["app"], s.Live["app"] = r, l
		}, want: map[string][]string{"app": {gives, "changed here: template"}, "data": {takes, "changed here: template"}}},
		"the stack leaves the project": {change: func(s stacks) { delete(s.Desired.Nodes, "app") },
			want: map[string][]string{"app": {"no longer in the project"}, "data": {takes, "changed here: template"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStacks()
			s.Found, s.Deployed = make(map[string]plan.Found), make(map[string]plan.Deployed)
			m := plan.Movement{
				Source:    plan.MovedStack{Node: "app", StackID: "id-app", Template: "moved app", LastUpdated: after},
				Target:    plan.MovedStack{Node: "data", StackID: "id-data", Template: "moved data", LastUpdated: after},
				Resources: []plan.MovedResource{{From: "Orders", To: "Table", Type: "AWS::DynamoDB::Table"}},
			}
			table := strings.Replace(orders, "Orders", "Table", 1)
			for name, text := range map[string][3]string{"app": {stay + orders, stay, stay + jobs}, "data": {stay, stay + table, stay + table + jobs}} {
				s.node(name, text[2])
				s.live(name, text[0], nil, nil)
				s.templates["old of "+name] = text[0]
				r, l := s.Recorded[name], s.Live[name]
				l.LastUpdated, m.Leaving = after, name == "app"
				r.Digest, r.Run, r.Token, r.Moved = "", "r", "t", &plan.RecordedMove{Run: "r", Movement: m}
				if !m.Leaving {
					r.LastUpdated, r.Template = after, "moved data"
					s.templates["moved data"] = text[1]
				}
				s.Recorded[name], s.Live[name] = r, l
				s.Found[name] = plan.Found{Template: parsed(t, text[1]), Deployed: "moved " + name}
			}
			if c.change != nil {
				c.change(s)
			}
			var lost []string
			for _, got := range s.describe(t).Stacks {
				if !slices.Equal(got.Reasons, c.want[got.Stack]) {
					t.Errorf("%s: %q, not %q", got.Stack, got.Reasons, c.want[got.Stack])
				}
				if got.DataLoss || got.PossibleDataLoss || got.UnknownDataLoss {
					lost = append(lost, got.Stack)
				}
			}
			if !slices.Equal(lost, c.lost) {
				t.Errorf("%q lose data, not %q", lost, c.lost)
			}
		})
	}
}
