// Package contract has the tests that both the implementations of ports in memory
// and the adapters must pass.
package contract

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Store tests a store against the contract of engine.Store. open returns an empty
// one.
func Store(t *testing.T, open func(t *testing.T) engine.Store) {
	for _, laws := range [][]law{runLaws(), endLaws(), stepLaws(), followLaws(), pollLaws(), answerLaws(), recordLaws(), lockLaws(), lifetimeLaws(), raceLaws()} {
		for _, l := range laws {
			t.Run(l.name, func(t *testing.T) {
				l.holds(bench{t, open(t), t.Context()})
			})
		}
	}
}

// A law is one rule of the contract of stores.
type law struct {
	name  string
	holds func(bench)
}

// A bench is a store under test.
type bench struct {
	*testing.T
	store engine.Store
	ctx   context.Context
}

// shop is the project that the laws are about.
const shop = "shop@prod"

// noon is when everything in the laws begins.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// requested returns a new run.
func requested(id string) run.Run {
	return run.Run{
		Request: run.Request{ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "projects/shop/prod.zip", Version: "v1"},
			Of: "before", Who: "ann", Claim: "root", Requester: "111122223333", From: "192.0.2.1", Options: run.Options{Force: true, MaxDeletions: new(0), Selection: plan.Selection{Only: []string{"net/", "db"}, Exclude: []string{"net/a"}, WithDependencies: new(false), WithDependents: true, ChangedSince: "abcdefghijklmnopqrs2"}, Adopt: []string{"db"}}}, Version: run.Version, Command: run.Continue, State: run.StatePending, Messages: []string{"one", "two"}, Requested: noon, TokenKey: "key of " + id,
	}
}

// create creates a run and raises its epoch to 1.
func (b bench) create(id string) run.Run {
	b.Helper()
	r, fresh, err := b.store.CreateRun(b.ctx, requested(id))
	if err != nil || !fresh {
		b.Fatalf("ask for %s: fresh %v, %v", id, fresh, err)
	}
	b.ok(b.raise(id, r.Epoch))
	return b.run(id)
}

// commit creates a run of two steps, db after vpc, and commits its plan.
func (b bench) commit(id string) run.Run {
	b.Helper()
	r := b.create(id)
	r.Start(plan.Plan{Steps: []plan.Step{
		{ID: "vpc/create", Node: "vpc", Verb: plan.Create},
		{ID: "db/update", Node: "db", Verb: plan.Update, After: []int{0}},
	}, Unchanged: []string{"web"}}, map[string]string{"vpc": "spec-of-vpc", "db": "spec-of-db"})
	r.Started = noon.Add(time.Second)
	b.ok(b.store.Commit(b.ctx, r))
	return b.load(id)
}

// commitMany creates a run of n steps and commits its plan.
func (b bench) commitMany(id string, n int) run.Run {
	b.Helper()
	r := b.create(id)
	var p plan.Plan
	for i := range n {
		node := fmt.Sprintf("s%04d", i)
		p.Steps = append(p.Steps, plan.Step{ID: node + "/create", Node: node, Verb: plan.Create})
	}
	r.Start(p, nil)
	b.ok(b.store.Commit(b.ctx, r))
	return b.load(id)
}

// skipping are the changes that skip steps of r.
func skipping(r run.Run, steps []run.Step) []engine.Change {
	var all []engine.Change
	for _, s := range steps {
		c := moving(r, s, run.Skipped)
		c.Step.Cause, c.Step.Why, c.Step.Ended = run.Cause{Kind: run.CauseFailure, Step: "vpc/create"}, "after vpc/create", noon
		all = append(all, c)
	}
	return all
}

// claim claims a pending step of a committed run under a nonce.
func (b bench) claim(r run.Run, number int, nonce string) run.Step {
	b.Helper()
	c := claiming(r, number, nonce)
	b.ok(b.store.Move(b.ctx, c))
	return b.step(r.ID, number)
}

// claiming is the change that claims a pending step.
func claiming(r run.Run, number int, nonce string) engine.Change {
	s := r.Steps[number]
	was := s.Attempt
	s.Status, s.Attempt, s.Nonce, s.Claimed, s.Due = run.Running, was+1, nonce, noon.Add(time.Minute), noon.Add(2*time.Minute)
	return engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Pending, Attempt: was, Token: r.Token, Step: s}
}

// moving is the change of a step to another status.
func moving(r run.Run, s run.Step, to run.Status) engine.Change {
	c := engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: s.Status, Attempt: s.Attempt, Step: s}
	c.Step.Status = to
	return c
}

