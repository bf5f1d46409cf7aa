package dynamodb

import (
	"context"
	"errors"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// lifetimeKey is that of the lifetime of an environment.
func lifetimeKey(project string) key { return key{"LIFETIMES", project} }

// Lifetime implements engine.Lifetimes.
func (t *Table) Lifetime(ctx context.Context, id string) (project.Lifetime, error) {
	var l project.Lifetime
	i, err := t.get(ctx, lifetimeKey(id))
	if err != nil {
		return l, err
	}
	return l, decode(i, &l)
}

// Lifetimes implements engine.Lifetimes. One that cannot be read does not keep the others from their ends.
func (t *Table) Lifetimes(ctx context.Context) ([]project.Lifetime, error) {
	items, err := t.query(ctx, span{pk: lifetimeKey("").pk, from: " ", to: last})
	if err != nil {
		return nil, err
	}
	var all []project.Lifetime
	var unread []error
	for _, i := range items {
		var l project.Lifetime
		if err := decode(i, &l); err != nil {
			unread = append(unread, err)
			continue
		}
		all = append(all, l)
	}
	return all, errors.Join(unread...)
}

// SetLifetime implements engine.Lifetimes.
func (t *Table) SetLifetime(ctx context.Context, l project.Lifetime) error {
	return t.require(ctx, fault.New(fault.Stale, "the lifetime of %s has changed", l.Project), lifetime(l))
}

// lifetime returns the write of a lifetime, on condition that nobody has changed it since it was read.
func lifetime(l project.Lifetime) write {
	w := write{key: lifetimeKey(l.Project), where: "attribute_not_exists(#PK)"}
	if l.Version > 0 {
		w.where, w.with = "#version = :version", values{"version": l.Version}
	}
	if !l.Known() {
		w.delete = true
		return w
	}
	w.put = l.Raised()
	return w
}
