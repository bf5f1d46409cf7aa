package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A snapshot names what is deployed when its run ends, and keeps it: also when the revision is not among the newest ones any more, and after a destroy.
func TestSnapshotsKeepTheirRevisions(t *testing.T) {
	var l run.Lock
	minute := 0
	end := func(operation, id, version, snapshot string, state run.State) {
		minute++
		r := deployed(id, operation, version, minute, state)
		r.Snapshot, r.Reason = snapshot, "why "+id
		l.Owner = run.Writer{Run: id}
		l = l.Leave(r, plan.AllOperations().Of(operation), "next").Lock
	}
	names := func() string {
		var all []string
		for _, s := range l.Snapshots {
			all = append(all, s.Name+"="+s.Revision.Run)
		}
		return strings.Join(all, " ")
	}
	end("deploy", "one", "v1", "", run.StateSucceeded)
	end("snapshot", "s1", "", "first", run.StateSucceeded)
	end("snapshot", "s2", "", "cancelled", run.StateCancelled)
	for i := range run.MostRevisions + 3 {
		end("deploy", fmt.Sprint("r", i), fmt.Sprint("w", i), "", run.StateSucceeded)
	}
	end("snapshot", "s3", "", "second", run.StateSucceeded)
	if got := names(); got != "second=r22 first=one" {
		t.Errorf("the snapshots are %s", got)
	}
	if s, err := l.Snapshot("first"); err != nil || s.Run != "s1" || s.Reason != "why s1" || s.Revision.Values != "values of one" || s.String() != "snapshot first was made by ann at 2026-03-01T12:02:00Z" {
		t.Errorf("%+v, %v", s, err)
	}
	if v, err := l.Revision("shop@prod", "one", l.Revisions(plan.AllOperations(), nil)); err != nil || v.Source != source("v1") {
		t.Errorf("the revision of a snapshot is %+v, %v", v, err)
	}
	if kept := l.Kept(); len(kept) != run.MostRevisions+1 || kept[run.MostRevisions].Run != "one" {
		t.Errorf("%d revisions are kept", len(kept))
	}
	end("destroy", "gone", "", "", run.StateSucceeded)
	if v, known := l.Deployed(); known {
		t.Errorf("after a destroy, %s is deployed", v.Run)
	}
	end("delete-snapshot", "d1", "", "second", run.StateFailed)
	end("plan-delete-snapshot", "p1", "", "second", run.StateSucceeded)
	end("delete-snapshot", "d2", "", "first", run.StateSucceeded)
	if got := names(); got != "second=r22" {
		t.Errorf("the snapshots are %s", got)
	}
	if _, err := l.Snapshot("secnd"); !fault.Is(err, fault.Missing) || !strings.Contains(err.Error(), `there is no snapshot "secnd": did you mean second?`) {
		t.Error(err)
	}
	end("restore", "back", "w22", "second", run.StateSucceeded)
	if v, known := l.Deployed(); !known || v.Run != "back" {
		t.Errorf("after a restore, %+v is deployed", v)
	}
}

// The policy of snapshots is that of the files that a user or a promotion has deployed last: old files that are deployed again do not say that newer snapshots are deleted.
func TestSnapshotPolicyIsNotThatOfOldFiles(t *testing.T) {
	var l run.Lock
	for i, c := range []struct {
		operation  string
		keep, want int
	}{{"deploy", 9, 9}, {"restore", 1, 9}, {"rollback-to", 1, 9}, {"promote", 5, 5}, {"deploy", 7, 7}} {
		r := deployed(fmt.Sprint("r", i), c.operation, fmt.Sprint("v", i), i, run.StateSucceeded)
		r.SnapshotPolicy, r.Revision = &project.SnapshotPolicy{Keep: c.keep}, "r0"
		l.Owner = run.Writer{Run: r.ID}
		if l = l.Leave(r, plan.AllOperations().Of(c.operation), "next").Lock; l.SnapshotPolicy.Keep != c.want {
			t.Errorf("after a %s with keep: %d, the policy is %s", c.operation, c.keep, l.SnapshotPolicy)
		}
	}
}

// What a plan knows of snapshots says which run has changed stacks since the last deploy of all that succeeded.
func TestAboutSnapshot(t *testing.T) {
	h := run.History{LastSuccessful: source("v1"), LastAttempted: run.Attempt{Run: "failed", Source: source("v2")}, Successful: []run.Revision{{Run: "one", Source: source("v1")}}}
	if got := h.AboutSnapshot("new", time.Time{}); got.Name != "new" || got.Current != "one" || got.Later != "failed" {
		t.Errorf("%+v", got)
	}
	h.LastAttempted.Source = source("v1")
	if got := h.AboutSnapshot("new", time.Time{}); got.Later != "" {
		t.Errorf("%+v", got)
	}
	h.Successful = nil
	if got := h.AboutSnapshot("new", time.Time{}); got.Current != "" {
		t.Errorf("%+v", got)
	}
}

