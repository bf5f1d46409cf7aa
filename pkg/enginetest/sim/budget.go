package sim

import (
	"context"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

var _ engine.Budgets = (*Budgets)(nil)

// Budgets are engine.Budgets in memory. Use NewBudgets.
type Budgets struct {
	limits budget.Limits

	mu      sync.Mutex
	budgets map[string]budget.Budget // by account and region
}

// NewBudgets returns unused budgets.
func NewBudgets(l budget.Limits) *Budgets {
	return &Budgets{limits: l, budgets: make(map[string]budget.Budget)}
}

// Take implements engine.Budgets.
func (b *Budgets) Take(_ context.Context, where, run string, demands []budget.Demand, now time.Time) (int, time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	after, granted, next := b.limits.Take(b.budgets[where], run, demands, now)
	b.budgets[where] = after
	return granted, next, nil
}

// Throttled implements engine.Budgets.
func (b *Budgets) Throttled(_ context.Context, where string, k budget.Kind, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.budgets[where], _ = b.limits.Throttled(b.budgets[where], k, now)
	return nil
}

// A Grant is what a budget has granted to a run: the first of its demands.
type Grant struct {
	Where   string
	Run     string
	Demands []budget.Demand
	Granted int
}

// crashingBudgets are the budgets that functions use: each call takes time, and may
// fail or crash the function.
type crashingBudgets struct {
	backend *Backend
	budgets engine.Budgets
}

// Take implements engine.Budgets.
func (m crashingBudgets) Take(ctx context.Context, where, run string, demands []budget.Demand, now time.Time) (n int, next time.Time, err error) {
	err = m.backend.do(ctx, "Budgets.Take", where, func() error {
		n, next, err = m.budgets.Take(ctx, where, run, demands, now)
		if m.backend.Granted != nil {
			m.backend.Granted(Grant{where, run, demands, n})
		}
		return err
	})
	return n, next, err
}

// Throttled implements engine.Budgets.
func (m crashingBudgets) Throttled(ctx context.Context, where string, k budget.Kind, now time.Time) error {
	return m.backend.do(ctx, "Budgets.Throttled", where, func() error {
		if m.backend.Lowered != nil {
			m.backend.Lowered(where)
		}
		return m.budgets.Throttled(ctx, where, k, now)
	})
}
