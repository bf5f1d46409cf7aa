package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// MaxChanges is how many bytes Changes may have as JSON, so that an answer of the API has
// room for them.
const MaxChanges = 4_000_000

// omissions are what is left out for lack of room, in this order.
var omissions = []struct {
	what string
	from func(*Changes)
}{
	{"what the plan was made from", func(c *Changes) { c.Basis = []Basis{} }},
	{"the order of the steps", func(c *Changes) { c.Steps = []PlannedStep{} }},
	{"the properties of resources that are not replaced", ofEach(func(s *StackChange) {
		for i, r := range s.Resources {
			if r.Action != difference.Replace {
				s.Resources[i].Properties = nil
			}
		}
	})},
	{"the properties of all others", ofEach(func(s *StackChange) {
		for i := range s.Resources {
			s.Resources[i].Properties = nil
		}
	})},
	{"what each resource costs", ofEach(func(s *StackChange) {
		if s.Cost != nil {
			short := *s.Cost // that of the caller stays as it is
			short.Resources, s.Cost = []ResourceCost{}, &short
		}
	})},
	{"parameters, tags and options", ofEach(func(s *StackChange) {
		s.Parameters, s.Tags, s.Options = []ValueChange{}, []ValueChange{}, []ValueChange{}
	})},
	{"resources that are not replaced, keep their data and are not refused", ofEach(func(s *StackChange) {
		s.Resources = slices.DeleteFunc(s.Resources, func(r ResourceChange) bool {
			return r.Action != difference.Replace && r.Replacement != resource.Conditional && r.Loses == "" && r.Refused == ""
		})
	})},
	{"what each stack costs", ofEach(func(s *StackChange) { s.Cost = nil })},
}

// ofEach leaves something out of each stack.
func ofEach(from func(*StackChange)) func(*Changes) {
	return func(c *Changes) {
		for i := range c.Stacks {
			from(&c.Stacks[i])
		}
	}
}

// Fit returns c with at most so many bytes as JSON. If there is not enough room, it leaves
// details out, and a message says which: no stack, nothing that it says about the loss of
// data, and no resource that may be replaced, may lose data, or is refused. If there is no
// room for these, Fit refuses c.
func (c Changes) Fit(most int) (Changes, error) {
	var left []string
	for n := 0; ; n++ {
		fitting := c
		if len(left) > 0 {
			fitting.Messages = append(slices.Clone(c.Messages), "the plan is too large to be shown as a whole. Left out are "+strings.Join(left, "; "))
		}
		size, err := fitting.size()
		switch {
		case err != nil:
			return c, fault.New(fault.Broken, "changes of run %s: %w", c.Run, err)
		case size <= most:
			return fitting, nil
		case n == len(omissions):
			return c, fault.New(fault.Refused, "what the plan changes has %d bytes of at most %d, also without the details: plan some of the stacks, with --only", size, most)
		case n == 0: // the stacks of the caller stay as they are
			c.Stacks = slices.Clone(c.Stacks)
			for i := range c.Stacks {
				c.Stacks[i].Resources = slices.Clone(c.Stacks[i].Resources)
			}
		}
		left = append(left, omissions[n].what)
		omissions[n].from(&c)
	}
}

// size is how many bytes c has as JSON. A document of 10,000 stacks is not encoded as a whole for that.
func (c Changes) size() (int, error) {
	stacks := c.Stacks
	c.Stacks = stacks[:0]
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	size := len(text) + max(0, len(stacks)-1) // commas
	for _, s := range stacks {
		if text, err = json.Marshal(s); err != nil {
			return 0, err
		}
		size += len(text)
	}
	return size, nil
}
