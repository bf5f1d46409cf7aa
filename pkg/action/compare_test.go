package action_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A comparison waits until no operation is in progress, fails with what differs, and writes no record.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*action.Task)
		status  plan.Status
		over    bool
		fails   string
	}{
		{"as recorded", func(*action.Task) {}, "UPDATE_COMPLETE", true, ""},
		{"in progress", func(*action.Task) {}, "UPDATE_IN_PROGRESS", false, ""},
		{"cleaning up", func(*action.Task) {}, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", false, ""},
		{"failed", func(*action.Task) {}, "UPDATE_ROLLBACK_FAILED", true, "stack shop-vpc is not as recorded: it is UPDATE_ROLLBACK_FAILED"},
		{"never known", func(t *action.Task) { t.Record.StackID = "" }, "UPDATE_COMPLETE", true, "it is not known yet whether Stackwright made this stack"},
		{"with an intent", func(t *action.Task) { t.Record.Intent = true }, "UPDATE_COMPLETE", true, "it is not known yet whether Stackwright made this stack"},
	} {
		cloud := is(c.status)
		for id, l := range cloud.live {
			l.Project = "shop@prod"
			cloud.live[id] = l
		}
		in := task(plan.Compare)
		c.prepare(&in)
		got, err := act(cloud, plan.Compare).Poll(t.Context(), in)
		if err != nil || got.Over != c.over || got.Record != nil || got.Forget || (got.Err != nil) != (c.fails != "") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if c.fails != "" && (!fault.Is(got.Err, fault.Refused) || !strings.Contains(got.Err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %s", c.name, got.Err, c.fails)
		}
	}
	if _, err := act(failing(is("UPDATE_COMPLETE"), "live", io.EOF), plan.Compare).Poll(t.Context(), task(plan.Compare)); !errors.Is(err, io.EOF) {
		t.Errorf("it cannot be read: %v", err)
	}
}
