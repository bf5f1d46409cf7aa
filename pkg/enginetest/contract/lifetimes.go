package contract

import (
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// lifetimeOf is a lifetime of an environment that is not stored.
func lifetimeOf(id string) project.Lifetime {
	return project.Lifetime{
		Project: id, Pattern: "pr-*", TTL: project.TTL(72 * time.Hour), Expires: noon.Add(72 * time.Hour), Set: noon, Run: "one", Who: "ann",
		Warned: true, Attempts: 2, Attempt: "two", Next: noon.Add(80 * time.Hour), Destroys: "two",
	}
}

// lifetime returns the stored lifetime of an environment.
func (b bench) lifetime(id string) project.Lifetime {
	b.Helper()
	l, err := b.store.Lifetime(b.ctx, id)
	b.ok(err)
	return l
}

// lifetimes returns the environments that have lifetimes.
func (b bench) lifetimes() (ids []string) {
	b.Helper()
	all, err := b.store.Lifetimes(b.ctx)
	b.ok(err)
	for _, l := range all {
		b.same(l, b.lifetime(l.Project))
		ids = append(ids, l.Project)
	}
	return ids
}

// lifetimeLaws are about the lifetimes of environments.
func lifetimeLaws() []law {
	return []law{
		{"an environment lives for ever until its lifetime is set", func(b bench) {
			b.same(b.lifetime(shop), project.Lifetime{})
			b.same(b.lifetimes(), []string(nil))
			for _, id := range []string{"shop@pr-2", shop, "shop@pr-10"} {
				b.ok(b.store.SetLifetime(b.ctx, lifetimeOf(id)))
			}
			want := lifetimeOf(shop)
			want.Version = noon.UnixMilli()
			b.same(b.lifetime(shop), want)
			b.same(b.lifetimes(), []string{"shop@pr-10", "shop@pr-2", shop})
		}},
		{"a lifetime that has changed since it was read is not written", func(b bench) {
			b.ok(b.store.SetLifetime(b.ctx, lifetimeOf(shop)))
			b.is(b.store.SetLifetime(b.ctx, lifetimeOf(shop)), fault.Stale)
			l := b.lifetime(shop)
			other := l
			l.Expires = l.Expires.Add(time.Hour)
			b.ok(b.store.SetLifetime(b.ctx, l))
			b.is(b.store.SetLifetime(b.ctx, other), fault.Stale)
			b.is(b.store.SetLifetime(b.ctx, other.Ended()), fault.Stale)
			l.Version++
			b.same(b.lifetime(shop), l)
		}},
		{"a lifetime without an end is deleted, and one that is set afterwards is another", func(b bench) {
			b.ok(b.store.SetLifetime(b.ctx, lifetimeOf(shop)))
			before := b.lifetime(shop)
			b.ok(b.store.SetLifetime(b.ctx, before.Ended()))
			b.same(b.lifetime(shop), project.Lifetime{})
			b.same(b.lifetimes(), []string(nil))
			b.is(b.store.SetLifetime(b.ctx, before), fault.Stale)
			again := lifetimeOf(shop)
			again.Set = noon.Add(time.Minute)
			b.ok(b.store.SetLifetime(b.ctx, again))
			b.is(b.store.SetLifetime(b.ctx, before), fault.Stale)
		}},
		{"the end of a run sets the lifetime, or deletes it, in the same transaction", func(b bench) {
			for i, id := range []string{"one", "two", "three"} {
				b.create(id)
				b.enter(id)
				r := b.load(id)
				x := b.lock().Leave(r, operation(r), "")
				x.From = run.StatePending
				l := b.lifetime(shop)
				if i == 0 {
					l = lifetimeOf(shop)
				}
				if i == 2 {
					l = l.Ended()
				}
				l.Who = id
				x.Lifetime = &l
				r.State, r.Ended = run.StateSucceeded, noon.Add(time.Hour)
				stale := l
				stale.Version += 7
				late := x
				late.Lifetime = &stale
				b.is(b.store.End(b.ctx, r, late), fault.Stale)
				b.same(b.run(id).State, run.StatePending)
				b.ok(b.store.End(b.ctx, r, x))
				if i < 2 {
					b.same(b.lifetime(shop).Who, id)
				}
			}
			b.same(b.lifetimes(), []string(nil))
		}},
	}
}
