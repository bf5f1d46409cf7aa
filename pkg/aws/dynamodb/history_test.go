package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// The history of a stack has each step that was started and has ended, once, until it expires. It has no steps of other stacks, none
// that only read, and none that were skipped before they were started.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{page: 2}
		table := open(t, w)
		p := plan.Plan{Steps: []plan.Step{
			{ID: "a/create", Node: "a", Verb: plan.Create}, {ID: "a/b/create", Node: "a/b", Verb: plan.Create},
			{ID: "r/read", Node: "r", Verb: plan.Read}, {ID: "s/create", Node: "s", Verb: plan.Create},
		}}
		var runs []run.Run
		for i := range 5 {
			r, _, err := table.CreateRun(t.Context(), run.Run{
				Request: run.Request{ID: fmt.Sprintf("r%d", i), Project: "shop@prod", Operation: "deploy"}, Version: run.Version, Command: run.Continue, State: run.StatePending, Requested: time.Now(),
			})
			must(t, err)
			r.Start(p, nil)
			must(t, table.Commit(t.Context(), r))
			r, err = table.Load(t.Context(), r.ID)
			must(t, err)
			runs = append(runs, r)
			for n, s := range r.Steps {
				was := run.Pending
				if s.Node != "s" {
					s.Status, s.Attempt, s.Nonce = run.Running, 1, "claim"
					must(t, table.Move(t.Context(), engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was, Step: s}))
					was = run.Running
				}
				end := engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was, Attempt: s.Attempt, Step: s}
				end.Step.Status, end.Step.Nonce, end.Step.Ended = run.Done, fmt.Sprint("end", n), time.Now()
				must(t, table.Move(t.Context(), end))
				must(t, table.Move(t.Context(), end)) // a repeated call
			}
		}
		all := func(node string, most int) string {
			var ids []string
			for before, first := "", true; first || before != ""; first = false {
				page, next, err := table.History(t.Context(), "shop@prod", node, before, most)
				must(t, err)
				if len(page) > most {
					t.Errorf("a page has %d steps, of at most %d", len(page), most)
				}
				for _, s := range page {
					ids = append(ids, s.Run.ID+" "+s.Step.ID)
				}
				before = next
			}
			return strings.Join(ids, ", ")
		}
		for _, most := range []int{1, 2, 5, 100} {
			if got := all("a", most); got != "r4 a/create, r3 a/create, r2 a/create, r1 a/create, r0 a/create" {
				t.Errorf("pages of %d: %s", most, got)
			}
		}
		if got := all("r", 9) + all("s", 9) + all("other", 9); got != "" {
			t.Errorf("steps that changed nothing: %s", got)
		}
		r := runs[0]
		r.State, r.Ended = run.StateSucceeded, time.Now()
		must(t, table.End(t.Context(), r, run.Exit{From: runs[0].State, Unchanged: true}))
		time.Sleep(retention)
		if got := all("a", 2); got != "r4 a/create, r3 a/create, r2 a/create, r1 a/create" {
			t.Errorf("after a run has expired: %s", got)
		}
	})
}
