package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// inPage is how many stacks CloudFormation describes in one answer, about.
const inPage = 100

// startCost is the requests that the start of a step makes.
func (e *Engine) startCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	cost := budget.Demand{Reads: v.StartReads}
	if v.Writes() {
		cost.Writes = 1
	}
	return cost
}

// pollCost is the requests that the poll of a running step makes, unless a page has
// its description. Without an event, the poll is idle: probably there is nothing to see.
func (e *Engine) pollCost(s run.Step) budget.Demand {
	v := e.Verbs.Of(s.Verb)
	return budget.Demand{Reads: v.PollReads, Idle: v.WokenByEvents && !s.Receipt.Unchanged && s.Event.Status == ""}
}

// A share is the demand of a step, and the account and region whose budget it needs.
type share struct {
	where string
	ask   budget.Demand
}

// grants returns which shares of a run are granted: in each account and region the first
// ones, as many as the budget has room for, and at most atOnce. It reports more if atOnce
// was the limit. A share that costs nothing is granted. If a budget cannot be read,
// all its shares are granted: a budget only avoids throttling, which fails no step.
func (e *Engine) grants(ctx context.Context, id string, shares []share) (granted []bool, more bool) {
	granted = make([]bool, len(shares))
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
		asks = asks[:min(len(asks), atOnce)]
		n, _, err := e.Budgets.Take(ctx, where, id, asks, e.Now())
		if err != nil {
			n = len(asks)
		}
		more = more || n == atOnce && len(by[where]) > n
		for _, i := range by[where][:n] {
			granted[i] = true
		}
	}
	return granted, more
}

// pollOrder sorts the steps that are due: first those with an event, then those that have
// been due for longest.
func (e *Engine) pollOrder(due []*run.Step) []*run.Step {
	slices.SortStableFunc(due, func(a, b *run.Step) int {
		idle := func(s *run.Step) int {
			if e.pollCost(*s).Idle {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(idle(a), idle(b)), a.DueAt().Compare(b.DueAt()))
	})
	return due
}

// affordable takes the shares that steps of a run need, in their order, and returns the
// steps that got one. It reports more if the others can ask again at once.
func (e *Engine) affordable(ctx context.Context, id string, steps []*run.Step, cost func(run.Step) budget.Demand) (may []*run.Step, more bool) {
	shares := make([]share, len(steps))
	for i, s := range steps {
		shares[i] = share{s.Where, cost(*s)}
	}
	granted, more := e.grants(ctx, id, shares)
	for i, s := range steps {
		if granted[i] {
			may = append(may, s)
		}
	}
	return may, more
}

// describe reads the stacks of the steps that are due in pages, where a target has more
// than oneByOne of them. It returns the descriptions by the numbers of the steps. A stack
// that it does not find, or cannot read now, is described alone.
func (e *Engine) describe(ctx context.Context, r run.Run, due []*run.Step) map[int]*plan.Live {
	seen := make(map[int]*plan.Live)
	by := make(map[string][]*run.Step)
	for _, s := range due {
		deleted := s.Event.Status != "" && s.Event.Status.Gone() // a page lists no deleted stack
		if s.Receipt.StackID != "" && !deleted && e.pollCost(*s).Reads > 0 {
			by[s.Where] = append(by[s.Where], s)
		}
	}
	for _, where := range slices.Sorted(maps.Keys(by)) {
		if len(by[where]) <= oneByOne || where == "" {
			continue
		}
		for number, live := range e.describeIn(ctx, r, where, by[where]) {
			seen[number] = &live
		}
	}
	return seen
}

// describeIn does what describe does in one account and region.
func (e *Engine) describeIn(ctx context.Context, r run.Run, where string, steps []*run.Step) map[int]plan.Live {
	nodes := make([]string, len(steps))
	for i, s := range steps {
		nodes[i] = s.Node
	}
	records, err := e.Store.RecordsOf(ctx, r.Project, nodes)
	if err != nil {
		return nil
	}
	targets := make(map[project.Target][]string)
	for _, s := range steps {
		if record, ok := records[s.Node]; ok {
			targets[record.Target] = append(targets[record.Target], s.Receipt.StackID)
		}
	}
	found := make(map[string]plan.Live)
	for target, ids := range targets {
		if len(ids) <= oneByOne {
			continue
		}
		pages := slices.Repeat([]budget.Demand{{Reads: 1}}, 1+len(ids)/inPage)
		if n, _, err := e.Budgets.Take(ctx, where, r.ID, pages, e.Now()); n < len(pages) && err == nil {
			continue
		}
		live, err := e.Clouds.Describe(ctx, target, ids)
		e.reportThrottled(ctx, where, budget.Read, err)
		maps.Copy(found, live)
	}
	seen := make(map[int]plan.Live)
	for _, s := range steps {
		if live, ok := found[s.Receipt.StackID]; ok {
			seen[s.Number] = live
		}
	}
	return seen
}

// observe reads the stacks of many locations for a run. It takes the estimated cost from
// the budgets, so that other functions make fewer requests meanwhile. It does not wait
// for the budgets, because a plan needs all stacks.
func (e *Engine) observe(ctx context.Context, id string, places []plan.Location) (map[string]plan.Live, error) {
	stacks := make(map[string]int) // by account and region
	for _, p := range places {
		if where := p.Target.Where(); where != "" {
			stacks[where]++
		}
	}
	for _, where := range slices.Sorted(maps.Keys(stacks)) {
		pages := slices.Repeat([]budget.Demand{{Reads: 1}}, 1+stacks[where]/inPage)
		_, _, _ = e.Budgets.Take(ctx, where, id, pages, e.Now()) // even if this fails: a budget does not delay a plan
	}
	live, err := e.Clouds.Observe(ctx, places)
	if len(stacks) == 1 { // of several, it is unknown which was throttled
		e.reportThrottled(ctx, places[0].Target.Where(), budget.Read, err)
	}
	return live, err
}

// A counted is the clouds as a run reads them: each request is counted as observe counts.
type counted struct {
	Clouds
	engine *Engine
	run    string
}

// Observe implements fact.Clouds.
func (c counted) Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	return c.engine.observe(ctx, c.run, places)
}

// Exports implements fact.Clouds.
func (c counted) Exports(ctx context.Context, t project.Target, names []string) (found map[string]plan.Export, err error) {
	c.engine.count(ctx, c.run, t, func(count func()) error {
		found, err = c.Clouds.Exports(ctx, t, names, count)
		return err
	})
	return found, err
}

// Importers implements fact.Clouds.
func (c counted) Importers(ctx context.Context, t project.Target, exports []string) (users map[string][]string, err error) {
	c.engine.count(ctx, c.run, t, func(count func()) error {
		users, err = c.Clouds.Importers(ctx, t, exports, count)
		return err
	})
	return users, err
}

// Resources implements fact.Clouds.
func (c counted) Resources(ctx context.Context, p plan.Location) (all map[string]string, err error) {
	c.engine.count(ctx, c.run, p.Target, func(count func()) error {
		all, err = c.Clouds.Resources(ctx, p, count)
		return err
	})
	return all, err
}

// count reads something in a target. Each request is counted as observe counts.
func (e *Engine) count(ctx context.Context, id string, t project.Target, read func(count func()) error) {
	where := t.Where()
	err := read(func() {
		_, _, _ = e.Budgets.Take(ctx, where, id, []budget.Demand{{Reads: 1}}, e.Now()) // even if this fails: a budget does not delay a plan
	})
	e.reportThrottled(ctx, where, budget.Read, err)
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
