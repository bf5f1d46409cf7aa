package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// crowdedWhy is why a step that could start has not.
const crowdedWhy = "CloudFormation is being asked as much as it allows: this waits for its turn"

// inPage is how many stacks CloudFormation describes in one answer, about.
const inPage = 100

// startCost is the requests that the start of a step makes.
func (e *Engine) startCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	cost := budget.Demand{Reads: v.StartReads}
	if v.Mutates {
		cost.Reads, cost.Writes = cost.Reads+len(s.Users), 1
	}
	return cost
}

// pollCost is the requests that the poll of a running step makes. One that finds
// the operation over reads the stack again. Without an event, the poll is idle:
// probably there is nothing to see.
func (e *Engine) pollCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	switch {
	case !v.WokenByEvents, s.Receipt.Unchanged:
		return budget.Demand{Reads: v.PollReads}
	case s.Event.Status == "":
		return budget.Demand{Reads: v.PollReads, Idle: true}
	}
	return budget.Demand{Reads: v.PollReads + 1}
}

// sharing is how a step is counted: what it takes, and of whom.
type sharing struct {
	where string
	ask   budget.Demand
}

// grants says which of the shares are granted, of each place as many as take
// grants there, in their order. What asks for nothing is granted. So is all of a
// place of which nothing can be learnt: a budget only spares us refusals, which
// fail nothing, and if DynamoDB itself is in trouble the claim will find out.
func (e *Engine) grants(shares []sharing, take func(where string, asks []budget.Demand) (int, error)) []bool {
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

// ready lists the steps that may start now and for which there is room, at most
// as many as one Loop state holds. Nothing is taken: each takes for itself when it
// starts. The others stay pending, and are ready at a later poll.
func (e *Engine) ready(ctx context.Context, r run.Run, now time.Time) []int {
	numbers := r.Ready(now, len(r.Steps))
	shares := make([]sharing, len(numbers))
	for i, n := range numbers {
		shares[i] = sharing{r.Steps[n].Where, e.startCost(r.Steps[n])}
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

// affords takes what it takes to start a step. If there is no room, it returns
// when there is.
func (e *Engine) affords(ctx context.Context, s run.Step) (next time.Time, ok bool) {
	granted := e.grants([]sharing{{s.Where, e.startCost(s)}}, func(where string, asks []budget.Demand) (n int, err error) {
		n, next, err = e.Budgets.Take(ctx, where, asks, e.Now())
		return n, err
	})
	return next, granted[0]
}

// granted takes what it takes to read the steps that are due, and returns those
// that may be read: first those of which an event has reported, then those that
// have been due for longest. The others stay due.
func (e *Engine) granted(ctx context.Context, due []*run.Step) []*run.Step {
	slices.SortStableFunc(due, func(a, b *run.Step) int {
		return cmp.Or(cmp.Compare(e.last(a), e.last(b)), a.DueAt().Compare(b.DueAt()))
	})
	shares := make([]sharing, len(due))
	for i, s := range due {
		shares[i] = sharing{s.Where, e.pollCost(*s)}
	}
	granted := e.grants(shares, e.take(ctx))
	var may []*run.Step
	for i, s := range due {
		if granted[i] {
			may = append(may, s)
		}
	}
	return may
}

// take takes from budgets, for grants.
func (e *Engine) take(ctx context.Context) func(string, []budget.Demand) (int, error) {
	return func(where string, asks []budget.Demand) (int, error) {
		n, _, err := e.Budgets.Take(ctx, where, asks, e.Now())
		return n, err
	}
}

// found takes what it took more to read steps of which nobody had reported, and
// which were over.
func (e *Engine) found(ctx context.Context, polled []*run.Step) {
	var shares []sharing
	for _, s := range polled {
		if s.Status != run.Running && e.pollCost(*s).Idle {
			shares = append(shares, sharing{s.Where, budget.Demand{Reads: 1}})
		}
	}
	e.grants(shares, e.take(ctx))
}

// last is 1 for a step that others go before.
func (e *Engine) last(s *run.Step) int {
	if e.pollCost(*s).Idle {
		return 1
	}
	return 0
}

// observe reads the stacks of many places. It takes what that costs, about,
// so that others know of it; but it does so in any case, for anyone who plans needs
// to see all.
func (e *Engine) observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	stacks := make(map[string]int) // by account and region
	for _, p := range places {
		if where := p.Target.Where(); where != "" {
			stacks[where]++
		}
	}
	for _, where := range slices.Sorted(maps.Keys(stacks)) {
		pages := slices.Repeat([]budget.Demand{{Reads: 1}}, 1+stacks[where]/inPage)
		_, _, _ = e.Budgets.Take(ctx, where, pages, e.Now()) // it holds nobody up
	}
	live, err := e.Clouds.Observe(ctx, places)
	if len(stacks) == 1 { // of several, nobody knows which has refused
		e.throttled(ctx, places[0].Target.Where(), budget.Read, err)
	}
	return live, err
}

// throttled lets fewer requests of a kind be made where one was refused. If that
// cannot be reported to others, they will find out.
func (e *Engine) throttled(ctx context.Context, where string, k budget.Kind, err error) {
	if where != "" && fault.Is(err, fault.Throttled) {
		_ = e.Budgets.Throttled(ctx, where, k, e.Now())
	}
}
