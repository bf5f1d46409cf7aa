package report_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// deploy is a run in the middle of things.
func deploy() run.Run {
	return run.Run{
		Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy", Source: run.Source{Key: "k", Version: "v"},
			Who: "ann", Upload: true}, State: run.StateRunning, Command: run.Supersede, By: "def", Token: "secret of the machine", Requested: noon, Started: noon.Add(time.Second), Unchanged: 2, Steps: []run.Step{
			{Step: plan.Step{ID: "vpc/create", Node: "vpc", Verb: plan.Create}, Status: run.Running, Attempt: 1, Claimed: noon.Add(time.Minute), Nonce: "n"},
			{Step: plan.Step{ID: "db/create", Node: "db", Verb: plan.Create, After: []string{"vpc/create"}}, Number: 1, Status: run.Skipped, Why: "superseded by def", Ended: noon},
		},
	}
}

// The names stand: programs read them.
func TestRunAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(report.Of(deploy()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "run": "abc",
 "project": "shop@prod",
 "operation": "deploy",
 "state": "running",
 "wish": "supersede",
 "who": "ann",
 "superseded_by": "def",
 "asked": "2026-03-01T12:00:00Z",
 "begun": "2026-03-01T12:00:01Z",
 "unchanged": 2,
 "steps": [
  {
   "step": "vpc/create",
   "stack": "vpc",
   "verb": "create",
   "status": "running",
   "why": "",
   "after": [],
   "begun": "2026-03-01T12:01:00Z"
  },
  {
   "step": "db/create",
   "stack": "db",
   "verb": "create",
   "status": "skipped",
   "why": "superseded by def",
   "after": [
    "vpc/create"
   ]
  }
 ]
}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// A book is a lock, and runs.
type book struct {
	lock run.Lock
	runs map[string]run.Run
}

// Lock is report.Runs.
func (b book) Lock(context.Context, string) (run.Lock, error) { return b.lock, nil }

// Run is report.Runs.
func (b book) Run(_ context.Context, id string) (run.Run, error) {
	if r, ok := b.runs[id]; ok {
		return r, nil
	}
	return run.Run{}, fault.New(fault.Missing, "there is no run %s", id)
}

// A line says what its runs do, and goes on where one of them is gone.
func TestLine(t *testing.T) {
	b := book{
		lock: run.Lock{Owner: run.Writer{Run: "abc"}, Waiting: []run.Writer{{Run: "def"}, {Run: "gone"}}},
		runs: map[string]run.Run{"abc": deploy(), "def": {Request: run.Request{ID: "def", Operation: "deploy", Upload: true}, State: run.StateQueued, Command: run.Continue, Requested: noon}},
	}
	got, err := report.QueueEntryOf(t.Context(), b, "shop@prod")
	if err != nil {
		t.Fatal(err)
	}
	want := &report.QueueEntry{
		Project: "shop@prod",
		Owner:   report.Owner{Run: "abc", Operation: "deploy", State: run.StateRunning, Who: "ann", Requested: noon, Does: "what is in flight ends, then it makes way for run def"},
		Waiting: []report.Owner{
			{Run: "def", Operation: "deploy", State: run.StateQueued, Requested: noon, Does: "it deploys what was uploaded, unless a newer upload takes its place"},
			{Run: "gone", Does: "it has ended"},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if l, err := report.QueueEntryOf(t.Context(), book{}, "shop@prod"); l != nil || err != nil {
		t.Errorf("nobody holds the lock: %v, %v", l, err)
	}
}
