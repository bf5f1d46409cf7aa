package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// An overdue operation is reported as overdue. An update that is overdue, or that is
// to be cancelled, is cancelled if it is ours and has not ended.
func TestOverdue(t *testing.T) {
	const requested = "its cancellation was requested from CloudFormation"
	const back = "CloudFormation rolls it back"
	const left = "overdue since 2030-01-01T11:59:50Z; Stackwright waits until CloudFormation ends it"
	limit := func(t *action.Task) {
		t.Receipt = plan.Receipt{StackID: "id", Operation: "op"}
		t.Step.Timeout, t.Claimed = project.LeastTimeout, now.Add(-70*time.Second)
	}
	force := func(t *action.Task) { t.Receipt, t.Forced = plan.Receipt{StackID: "id", Operation: "op"}, true }
	for _, c := range []struct {
		name    string
		verb    plan.Verb
		prepare func(*action.Task)
		cloud   *cloud
		why     string
		soon    bool
		calls   string
	}{
		{"in time", plan.Update, func(t *action.Task) { limit(t); t.Claimed = now.Add(-59 * time.Second) }, is("UPDATE_IN_PROGRESS"), "", false, "live"},
		{"just overdue", plan.Update, func(t *action.Task) { limit(t); t.Claimed = now.Add(-60 * time.Second) },
			withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), requested, true, "live; events; cancel"},
		{"without a limit", plan.Update, func(t *action.Task) { limit(t); t.Step.Timeout = 0 }, is("UPDATE_IN_PROGRESS"), "", false, "live"},
		{"forced", plan.Update, force, withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), requested, true, "live; events; cancel"},
		{"forced, and its answer was lost", plan.Update, func(t *action.Task) { t.Forced = true }, withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), requested, true, "live; events; cancel"},
		{"forced, and an event has arrived", plan.Update, func(t *action.Task) { force(t); t.Notified = true }, withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), requested, true, "live; events; cancel"},
		{"its rollback continues", plan.Update, limit, is("UPDATE_ROLLBACK_IN_PROGRESS"), back, false, "live"},
		{"its rollback continues, though cancelled by force", plan.Update, force, is("UPDATE_ROLLBACK_IN_PROGRESS"), back, false, "live"},
		{"its cleanup continues", plan.Update, force, withEvents(is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), operation("", "")), "", false, "live; events"},
		{"an operation without events may not be ours", plan.Update, func(t *action.Task) { t.Forced = true }, is("UPDATE_IN_PROGRESS"), "", false, "live; events; events"},
		{"an operation without events may not be ours, though there is a receipt", plan.Update, limit, is("UPDATE_IN_PROGRESS"), left, false, "live; events"},
		{"an operation that started after ours is not cancelled", plan.Update, func(t *action.Task) { force(t); updated(t); t.Notified = true },
			withEvents(is("UPDATE_IN_PROGRESS"), superseded(operation("UPDATE_COMPLETE", ""))), "over", false, "live; events; events"},
		{"it has just ended", plan.Update, force, failing(withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), "cancel", fault.New(fault.Refused, "too late")),
			"it cannot be cancelled: too late", true, "live; events; cancel"},
		{"throttled", plan.Update, force, failing(withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), "cancel", fault.New(fault.Throttled, "slow")),
			"it cannot be cancelled: slow", true, "live; events; cancel"},
		{"no permission to cancel", plan.Update, force, failing(withEvents(is("UPDATE_IN_PROGRESS"), operation("", "")), "cancel", fault.New(fault.Denied, "not allowed")),
			"it cannot be cancelled: not allowed", false, "live; events; cancel"},
		{"an overdue create", plan.Create, limit, is("CREATE_IN_PROGRESS"), left, false, "live"},
		{"a forced create", plan.Create, force, is("CREATE_IN_PROGRESS"), "", false, "live"},
		{"an overdue rollback", plan.Continue, limit, is("UPDATE_ROLLBACK_IN_PROGRESS"), left, false, "live"},
		{"an overdue deletion", plan.Delete, limit, is("DELETE_IN_PROGRESS"), left, false, "live"},
		{"an overdue deletion whose events are late", plan.Delete, func(t *action.Task) { limit(t); t.Notified = true }, withEvents(is("DELETE_IN_PROGRESS"), operation("", "")), left, false, "live; events"},
		{"an operation that the step only waits for", plan.Wait, func(t *action.Task) { limit(t); t.Forced = true }, is("UPDATE_IN_PROGRESS"), "", false, "live"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			c.prepare(&in)
			got, err := act(c.cloud, c.verb).Poll(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if over := c.why == "over"; got.Over != over || !over && got.Why != c.why || got.Soon != c.soon {
				t.Errorf("got %+v", got)
			}
			if calls := strings.Join(c.cloud.calls, "; "); calls != c.calls {
				t.Errorf("called %s", calls)
			}
		})
	}
}

// The result of an update that Stackwright cancelled says why.
func TestStopped(t *testing.T) {
	started := now.Add(-10 * time.Minute)
	for _, c := range []struct {
		name      string
		timeout   time.Duration
		forced    bool
		stopped   time.Duration // after it started; 0 is never
		operation action.Operation
		want      string
	}{
		{"overdue", 5 * time.Minute, false, 5 * time.Minute, operation("UPDATE_ROLLBACK_COMPLETE", ""), "UPDATE_ROLLBACK_COMPLETE: it took longer than 5m and was cancelled"},
		{"forced", 0, true, time.Minute, operation("UPDATE_ROLLBACK_COMPLETE", ""), "UPDATE_ROLLBACK_COMPLETE: it was cancelled, as requested"},
		{"forced before it was overdue", 5 * time.Minute, true, time.Minute, operation("UPDATE_ROLLBACK_COMPLETE", ""), "UPDATE_ROLLBACK_COMPLETE: it was cancelled, as requested"},
		{"forced after it was overdue", 5 * time.Minute, true, 5 * time.Minute, operation("UPDATE_ROLLBACK_COMPLETE", ""), "UPDATE_ROLLBACK_COMPLETE: it took longer than 5m and was cancelled"},
		{"CloudFormation's clock is behind", 5 * time.Minute, false, 4 * time.Minute, operation("UPDATE_ROLLBACK_COMPLETE", ""), "UPDATE_ROLLBACK_COMPLETE: it took longer than 5m and was cancelled"},
		{"and its rollback failed", 5 * time.Minute, false, 5 * time.Minute, operation("UPDATE_ROLLBACK_FAILED", "no room"), "UPDATE_ROLLBACK_FAILED: it took longer than 5m and was cancelled: no room"},
		{"failed by itself, though late", 5 * time.Minute, true, 0, operation("UPDATE_ROLLBACK_COMPLETE", "no room"), "UPDATE_ROLLBACK_COMPLETE: no room"},
		{"done, though late", 5 * time.Minute, true, 0, operation("UPDATE_COMPLETE", ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(plan.Update)
			updated(&in)
			in.Receipt, in.Claimed, in.Forced, in.Step.Timeout = plan.Receipt{StackID: "id", Operation: "op"}, started, c.forced, project.Timeout(c.timeout)
			if c.stopped > 0 {
				c.operation.Stopped = started.Add(c.stopped)
			}
			got, err := act(withEvents(is(c.operation.Status), c.operation), plan.Update).Poll(t.Context(), in)
			if err != nil || !got.Over {
				t.Fatal(got, err)
			}
			if got.Err == nil && c.want == "" {
				return
			}
			if got.Err == nil || got.Err.Error() != c.want {
				t.Errorf("got %v", got.Err)
			}
		})
	}
}
