package dynamodb

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// targetKey is that of a registered target.
func targetKey(name string) key { return key{"TARGETS", name} }

// Targets returns the registered targets by name.
func (t *Table) Targets(ctx context.Context) (map[string]project.Access, error) {
	items, err := t.query(ctx, span{pk: targetKey("").pk, from: " ", to: last})
	if err != nil {
		return nil, err
	}
	registered, err := decodeAll[project.Access](items)
	all := make(map[string]project.Access, len(items))
	for _, a := range registered {
		all[a.Name] = a
	}
	return all, err
}

// Access returns the target that is registered under a name, or that of an account of the unit for which a registered target stands. It is an
// error of kind Missing if there is none.
func (t *Table) Access(ctx context.Context, name string) (project.Access, error) {
	if of, account, member := project.UnitOf(name); member {
		if a, found, err := t.registered(ctx, of); err != nil || found && a.Unit != "" {
			return a.Member(account), err
		}
	}
	a, found, err := t.registered(ctx, name)
	if err == nil && !found {
		return project.Access{}, fault.New(fault.Missing, "target %s is not registered", name)
	}
	return a, err
}

// registered returns the target that is registered under a name, and whether there is one.
func (t *Table) registered(ctx context.Context, name string) (a project.Access, found bool, err error) {
	i, err := t.get(ctx, targetKey(name))
	if err != nil || len(i) == 0 {
		return a, false, err
	}
	err = decode(i, &a)
	return a, err == nil, err
}

// AddTarget registers a target, in place of one that has its name, and records that in the audit log.
func (t *Table) AddTarget(ctx context.Context, a project.Access, by run.AuditEntry) error {
	_, err := t.write(ctx, write{key: targetKey(a.Name), put: a}, changing(nonce(), by))
	return err
}

// RemoveTarget removes a target, if there is one of that name, and records that in the audit log.
func (t *Table) RemoveTarget(ctx context.Context, name string, by run.AuditEntry) error {
	_, err := t.write(ctx, write{key: targetKey(name), delete: true}, changing(nonce(), by))
	return err
}
