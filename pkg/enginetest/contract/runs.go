package contract

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// runLaws are about new runs, plans and epochs.
func runLaws() []law {
	return []law{
		{"a requested run is stored as it is", func(b bench) {
			stored, fresh, err := b.store.CreateRun(b.ctx, requested("one"))
			b.ok(err)
			b.same(fresh, true)
			b.same(stored, requested("one"))
			b.same(b.run("one"), requested("one"))
		}},
		{"a run that is requested twice is stored once, as it is by then", func(b bench) {
			first := b.create("one")
			other := requested("one")
			other.Who = "bob"
			stored, fresh, err := b.store.CreateRun(b.ctx, other)
			b.ok(err)
			b.same(fresh, false)
			b.same(stored, first)
			runs, err := b.store.List(b.ctx, shop, 0)
			b.ok(err)
			b.same(len(runs), 1)
		}},
		{"what a caller does to a run afterwards is its own affair", func(b bench) {
			r := b.commit("one")
			r.Messages[0], r.Steps[1].After[0] = "x", 7
			again := b.load("one")
			b.same(again.Messages, []string{"one", "two"})
			b.same(again.Unchanged, 1)
			b.same(again.Steps[1].After, []int{0})
		}},
		{"a run that was not requested is missing", func(b bench) {
			_, err := b.store.Run(b.ctx, "none")
			b.is(err, fault.Missing)
			_, err = b.store.Load(b.ctx, "none")
			b.is(err, fault.Missing)
			_, err = b.command("none", run.Pause, "ann")
			b.is(err, fault.Missing)
			b.is(b.raise("none", 0), fault.Missing)
		}},
		{"a epoch is raised from what it is, once", func(b bench) {
			b.create("one")
			b.same(b.run("one").Epoch, 1)
			b.is(b.raise("one", 0), fault.Stale)
			b.is(b.raise("one", 2), fault.Stale)
			b.ok(b.raise("one", 1))
			b.same(b.run("one").Epoch, 2)
		}},
		{"a new epoch has no waiting token and no history yet", func(b bench) {
			b.commit("one")
			b.register("token", noon, 10)
			b.ok(b.raise("one", 1))
			r := b.run("one")
			b.same(r.Token, "")
			b.same(r.Events, 0)
			b.same(r.State, run.StateRunning)
		}},
		{"to raise the epoch of a waiting run makes it running", func(b bench) {
			r := b.commit("one")
			r.State = run.StateWaiting
			b.ok(b.end(r))
			b.ok(b.raise("one", 1))
			b.same(b.run("one").State, run.StateRunning)
		}},
		{"to raise the epoch of a pending run leaves it pending", func(b bench) {
			b.same(b.create("one").State, run.StatePending)
		}},
		{"a committed plan is loaded in its order, with all that belongs to it", func(b bench) {
			want := b.create("one")
			want.Operation, want.Source.Version, want.MaxDeletions, want.Selection, want.Adopt = "destroy", "v0", new(7), plan.Selection{Only: []string{"vpc"}, Exclude: []string{"v*"}, WithDependencies: new(false), WithDependents: true, ChangedSince: "abcdefghijklmnopqrs3"}, []string{"db"} // as a retry learns from what it repeats
			p := plan.Plan{Unchanged: []string{"web"}}
			for i := range 130 {
				s := plan.Step{ID: fmt.Sprintf("n%d/create", i), Node: fmt.Sprintf("n%d", i), Verb: plan.Create, Timeout: project.Timeout(i) * project.LeastTimeout, Expected: plan.Seconds(i)}
				if i > 0 {
					s.After = []int{i - 1}
				}
				p.Steps = append(p.Steps, s)
			}
			want.Start(p, map[string]string{"n7": "spec"})
			want.Started, want.Deadline = noon.Add(time.Second), noon.Add(time.Hour)
			want.Messages, want.Changes = []string{"of the plan"}, "reference"
			want.MaxParallel = []project.Limit{{Most: 10}, {Prefix: "n1", Most: 2}, {Rollout: "net", Most: 3}}
			want.MaxFailures = []project.Limit{{Most: 5}, {Rollout: "net", Most: 0}}
			want.Kind = project.Sceptre
			want.Approval = &project.Approval{Plan: true, Approvers: []string{"arn:*"}, Approvals: 2, Expires: project.Timeout(time.Hour), NotByAuthor: true}
			want.Destroy = &project.Destroy{
				Hooks: []project.Hook{{Name: "export", Moments: []project.Moment{project.BeforeDestroy}, Type: "invoke", Values: map[string]project.Text{"invoke": project.Literal("arn")}}},
				Home:  project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"},
			}
			want.Values, want.Revision, want.Snapshot = "values", "earlier", "monday"
			want.FromEnvironment, want.FromRevision, want.Settings = "staging", "previous", "digest"
			want.SnapshotPolicy, want.NoBackups, want.KeepBackups = &project.SnapshotPolicy{Keep: 3, For: project.LeastTTL}, true, true
			want.Authors = []string{"arn:aws:iam::111122223333:role/dev"}
			want.Retain, want.Skip, want.WhileSuspended = []string{"db:Table"}, []string{"db.Table"}, true
			want.Promotion = &project.Promotion{From: "staging", To: "next", Soak: project.Timeout(time.Hour), Alarms: []project.PromotionAlarm{{Name: "errors", Target: want.Destroy.Home}}}
			b.ok(b.store.Commit(b.ctx, want))
			b.same(b.load("one"), want)
			want.Steps = nil
			b.same(b.run("one"), want)
		}},
		{"a plan without steps is committed too", func(b bench) {
			r := b.create("one")
			r.Start(plan.Plan{}, nil)
			b.ok(b.store.Commit(b.ctx, r))
			b.same(b.load("one").State, run.StateRunning)
		}},
		{"a run that is not committed has no steps", func(b bench) {
			r := b.create("one")
			b.ok(b.raise("one", 1))
			r.Start(plan.Plan{Steps: []plan.Step{{ID: "vpc/create", Node: "vpc", Verb: plan.Create}}}, nil)
			b.is(b.store.Commit(b.ctx, r), fault.Stale)
			got := b.load("one")
			b.same(got.State, run.StatePending)
			b.same(len(got.Steps), 0)
		}},
		{"a plan is committed once: a later planner changes nothing", func(b bench) {
			want := b.commit("one")
			late := want
			late.Steps = late.Steps[:1]
			late.State, late.Digest = run.StateRunning, "another"
			b.is(b.store.Commit(b.ctx, late), fault.Stale)
			b.same(b.load("one"), want)
		}},
		{"a token is registered for the epoch, and the history grows", func(b bench) {
			b.commit("one")
			b.register("first", noon, 10)
			b.register("second", noon, 26)
			r := b.run("one")
			b.same(r.Token, "second")
			b.same(r.Events, 36)
			for _, epoch := range []int{0, 2} {
				_, err := b.store.Register(b.ctx, "one", epoch, engine.PollInput{Token: "third", Entered: noon}, 1, noon)
				b.is(err, fault.Stale)
			}
			b.same(b.run("one"), r)
		}},
		{"a token of an earlier wait does not replace that of a later one", func(b bench) {
			b.commit("one")
			b.same(b.register("later", noon.Add(time.Millisecond), 10), true)
			b.same(b.register("earlier", noon, 10), false)
			r := b.run("one")
			b.same(r.Token, "later")
			b.same(r.Events, 10)
			b.ok(b.raise("one", 1))
			newest, err := b.store.Register(b.ctx, "one", 2, engine.PollInput{Token: "next", Entered: noon}, 1, noon)
			b.ok(err)
			b.same(newest, true)
			b.same(b.run("one").Token, "next")
		}},
		{"a poll works from the registration of its token until it ends, or until a new epoch", func(b bench) {
			b.commit("one")
			b.same(b.run("one").PolledUntil, time.Time{})
			b.register("first", noon, 10)
			b.same(b.run("one").PolledUntil, noon.Add(time.Minute))
			r := b.run("one")
			r.Due = noon.Add(time.Hour)
			b.ok(b.store.EndPoll(b.ctx, r))
			r.PolledUntil = time.Time{}
			b.same(b.run("one"), r)
			b.same(r.Token, "first")
			b.register("second", noon.Add(time.Hour), 10)
			b.ok(b.raise("one", 1))
			b.same(b.run("one").PolledUntil, time.Time{})
		}},
		{"a run keeps what it has tidied, on condition of its epoch and token", func(b bench) {
			b.commit("one")
			b.register("first", noon, 10)
			r := b.run("one")
			r.Tidied, r.Messages = 2, []string{"one is left"}
			b.ok(b.store.MarkTidied(b.ctx, r))
			b.same(b.run("one"), r)
			b.ok(b.store.MarkTidied(b.ctx, r)) // the answer was lost
			b.register("second", noon.Add(time.Second), 10)
			b.is(b.store.MarkTidied(b.ctx, r), fault.Stale)
			r.Token = "second"
			r.Tidied = 3
			b.ok(b.store.MarkTidied(b.ctx, r))
			b.same(b.run("one").Tidied, 3)
			b.ok(b.raise("one", 1))
			b.is(b.store.MarkTidied(b.ctx, r), fault.Stale)
			b.same(b.run("one").Tidied, 3)
		}},
		{"a poll does not end while there is something that it has not read", func(b bench) {
			b.claim(b.commit("one"), 0, "n1")
			b.register("first", noon, 10)
			loaded := b.load("one")
			stays := func() {
				b.Helper()
				b.is(b.store.EndPoll(b.ctx, loaded), fault.Stale)
				b.same(b.run("one").PolledUntil.IsZero(), false)
				loaded = b.load("one")
			}
			b.mark("one", 0, 1, true)
			b.same(b.run("one").Marks, 1)
			stays()
			b.mark("one", 0, 1, true) // the same event, again
			stays()
			b.mark("one", 1, 1, false) // another poll has recorded the end of that step
			stays()
			_, err := b.command("one", run.Pause, "ann")
			b.ok(err)
			stays()
			b.register("second", noon.Add(time.Second), 10)
			stays()
			b.ok(b.store.EndPoll(b.ctx, loaded))
			b.ok(b.store.EndPoll(b.ctx, loaded)) // the answer was lost
			b.ok(b.raise("one", 1))
			b.is(b.store.EndPoll(b.ctx, loaded), fault.Stale)
		}},
	}
}

