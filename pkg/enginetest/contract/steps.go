package contract

import (
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// stepLaws are about steps that move.
func stepLaws() []law {
	return []law{
		{"no step is claimed of a run that is to stop, or is not running", func(b bench) {
			r := b.commit("one")
			_, err := b.command("one", run.Pause, "ann")
			b.ok(err)
			b.is(b.store.Move(b.ctx, claiming(r, 0, "n")), fault.Stale)
			isWaiting := b.run("one")
			isWaiting.State = run.StateWaiting
			b.ok(b.end(isWaiting))
			_, err = b.command("one", run.Continue, "ann")
			b.ok(err)
			b.is(b.store.Move(b.ctx, claiming(r, 0, "n")), fault.Stale)
			b.same(b.step("one", 0).Status, run.Pending)
		}},
		{"a function that read the run before its newest poll claims no step", func(b bench) {
			r := b.commit("one")
			b.same(b.register("newest", noon, 1), true)
			b.same(b.run("one").Since.Equal(noon), true)
			b.is(b.store.Move(b.ctx, claiming(r, 0, "n1")), fault.Stale)
			b.same(b.step("one", 0).Status, run.Pending)
			b.ok(b.store.Move(b.ctx, claiming(b.load("one"), 0, "n2")))
			b.ok(b.raise("one", 1))
			b.same(b.run("one").Since.IsZero(), true)
		}},
		{"a step is claimed as it is to be, with its record", func(b bench) {
			r := b.commit("one")
			c := claiming(r, 0, "n1")
			rec := record("vpc")
			c.Record = &rec
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.step("one", 0), c.Step)
			b.same(b.records(), map[string]plan.Record{"vpc": rec})
		}},
		{"all fields of a step are stored", func(b bench) {
			r := b.commit("one")
			c := moving(r, b.claim(r, 1, "n1"), run.Failed)
			c.Step.Receipt = plan.Receipt{StackID: "id", Operation: "op", Unchanged: true}
			c.Step.Why, c.Step.NotBefore, c.Step.Ended = "because", noon.Add(time.Hour), noon.Add(time.Second)
			c.Step.Tried, c.Step.Kept = noon.Add(-time.Hour), []string{"Capacity"}
			c.Step.Result = plan.Result{NothingStarted: true, Status: complete}
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.step("one", 1), c.Step)
			b.same(b.load("one").Steps[1], c.Step)
		}},
		{"fields of a step that become empty are deleted", func(b bench) {
			r := b.commit("one")
			c := moving(r, b.claim(r, 1, "n1"), run.Pending)
			c.Step.Receipt, c.Step.Why, c.Step.Due, c.Step.Claimed, c.Step.Attempt = plan.Receipt{}, "", time.Time{}, time.Time{}, 0
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.step("one", 1), c.Step)
		}},
		{"a second claim of a step is refused", func(b bench) {
			r := b.commit("one")
			first := b.claim(r, 0, "n1")
			c := claiming(r, 0, "n2")
			rec := record("vpc")
			c.Record = &rec
			b.is(b.store.Move(b.ctx, c), fault.Stale)
			b.same(b.step("one", 0), first)
			b.same(len(b.records()), 0)
		}},
		{"a claim that is repeated succeeds, and happens once", func(b bench) {
			r := b.commit("one")
			c := claiming(r, 0, "n1")
			rec := record("vpc")
			c.Record = &rec
			b.ok(b.store.Move(b.ctx, c))
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.step("one", 0).Attempt, 1)
			b.same(b.records(), map[string]plan.Record{"vpc": rec})
		}},
		{"an end that is repeated succeeds", func(b bench) {
			r := b.commit("one")
			c := moving(r, b.claim(r, 0, "n1"), run.Done)
			c.Forget = true
			b.ok(b.store.Move(b.ctx, c))
			b.ok(b.store.Move(b.ctx, c))
			c.Step.Status = run.Failed
			b.is(b.store.Move(b.ctx, c), fault.Stale)
			b.same(b.step("one", 0).Status, run.Done)
		}},
		{"more steps than a transaction holds move together, also if some of them were moved before", func(b bench) {
			r := b.commitMany("one", 130)
			changes := skipping(r, r.Steps)
			b.ok(b.store.Move(b.ctx, changes[100:110]...))
			b.ok(b.store.Move(b.ctx, changes...))
			b.ok(b.store.Move(b.ctx, changes...))
			for i, s := range b.load("one").Steps {
				b.same(s, changes[i].Step)
			}
		}},
		{"if one of many steps has changed, the later ones do not move", func(b bench) {
			r := b.commitMany("one", 250)
			running := b.claim(r, 120, "n1")
			b.is(b.store.Move(b.ctx, skipping(r, r.Steps)...), fault.Stale)
			now := b.load("one").Steps
			b.same(now[0].Status, run.Skipped)
			b.same(now[120], running)
			b.same(now[249].Status, run.Pending)
		}},
		{"many steps do not move for an old epoch", func(b bench) {
			r := b.commitMany("one", 3)
			b.ok(b.raise("one", 1))
			b.is(b.store.Move(b.ctx, skipping(r, r.Steps)...), fault.Stale)
			b.same(b.load("one").Steps, r.Steps)
			b.ok(b.store.Move(b.ctx))
		}},
		{"steps are claimed together, with their records", func(b bench) {
			r := b.commitMany("one", 3)
			one, two := claiming(r, 0, "n1"), claiming(r, 1, "n2")
			vpc, db := record("vpc"), record("db")
			one.Record, two.Record = &vpc, &db
			b.ok(b.store.Move(b.ctx, one, two))
			b.same(b.load("one").Steps[:2], []run.Step{one.Step, two.Step})
			b.same(b.records(), map[string]plan.Record{"vpc": vpc, "db": db})
			_, err := b.command("one", run.Pause, "ann")
			b.ok(err)
			b.is(b.store.Move(b.ctx, claiming(r, 2, "n3")), fault.Stale)
		}},
		{"a step moves from the attempt that it is in", func(b bench) {
			r := b.commit("one")
			c := moving(r, b.claim(r, 0, "n1"), run.Done)
			c.Attempt, c.Step.Attempt = 2, 2
			b.is(b.store.Move(b.ctx, c), fault.Stale)
		}},
		{"a step of which another function has written a receipt was started", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			back := moving(r, s, run.Pending)
			back.Nonce, back.Step.Attempt = s.Nonce, 0
			recorded := moving(r, s, run.Running)
			recorded.Step.Receipt.StackID, recorded.Step.Nonce = "id", "n2"
			b.ok(b.store.Move(b.ctx, recorded))
			b.is(b.store.Move(b.ctx, back), fault.Stale)
			b.same(b.step("one", 0), recorded.Step)
			back.Nonce, back.Step.Nonce = "n2", "n2"
			b.ok(b.store.Move(b.ctx, back))
			b.ok(b.store.Move(b.ctx, back))
			b.same(b.step("one", 0).Status, run.Pending)
		}},
		{"no step moves for an old epoch, nor for one to come", func(b bench) {
			r := b.commit("one")
			b.ok(b.raise("one", 1))
			for _, epoch := range []int{0, 1, 3} {
				c := claiming(r, 0, "n1")
				c.Epoch = epoch
				rec := record("vpc")
				c.Record = &rec
				b.is(b.store.Move(b.ctx, c), fault.Stale)
			}
			b.same(b.step("one", 0).Status, run.Pending)
			b.same(len(b.records()), 0)
			r.Epoch = 2
			b.claim(r, 0, "n1")
		}},
		{"a record is replaced, and dropped, with the step", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			rec := record("vpc")
			c := moving(r, s, run.Running)
			c.Record = &rec
			b.ok(b.store.Move(b.ctx, c))
			rec.Outputs, rec.Needs, rec.Digest, rec.LastUpdated = nil, nil, "", time.Time{}
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.records(), map[string]plan.Record{"vpc": rec})
			c.Step.Status, c.Record, c.Forget = run.Done, nil, true
			b.ok(b.store.Move(b.ctx, c))
			b.same(len(b.records()), 0)
		}},
		{"to drop a record that is not there is no error", func(b bench) {
			r := b.commit("one")
			c := moving(r, b.claim(r, 0, "n1"), run.Done)
			c.Forget = true
			b.ok(b.store.Move(b.ctx, c))
		}},
		{"a claim clears the events before it", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 1, true)
			c := moving(r, s, run.Pending)
			c.Step.Attempt = 0
			b.ok(b.store.Move(b.ctx, c))
			r = b.load("one")
			b.ok(b.store.Move(b.ctx, claiming(r, 0, "n2")))
			b.same(b.step("one", 0).Event, run.Event{})
		}},
		{"a running step that moves keeps the events that arrived meanwhile", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 1, true)
			c := moving(r, s, run.Running)
			c.Step.Receipt.StackID = "id"
			b.ok(b.store.Move(b.ctx, c))
			got := b.step("one", 0)
			b.same(got.Event, run.Event{Status: complete})
			b.same(got.Receipt.StackID, "id")
		}},
	}
}

