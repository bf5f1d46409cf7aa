package action

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// deadline returns when t becomes overdue, or the zero time if t has no timeout.
func (t Task) deadline() time.Time { return t.Step.Deadline(t.Claimed) }

// overdue reports whether t has taken longer than it may.
func (t Task) overdue() bool {
	d := t.deadline()
	return !d.IsZero() && !t.Now.Before(d)
}

// lateMessage returns the message about an operation that is overdue or that the user cancels,
// and "" for any other. CloudFormation can cancel only updates.
func (t Task) lateMessage(live plan.Live) string {
	switch {
	case t.updates() && (t.Forced || t.overdue()) && live.Status == "UPDATE_ROLLBACK_IN_PROGRESS":
		return "CloudFormation rolls it back"
	case t.overdue():
		return "overdue since " + t.deadline().UTC().Format(time.RFC3339) + "; Stackwright waits until CloudFormation ends it"
	}
	return ""
}

// mustCancel reports whether t's operation is an update in progress that has to be
// cancelled.
func (t Task) mustCancel(live plan.Live) bool {
	return t.updates() && live.Status == "UPDATE_IN_PROGRESS" && (t.Forced || t.overdue())
}

// cancelUpdate cancels the update in progress if it is the task's own. Each poll repeats the
// request until CloudFormation shows the rollback. All repetitions have one token, so
// they are one request. An update that cannot be cancelled continues.
func (a change) cancelUpdate(ctx context.Context, t Task) (Progress, error) {
	op, err := a.Events(ctx, t)
	if err != nil || !op.Found || op.Over {
		return Progress{}, err
	}
	t.Receipt = op.Receipt
	p := Progress{Receipt: op.Receipt, Soon: true, Why: "its cancellation was requested from CloudFormation"}
	if err := a.Cancel(ctx, t); err != nil { // the update may have ended just now
		p.Why, p.Soon = "it cannot be cancelled: "+err.Error(), !fault.Is(err, fault.Denied, fault.Broken)
	}
	return p, nil
}

// cancelReason returns why Stackwright cancelled the operation at the given time.
func (t Task) cancelReason(then time.Time) string {
	if d := t.deadline(); d.IsZero() || t.Forced && then.Before(d) {
		return "it was cancelled, as requested"
	}
	return "it took longer than " + t.Step.Timeout.String() + " and was cancelled"
}
