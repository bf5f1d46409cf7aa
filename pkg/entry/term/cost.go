package term

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
)

// costLine says in a line what a plan adds a month.
func costLine(c *plan.Cost) string {
	if !c.Known() {
		return "cost: not known" + withoutPrice(c)
	}
	return "cost: " + changeOf(c.Before, c.After, " a month, an estimate") + withoutPrice(c)
}

// withoutPrice says what is not in the amounts of a plan.
func withoutPrice(c *plan.Cost) string {
	text := ""
	if c.Unknown > 0 {
		text += "; " + Plural(c.Unknown, "resource") + " without a known price"
	}
	if c.ByUse > 0 {
		text += "; " + Plural(c.ByUse, "resource") + " charged by use"
	}
	if c.Uncompared > 0 {
		text += "; " + Plural(c.Uncompared, "stack") + " not compared"
	}
	return text
}

func dollars(u price.USD) string { return u.Dollars().String() }

// cent is the least amount that is written.
const cent = price.Dollars(10_000)

// changeOf writes a difference and both of its sides in cents, so that the difference is that of the amounts as they are written.
func changeOf(before, after price.USD, of string) string {
	from, to := before.Dollars(), after.Dollars()
	by := to - from
	if from >= cent && to >= cent {
		by = (to+cent/2)/cent*cent - (from+cent/2)/cent*cent
	}
	return added(by.USD()) + of + " (" + from.String() + " → " + to.String() + ")"
}

// added is an amount with its sign.
func added(u price.USD) string {
	if u.Dollars() > 0 {
		return "+" + dollars(u)
	}
	return dollars(u)
}

// Cost draws what a plan adds to what its stacks cost a month: a block for each stack, and the total last. No line is longer than width, except for
// words that are; 0 is 80 columns.
func Cost(c report.Cost, width int, colour bool) []string {
	if width == 0 {
		width = planWidth
	}
	p := &planText{width: width}
	p.add(0, span{bold, "cost of " + c.Project + "@" + c.Environment}, span{normal, ": " + c.Cost.Basis})
	for _, s := range c.Stacks {
		p.stackCost(s)
	}
	for _, m := range c.Messages {
		p.add(2, span{yellow, oneLine(m)})
	}
	var from []string
	for _, s := range c.Prices {
		text := s.For
		if s.Date != "" {
			text += ", of " + s.Date
		}
		from = append(from, text)
	}
	p.add(0, span{dim, "prices: " + strings.Join(from, "; ")})
	switch {
	case len(c.Stacks) == 0 && !c.Cost.Differs() && c.Cost.ByUse == 0:
		p.add(0, span{bold, fmt.Sprintf("the plan changes nothing that has a price; %d unchanged", c.Unchanged)})
	default:
		amount := "not known"
		if c.Cost.Known() {
			amount = changeOf(c.Cost.Before, c.Cost.After, " a month")
		}
		p.add(0, span{bold, fmt.Sprintf("%s%s; %d unchanged, not counted", amount, withoutPrice(&c.Cost), c.Unchanged)})
	}
	lines := make([]string, len(p.lines))
	for i, l := range p.lines {
		var b strings.Builder
		for _, s := range l {
			paint(&b, s.style, printable(s.text), colour)
		}
		lines[i] = b.String()
	}
	return lines
}

// stackCost draws the block of a stack.
func (p *planText) stackCost(s report.StackCost) {
	sign, said := signs[s.Action], string(s.Action)
	if s.Certainty == plan.Possible {
		sign, said = span{cyan, maybe}, "may change"
	}
	amount := "not known"
	switch {
	case s.Difference != nil && *s.Before == 0 && *s.After == 0 && s.Unknown == 0:
		amount = "nothing but what is charged by use"
	case s.Difference != nil:
		amount = changeOf(*s.Before, *s.After, " a month")
	case s.After != nil && *s.After != 0:
		amount = dollars(*s.After) + " a month afterwards"
	case s.Before != nil && *s.Before != 0:
		amount = dollars(*s.Before) + " a month now"
	}
	if s.Unknown > 0 {
		amount += "; " + Plural(s.Unknown, "resource") + " without a known price"
	}
	p.add(2, sign, span{bold, " " + s.Stack}, span{normal, "  " + said + " in " + s.Region + ": " + amount})
	var byUse []string
	for _, r := range s.Resources {
		if r.ByUse != "" && len(r.Parts)+len(r.Unknown)+len(r.Assumed) == 0 {
			byUse = append(byUse, r.ID+" ("+r.ByUse+")")
			continue
		}
		amount := "not known"
		switch {
		case r.Difference != nil:
			amount = added(*r.Difference)
		case r.After != nil && r.Before == nil:
			amount = dollars(*r.After) + " afterwards"
		case r.Before != nil && r.After == nil:
			amount = dollars(*r.Before) + " now"
		}
		p.add(6, span{normal, amount + "  "}, span{bold, r.ID}, span{dim, "  " + r.Type})
		for _, part := range r.Parts {
			p.add(8, span{dim, part})
		}
		for _, why := range r.Unknown {
			p.add(8, span{yellow, "not known: " + oneLine(why)})
		}
		if len(r.Assumed) > 0 {
			p.add(8, span{dim, "assumed: " + oneLine(strings.Join(r.Assumed, "; "))})
		}
		if r.ByUse != "" {
			p.add(8, span{dim, "and by use: " + r.ByUse})
		}
	}
	if len(byUse) > 0 {
		p.add(6, span{dim, "by use only: " + strings.Join(byUse, "; ")})
	}
	for _, w := range s.Caveats {
		p.add(6, span{yellow, oneLine(w)})
	}
	if s.Link != "" {
		p.add(6, span{normal, "CloudFormation's estimate: "}, span{normal, s.Link})
	}
	if s.NoLink != "" {
		p.add(6, span{yellow, "no link to an estimate of CloudFormation: " + oneLine(s.NoLink)})
	}
}