// complete is the status of an event.
const complete plan.Status = "UPDATE_COMPLETE"

// mark marks a step, and checks whether it could be marked.
func (b bench) mark(id string, number, attempt int, want bool) {
	b.Helper()
	marked, err := b.store.MarkEvent(b.ctx, id, number, attempt, complete)
	b.ok(err)
	b.same(marked, want)
}

// postpone writes what a poll found, and returns the step as it is then.
func (b bench) postpone(r run.Run, s run.Step) run.Step {
	b.Helper()
	b.ok(b.store.Postpone(b.ctx, r.ID, r.Epoch, []run.Step{s}))
	return b.step(r.ID, s.Number)
}

// pollLaws are about what polls and events write.
func pollLaws() []law {
	return []law{
		{"an event about a start is kept until the next claim, and makes nothing due", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			marked, err := b.store.MarkEvent(b.ctx, "one", 0, 1, "CREATE_IN_PROGRESS")
			b.ok(err)
			b.same(marked, true)
			s.Reported = true
			b.same(b.step("one", 0), s)
			b.mark("one", 0, 1, true)
			stale := s
			stale.Reported, stale.Due = false, noon.Add(time.Hour)
			b.same(b.postpone(r, stale).Reported, true)
			c := moving(r, stale, run.Pending)
			c.Step.Attempt = 0
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.step("one", 0).Reported, true)
			b.same(b.claim(r, 0, "n2").Reported, false)
			b.same(b.step("one", 0).Reported, false)
		}},
		{"an event is marked on the attempt that runs", func(b bench) {
			r := b.commit("one")
			b.mark("one", 0, 0, false)
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 2, false)
			b.mark("one", 0, 1, true)
			b.mark("one", 0, 1, true)
			b.mark("one", 7, 1, false)
			b.mark("none", 0, 1, false)
			s.Event = run.Event{Status: complete}
			b.same(b.step("one", 0), s)
			b.same(s.DueAt(), time.Time{})
			b.ok(b.store.Move(b.ctx, moving(r, s, run.Done)))
			b.mark("one", 0, 1, false)
		}},
		{"an event is marked in any epoch", func(b bench) {
			r := b.commit("one")
			b.claim(r, 0, "n1")
			b.ok(b.raise("one", 1))
			b.mark("one", 0, 1, true)
		}},
		{"a poll writes when to poll again, and nothing else", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			found := s
			found.Due, found.Why = noon.Add(time.Hour), "slow"
			want := found
			found.Receipt.StackID, found.Claimed, found.Nonce, found.Ended = "x", noon, "x", noon
			b.same(b.postpone(r, found), want)
			found.Why, want.Why = "", ""
			b.same(b.postpone(r, found), want)
		}},
		{"a poll counts how often it did not see an event, then gives up", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 1, true)
			for _, e := range []run.Event{{Status: complete, Polls: 1}, {Status: complete, Polls: 2}, {Status: complete, Polls: 3}, {}} {
				s.Event = e
				b.same(b.postpone(r, s).Event, e)
			}
		}},
		{"an event that was marked since the steps were loaded stays", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 1, true)
			s.Due = noon.Add(time.Hour)
			for _, seen := range []run.Event{{}, {Status: complete, Polls: 2}, {Status: complete, Polls: 3}, {Status: "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", Polls: 1}} {
				s.Event = seen
				got := b.postpone(r, s)
				b.same(got.Event, run.Event{Status: complete})
				b.same(got.DueAt(), time.Time{})
				b.same(got.Due, s.Due)
			}
		}},
		{"a poll that learnt nothing does not count an event as polled", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.mark("one", 0, 1, true)
			s.Event = run.Event{Status: complete}
			b.same(b.postpone(r, s).Event, run.Event{Status: complete})
		}},
		{"a poll does not change steps that no longer run, or were started again", func(b bench) {
			r := b.commit("one")
			first := b.claim(r, 0, "n1")
			second := b.claim(r, 1, "n2")
			b.ok(b.store.Move(b.ctx, moving(r, first, run.Done)))
			first.Due, second.Due, second.Forced = noon.Add(time.Hour), noon.Add(time.Hour), true
			b.ok(b.store.Postpone(b.ctx, "one", 1, []run.Step{first, second}))
			b.same(b.step("one", 0).Due, noon.Add(2*time.Minute))
			b.same(b.step("one", 1), second)
			second.Attempt, second.Due = 2, noon
			b.same(b.postpone(r, second).Due, noon.Add(time.Hour))
		}},
		{"a poll writes nothing for an old epoch", func(b bench) {
			r := b.commit("one")
			s := b.claim(r, 0, "n1")
			b.ok(b.raise("one", 1))
			s.Due = noon.Add(time.Hour)
			b.is(b.store.Postpone(b.ctx, "one", 1, []run.Step{s}), fault.Stale)
			b.same(b.step("one", 0).Due, noon.Add(2*time.Minute))
		}},
	}
}
