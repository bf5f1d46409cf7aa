package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// noBudgetWhy is the reason of a step that could start, but waits for its budget.
const noBudgetWhy = "the budget of CloudFormation requests in this account and region is used up: the step waits for its share"

// inPage is how many stacks CloudFormation describes in one answer, about.
const inPage = 100

// startCost is the requests that the start of a step makes.
func (e *Engine) startCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	cost := budget.Demand{Reads: v.StartReads}
	if v.Mutates() {
		cost.Writes = 1
	}
	return cost
}

// pollCost is the requests that the poll of a running step makes. A poll that finds
// the operation finished reads the stack again. Nobody knows that before, so both reads
// are taken: CloudFormation would throttle a read that no budget has counted. Without an event, the poll is idle: probably there is nothing
// to see.
func (e *Engine) pollCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	if !v.WokenByEvents || s.Receipt.Unchanged {
		return budget.Demand{Reads: v.PollReads}
	}
	return budget.Demand{Reads: v.PollReads + 1, Idle: s.Event.Status == ""}
}

// A share is the demand of a step, and the account and region whose budget it needs.
type share struct {
	where string
	ask   budget.Demand
}

// grants returns which shares are granted: in each account and region the first ones,
// as many as take grants. A share that costs nothing is granted. If a budget cannot be
// read, all its shares are granted: a budget only avoids throttling, which fails no
// step.
func (e *Engine) grants(shares []share, take func(where string, asks []budget.Demand) (int, error)) []bool {
	granted := make([]bool, len(shares))
	by := make(map[string][]int)
	for i, s := range shares {
		if granted[i] = s.where == "" || s.ask.Free(); !granted[i] {
			by[s.where] = append(by[s.where], i)
		}
	}
	for _, where := range slices.Sorted(maps.Keys(by)) {
		asks := make([]budget.Demand, len(by[where]))
		for k, i := range by[where] {
			asks[k] = shares[i].ask
		}
		n, err := take(where, asks)
		if err != nil {
			n = len(asks)
		}
		for _, i := range by[where][:n] {
			granted[i] = true
		}
	}
	return granted
}

// ready lists the steps that may start now and for which the budgets have room, at
// most as many as one LoopState holds. It takes nothing: each step takes its share
// when it starts. The others stay pending, and are ready at a later poll.
func (e *Engine) ready(ctx context.Context, r run.Run, now time.Time) []int {
	numbers := r.Ready(now, len(r.Steps))
	shares := make([]share, len(numbers))
	for i, n := range numbers {
		shares[i] = share{r.Steps[n].Where, e.startCost(r.Steps[n])}
	}
	granted := e.grants(shares, func(where string, asks []budget.Demand) (int, error) {
		n, _, err := e.Budgets.Room(ctx, where, asks[:min(len(asks), maxReady)], now)
		return n, err
	})
	ready := []int{}
	for i, n := range numbers {
		if granted[i] && len(ready) < maxReady {
			ready = append(ready, n)
		}
	}
	return ready
}

// takeStartBudget takes the share that the start of a step needs. If there is no room, it
// returns when there will be.
func (e *Engine) takeStartBudget(ctx context.Context, s run.Step) (next time.Time, ok bool) {
	granted := e.grants([]share{{s.Where, e.startCost(s)}}, func(where string, asks []budget.Demand) (n int, err error) {
		n, next, err = e.Budgets.Take(ctx, where, asks, e.Now())
		return n, err
	})
	return next, granted[0]
}

// affordablePolls takes the shares for polls of the steps that are due, and returns the
// steps that may be polled: first those with an event, then those that have been due
// for longest. The others stay due.
func (e *Engine) affordablePolls(ctx context.Context, due []*run.Step) []*run.Step {
	slices.SortStableFunc(due, func(a, b *run.Step) int {
		return cmp.Or(cmp.Compare(e.pollOrder(a), e.pollOrder(b)), a.DueAt().Compare(b.DueAt()))
	})
	shares := make([]share, len(due))
	for i, s := range due {
		shares[i] = share{s.Where, e.pollCost(*s)}
	}
	granted := e.grants(shares, func(where string, asks []budget.Demand) (int, error) {
		n, _, err := e.Budgets.Take(ctx, where, asks, e.Now())
		return n, err
	})
	var may []*run.Step
	for i, s := range due {
		if granted[i] {
			may = append(may, s)
		}
	}
	return may
}

// pollOrder is 1 for a step that is polled after the others.
func (e *Engine) pollOrder(s *run.Step) int {
	if e.pollCost(*s).Idle {
		return 1
	}
	return 0
}

// observe reads the stacks of many locations. It takes the estimated cost from the
// budgets, so that other functions make fewer requests meanwhile. It does not wait for
// the budgets, because a plan needs all stacks.
func (e *Engine) observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	stacks := make(map[string]int) // by account and region
	for _, p := range places {
		if where := p.Target.Where(); where != "" {
			stacks[where]++
		}
	}
	for _, where := range slices.Sorted(maps.Keys(stacks)) {
		pages := slices.Repeat([]budget.Demand{{Reads: 1}}, 1+stacks[where]/inPage)
		_, _, _ = e.Budgets.Take(ctx, where, pages, e.Now()) // even if this fails: a budget does not delay a plan
	}
	live, err := e.Clouds.Observe(ctx, places)
	if len(stacks) == 1 { // of several, it is unknown which was throttled
		e.reportThrottled(ctx, places[0].Target.Where(), budget.Read, err)
	}
	return live, err
}

// reportThrottled lowers the rate of the budget if err says that CloudFormation
// throttled a request. Another service that throttles, such as STS or S3, says nothing
// about CloudFormation. If the budget cannot be written, the next throttled request
// lowers it.
func (e *Engine) reportThrottled(ctx context.Context, where string, k budget.Kind, err error) {
	if where != "" && action.IsRateExceeded(err) {
		_ = e.Budgets.Throttled(ctx, where, k, e.Now())
	}
}
