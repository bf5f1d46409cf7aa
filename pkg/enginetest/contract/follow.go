package contract

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// follow follows a run, often enough that each process of a store has done so, and compares
// it with what is loaded.
func (b bench) follow(id string) run.Run {
	b.Helper()
	want := b.load(id)
	var got run.Run
	for range 4 {
		var err error
		got, err = b.store.Follow(b.ctx, id)
		b.ok(err)
		b.same(got, want)
	}
	return got
}

// followLaws are about runs that are followed: whatever changes a selected step, Follow
// returns what Load returns.
func followLaws() []law {
	return []law{
		{"a run that is followed is as it is loaded, whatever happens to selected steps", func(b bench) {
			b.create("two")
			b.follow("two") // it has no plan yet
			r := b.commit("one")
			b.same(b.follow("one").Steps, r.Steps)
			b.ok(b.store.Select(b.ctx, "one", 1, []int{0}))
			b.follow("one")
			s := b.claim(r, 0, "n1")
			b.same(b.follow("one").Steps[0], s)
			b.mark("one", 0, 1, true)
			b.same(b.follow("one").Steps[0].Event, run.Event{Status: complete})
			s.Due = noon
			b.postpone(r, s)
			b.same(b.follow("one").Steps[0].Due, noon)
			c := moving(r, s, run.Pending)
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.follow("one").Steps[0].Status, run.Pending)
			s = b.claim(b.load("one"), 0, "n2")
			b.ok(b.store.Move(b.ctx, moving(r, s, run.Done)))
			b.ok(b.store.Select(b.ctx, "one", 1, []int{1}))
			b.claim(r, 1, "n3")
			got := b.follow("one")
			b.same([]run.Status{got.Steps[0].Status, got.Steps[1].Status}, []run.Status{run.Done, run.Running})
		}},
		{"a run that is followed has the commands and the epoch of now", func(b bench) {
			b.commit("one")
			b.follow("one")
			_, err := b.command("one", run.Pause, "ann")
			b.ok(err)
			b.same(b.follow("one").Command, run.Pause)
			b.ok(b.raise("one", 1))
			b.same(b.follow("one").Epoch, 2)
		}},
		{"steps that were selected in an older epoch are read in a newer one", func(b bench) {
			r := b.commit("one")
			b.follow("one")
			b.ok(b.store.Select(b.ctx, "one", 1, []int{0}))
			b.claim(r, 0, "n1")
			b.ok(b.raise("one", 1))
			b.same(b.follow("one").Steps[0].Status, run.Running)
		}},
		{"no step is selected of a run that has ended", func(b bench) {
			r := b.commit("one")
			r.State, r.Ended = run.StateFailed, noon
			b.ok(b.end(r))
			b.is(b.store.Select(b.ctx, "one", 1, []int{0}), fault.Stale)
		}},
		{"no step is selected for another epoch, nor of a run that is not there", func(b bench) {
			b.commit("one")
			b.follow("one")
			b.ok(b.raise("one", 1))
			for _, epoch := range []int{0, 1, 3} {
				b.is(b.store.Select(b.ctx, "one", epoch, []int{0}), fault.Stale)
			}
			b.is(b.store.Select(b.ctx, "none", 1, []int{0}), fault.Missing)
			b.ok(b.store.Select(b.ctx, "one", 2, nil))
		}},
		{"many steps are selected, also more than once", func(b bench) {
			r := b.commitMany("one", 250)
			b.follow("one")
			all := make([]int, len(r.Steps))
			for i := range all {
				all[i] = i
			}
			for some := range slices.Chunk(all, 90) {
				b.ok(b.store.Select(b.ctx, "one", 1, some))
				b.ok(b.store.Select(b.ctx, "one", 1, some[:1]))
			}
			changes := skipping(r, r.Steps)
			b.ok(b.store.Move(b.ctx, changes[:200]...))
			b.follow("one")
			b.ok(b.store.Move(b.ctx, changes[200:]...))
			ended := b.follow("one")
			b.same(ended.Finished(), 250)
		}},
		{"an answer and a question are followed", func(b bench) {
			r := b.commit("one")
			b.ok(b.store.Select(b.ctx, "one", 1, []int{0}))
			s := b.claim(r, 0, "n1")
			b.follow("one")
			b.ok(b.store.Move(b.ctx, moving(r, s, run.Waiting)))
			b.follow("one")
			_, err := b.store.RecordAnswer(b.ctx, "one", 0, run.Answer{ID: "a", Yes: true, Who: "ann", Digest: r.Digest, At: noon})
			b.ok(err)
			b.same(b.follow("one").Steps[0].Answer.Yes, true)
		}},
		{"a run that was ended by force is followed to its end", func(b bench) {
			r := b.commit("one")
			b.follow("one")
			b.ok(b.store.Move(b.ctx, skipping(r, r.Steps)...))
			r.State, r.Ended = run.StateFailed, noon
			b.ok(b.end(r))
			ended := b.follow("one")
			b.same(ended.Finished(), 2)
		}},
		{"a run that is not there cannot be followed", func(b bench) {
			_, err := b.store.Follow(b.ctx, "none")
			b.is(err, fault.Missing)
		}},
		{"a failed step is followed with its result", func(b bench) {
			r := b.commit("one")
			b.ok(b.store.Select(b.ctx, "one", 1, []int{0, 1}))
			b.follow("one")
			c := moving(r, b.claim(r, 0, "n1"), run.Failed)
			c.Step.Result, c.Step.Why = plan.Result{Status: complete}, "because"
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.follow("one").Steps[0], c.Step)
		}},
	}
}
