package sim

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// An Organization has accounts in units. It is a unit.Organization.
type Organization struct {
	Accounted map[string]project.Account // by ID
	Units     map[string]string          // the parent of each unit; "" is the root
	Fails     error                      // what it answers to every request, if not nil
	Empty     bool                       // it lists no accounts, although there are
	Flat      bool                       // it lists no units within units, although there are
	Gone      string                     // the ID of a unit that was deleted
	Lists     int                        // how many lists were requested
}

// NewOrganization returns an organization without accounts.
func NewOrganization() *Organization {
	return &Organization{Accounted: make(map[string]project.Account), Units: make(map[string]string)}
}

var _ unit.Organization = (*Organization)(nil)

// Accounts implements unit.Organization.
func (o *Organization) Accounts(_ context.Context, id string) (project.UnitAccounts, error) {
	o.Lists++
	_, known := o.Units[id]
	switch {
	case o.Fails != nil:
		return project.UnitAccounts{}, o.Fails
	case !known || id == o.Gone:
		return project.UnitAccounts{}, fault.New(fault.Missing, "list the accounts of unit %s: Organizations has no unit of this ID", id)
	}
	found := project.UnitAccounts{Units: []string{id}}
	for i := 0; i < len(found.Units); i++ {
		for _, nested := range slices.Sorted(maps.Keys(o.Units)) {
			if o.Units[nested] == found.Units[i] && !o.Flat {
				found.Units = append(found.Units, nested)
			}
		}
	}
	if o.Empty {
		return found, nil
	}
	for _, a := range o.Accounted {
		if slices.Contains(found.Units, a.Unit) {
			found.Accounts = append(found.Accounts, a)
		}
	}
	slices.SortFunc(found.Accounts, func(a, b project.Account) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// Account implements unit.Organization.
func (o *Organization) Account(_ context.Context, id string) (project.Account, error) {
	a, in := o.Accounted[id]
	switch {
	case o.Fails != nil:
		return a, o.Fails
	case !in:
		return a, fault.New(fault.Missing, "account %s is not in the organization", id)
	}
	return a, nil
}

// Above implements unit.Organization.
func (o *Organization) Above(_ context.Context, id string) ([]string, error) {
	var above []string
	for parent := o.Units[id]; o.Fails == nil; parent = o.Units[parent] {
		above = append(above, cmp.Or(parent, "r-home"))
		if parent == "" {
			break
		}
	}
	return above, o.Fails
}

// units follows the accounts of units, one plan after another.
type units struct{ *Backend }

// follower follows the accounts of units for one plan.
func (b *Backend) follower() *unit.Follower {
	return &unit.Follower{Organization: b.Organization, Registered: func(context.Context) (map[string]project.Access, error) { return b.Registered, nil }}
}

// Unreachable implements fact.Units.
func (u units) Unreachable(ctx context.Context, targets []project.Target) (project.Unreached, error) {
	if len(u.Registered) == 0 {
		return project.Unreached{}, nil
	}
	return got(u.Backend, ctx, "Units.Unreachable", "", func() (project.Unreached, error) { return u.follower().Unreachable(ctx, targets) })
}
