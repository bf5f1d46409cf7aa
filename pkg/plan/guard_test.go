package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A deploy without a limit of its own deletes at most ten stacks or half of them,
// whichever is less, but always one.
func TestMaxDeletions(t *testing.T) {
	for recorded, most := range map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 19: 9, 20: 10, 21: 10, 1000: 10} {
		w := newFixture()
		w.Desired.MaxDeletions = nil
		w.have("CREATE_COMPLETE", numbered("s", recorded))
		if got := w.MaxDeletions(); got != most {
			t.Errorf("of %d stacks %d may be deleted, want %d", recorded, got, most)
		}
		for _, limit := range []int{0, 7} {
			w.Desired.MaxDeletions = new(limit)
			if got := w.MaxDeletions(); got != limit {
				t.Errorf("of %d stacks %d may be deleted, though %d was said", recorded, got, limit)
			}
		}
		w.Desired.MaxDeletions = nil
		for going := range min(recorded, 13) {
			clear(w.Desired.Nodes)
			w.want(strings.Join(strings.Fields(numbered("s", recorded))[going:], " "))
			if _, err := plan.Deploy(w.View); (err != nil) != (going > most) {
				t.Errorf("%d of %d: %v", going, recorded, err)
			}
		}
	}
}

// numbered lists names.
func numbered(name string, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "%s%d ", name, i)
	}
	return b.String()
}

// A permanent deletion counts: of a stack that exists, is ours, and is no longer
// desired, for instance because it gets another physical name.
func TestWhatCountsAsADeletion(t *testing.T) {
	w := newFixture()
	w.Desired.MaxDeletions = new(0)
	w.have("ROLLBACK_COMPLETE", "dead")
	w.have("CREATE_COMPLETE", "theirs moved old")
	w.have("DELETE_COMPLETE", "gone")
	w.want("dead new moved")
	l := w.Live["theirs"]
	l.StackID = "theirs"
	w.Live["theirs"] = l
	n := w.Desired.Nodes["moved"]
	n.Stack = "legacy"
	w.Desired.Nodes["moved"] = n
	w.Recorded, _, _ = plan.Rename(w.Desired, w.Recorded)
	w.Live["id-moved"] = w.Live["moved"]
	delete(w.Live, "moved")
	p, err := plan.Deploy(w.View)
	expect(t, p, err, "2 of the 5 recorded stacks would be deleted for good (moved (shop-moved), old), and at most 0 may be: "+
		"if that is meant, write max_deletions: 2 in the project file, or deploy with --max-deletions 2 (options.max_deletions of a request)")
	w.Desired.MaxDeletions = new(2)
	if p, err := plan.Deploy(w.View); err != nil || len(p.Steps) == 0 {
		t.Errorf("with as many as that takes: %v", err)
	}
	w.Desired.MaxDeletions = new(0)
	if _, err := plan.Destroy(w.View); err != nil {
		t.Errorf("a destroy is asked for as such: %v", err)
	}
}

// A project without stacks does not delete all its recorded stacks, whatever the
// limit is.
func TestNothingIsNotEverything(t *testing.T) {
	w := newFixture()
	if p, err := plan.Deploy(w.View); err != nil || len(p.Steps) > 0 {
		t.Errorf("nothing is desired and nothing recorded: %v, %v", p, err)
	}
	w.have("CREATE_COMPLETE", "vpc db<vpc")
	p, err := plan.Deploy(w.View)
	expect(t, p, err, "project shop@default has no stacks, and 2 are recorded: to delete all its stacks, use destroy")
	if !fault.Is(err, fault.Refused) {
		t.Errorf("it is of kind %s", fault.KindOf(err))
	}
}

// Too many deletions are reported together with all other refusals, and protected
// stacks count among them, so that the next attempt is not refused again. Of very
// many stacks only the first are named.
func TestAllGuardsTogether(t *testing.T) {
	w := newFixture()
	w.Desired.MaxDeletions = nil
	w.want("foreign lost stuck")
	w.have("CREATE_COMPLETE", "a b c kept")
	w.have("IMPORT_ROLLBACK_FAILED", "lost")
	w.have("UPDATE_ROLLBACK_FAILED", "stuck")
	l := w.Live["kept"]
	l.Protected = true
	w.Live["kept"] = l
	w.Live["foreign"] = plan.Live{StackID: "theirs", Status: "CREATE_COMPLETE"}
	p, err := plan.Deploy(w.View)
	expect(t, p, err, `
		4 of the 6 recorded stacks would be deleted for good (a, b, c, kept), and at most 3 may be: if that is meant, write max_deletions: 4 in the project file, or deploy with --max-deletions 4 (options.max_deletions of a request)
		stack foreign: shop-foreign exists (CREATE_COMPLETE) and is not managed by Stackwright: write another name under stack_name:; taking over existing stacks is not supported yet
		stack lost: it is IMPORT_ROLLBACK_FAILED, which Stackwright cannot repair: see its events in CloudFormation
		stack kept: it is protected, and so it is not deleted: deploy it with protect: false first`)

	w = newFixture()
	w.Desired.MaxDeletions = nil
	w.want("stays")
	w.have("CREATE_COMPLETE", numbered("s", 70))
	if _, err := plan.Deploy(w.View); err == nil || !strings.Contains(err.Error(), "70 of the 70 recorded") || !strings.Contains(err.Error(), "s53 and 20 more)") {
		t.Errorf("got %v", err)
	}
}
