package stepfn_test

import (
	"math"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// What plans of random scenarios say that they cost. The alarm of a version has a price; databases, tables and services have one that is not known.

const (
	priced invariant = "priced: the cost of a plan is the sum of those of its stacks, what it adds is what they cost afterwards less what they cost before, and a plan that changes nothing costs nothing"
	valued invariant = "valued: what a plan says of the cost of a stack is the price of the alarms in the templates that were deployed and will be"
)

// alarmPrices are the prices a month of the alarms that versions have: see sim.AlarmOf. Other versions have none.
var alarmPrices = map[string]price.USD{"v1": 0, "v2": 0, "v3": 0.30, "r1": 0, "r2": 0}

// checkCosts checks the cost of the plan of a run, once.
func (g *player) checkCosts(r run.Run) {
	if r.Changes == "" || g.costed[r.ID] || r.Project != "shop@default" {
		return
	}
	g.costed[r.ID] = true
	c := g.Planned(r)
	total := c.Cost
	if total == nil {
		estimated := slices.ContainsFunc(c.Stacks, func(s plan.StackChange) bool {
			return !slices.Contains([]plan.StackAction{plan.ActionRevert, plan.ActionSuspend, plan.ActionResume}, s.Action)
		})
		g.holds(priced, !estimated && len(c.Stacks) > 0, "the plan of run %s has no cost, and changes %d stacks", r.ID, len(c.Stacks))
		return
	}
	var before, after price.USD
	unknown, uncompared := 0, 0
	for _, s := range c.Stacks {
		if s.Cost == nil {
			continue
		}
		unknown += s.Cost.Unknown
		g.costsOf(r, s)
		if lacks(s) {
			uncompared++
			continue
		}
		before, after = before+amountOf(s.Cost.Before), after+amountOf(s.Cost.After)
	}
	g.holds(priced, near(total.Before, before) && near(total.After, after) && near(total.Difference, after-before), "the plan of run %s costs %v, then %v, and adds %v; its stacks cost %v and %v", r.ID, total.Before, total.After, total.Difference, before, after)
	g.holds(priced, total.Unknown == unknown && total.Uncompared == uncompared, "the plan of run %s has %d unknown prices and %d stacks that are not compared; its stacks have %d and %d", r.ID, total.Unknown, total.Uncompared, unknown, uncompared)
	if len(c.Stacks) == 0 {
		g.holds(priced, total.Known() && total.Before == 0 && total.After == 0 && total.Unknown == 0, "the plan of run %s changes nothing, and costs %+v", r.ID, total)
	}
}

// costsOf checks what the plan of a run says of one stack.
func (g *player) costsOf(r run.Run, s plan.StackChange) {
	c := s.Cost
	if c.Before != nil && c.After != nil {
		g.holds(priced, c.Difference != nil && near(*c.Difference, *c.After-*c.Before), "the plan of run %s: %s costs %v, then %v, and %v is added", r.ID, s.Stack, *c.Before, *c.After, c.Difference)
	} else {
		g.holds(priced, c.Difference == nil, "the plan of run %s: %s costs %v, then %v, and %v is added", r.ID, s.Stack, c.Before, c.After, c.Difference)
	}
	unknown := 0
	for _, one := range c.Resources {
		if len(one.Unknown) > 0 {
			unknown++
		}
	}
	g.holds(priced, unknown == c.Unknown, "the plan of run %s: %s has %d unknown prices, and says %d", r.ID, s.Stack, unknown, c.Unknown)
	if _, inMemory := g.backend.(*memoryBackend); !inMemory {
		return // templates have no alarms there
	}
	w, known := g.sources[r.Source]
	if s.Action == plan.ActionDelete && c.After != nil && !slices.ContainsFunc(c.Resources, func(one plan.ResourceCost) bool { return one.After != nil }) {
		g.holds(valued, *c.After == 0, "the plan of run %s deletes %s, which will cost %v", r.ID, s.Stack, *c.After)
	}
	if s.Action == plan.ActionCreate && c.Before != nil {
		g.holds(valued, *c.Before == 0, "the plan of run %s creates %s, which costs %v", r.ID, s.Stack, *c.Before)
	}
	if digest := g.deployedBefore[r.ID][s.Stack]; s.Action == plan.ActionUpdate && c.Before != nil && !strings.Contains(digest, "Resources") {
		version, _, _ := strings.Cut(digest, " ")
		if want, is := alarmPrices[version]; is {
			g.holds(valued, near(*c.Before, want), "the plan of run %s: %s costs %v, and its alarm %v", r.ID, s.Stack, *c.Before, want)
		}
	}
	name, _, _ := strings.Cut(s.Stack, "@")
	want, is := alarmPrices[w.named(name).version]
	if !known || !is || c.After == nil || !plan.AllOperations().Of(r.Operation).NeedsFiles || r.Operation == plan.RollbackName || s.Action == plan.ActionDelete || w.named(name).readable {
		return
	}
	g.holds(valued, near(*c.After, want), "the plan of run %s: %s will cost %v, and its alarm %v", r.ID, s.Stack, *c.After, want)
}

// lacks reports whether a stack is in no sum, because one of its templates is not known: its resources have no difference.
func lacks(s plan.StackChange) bool {
	return slices.ContainsFunc(s.Cost.Caveats, func(text string) bool {
		return strings.HasPrefix(text, "what the stack ") && strings.Contains(text, " cost")
	})
}

// near reports whether two amounts are the same, but for what sums of floating-point numbers lose.
func near(a, b price.USD) bool { return math.Abs(float64(a-b)) < 1e-6 }

// amountOf is an amount, or zero if it is not known.
func amountOf(u *price.USD) price.USD {
	if u == nil {
		return 0
	}
	return *u
}
