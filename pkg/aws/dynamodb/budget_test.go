package dynamodb

import (
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// The budgets in a table satisfy the contract of engine.Budgets.
func TestBudgets(t *testing.T) {
	contract.Budgets(t, func(t *testing.T, l budget.Limits) engine.Budgets { return open(t, &wire{}).Budgets(l) })
}

// A run that shares a budget takes nothing if another has taken since it read the budget.
func TestSharedBudgetIsReadAgain(t *testing.T) {
	const here = "111122223333#eu-west-1"
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	b := open(t, &wire{}).Budgets(budget.CloudFormation())
	take := func(run string, n int) {
		t.Helper()
		if granted, _, err := b.Take(t.Context(), here, run, slices.Repeat([]budget.Demand{{Reads: 1, Writes: 1}}, n), now); err != nil || granted != n {
			t.Fatalf("run %s gets %d: %v; want %d", run, granted, err, n)
		}
	}
	take("a", 1)
	take("b", 1)
	was, err := b.read(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	take("b", 2)
	for _, reread := range []bool{false, true} {
		if reread {
			if was, err = b.read(t.Context(), here); err != nil {
				t.Fatal(err)
			}
		}
		_, _, done, err := b.takeOf(t.Context(), here, was, "a", []budget.Demand{{Reads: 1, Writes: 1}}, now)
		if err != nil || done != reread {
			t.Errorf("the budget was read again: %t; taken: %t, %v", reread, done, err)
		}
	}
}
