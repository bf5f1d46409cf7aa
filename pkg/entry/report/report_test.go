package report_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// deploy is a run in the middle of things.
func deploy() run.Run {
	return run.Run{
		Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy", Source: run.Source{Key: "k", Version: "v"},
			Who: "unknown principal of account 111122223333", Claim: "ann", Requester: "111122223333", Upload: true}, State: run.StateRunning, Command: run.Supersede, SupersededBy: "def", Commands: []run.GivenCommand{
			{ID: "r1", Command: run.Pause, Who: "arn:aws:sts::111122223333:assumed-role/dev/ann", At: noon.Add(time.Hour)},
			{Command: run.Supersede, Run: "def", Who: "bob", Why: "hotfix", At: noon.Add(2 * time.Hour)},
		}, Token: "secret of the machine", Requested: noon, Started: noon.Add(time.Second), Unchanged: 2, Steps: []run.Step{
			{Step: plan.Step{ID: "vpc/create", Node: "vpc", Verb: plan.Create, Expected: 300}, Status: run.Running, Attempt: 1, Claimed: noon.Add(time.Minute), Nonce: "n"},
			{Step: plan.Step{ID: "db/create", Node: "db", Verb: plan.Create, After: []int{0}}, Number: 1, Status: run.Skipped, Why: "superseded by def", Ended: noon},
		},
	}
}

// Programs read these keys.
func TestRunAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(report.Of(deploy(), noon.Add(2*time.Minute)), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "run": "abc",
 "project": "shop@prod",
 "operation": "deploy",
 "state": "running",
 "command": "supersede",
 "by": "unknown principal of account 111122223333, says it is \"ann\"",
 "who": "unknown principal of account 111122223333",
 "claim": "ann",
 "requester": "111122223333",
 "upload": true,
 "source": {
  "key": "k",
  "version": "v"
 },
 "commands": [
  {
   "command": "pause",
   "who": "arn:aws:sts::111122223333:assumed-role/dev/ann",
   "given": "2026-03-01T13:00:00Z"
  },
  {
   "command": "supersede",
   "run": "def",
   "who": "bob",
   "reason": "hotfix",
   "given": "2026-03-01T14:00:00Z"
  }
 ],
 "superseded_by": "def",
 "requested": "2026-03-01T12:00:00Z",
 "started": "2026-03-01T12:00:01Z",
 "expected_end": "2026-03-01T12:06:00Z",
 "critical_path": [
  "vpc/create"
 ],
 "unchanged": 2,
 "steps": [
  {
   "step": "vpc/create",
   "stack": "vpc",
   "verb": "create",
   "status": "running",
   "why": "",
   "after": [],
   "attempt": 1,
   "started": "2026-03-01T12:01:00Z",
   "expected_seconds": 300
  },
  {
   "step": "db/create",
   "stack": "db",
   "verb": "create",
   "status": "skipped",
   "why": "superseded by def",
   "after": [
    "vpc/create"
   ],
   "ended": "2026-03-01T12:00:00Z"
  }
 ]
}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// A table is a lock, and runs.
type table struct {
	lock run.Lock
	runs map[string]run.Run
}

// Lock is report.Runs.
func (b table) Lock(context.Context, string) (run.Lock, error) { return b.lock, nil }

// Run is report.Runs.
func (b table) Run(_ context.Context, id string) (run.Run, error) {
	if r, ok := b.runs[id]; ok {
		return r, nil
	}
	return run.Run{}, fault.New(fault.Missing, "there is no run %s", id)
}

// A queue says what each run does, also if one of them has expired.
func TestQueue(t *testing.T) {
	b := table{
		lock: run.Lock{Owner: run.Writer{Run: "abc"}, Waiting: []run.Writer{{Run: "def"}, {Run: "gone"}}},
		runs: map[string]run.Run{"abc": deploy(), "def": {Request: run.Request{ID: "def", Operation: "deploy", Upload: true}, State: run.StateQueued, Command: run.Continue, Requested: noon}},
	}
	got, err := report.QueueEntryOf(t.Context(), b, "shop@prod")
	if err != nil {
		t.Fatal(err)
	}
	want := &report.QueueEntry{
		Project: "shop@prod",
		Owner:   report.Owner{Run: "abc", Operation: "deploy", State: run.StateRunning, Who: "unknown principal of account 111122223333", Claim: "ann", Requester: "111122223333", Requested: noon, Does: "it finishes its running steps, then run def supersedes it (by bob: hotfix)"},
		Waiting: []report.Owner{
			{Run: "def", Operation: "deploy", State: run.StateQueued, Requested: noon, Does: "it deploys an upload, unless a newer upload replaces it"},
			{Run: "gone", Does: "it has ended"},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if l, err := report.QueueEntryOf(t.Context(), table{}, "shop@prod"); l != nil || err != nil {
		t.Errorf("nobody holds the lock: %v, %v", l, err)
	}
}

// An answer is shown with its step, and the command that a run obeys in the queue.
func TestAnswersAndCommands(t *testing.T) {
	r := deploy()
	r.Steps[1].Answer = run.Answer{ID: "request", Who: "ann", Why: "not today", Digest: "d", At: noon}
	r.Steps[0].Status, r.Steps[0].Result = run.Failed, plan.Result{Status: "ROLLBACK_COMPLETE"}
	if got := report.Of(r, noon).LeftBroken; !slices.Equal(got, []string{"vpc"}) {
		t.Errorf("left broken: %v", got)
	}
	want := &report.Answer{Who: "ann", Reason: "not today", Given: noon}
	if d := cmp.Diff(want, report.Of(r, noon).Steps[1].Answer); d != "" {
		t.Error(d)
	}
	for want, held := range map[string]run.Run{
		"it is paused (by ann: a check): only a person can continue it": {
			State: run.StateWaiting, Command: run.Pause, Commands: []run.GivenCommand{{Command: run.Pause, Who: "ann", Why: "a check"}, {Command: run.Continue, Who: "bob"}},
		},
		"it waits for the answer of a person": {State: run.StateWaiting, Command: run.Continue},
		"it finishes its running steps, then is cancelled (by bob)": {
			State: run.StateRunning, Command: run.Cancel, Commands: []run.GivenCommand{{Command: run.Cancel, Who: "bob"}},
		},
	} {
		held.ID = "abc"
		q, err := report.QueueEntryOf(t.Context(), table{lock: run.Lock{Owner: run.Writer{Run: "abc"}}, runs: map[string]run.Run{"abc": held}}, "shop@prod")
		if err != nil || q.Owner.Does != want {
			t.Errorf("got %q, %v, want %q", q.Owner.Does, err, want)
		}
	}
}

// A record that is read through the API has the level with which its stack was deployed.
func TestRecordKeepsItsLevel(t *testing.T) {
	want := plan.Record{Node: "db", Stack: "shop-db", Needs: []string{}, Approve: project.ApproveAlways}
	if got := report.RecordOf(report.StackOf(want)); cmp.Diff(want, got) != "" {
		t.Error(cmp.Diff(want, got))
	}
}
