package dynamodb

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// The budgets in a table satisfy the contract of engine.Budgets.
func TestBudgets(t *testing.T) {
	contract.Budgets(t, func(t *testing.T, l budget.Limits) engine.Budgets { return open(t, &wire{}).Budgets(l) })
}
