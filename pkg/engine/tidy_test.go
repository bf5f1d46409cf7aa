package engine_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Where the deletion of a change set is throttled, or the budget has no room, the next poll continues. What is deleted before that is not
// deleted again, and a refused deletion is not tried again. The run ends when all is done, and says what is left.
func TestTidyContinues(t *testing.T) {
	for name, c := range map[string]struct {
		grants    int
		throttled string   // the stack whose first deletion is throttled
		want      []string // the deletions of each poll
		notified  int      // how often the budget is notified of a throttled request
	}{
		"throttled":      {40, "c", []string{"a b c d", "c d"}, 1},
		"without budget": {2, "", []string{"a b", "c d"}, 0},
	} {
		h := newFixture(t)
		p := &testBudget{grants: c.grants}
		h.Budgets = p
		for _, version := range []string{"v1", "v2"} {
			h.setVersion(version, "a b c d")
			h.setTargets(version)
		}
		if r := h.requestAndExecute("r", "deploy", "v1"); r.State != run.StateSucceeded {
			t.Fatal(r.State)
		}
		tidied := h.watchTidy(c.throttled)
		h.must(h.Start(h.Context(), run.Request{ID: "p", Project: shop, Operation: "plan", Source: run.Source{Version: "v2"}, Options: run.Options{Exact: true}, Who: "ann"}))
		r := h.executeToEnd(h.planned("p", 1))
		if got := tidied(); !slices.Equal(got, c.want) || len(p.throttled) != c.notified {
			t.Errorf("%s: deleted %q, want %q; the budget was notified of %v", name, got, c.want, p.throttled)
		}
		if says := strings.Join(r.Messages, "; "); r.State != run.StateSucceeded || says != "a/propose has left a change set behind, delete it: nobody may" {
			t.Errorf("%s: the run is %s and says %s", name, r.State, says)
		}
	}
}

// watchTidy returns the stacks whose change sets are deleted, those of each time together. It refuses the first one, and throttles that of
// one stack once.
func (h *fixture) watchTidy(throttled string) func() []string {
	var mu sync.Mutex
	at := make(map[time.Time][]string)
	verb := h.Verbs.Of(plan.Propose)
	verb.Tidy = func(_ context.Context, t action.Task) error {
		mu.Lock()
		defer mu.Unlock()
		at[t.Now] = append(at[t.Now], t.Step.Node)
		switch {
		case t.Step.Node == "a":
			return fault.New(fault.Denied, "nobody may")
		case t.Step.Node == throttled && len(at) == 1:
			return action.RateExceeded(errors.New("rate exceeded"))
		}
		return nil
	}
	h.Verbs[plan.Propose] = verb
	return func() []string {
		var all []string
		for _, when := range slices.SortedFunc(maps.Keys(at), time.Time.Compare) {
			slices.Sort(at[when])
			all = append(all, strings.Join(at[when], " "))
		}
		return all
	}
}
