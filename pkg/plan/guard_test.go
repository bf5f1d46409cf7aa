package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Without max_deletions, a deploy may delete ten stacks or half of the recorded ones,
// whichever is less, and always one.
func TestMaxDeletions(t *testing.T) {
	for recorded, most := range map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 19: 9, 20: 10, 21: 10, 1000: 10} {
		f := newFixture()
		f.Desired.MaxDeletions = nil
		f.have("CREATE_COMPLETE", numbered("s", recorded))
		if got := f.MaxDeletions(); got != most {
			t.Errorf("of %d stacks %d may be deleted, want %d", recorded, got, most)
		}
		for _, limit := range []int{0, 7} {
			f.Desired.MaxDeletions = new(limit)
			if got := f.MaxDeletions(); got != limit {
				t.Errorf("of %d stacks %d may be deleted, though max_deletions is %d", recorded, got, limit)
			}
		}
		f.Desired.MaxDeletions = nil
		for going := range min(recorded, 13) {
			clear(f.Desired.Nodes)
			f.want(strings.Join(strings.Fields(numbered("s", recorded))[going:], " "))
			if _, err := plan.Deploy(f.View); (err != nil) != (going > most) {
				t.Errorf("%d of %d: %v", going, recorded, err)
			}
		}
	}
}

// numbered returns a list of names: "s0 s1 s2 ".
func numbered(name string, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "%s%d ", name, i)
	}
	return b.String()
}

// The limit counts permanent deletions: of stacks that exist, are ours, and are no
// longer desired, for instance because their node gets another physical name.
func TestLimitCountsPermanentDeletions(t *testing.T) {
	f := newFixture()
	f.Desired.MaxDeletions = new(0)
	f.have("ROLLBACK_COMPLETE", "dead")
	f.have("CREATE_COMPLETE", "theirs moved old")
	f.have("DELETE_COMPLETE", "gone")
	f.want("dead new moved")
	l := f.Live["theirs"]
	l.StackID = "theirs"
	f.Live["theirs"] = l
	n := f.Desired.Nodes["moved"]
	n.Stack = "legacy"
	f.Desired.Nodes["moved"] = n
	f.Recorded, _, _ = plan.Rename(f.Desired, f.Recorded, plan.Selection{})
	f.Live["id-moved"] = f.Live["moved"]
	delete(f.Live, "moved")
	p, err := plan.Deploy(f.View)
	expect(t, p, err, "2 of the 5 recorded stacks would be deleted permanently (moved (shop-moved), old), and at most 0 may be: "+
		"if this is intended, write max_deletions: 2 in the project file, or deploy with --max-deletions 2 (options.max_deletions of a request)")
	f.Desired.MaxDeletions = new(2)
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) == 0 {
		t.Errorf("with a limit of 2: %v", err)
	}
	f.Desired.MaxDeletions = new(0)
	if _, err := plan.Destroy(f.View); err != nil {
		t.Errorf("destroy has no limit: %v", err)
	}
}

// A deploy of a project without stacks does not delete all recorded stacks, whatever
// the limit is.
func TestDeployNeverDeletesAllStacks(t *testing.T) {
	f := newFixture()
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) > 0 {
		t.Errorf("nothing desired, nothing recorded: %v, %v", p, err)
	}
	f.have("CREATE_COMPLETE", "vpc db<vpc")
	p, err := plan.Deploy(f.View)
	expect(t, p, err, "project shop@default has no stacks, and 2 are recorded: to delete all its stacks, use destroy")
	if !fault.Is(err, fault.Refused) {
		t.Errorf("it is of kind %s", fault.KindOf(err))
	}
}

// A deploy does not delete a stack that its files say to ignore.
func TestDeployNeverDeletesIgnoredStacks(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc db")
	f.want("vpc")
	f.Desired.Ignored = []string{"db"}
	p, err := plan.Deploy(f.View)
	expect(t, p, err, "vpc/update")
	want := []string{"left alone, because the project's files say enabled: false: db"}
	if !slices.Equal(p.Messages, want) {
		t.Errorf("messages %q", p.Messages)
	}
	f.Desired.Nodes = nil // its name is all that is known of the only stack
	f.Desired.Ignored = []string{"db", "vpc"}
	p, err = plan.Deploy(f.View)
	expect(t, p, err, "")
	p, err = plan.Destroy(f.View)
	expect(t, p, err, "")
}

// What a stack depends on that is left alone is not deleted, and no plan deletes what depends on that.
func TestDependenciesOfIgnoredStacksStay(t *testing.T) {
	f := newFixture()
	f.Desired.MaxDeletions = nil
	f.have("CREATE_COMPLETE", "vpc subnet<vpc db<subnet web other")
	f.want("db other")
	f.Desired.Ignored = []string{"db"}
	p, err := plan.Deploy(f.View)
	expect(t, p, err, `
		3 of the 5 recorded stacks would be deleted permanently (subnet, vpc, web), and at most 2 may be: if this is intended, write max_deletions: 3 in the project file, or deploy with --max-deletions 3 (options.max_deletions of a request)
		stack subnet would be deleted, but stacks depend on it (db) that are left alone because the project's files say enabled: false: enable or remove these, or leave subnet in the project; a destroy knows the files of the last deploy`)
}

// A stack that is left alone keeps its place, although its files name another one, and takes part in no move of resources.
func TestIgnoredStacksKeepTheirPlace(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "db")
	f.want("db")
	f.Desired.Ignored = []string{"db"}
	n := f.Desired.Nodes["db"]
	n.Stack = "other"
	f.Desired.Nodes["db"] = n
	all, leave, take := plan.Rename(f.Desired, f.Recorded, plan.Selection{})
	if len(leave)+len(take) != 0 || all["db"].Stack != f.Recorded["db"].Stack {
		t.Errorf("%v %v %v", all, leave, take)
	}
}

// Too many deletions are reported together with all other refusals. Protected stacks
// count as deletions, so that the next attempt is not refused for them. A message names
// at most 50 stacks.
func TestTooManyDeletionsWithOtherRefusals(t *testing.T) {
	f := newFixture()
	f.Desired.MaxDeletions = nil
	f.want("foreign lost stuck")
	f.have("CREATE_COMPLETE", "a b c kept")
	f.have("IMPORT_ROLLBACK_FAILED", "lost")
	f.have("UPDATE_ROLLBACK_FAILED", "stuck")
	l := f.Live["kept"]
	l.Protected = true
	f.Live["kept"] = l
	f.Live["foreign"] = plan.Live{StackID: "theirs", Status: "CREATE_COMPLETE"}
	p, err := plan.Deploy(f.View)
	expect(t, p, err, `
		4 of the 6 recorded stacks would be deleted permanently (a, b, c, kept), and at most 3 may be: if this is intended, write max_deletions: 4 in the project file, or deploy with --max-deletions 4 (options.max_deletions of a request)
		stack foreign: shop-foreign exists (CREATE_COMPLETE) and is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name:
		stack lost: it is IMPORT_ROLLBACK_FAILED, and Stackwright cannot repair it: see its events in CloudFormation
		stack kept: it is protected, and so it is not deleted: deploy it with protect: false first`)

	f = newFixture()
	f.Desired.MaxDeletions = nil
	f.want("stays")
	f.have("CREATE_COMPLETE", numbered("s", 70))
	if _, err := plan.Deploy(f.View); err == nil || !strings.Contains(err.Error(), "70 of the 70 recorded") || !strings.Contains(err.Error(), "s53 and 20 more)") {
		t.Errorf("got %v", err)
	}
}
