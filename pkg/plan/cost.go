package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/cost"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
)

// CostBasis says what the amounts of a plan are, for people.
const CostBasis = "an estimate from public on-demand prices, for 730 hours a month, without what is charged by use, taxes, discounts and free tiers"

// A Cost is what a plan adds to what its stacks cost a month: an estimate. Amounts are of the fixed prices that are known.
type Cost struct {
	Currency   string    `json:"currency"`   // USD
	Basis      string    `json:"basis"`      // what the amounts are, for people
	Before     price.USD `json:"before"`     // what the stacks of the plan cost a month now
	After      price.USD `json:"after"`      // what they will cost
	Difference price.USD `json:"difference"` // what the plan adds; negative if it saves
	Unknown    int       `json:"unknown"`    // resources that differ and have a price which is not known, or not whole
	ByUse      int       `json:"by_use"`     // resources that differ and are charged by use, or also by use
	Uncompared int       `json:"uncompared"` // stacks that are not in the amounts, because what they cost before or after is not known
}

// Known reports whether the plan has an amount. Amounts of 0 are none if there is something whose price is not known.
func (c *Cost) Known() bool {
	return c != nil && (c.Before != 0 || c.After != 0 || c.Unknown+c.Uncompared == 0)
}

// Differs reports whether there is something to say about what the plan adds: an amount, or that one is not known.
func (c *Cost) Differs() bool {
	return c != nil && (c.Before != 0 || c.After != 0 || c.Unknown+c.Uncompared > 0)
}

// A StackCost is what a plan adds to what a stack costs a month. An amount that is missing is not known.
type StackCost struct {
	Region     string         `json:"region"`
	Before     *price.USD     `json:"before,omitempty"`
	After      *price.USD     `json:"after,omitempty"`
	Difference *price.USD     `json:"difference,omitempty"`
	Unknown    int            `json:"unknown"`   // resources that differ and have a price which is not known, or not whole
	Resources  []ResourceCost `json:"resources"` // those whose price differs, or may differ, sorted
	Caveats    []string       `json:"caveats,omitempty"`

	uncompared bool // one of its templates is not known
}

// A ResourceCost is what a plan adds to what a resource costs a month.
type ResourceCost struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	Before     *price.USD `json:"before,omitempty"`     // missing if there is no such resource before, or nothing of its price is known
	After      *price.USD `json:"after,omitempty"`      // the same afterwards
	Difference *price.USD `json:"difference,omitempty"` // of the parts that are known; missing if nothing of a price is known, or the stack is not compared
	Parts      []string   `json:"parts,omitempty"`      // of the price afterwards, or before if there is no such resource afterwards
	ByUse      string     `json:"by_use,omitempty"`     // what else is charged, by use
	Unknown    []string   `json:"unknown,omitempty"`
	Assumed    []string   `json:"assumed,omitempty"`

	split bool // one side is known better than the other: neither is in the sums, which would show a saving that is none
}

// price estimates what the plan adds to what the stack of c costs a month. It stays empty if the resources that differ are free.
func (d describer) price(c *StackChange, steps []Step, n project.Node, r Record, live Live, before, after difference.Side, uncertain map[string]string) {
	s := StackCost{Region: cmp.Or(n.Target.Region, r.Target.Region), Resources: []ResourceCost{}}
	gone, comes := c.Action == ActionDelete, c.Action == ActionCreate
	switch {
	case c.Action == ActionForget:
		return
	case isReplaced(steps):
		deletion := StackChange{Stack: c.Stack, Action: ActionDelete}
		before, _ = d.sides(&deletion, project.Node{}, r, live)
		s.Caveats = deletion.Caveats
	case c.Action == ActionReplace: // a stack whose creation has failed has no resources
		comes = live.Status != "DELETE_FAILED"
	case c.Action == ActionImport:
		comes = before.Template == nil
	}
	_, imported := importReason(steps)
	was, kept, knowsBefore := s.estimate(before, nil, comes)
	will, _, knowsAfter := s.estimate(after, uncertain, gone)
	if !knowsBefore {
		s.Caveats = append(s.Caveats, "what the stack costs now is not known, because its template is not")
	}
	if !knowsAfter {
		s.Caveats = append(s.Caveats, "what the stack will cost is not known, because its template cannot be read")
	}
	s.uncompared = !knowsBefore || !knowsAfter
	was = costs(was, will, imported)
	s.compare(c, was, will)
	if !s.uncompared {
		s.retain(kept, will)
	}
	if len(s.Resources) == 0 && (!s.uncompared || knowsAfter && len(will.Resources) == 0 && !gone) {
		return
	}
	earlier, later := s.sums(was, will)
	if knowsBefore && s.tells(earlier+later, was) {
		s.Before = amount(earlier)
	}
	if knowsAfter && s.tells(earlier+later, will) {
		s.After = amount(later)
	}
	if s.Before != nil && s.After != nil {
		s.Difference = amount(later - earlier)
	}
	c.Cost = &s
}

// tells reports whether the amount of a side says something: if nothing of a stack has a known price, that of a side with unknown prices does not.
func (s *StackCost) tells(sum price.Dollars, of cost.Estimate) bool {
	split := make(map[string]bool)
	for _, r := range s.Resources {
		split[r.ID] = r.split
	}
	return sum != 0 || !slices.ContainsFunc(of.Resources, func(r cost.Resource) bool { return len(r.Unknown) > 0 || split[r.ID] })
}

// costs returns was with what the stack will have and exists already, because the plan only imports it.
func costs(was, will cost.Estimate, imported map[string]bool) cost.Estimate {
	all := cost.Estimate{Resources: slices.Clone(was.Resources)}
	before := byID(was)
	for _, r := range will.Resources {
		if _, has := before[r.ID]; imported[r.ID] && !has {
			all.Resources = append(all.Resources, r)
		}
	}
	return all
}

