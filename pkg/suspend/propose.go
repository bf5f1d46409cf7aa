package suspend

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Stoppable says what Stop would stop in a stack, in the order of All, and why other resources of these kinds stay as they are.
func (s Services) Stoppable(ctx context.Context, in project.Target, stack string) (plan.PlannedSuspension, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	p := plan.PlannedSuspension{Resources: []plan.SuspendedResource{}, Stay: []plan.SuspendedResource{}}
	err := s.each(ctx, in, stack, func(k Kind, id string, now Seen) {
		one := plan.SuspendedResource{Type: k.Type, Kind: k.Name, ID: id}
		switch {
		case now.State.runs():
			one.Is, one.Was = now.Says, now.As
			p.Resources = append(p.Resources, one)
		case now.State == Fixed:
			one.Why = now.Says
			p.Stay = append(p.Stay, one)
		default:
			one.Is, one.Why = now.Says, "it does not run"
			p.Stay = append(p.Stay, one)
		}
	})
	return p, err
}

// Startable says what Start would start, in its order, and why other resources of a record stay as they are.
func (s Services) Startable(ctx context.Context, in project.Target, all []plan.Stopped) (plan.PlannedSuspension, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	p := plan.PlannedSuspension{Resources: []plan.SuspendedResource{}, Stay: []plan.SuspendedResource{}}
	all = slices.Clone(all)
	slices.Reverse(all)
	seen, err := s.see(ctx, in, all)
	if err != nil {
		return p, err
	}
	for i, r := range all {
		now := seen[i]
		k, err := kindOf(r)
		if err != nil {
			return p, err
		}
		one := plan.SuspendedResource{Type: r.Type, Kind: k.Name, ID: r.ID, Is: now.Says}
		switch {
		case now.State == "":
			one.Why = "it does not exist any more"
		case now.State == Fixed:
			one.Is, one.Why = "", now.Says
		case now.asBefore(r):
			one.Why = "it runs as before"
		default:
			one.Was = r.Was
			p.Resources = append(p.Resources, one)
			continue
		}
		p.Stay = append(p.Stay, one)
	}
	return p, nil
}
