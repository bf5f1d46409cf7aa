package contract

import (
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// asks commits a run of which step 0 waits for an answer, and returns it.
func (b bench) asks(id string) run.Run {
	b.Helper()
	r := b.commit(id)
	c := moving(r, b.claim(r, 0, "n1"), run.Waiting)
	c.Step.Why = "is it as it should be?"
	b.ok(b.store.Move(b.ctx, c))
	return b.load(id)
}

// answer is ann's answer to the plan of r.
func answer(r run.Run, request string, yes bool) run.Answer {
	return run.Answer{ID: request, Yes: yes, Who: "ann", From: "192.0.2.1", Why: "it is", Digest: r.Digest, At: noon.Add(time.Minute)}
}

// answerLaws are about steps that wait for an answer.
func answerLaws() []law {
	return []law{
		{"an answer is loaded with its step, and raises the generation", func(b bench) {
			want := b.asks("one")
			a := answer(want, "request", true)
			got, err := b.store.RecordAnswer(b.ctx, "one", 0, a)
			b.ok(err)
			want.Generation = 1
			want.Steps[0].Answer = a
			b.same(b.load("one"), want)
			b.same(b.step("one", 0), want.Steps[0])
			want.Steps = nil
			b.same(got, want)
		}},
		{"an answer that is repeated is recorded once", func(b bench) {
			r := b.asks("one")
			for range 2 {
				got, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", false))
				b.ok(err)
				b.same(got.Generation, 1)
			}
			b.over("one", run.StateCancelled)
			got, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", false))
			b.ok(err)
			b.same(got.State, run.StateCancelled)
		}},
		{"one person gives one of two approvals", func(b bench) {
			r := b.create("one")
			r.Start(plan.View{}.Gated(plan.Plan{Steps: []plan.Step{{ID: "vpc/create", Node: "vpc", Verb: plan.Create}}}, project.Approval{Plan: true, Approvals: 2}), map[string]string{"vpc": "spec-of-vpc"})
			b.ok(b.store.Commit(b.ctx, r))
			for i := range 2 {
				b.ok(b.store.Move(b.ctx, moving(r, b.claim(r, i, "n"), run.Waiting)))
			}
			for i, c := range []struct {
				step    int
				by      string
				refused bool
			}{{0, "ann", false}, {1, "ann", true}, {1, "bob", false}} {
				a := answer(r, fmt.Sprint("request", i), true)
				a.Subject = c.by
				_, err := b.store.RecordAnswer(b.ctx, "one", c.step, a)
				if c.refused {
					b.is(err, fault.Refused)
				} else {
					b.ok(err)
				}
			}
		}},
		{"an answer is not replaced by another", func(b bench) {
			r := b.asks("one")
			_, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "first", false))
			b.ok(err)
			_, err = b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "second", true))
			b.is(err, fault.Refused)
			b.same(b.step("one", 0).Answer, answer(r, "first", false))
			b.same(b.run("one").Generation, 1)
		}},
		{"an answer to another plan is refused", func(b bench) {
			r := b.asks("one")
			a := answer(r, "request", true)
			a.Digest = "another"
			_, err := b.store.RecordAnswer(b.ctx, "one", 0, a)
			b.is(err, fault.Refused)
			b.same(b.load("one"), r)
		}},
		{"only a step that waits takes an answer", func(b bench) {
			r := b.asks("one")
			_, err := b.store.RecordAnswer(b.ctx, "one", 1, answer(r, "request", true))
			b.is(err, fault.Refused)
			_, err = b.store.RecordAnswer(b.ctx, "one", 2, answer(r, "request", true))
			b.is(err, fault.Missing)
			_, err = b.store.RecordAnswer(b.ctx, "none", 0, answer(r, "request", true))
			b.is(err, fault.Missing)
			b.ok(b.store.Move(b.ctx, moving(r, b.step("one", 0), run.Skipped)))
			_, err = b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", true))
			b.is(err, fault.Refused)
			b.same(b.run("one").Generation, 0)
		}},
		{"a run that is stopped or over takes no answer", func(b bench) {
			r := b.asks("one")
			_, err := b.command("one", run.Cancel, "bob")
			b.ok(err)
			_, err = b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", true))
			b.is(err, fault.Refused)
			b.over("one", run.StateCancelled)
			_, err = b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", true))
			b.is(err, fault.Refused)
			b.same(b.step("one", 0).Answer, run.Answer{})
		}},
		{"a run that is paused takes an answer", func(b bench) {
			r := b.asks("one")
			_, err := b.command("one", run.Pause, "bob")
			b.ok(err)
			got, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", true))
			b.ok(err)
			b.same(got.Generation, 2)
			b.same(got.Command, run.Pause)
		}},
		{"a run does not wait or end over an answer that its poll has not seen", func(b bench) {
			r := b.asks("one")
			_, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, "request", true))
			b.ok(err)
			for _, s := range []run.State{run.StateWaiting, run.StateCancelled} {
				r.State = s
				b.is(b.end(r), fault.Stale)
			}
			b.same(b.run("one").State, run.StateRunning)
		}},
		{"a step that was answered moves on with its answer", func(b bench) {
			r := b.asks("one")
			a := answer(r, "request", true)
			_, err := b.store.RecordAnswer(b.ctx, "one", 0, a)
			b.ok(err)
			c := moving(r, b.step("one", 0), run.Running)
			c.Step.Answer, c.Step.Why = run.Answer{}, ""
			b.ok(b.store.Move(b.ctx, c))
			got := b.step("one", 0)
			b.same(got.Status, run.Running)
			b.same(got.Answer, a)
		}},
		{"of many answers to one question one is recorded", func(b bench) {
			r := b.asks("one")
			found := 0
			for _, err := range race(func(i int) error {
				_, err := b.store.RecordAnswer(b.ctx, "one", 0, answer(r, fmt.Sprint("request", i), i%2 == 0))
				return err
			}) {
				if err == nil {
					found++
					continue
				}
				b.is(err, fault.Refused)
			}
			b.same(found, 1)
			b.same(b.run("one").Generation, 1)
		}},
	}
}