func amount(d price.Dollars) *price.USD {
	u := d.USD()
	return &u
}

// dollars is an amount of a stack that is compared; nothing of it is known if it is missing.
func dollars(u *price.USD) price.Dollars {
	if u == nil {
		return 0
	}
	return u.Dollars()
}

// amountOf is what a resource costs; nil if nothing of it is known.
func amountOf(r cost.Resource) *price.USD {
	if len(r.Unknown) > 0 && len(r.Parts) == 0 {
		return nil
	}
	return amount(r.Monthly())
}

// estimate estimates one side of a stack, and says which policy a resource has for its deletion. A side that does not exist costs
// nothing; of one whose template is not known, it reports false.
func (s *StackCost) estimate(side difference.Side, uncertain map[string]string, nothing bool) (e cost.Estimate, policy func(id string) string, known bool) {
	if nothing || side.Template == nil {
		return e, func(string) string { return "" }, nothing
	}
	scope := side.Scope
	scope.Parameters = maps.Clone(side.Scope.Parameters)
	for name, p := range side.Template.Parameters {
		if _, unknown := uncertain[name]; unknown || p.NoEcho { // an amount must not show a secret
			delete(scope.Parameters, name)
		}
	}
	evaluation := side.Template.In(scope)
	e = cost.Of(evaluation, side.Template, s.Region, uncertain)
	return e, func(id string) string {
		policy, _ := evaluation.Policy(side.Template.Resources[id].DeletionPolicy)
		return policy
	}, true
}

// retain says which resources stay in AWS, and cost, although they leave the stack.
func (s *StackCost) retain(policy func(id string) string, will cost.Estimate) {
	stay := byID(will)
	for i, r := range s.Resources {
		_, stays := stay[r.ID]
		if kept := policy(r.ID); r.Before != nil && !stays && (kept == "Retain" || kept == "RetainExceptOnCreate") {
			r.After, r.Difference = r.Before, amount(0)
			r.Assumed = append(slices.Clone(r.Assumed), "it stays in AWS, and costs: DeletionPolicy "+kept)
			s.Resources[i] = r
		}
	}
}

// compare lists the resources whose price differs or may differ. Where one side is not known, it lists those of the other, without a difference.
func (s *StackCost) compare(c *StackChange, was, will cost.Estimate) {
	old, next := byID(was), byID(will)
	ids := maps.Clone(old)
	maps.Copy(ids, next)
	changed := make(map[string]bool)
	for _, r := range c.Resources {
		changed[r.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		b, before := old[id]
		a, after := next[id]
		unknown := len(b.Unknown)+len(a.Unknown) > 0
		if before && after && reflect.DeepEqual(b, a) && !a.Hidden && !(changed[id] && unknown) {
			continue
		}
		one := ResourceCost{ID: id, Type: cmp.Or(a.Type, b.Type), Unknown: a.Unknown, Assumed: a.Assumed, ByUse: a.Usage}
		shown := a
		if before {
			one.Before = amountOf(b)
			for _, why := range b.Unknown {
				if !after || !slices.Contains(a.Unknown, why) {
					one.Unknown = append(slices.Clone(one.Unknown), "before: "+why)
				}
			}
		}
		if !after {
			shown, one.Assumed, one.ByUse = b, b.Assumed, b.Usage
		} else {
			one.After = amountOf(a)
		}
		one.split = before && after && !slices.Equal(b.Unknown, a.Unknown)
		if !s.uncompared && !one.split && (!before || one.Before != nil) && (!after || one.After != nil) {
			one.Difference = amount(a.Monthly() - b.Monthly())
		}
		for _, p := range shown.Parts {
			one.Parts = append(one.Parts, p.What)
		}
		if len(one.Unknown) > 0 {
			s.Unknown++
		}
		s.Resources = append(s.Resources, one)
	}
}

// sums are what a stack costs before and afterwards, with what it leaves in AWS.
func (s *StackCost) sums(was, will cost.Estimate) (before, after price.Dollars) {
	old, next := byID(was), byID(will)
	before, after = was.Monthly(), will.Monthly()
	for _, r := range s.Resources {
		_, stays := next[r.ID]
		switch {
		case r.split:
			before, after = before-old[r.ID].Monthly(), after-next[r.ID].Monthly()
		case !stays && r.After != nil:
			after += r.After.Dollars()
		}
	}
	return before, after
}

func byID(e cost.Estimate) map[string]cost.Resource {
	all := make(map[string]cost.Resource, len(e.Resources))
	for _, r := range e.Resources {
		all[r.ID] = r
	}
	return all
}

// costOf adds up what stacks cost. It is nil for a plan that Stackwright does not estimate: only what runs decides what it saves.
func costOf(stacks []StackChange) *Cost {
	var before, after price.Dollars
	all := Cost{Currency: "USD", Basis: CostBasis}
	found := len(stacks) == 0
	for _, c := range stacks {
		found = found || c.Action != ActionRevert && c.Action.proposesSuspension() == ""
		s := c.Cost
		if s == nil {
			continue
		}
		switch {
		case s.uncompared:
			all.Uncompared++
		default:
			before, after = before+dollars(s.Before), after+dollars(s.After)
		}
		all.Unknown += s.Unknown
		for _, r := range s.Resources {
			if r.ByUse != "" {
				all.ByUse++
			}
		}
	}
	if !found {
		return nil
	}
	all.Before, all.After, all.Difference = before.USD(), after.USD(), (after - before).USD()
	return &all
}