// The snapshot of a run has the backups that its steps have made. One that a step has deleted leaves the history, also if another step has failed; the snapshot
// leaves it with its last step.
func TestSnapshotsHaveBackups(t *testing.T) {
	data := func(resource string) plan.Data { return plan.Data{Node: "db", Resource: resource} }
	step := func(v plan.Verb, of any, s run.Status, arn string) run.Step {
		arguments, err := plan.NewArguments(1, of)
		if err != nil {
			t.Fatal(err)
		}
		return run.Step{Step: plan.Step{ID: string(v) + arn, Verb: v, Arguments: arguments}, Status: s, Receipt: plan.Receipt{Backup: arn}}
	}
	deletes := func(arn string, s run.Status) run.Step {
		return step(plan.DeleteBackup, plan.BackupDeletion{Snapshot: "before", Backups: []plan.Backup{{Data: data(arn), ARN: arn}}}, s, "")
	}
	l := run.Lock{Owner: run.Writer{Run: "d"}}
	l.LastSuccessful = run.Source{Key: "k"}
	l.Successful = []run.Revision{{Run: "r", Source: l.LastSuccessful}}
	after := func(operation string, state run.State, steps ...run.Step) string {
		r := run.Run{Request: run.Request{ID: "d", Operation: operation, Options: run.Options{Snapshot: "before"}}, State: state, Steps: steps}
		l.History, l.Owner = l.Leave(r, plan.AllOperations().Of(operation), "").Lock.History, run.Writer{Run: "d"}
		text := ""
		for _, s := range l.Snapshots {
			text += s.Name + ":"
			for _, b := range s.Backups {
				text += " " + b.Data.String() + "=" + b.ARN
				if b.Deleted {
					text += ", deleted"
				}
			}
		}
		return text
	}
	made := []run.Step{step(plan.BackUp, plan.Backing{Snapshot: "before", Data: data("a")}, run.Done, "a"), step(plan.BackUp, plan.Backing{Snapshot: "before", Data: data("b")}, run.Done, "b")}
	drop := func(s run.Status) run.Step {
		return step(plan.DropSnapshot, plan.BackupDeletion{Snapshot: "before"}, s, "")
	}
	for i, c := range []struct{ got, want string }{
		{after("snapshot", run.StateFailed, made...), ""},
		{after("snapshot", run.StateSucceeded, made...), "before: db.a=a db.b=b"},
		{after("delete-snapshot", run.StateFailed, deletes("a", run.Done), deletes("b", run.Failed), drop(run.Skipped)), "before: db.a=a, deleted db.b=b"},
		{after("prune-snapshots", run.StateFailed, deletes("b", run.Done), drop(run.Skipped)), "before: db.a=a, deleted db.b=b, deleted"},
		{after("prune-snapshots", run.StateFailed, drop(run.Done)), ""},
	} {
		if c.got != c.want {
			t.Errorf("%d: %q, want %q", i, c.got, c.want)
		}
	}
	cancelled := run.Run{State: run.StateCancelled, Steps: append(made, deletes("a", run.Done))}
	if got := cancelled.Ending(run.StateCancelled); len(got) != 1 || !strings.Contains(got[0], "the backup b of db.b is left") {
		t.Errorf("it says %q", got)
	}
	unanswered := step(plan.BackUp, plan.Backing{Snapshot: "before", Data: data("c")}, run.Failed, "")
	unstarted := step(plan.BackUp, plan.Backing{Snapshot: "before", Data: data("d")}, run.Skipped, "")
	unanswered.Attempt = 1
	forced := run.Run{Request: run.Request{ID: "f", Project: "shop@prod"}, TokenKey: "key", State: run.StateFailed, Steps: []run.Step{unanswered, unstarted}}
	want := "the backup " + plan.BackupName("f", "key", "shop@prod", "before", data("c")) + " of db.c may have been made"
	if got := forced.LeftBehind(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("it says %q, not %q", got, want)
	}
	if got := cancelled.Ending(run.StateSucceeded); got != nil {
		t.Errorf("it says %q", got)
	}
}

