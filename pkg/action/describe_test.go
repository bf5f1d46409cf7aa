package action_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A step that is over by its events is over only when the description of its stack is
// as new as they are: the outputs of an older description are those of before.
func TestPollWaitsForDescription(t *testing.T) {
	foreign := func(op action.Operation) action.Operation { op.Receipt.StackID = "other"; return op }
	for _, c := range []struct {
		name    string
		verb    plan.Verb
		prepare func(*action.Task)
		cloud   *cloud
		why     string // "" if the step is over
	}{
		{"a creation shows as in progress", plan.Create, nil, withEvents(is("CREATE_IN_PROGRESS"), operation("CREATE_COMPLETE", "")), behind("CREATE_COMPLETE", "CREATE_IN_PROGRESS")},
		{"a creation does not show yet", plan.Create, nil, withEvents(&cloud{}, operation("CREATE_COMPLETE", "")), behind("CREATE_COMPLETE", "gone")},
		{"an update shows as in progress", plan.Update, updated, withEvents(is("UPDATE_IN_PROGRESS"), operation("UPDATE_COMPLETE", "")), behind("UPDATE_COMPLETE", "UPDATE_IN_PROGRESS")},
		{"an update shows as in progress, and its operation is listed", plan.Update, updated, lists(withEvents(is("UPDATE_IN_PROGRESS"), operation("UPDATE_COMPLETE", "")), "op"),
			behind("UPDATE_COMPLETE", "UPDATE_IN_PROGRESS")},
		{"an update does not show yet", plan.Update, nil, withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", "")), behind("UPDATE_COMPLETE", "UPDATE_COMPLETE")},
		{"the operation is not listed yet", plan.Update, updated, lists(withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", "")), "before"), behind("UPDATE_COMPLETE", "UPDATE_COMPLETE")},
		{"the stack is another", plan.Update, updated, withEvents(is("UPDATE_COMPLETE"), foreign(operation("UPDATE_COMPLETE", ""))), behind("UPDATE_COMPLETE", "gone")},
		{"a failure shows as in progress", plan.Update, updated, withEvents(is("UPDATE_IN_PROGRESS"), operation("UPDATE_ROLLBACK_COMPLETE", "no")), behind("UPDATE_ROLLBACK_COMPLETE", "UPDATE_IN_PROGRESS")},
		{"a rollback shows as failed", plan.Continue, nil, withEvents(is("UPDATE_ROLLBACK_FAILED"), operation("UPDATE_ROLLBACK_COMPLETE", "")), behind("UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED")},
		{"a deletion shows as in progress", plan.Delete, nil, withEvents(is("DELETE_IN_PROGRESS"), operation("DELETE_COMPLETE", "")), behind("DELETE_COMPLETE", "DELETE_IN_PROGRESS")},
		{"a deletion that failed shows as in progress", plan.Delete, nil, withEvents(is("DELETE_IN_PROGRESS"), operation("DELETE_FAILED", "no")), behind("DELETE_FAILED", "DELETE_IN_PROGRESS")},
		{"what another has started since does not show yet", plan.Update, updated, withEvents(is("UPDATE_COMPLETE"), superseded(operation("UPDATE_COMPLETE", ""))), behind("UPDATE_IN_PROGRESS", "UPDATE_COMPLETE")},
		{"what another has started since is not listed yet", plan.Update, updated, lists(withEvents(is("UPDATE_IN_PROGRESS"), superseded(operation("UPDATE_COMPLETE", ""))), "op"),
			behind("UPDATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")},

		{"the cleanup has ended since", plan.Update, updated, lists(withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")), "op", "before"), ""},
		{"an update that was rolled back need not show a change", plan.Update, nil, withEvents(is("UPDATE_ROLLBACK_COMPLETE"), operation("UPDATE_ROLLBACK_COMPLETE", "no")), ""},
		{"what another has started since", plan.Update, updated, lists(withEvents(is("UPDATE_IN_PROGRESS"), superseded(operation("UPDATE_COMPLETE", ""))), "theirs", "op"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			in.Receipt, in.Notified = plan.Receipt{StackID: "id", Operation: "op"}, true
			if c.prepare != nil {
				c.prepare(&in)
			}
			got, err := act(c.cloud, c.verb).Poll(t.Context(), in)
			if err != nil || got.Over != (c.why == "") || !got.Over && (got.Why != c.why || got.Ended == "" || got.Record != nil || got.Forget) {
				t.Errorf("got %+v, %v; want %q", got, err, c.why)
			}
			if calls := strings.Join(c.cloud.calls, "; "); got.Over != (calls == "live; events") {
				t.Errorf("called %s", calls)
			}
		})
	}
}

// A description that has become as new as the events between two reads ends the step
// at once, with the outputs that it shows.
func TestPollReadsDescriptionAgain(t *testing.T) {
	c := withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", ""))
	in := task(plan.Update)
	in.Receipt, in.Notified, in.Record.Outputs = plan.Receipt{StackID: "id", Operation: "op"}, true, map[string]string{"Id": "0"}
	updated(&in)
	late := &late{cloud: c, first: plan.Live{StackID: "id", Status: "UPDATE_IN_PROGRESS", LastUpdated: epoch, Outputs: map[string]string{"Id": "0"}}}
	got, err := action.Named(action.All(late, nil, nil, nil, nil)...).Of(plan.Update).Poll(t.Context(), in)
	if err != nil || !got.Over || got.Record == nil || got.Record.Outputs["Id"] != "1" || !got.Record.LastUpdated.Equal(epoch) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// late is a cloud whose first description is older.
type late struct {
	*cloud
	first plan.Live
	read  bool
}

// Live is action.Cloud.
func (l *late) Live(ctx context.Context, p plan.Location) (plan.Live, error) {
	live, err := l.cloud.Live(ctx, p)
	if !l.read {
		l.read, live = true, l.first
	}
	return live, err
}
