package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Room is how many stacks CloudFormation lets an account have in a region, and how many there are.
type Room struct {
	Limit  int // 0 if CloudFormation does not say
	Stacks int
}

// A Need is how many stacks a plan adds to an account and region.
type Need struct {
	Target project.Target // one of those there
	Stacks int
}

// Needs returns how many stacks p adds to accounts and regions, by Target.Where. creates and deletes say what its steps do. A stack that is
// deleted before it is created again is not added. Nested stacks are not known.
func (v View) Needs(p Plan, creates, deletes func(Step) bool) map[string]Need {
	deleted := make(map[[2]string]bool) // by node and place
	for _, s := range p.Steps {
		if deletes(s) {
			deleted[[2]string{s.Node, s.Where}] = true
		}
	}
	needs := make(map[string]Need)
	for _, s := range p.Steps {
		if s.Where == "" || !creates(s) || deleted[[2]string{s.Node, s.Where}] {
			continue
		}
		n := needs[s.Where]
		if t := v.Desired.Nodes[s.Node].Target; n.Stacks == 0 || t.Compare(n.Target) < 0 {
			n.Target = t
		}
		n.Stacks++
		needs[s.Where] = n
	}
	return needs
}

// RefuseFull returns an error for each account and region that has no room for the stacks which a plan adds, or nil.
func RefuseFull(needs map[string]Need, rooms map[string]Room) error {
	var all []error
	for _, where := range slices.Sorted(maps.Keys(needs)) {
		if err := rooms[where].refuse(needs[where]); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// refuse returns why there is no room, and what to do.
func (r Room) refuse(n Need) error {
	if r.Limit == 0 || r.Stacks+n.Stacks <= r.Limit {
		return nil
	}
	return fault.New(fault.Refused, "account %s, region %s: CloudFormation lets it have %d stacks, it has %d, and the plan creates %d: delete stacks, or raise the quota Stack count of AWS CloudFormation there in Service Quotas",
		n.Target.Account, n.Target.Region, r.Limit, r.Stacks, n.Stacks)
}
