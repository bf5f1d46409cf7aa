package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/project"
)

// A scarceBudget has room for one start at a time, and for every poll.
type scarceBudget struct{ engine.Budgets }

func (scarceBudget) Take(_ context.Context, _, _ string, asks []budget.Demand, _ time.Time) (int, time.Time, error) {
	if len(asks) > 0 && asks[0].Writes > 0 {
		return 1, time.Time{}, nil
	}
	return len(asks), time.Time{}, nil
}

// If the budget has room for one step, the first one of the critical path starts.
func TestScarceBudgetIsForCriticalPath(t *testing.T) {
	h := newFixture(t)
	h.Budgets = scarceBudget{h.Budgets}
	h.setVersion("v1", "a b c<b d e<d f<e g<f")
	for name, n := range h.projects["v1"].Nodes {
		n.Target = project.Target{Name: "default", Account: "111122223333", Region: "eu-west-1"}
		h.projects["v1"].Nodes[name] = n
	}
	h.requestAndExecute("r", "deploy", "v1")
	var got []string
	for _, q := range h.backend.Cloud.Requests {
		got = append(got, q.What)
	}
	if want := []string{"shop-d/create", "shop-b/create"}; len(got) != 7 || !slices.Equal(got[:2], want) {
		t.Errorf("the requests are %v, want %v first", got, want)
	}
}
