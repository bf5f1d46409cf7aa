package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A snapshot that cannot be made is refused with all reasons, and each says what to do.
func TestSnapshotIsRefused(t *testing.T) {
	f := newFixture()
	f.Snapshots = plan.Snapshots{Name: "s7"}
	for i := range plan.MostSnapshots {
		f.Snapshots.Named = append(f.Snapshots.Named, fmt.Sprint("s", i))
	}
	_, err := plan.TakeSnapshot(f.View)
	want := "there is a snapshot s7 already: choose another name, or delete it first: stackwright snapshots delete s7\n" +
		"shop@default has 50 snapshots, and at most 50 are kept: delete one first: stackwright snapshots delete NAME\n" +
		"shop@default: no deploy of all stacks has succeeded, or they were destroyed since, so there is no revision to name: deploy all stacks first"
	if got := strings.Join(fault.Messages(err), "\n"); got != want || !fault.Is(err, fault.Refused) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A snapshot says what it names, and whether something else was deployed since.
func TestSnapshotSaysWhatItNames(t *testing.T) {
	f := newFixture()
	f.Snapshots = plan.Snapshots{Name: "new", Current: "one"}
	p, err := plan.TakeSnapshot(f.View)
	if err != nil || len(p.Steps) > 0 || strings.Join(p.Messages, "\n") != "snapshot new names the files of run one" {
		t.Errorf("%v, %v", p.Messages, err)
	}
	f.Snapshots.Later = "two"
	if p, err = plan.TakeSnapshot(f.View); err != nil || len(p.Messages) != 2 || !strings.HasPrefix(p.Messages[1], "the last deploy, run two, was of some stacks only, or has not succeeded") {
		t.Errorf("%v, %v", p.Messages, err)
	}
}

// Only a snapshot that there is can be deleted.
func TestDeleteSnapshot(t *testing.T) {
	f := newFixture()
	f.Snapshots = plan.Snapshots{Name: "frist", Named: []string{"first"}}
	if _, err := plan.DeleteSnapshot(f.View); !fault.Is(err, fault.Missing) || !strings.Contains(err.Error(), "did you mean first?") {
		t.Error(err)
	}
	f.Snapshots.Name = "first"
	if p, err := plan.DeleteSnapshot(f.View); err != nil || len(p.Steps) > 0 {
		t.Errorf("%v, %v", p, err)
	}
}

// A restore is a rollback to a revision in all but how the revision is named.
func TestRestoreIsARollback(t *testing.T) {
	for restore, rollback := range map[string]string{"restore": "rollback-to", "plan-restore": "plan-rollback-to"} {
		got, want := plan.AllOperations().Of(restore), plan.AllOperations().Of(rollback)
		if !got.NamesSnapshot() || want.NamesSnapshot() || got.FromRevision != want.FromRevision || got.Approvable != want.Approvable || got.Writes != want.Writes || got.Preview != want.Preview || len(got.Options) != len(want.Options) {
			t.Errorf("%+v is not as %+v", got, want)
		}
	}
}
