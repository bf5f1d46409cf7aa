package sim

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// The budgets in memory satisfy the contract of budgets.
func TestBudgets(t *testing.T) {
	contract.Budgets(t, func(_ *testing.T, l budget.Limits) engine.Budgets { return NewBudgets(l) })
}