// endLaws are about commands, waiting and ends.
func endLaws() []law {
	return []law{
		{"a command is stored with who gave it and why, raises the generation, and is answered with the run", func(b bench) {
			want := b.commit("one")
			pause := run.GivenCommand{ID: "first", Command: run.Pause, Who: "arn:aws:sts::111122223333:assumed-role/dev/bob", From: "192.0.2.1", Why: "a check", At: noon}
			want.Steps, want.Command, want.Generation, want.Commands = nil, run.Pause, 1, []run.GivenCommand{pause}
			got, err := b.store.RecordCommand(b.ctx, "one", pause)
			b.ok(err)
			b.same(got, want)
			b.same(b.run("one"), want)
			cancel := run.GivenCommand{ID: "second", Command: run.Cancel, Force: true, Who: "ann@host", At: noon.Add(time.Hour)}
			got, err = b.store.RecordCommand(b.ctx, "one", cancel)
			b.ok(err)
			b.same(got.Generation, 2)
			b.same(got.Command, run.Cancel)
			b.same(got.Commands, []run.GivenCommand{pause, cancel})
			b.same(b.load("one").Commands, got.Commands)
		}},
		{"a run keeps the newest commands", func(b bench) {
			b.commit("one")
			var r run.Run
			for i := range 25 {
				var err error
				r, err = b.store.RecordCommand(b.ctx, "one", run.GivenCommand{ID: fmt.Sprint(i), Command: run.Pause, Who: "bob", At: noon})
				b.ok(err)
			}
			b.same(len(r.Commands), 20)
			b.same(r.Commands[19].ID, "24")
			again, err := b.store.RecordCommand(b.ctx, "one", run.GivenCommand{ID: "0", Command: run.Continue, Who: "bob", At: noon})
			b.ok(err)
			b.same(again, r)
		}},
		{"a run that was given a command with force is forced from then on", func(b bench) {
			b.commit("one")
			for _, c := range []struct {
				command run.Command
				force   bool
				forced  bool
			}{{run.Cancel, false, false}, {run.Cancel, true, true}, {run.CancelAndRollBack, false, true}} {
				r, err := b.store.RecordCommand(b.ctx, "one", run.GivenCommand{ID: rand.Text(), Command: c.command, Force: c.force, Who: "ann", At: noon})
				b.ok(err)
				b.same(r.Command, c.command)
				b.same(r.Forced, c.forced)
				b.same(b.run("one"), r)
			}
		}},
		{"a run that has ended takes no command", func(b bench) {
			r := b.commit("one")
			r.State = run.StateFailed
			b.ok(b.end(r))
			_, err := b.command("one", run.Continue, "bob")
			b.is(err, fault.Refused)
			b.same(b.run("one").Generation, 0)
		}},
		{"an end is stored with its time and messages", func(b bench) {
			want := b.commit("one")
			want.State, want.Messages, want.Ended = run.StateSucceeded, []string{"three"}, noon.Add(time.Hour)
			b.ok(b.end(want))
			b.same(b.load("one"), want)
		}},
		{"an end is not written over a newer generation", func(b bench) {
			r := b.commit("one")
			_, err := b.command("one", run.Cancel, "bob")
			b.ok(err)
			r.State = run.StateSucceeded
			b.is(b.end(r), fault.Stale)
			b.same(b.run("one").State, run.StateRunning)
			r.Generation = 1
			b.ok(b.end(r))
		}},
		{"an end is not written by an old epoch", func(b bench) {
			r := b.commit("one")
			b.ok(b.raise("one", 1))
			r.State = run.StateSucceeded
			b.is(b.end(r), fault.Stale)
			r.State = run.StateWaiting
			b.is(b.end(r), fault.Stale)
			b.same(b.run("one").State, run.StateRunning)
		}},
		{"an end is not written over a state that was not read", func(b bench) {
			r := b.commit("one")
			l, err := b.store.Lock(b.ctx, r.Project)
			b.ok(err)
			r.State = run.StateFailed
			x := l.Leave(r, operation(r), "x")
			x.From = run.StatePending // it has been planned since
			b.is(b.store.End(b.ctx, r, x), fault.Stale)
			b.same(b.run("one").State, run.StateRunning)
		}},
		{"a run that has ended stays as it ended", func(b bench) {
			r := b.commit("one")
			r.State, r.Same = run.StateSucceeded, run.Source{Key: "same", Version: "1"}
			b.ok(b.end(r))
			b.same(b.run("one").Same, r.Same)
			r.State = run.StateFailed
			b.is(b.end(r), fault.Stale)
			b.is(b.raise("one", 1), fault.Stale)
			b.same(b.run("one").State, run.StateSucceeded)
		}},
		{"a run can be marked as waiting twice", func(b bench) {
			r := b.commit("one")
			r.State = run.StateWaiting
			b.ok(b.end(r))
			b.ok(b.end(r))
			b.same(b.run("one").State, run.StateWaiting)
		}},
		{"a run that was never planned ends too", func(b bench) {
			r := b.create("one")
			r.State, r.Messages = run.StateRefused, []string{"no"}
			b.ok(b.end(r))
			b.same(b.load("one").State, run.StateRefused)
			b.is(b.store.Commit(b.ctx, r), fault.Stale)
		}},
	}
}
