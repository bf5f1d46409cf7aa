package contract

import (
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// upload creates a run as an upload does, and raises its epoch to 1.
func (b bench) upload(id, sequencer string) {
	b.Helper()
	r := requested(id)
	r.Upload, r.Sequencer = true, sequencer
	_, _, err := b.store.CreateRun(b.ctx, r)
	b.ok(err)
	b.ok(b.raise(id, 0))
}

// over ends a run as it is stored.
func (b bench) over(id string, s run.State) {
	b.Helper()
	r := b.load(id)
	r.State, r.Ended = s, noon.Add(time.Hour)
	b.ok(b.end(r))
}

func (b bench) open() []string {
	b.Helper()
	ids, err := b.store.Open(b.ctx)
	b.ok(err)
	return ids
}

// waits lists the run that owns the lock, and those that are queued.
func (b bench) waits() string {
	b.Helper()
	l := b.lock()
	line := l.Owner.Run
	for _, w := range l.Waiting {
		line += " " + w.Run
	}
	return line
}

// lockLaws are about the lock and its queue.
func lockLaws() []law {
	return []law{
		{"a lock that no run took has no owner", func(b bench) {
			b.same(b.lock(), run.Lock{})
		}},
		{"the first run owns the lock, and the others are queued in order", func(b bench) {
			for _, id := range []string{"one", "two", "three"} {
				b.create(id)
				b.same(b.enter(id).Owns, id == "one")
			}
			b.same(b.waits(), "one two three")
			b.same(b.run("one").State, run.StatePending)
			b.same(b.run("two").State, run.StateQueued)
			b.same(b.lock().Version, 3)
			l, err := b.store.Lock(b.ctx, "shop@test")
			b.ok(err)
			b.same(l, run.Lock{})
		}},
		{"a lock that has changed since it was read is not written", func(b bench) {
			b.create("one")
			b.create("two")
			late := b.lock().Enter(b.run("two"), operation(b.run("two")))
			b.enter("one")
			b.is(b.store.Enter(b.ctx, b.run("two"), late, noon), fault.Stale)
			b.same(b.waits(), "one")
			b.same(b.run("two").State, run.StatePending)
		}},
		{"no run ends with a lock that has changed since it was read", func(b bench) {
			r := b.create("one")
			b.enter("one")
			x := b.lock().Leave(r, operation(r), "")
			x.From = run.StatePending
			b.create("two")
			b.enter("two")
			r.State, r.Ended = run.StateCancelled, noon.Add(time.Hour)
			b.is(b.store.End(b.ctx, r, x), fault.Stale)
			b.same(b.run("one").State, run.StatePending)
			b.same(b.waits(), "one two")
		}},
		{"only a pending run enters, with its own epoch", func(b bench) {
			r := b.create("one")
			b.ok(b.raise("one", 1))
			b.is(b.store.Enter(b.ctx, r, b.lock().Enter(r, operation(r)), noon), fault.Stale)
			b.over("one", run.StateRefused)
			r = b.run("one")
			b.is(b.store.Enter(b.ctx, r, b.lock().Enter(r, operation(r)), noon), fault.Stale)
			b.same(b.lock().Owner, run.Writer{})
		}},
		{"a queued run is pending again when its epoch is raised", func(b bench) {
			b.create("one")
			b.create("two")
			b.enter("one")
			b.enter("two")
			b.ok(b.raise("two", 1))
			b.same(b.run("two").State, run.StatePending)
			b.enter("two")
			b.same(b.run("two").State, run.StateQueued)
			b.same(b.waits(), "one two")
		}},
		{"an end passes the lock on to the next queued run", func(b bench) {
			for _, id := range []string{"one", "two", "three"} {
				b.create(id)
				b.enter(id)
			}
			b.over("one", run.StateRefused)
			b.same(b.waits(), "two three")
			b.same(b.run("two").State, run.StateQueued)
			b.over("three", run.StateCancelled)
			b.same(b.waits(), "two")
			b.over("two", run.StateCancelled)
			b.same(b.waits(), "")
			b.same(b.open(), []string(nil))
		}},
		{"a waiting run keeps the lock, and the generation that it has observed", func(b bench) {
			b.create("one")
			b.enter("one")
			r, err := b.command("one", run.Pause, "ann")
			b.ok(err)
			r.State = run.StateWaiting
			b.ok(b.end(r))
			b.same(b.waits(), "one")
			b.same(b.run("one").ObservedGeneration, 1)
			b.same(b.open(), []string{"one"})
		}},
		{"an end that read another lock is not written", func(b bench) {
			b.create("one")
			b.create("two")
			b.enter("one")
			r, l := b.run("one"), b.lock()
			b.enter("two")
			r.State = run.StateSucceeded
			b.is(b.store.End(b.ctx, r, l.Leave(r, operation(r), "x")), fault.Stale)
			b.same(b.run("one").State, run.StatePending)
			b.same(b.waits(), "one two")
		}},
		{"an end depends on the lock even if its run is not in it", func(b bench) {
			r, l := b.create("one"), b.lock()
			b.enter("one")
			r.State = run.StateRefused
			b.is(b.store.End(b.ctx, r, l.Leave(r, operation(r), "x")), fault.Stale)
			b.same(b.waits(), "one")
		}},
		{"an upload replaces queued uploads, and stops the one that is deployed", func(b bench) {
			b.upload("one", "01")
			b.enter("one")
			b.upload("two", "02")
			b.enter("two")
			one := b.run("one")
			b.same(one.Command, run.Supersede)
			b.same(one.SupersededBy, "two")
			b.same(one.Commands, []run.GivenCommand{{Command: run.Supersede, Run: "two", Who: `ann, says it is "root"`, From: "192.0.2.1", At: noon}})
			b.same(one.Generation, 1)
			b.upload("three", "03")
			b.enter("three")
			b.same(b.waits(), "one three")
			two := b.run("two")
			b.same(two.State, run.StateSuperseded)
			b.same(two.SupersededBy, "three")
			b.same(two.Commands, []run.GivenCommand{{Command: run.Supersede, Run: "three", Who: `ann, says it is "root"`, From: "192.0.2.1", At: noon}})
			b.same(two.Ended, noon)
			b.same(b.open(), []string{"one", "three"})
			one = b.run("one")
			b.same(one.SupersededBy, "three")
			b.same(one.Given().Run, "three")
		}},
		{"the lock knows that a newer upload was seen", func(b bench) {
			b.upload("one", "02")
			b.enter("one")
			b.upload("two", "01")
			b.same(b.lock().Enter(b.run("two"), operation(b.run("two"))).Outdated, true)
		}},
		{"a run that is being superseded stays so, whatever command follows", func(b bench) {
			b.upload("one", "01")
			b.enter("one")
			b.upload("two", "02")
			b.enter("two")
			_, err := b.command("one", run.Continue, "ann")
			b.is(err, fault.Refused)
			r, err := b.command("one", run.Cancel, "ann")
			b.ok(err)
			b.same(r.Command, run.Supersede)
			b.same(r.Generation, 2)
			b.same(r.Forced, false)
			r, err = b.store.RecordCommand(b.ctx, "one", run.GivenCommand{ID: "hard", Command: run.Cancel, Force: true, Who: "ann", At: noon})
			b.ok(err)
			b.same(r.Command, run.Supersede)
			b.same(r.Generation, 3)
			b.same(r.Forced, true)
		}},
		{"no command takes back a cancel", func(b bench) {
			b.commit("one")
			_, err := b.command("one", run.Cancel, "ann")
			b.ok(err)
			_, err = b.command("one", run.Continue, "ann")
			b.is(err, fault.Refused)
			r, err := b.command("one", run.CancelAndRollBack, "ann")
			b.ok(err)
			b.same(r.Command, run.CancelAndRollBack)
			b.same(r.Generation, 2)
		}},
		{"a rollback is created in the transaction of the end that it follows", func(b bench) {
			b.create("zero")
			b.enter("zero")
			zero := b.run("zero")
			zero.Source.Version, zero.Selection = "v0", plan.Selection{}
			zero.Start(plan.Plan{}, nil)
			zero.Started = noon
			b.ok(b.store.Commit(b.ctx, zero))
			b.over("zero", run.StateSucceeded)
			b.create("one")
			b.enter("one")
			b.create("two")
			b.enter("two")
			one := b.run("one")
			one.State, one.Rollback, one.Ended = run.StateFailed, true, noon.Add(time.Hour)
			b.ok(b.end(one))
			b.same(b.waits(), "rollback-of-one two")
			back := b.run("rollback-of-one")
			b.same(back.State, run.StateQueued)
			b.same(back.Of, "one")
			b.same(back.Operation, "rollback")
			b.same(back.Source.Version, "v0")
			b.same(back.Requested, one.Ended)
			b.same(b.open(), []string{"rollback-of-one", "two"})
		}},
		{"the promotion that follows a run is requested with its end, and waits for no lock", func(b bench) {
			b.create("one")
			b.enter("one")
			one := b.run("one")
			one.Source.Version, one.Selection = "v0", plan.Selection{}
			one.Promotion = &project.Promotion{To: "next", Soak: project.Timeout(time.Hour)}
			one.Start(plan.Plan{}, nil)
			one.Started = noon
			b.ok(b.store.Commit(b.ctx, one))
			one = b.run("one")
			one.State, one.Ended = run.StateSucceeded, noon.Add(time.Minute)
			b.ok(b.end(one))
			next := b.run("promotion-of-one")
			b.same(next.State, run.StatePending)
			b.same(next.Follows, "one")
			b.same(next.FromRevision, "one")
			b.same(next.Operation, "promote")
			b.same(next.NotBefore, one.Ended.Add(time.Hour))
			b.same(b.open(), []string{"promotion-of-one"})
			b.same(b.waits(), "")
			b.same(b.lock().LastSuccessful, one.Source)
			b.same(b.lock().Promotion, one.Promotion)
		}},
		{"a lock is released from a run that cannot be read, once", func(b bench) {
			b.create("one")
			b.enter("one")
			b.create("two")
			b.enter("two")
			c := run.GivenCommand{ID: "request", Command: run.Cancel, Who: "ann", Why: "lost", At: noon}
			done, err := b.store.Released(b.ctx, "one", "request")
			b.ok(err)
			b.same(done, false)
			b.ok(b.store.Release(b.ctx, shop, "one", b.lock().Without("one"), c))
			b.same(b.waits(), "two")
			b.same(b.open(), []string{"two"})
			b.same(b.run("one").State, run.StateCancelled)
			b.same(b.run("one").Messages, []string{"lost"})
			done, err = b.store.Released(b.ctx, "one", "request")
			b.ok(err)
			b.same(done, true)
			stale := b.lock().Without("two")
			stale.Version--
			b.is(b.store.Release(b.ctx, shop, "two", stale, c), fault.Stale)
			none := b.lock()
			none.Owner = run.Writer{Run: "never stored"}
			b.ok(b.store.Release(b.ctx, shop, "never stored", none.Without("never stored"), c))
			_, err = b.store.Run(b.ctx, "never stored")
			b.is(err, fault.Missing)
		}},
		{"a command that arrives twice is recorded once", func(b bench) {
			b.commit("one")
			w := run.GivenCommand{ID: "request", Command: run.Pause, Who: "ann", At: noon}
			_, err := b.store.RecordCommand(b.ctx, "one", w)
			b.ok(err)
			_, err = b.command("one", run.Continue, "bob")
			b.ok(err)
			r, err := b.store.RecordCommand(b.ctx, "one", w)
			b.ok(err)
			b.same(r.Command, run.Continue)
			b.same(r.Generation, 2)
			b.over("one", run.StateSucceeded)
			_, err = b.store.RecordCommand(b.ctx, "one", w)
			b.ok(err)
		}},
		{"a restart is counted with the epoch", func(b bench) {
			r := b.commit("one")
			r.Restarts, r.RestartedAt, r.FinishedAtRestart = 3, noon, 1
			b.ok(b.store.RaiseEpoch(b.ctx, r))
			got := b.run("one")
			b.same(got.Restarts, 3)
			b.same(got.RestartedAt, noon)
			b.same(got.FinishedAtRestart, 1)
		}},
		{"of many runs that enter one owns the lock, and all others are queued", func(b bench) {
			for i := range racers {
				b.create(fmt.Sprint("run", i))
			}
			for _, err := range race(func(i int) error {
				for {
					r, err := b.store.Run(b.ctx, fmt.Sprint("run", i))
					if err != nil {
						return err
					}
					l, err := b.store.Lock(b.ctx, shop)
					if err != nil {
						return err
					}
					if err = b.store.Enter(b.ctx, r, l.Enter(r, operation(r)), noon); !fault.Is(err, fault.Stale) {
						return err
					}
				}
			}) {
				b.ok(err)
			}
			l := b.lock()
			b.same(len(l.Waiting), racers-1)
			for _, w := range l.Waiting {
				b.same(b.run(w.Run).State, run.StateQueued)
			}
			b.same(b.run(l.Owner.Run).State, run.StatePending)
		}},
	}
}