// What a restore was to create from backups, and has not, or what its rollback deletes, is known until a run has deployed the stack, or has deleted it and is no
// rollback, or until a deploy of all stacks succeeds. A stack that exists is not to be created.
func TestUnrestored(t *testing.T) {
	backup := func(node string) plan.Backup {
		return plan.Backup{Data: plan.Data{Node: node, Resource: "Database", Property: "DBSnapshotIdentifier"}, ARN: "arn of " + node}
	}
	table := backup("table")
	table.Property = ""
	step := func(node string, v plan.Verb, s run.Status) run.Step {
		return run.Step{Step: plan.Step{ID: plan.StepID(node, v, ""), Node: node, Verb: v}, Status: s}
	}
	var l run.Lock
	l.Snapshots = []run.Snapshot{{Name: "first", Backups: []plan.Backup{backup("a"), backup("b"), backup("c"), table}}}
	var request run.Request // what the runs from here on are requested with
	end := func(want, operation string, state run.State, steps ...run.Step) {
		t.Helper()
		r := deployed("r"+operation, operation, "v1", 1, state)
		r.Rollback, r.Only = request.Rollback, request.Only
		r.Snapshot, r.Steps, l.Owner = map[bool]string{true: "first"}[strings.HasSuffix(operation, "restore")], steps, run.Writer{Run: r.ID}
		l = l.Leave(r, plan.AllOperations().Of(operation), "next").Lock
		if got := fmt.Sprint(l.Unrestored); got != "map["+want+"]" {
			t.Errorf("after a %s that has %s: %s", operation, state, got)
		}
	}
	end("", "deploy", run.StateFailed, step("a", plan.Create, run.Failed))
	end("", "plan-restore", run.StateSucceeded, step("a", plan.Create, run.Pending))
	end("a.Database:arn of a b.Database:arn of b", "restore", run.StateFailed,
		step("a", plan.Create, run.Skipped), step("b", plan.Delete, run.Done), step("b", plan.Create, run.Failed), step("c", plan.Update, run.Done), step("table", plan.Create, run.Skipped))
	end("a.Database:arn of a b.Database:arn of b", "deploy", run.StateCancelled, step("b", plan.Delete, run.Done), step("b", plan.Create, run.Skipped))
	end("b.Database:arn of b", "deploy", run.StateFailed, step("a", plan.Create, run.Done), step("b", plan.Create, run.Failed))
	end("", "deploy", run.StateFailed, step("b", plan.Delete, run.Done))
	end("", "restore", run.StateCancelled, step("c", plan.Update, run.Skipped))
	end("c.Database:arn of c", "restore", run.StateCancelled, step("c", plan.CreateEmpty, run.Skipped), step("c", plan.Update, run.Skipped))
	end("c.Database:arn of c", "plan-destroy", run.StateSucceeded)
	end("c.Database:arn of c", "destroy", run.StateFailed)
	end("c.Database:arn of c", "forget", run.StateSucceeded, step("b", plan.Forget, run.Done))
	end("", "destroy", run.StateSucceeded)
	end("c.Database:arn of c", "restore", run.StateCancelled, step("c", plan.Create, run.Skipped))
	end("", "forget", run.StateSucceeded, step("c", plan.Forget, run.Done))

	request.Rollback = true // a rollback follows, because no deploy has succeeded since the destroy
	end("a.Database:arn of a", "restore", run.StateFailed, step("a", plan.Create, run.Done), step("b", plan.Update, run.Done), step("c", plan.Update, run.Failed))
	end("a.Database:arn of a", "rollback", run.StateSucceeded, step("a", plan.Delete, run.Done))
	l.LastSuccessful = run.Source{}
	end("a.Database:arn of a", "deploy", run.StateFailed, step("a", plan.Create, run.Done), step("c", plan.Update, run.Failed))
	end("a.Database:arn of a", "rollback", run.StateFailed, step("a", plan.Delete, run.Done), step("a", plan.Create, run.Failed))
	end("", "rollback", run.StateSucceeded, step("a", plan.Create, run.Done))

	request.Rollback = false
	end("a.Database:arn of a", "restore", run.StateCancelled, step("a", plan.Create, run.Skipped))
	end("a.Database:arn of a", "deploy", run.StateFailed, step("b", plan.Create, run.Failed))
	request.Only = []string{"b"}
	end("a.Database:arn of a", "deploy", run.StateSucceeded, step("b", plan.Create, run.Done))
	request.Only = nil
	end("a.Database:arn of a", "deploy", run.StateSucceeded, step("a", plan.Create, run.Failed))
	end("", "deploy", run.StateSucceeded)
}