// record is a full record of a node.
func record(node string) plan.Record {
	return plan.Record{
		Node: node, Stack: "shop-prod-" + node, Target: project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"},
		StackID: "arn:aws:cloudformation:eu-west-1:111122223333:stack/shop-prod-" + node + "/1", Digest: "digest", Needs: []string{"a", "b"},
		Outputs: map[string]string{"Id": "vpc-1", "Empty": ""}, LastUpdated: noon, Revision: "v1", Token: "sw-run-0-1", Run: "run",
		Adopted:   "arn:aws:cloudformation:eu-west-1:111122223333:stack/shop-prod-" + node + "/1",
		Approve:   project.ApproveAlways,
		Moved:     &plan.RecordedMove{Run: "run", Movement: plan.Movement{Leaving: true, Source: plan.MovedStack{Node: node, LastUpdated: noon}, Target: plan.MovedStack{Node: "b"}, Resources: []plan.MovedResource{{From: "A", To: "B", Type: "T"}}}},
		Durations: plan.Durations{plan.Create: 312, plan.Update: 0},
		Settings:  plan.NewSettings(plan.Live{Parameters: map[string]string{"Size": "2"}}, []string{"Image"}),
	}
}

// put writes a record, with a step that was never started.
func (b bench) put(r run.Run, number int, rec plan.Record) {
	b.Helper()
	c := moving(r, b.step(r.ID, number), run.Running)
	c.Record = &rec
	b.ok(b.store.Move(b.ctx, c))
}

func (b bench) run(id string) run.Run {
	b.Helper()
	r, err := b.store.Run(b.ctx, id)
	b.ok(err)
	return r
}

func (b bench) load(id string) run.Run {
	b.Helper()
	r, err := b.store.Load(b.ctx, id)
	b.ok(err)
	return r
}

func (b bench) step(id string, number int) run.Step {
	b.Helper()
	return b.load(id).Steps[number]
}

func (b bench) records() map[string]plan.Record {
	b.Helper()
	all, err := b.store.Records(b.ctx, shop)
	b.ok(err)
	return all
}

// enter makes a pending run request the lock, and returns the result.
func (b bench) enter(id string) run.Entry {
	b.Helper()
	e := b.lock().Enter(b.run(id), operation(b.run(id)))
	b.ok(b.store.Enter(b.ctx, b.run(id), e, noon))
	return e
}

func (b bench) lock() run.Lock {
	b.Helper()
	l, err := b.store.Lock(b.ctx, shop)
	b.ok(err)
	return l
}

// raise raises the epoch of a run from the given one.
func (b bench) raise(id string, from int) error {
	return b.store.RaiseEpoch(b.ctx, run.Run{Request: run.Request{ID: id}, Epoch: from})
}

// end marks a run as waiting, or ends it.
func (b bench) end(r run.Run) error {
	if r.State == run.StateWaiting {
		return b.store.MarkWaiting(b.ctx, r)
	}
	l, err := b.store.Lock(b.ctx, r.Project)
	if err != nil {
		return err
	}
	was, err := b.store.Run(b.ctx, r.ID)
	if err != nil {
		return err
	}
	x := l.Leave(r, operation(r), "rollback-of-"+r.ID)
	x.From = was.State
	if x.Promotion != nil {
		x.Promotion.ID = "promotion-of-" + r.ID
	}
	return b.store.End(b.ctx, r, x)
}

// register registers the token of a wait for run one, and reports whether it is
// the newest.
func (b bench) register(token string, since time.Time, events int) bool {
	b.Helper()
	newest, err := b.store.Register(b.ctx, "one", 1, engine.PollInput{Token: token, Entered: since}, events, since.Add(time.Minute))
	b.ok(err)
	return newest
}

// command gives a run a command, each time as a new request.
func (b bench) command(id string, w run.Command, who string) (run.Run, error) {
	return b.store.RecordCommand(b.ctx, id, run.GivenCommand{ID: rand.Text(), Command: w, Who: who, At: noon})
}

func (b bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b bench) is(err error, k fault.Kind) {
	b.Helper()
	if !fault.Is(err, k) {
		b.Fatalf("want an error of kind %s, got %q: %v", k, fault.KindOf(err), err)
	}
}

// same compares what is stored with what was given. A store need not distinguish an
// empty list from an absent one.
func (b bench) same(got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("-want +got\n%s", diff)
	}
}

// operation is the row of a run's operation.
func operation(r run.Run) plan.Operation {
	return plan.AllOperations().Of(r.Operation)
}
