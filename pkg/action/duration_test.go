package action_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A step is expected to take as long as before, else as long as the other verbs on its
// stack suggest, else as long as the resources of its template suggest.
func TestExpected(t *testing.T) {
	database := project.Node{Template: project.Template{Creation: 8 * time.Minute}}
	created := plan.Record{Durations: plan.Durations{plan.Create: 300}}
	updated := plan.Record{Durations: plan.Durations{plan.Create: 300, plan.Update: 20}}
	slowUpdate := plan.Record{Durations: plan.Durations{plan.Create: 300, plan.Update: 400}}
	verbs := action.Named(action.All(nil, nil, nil, nil, nil)...)
	for _, c := range []struct {
		verb   plan.Verb
		node   project.Node
		record plan.Record
		want   plan.Seconds
	}{
		{plan.Create, database, plan.Record{}, 480},
		{plan.Update, database, plan.Record{}, 240},
		{plan.Update, database, created, 150},
		{plan.Update, database, updated, 20},
		{plan.Delete, project.Node{}, updated, 150},
		{plan.Delete, project.Node{}, slowUpdate, 400},
		{plan.Delete, project.Node{}, plan.Record{}, 30},
		{plan.Create, project.Node{}, plan.Record{}, 60},
		{plan.Create, database, created, 300},
		{plan.Read, database, created, 2},
		{plan.Forget, database, created, 0},
		{plan.Barrier, project.Node{}, plan.Record{}, 0},
		{"unheard of", database, created, 0},
	} {
		if got := verbs.Expected(plan.Step{Verb: c.verb}, c.node, c.record); got != c.want {
			t.Errorf("%s after %v: %d, want %d", c.verb, c.record.Durations, got, c.want)
		}
	}
}
