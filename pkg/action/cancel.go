package action

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// deadline is when t is overdue; the zero time if it may take any time.
func (t Task) deadline() time.Time { return t.Step.Deadline(t.Claimed) }

// overdue reports whether t has taken longer than it may.
func (t Task) overdue() bool {
	d := t.deadline()
	return !d.IsZero() && !t.Now.Before(d)
}

// late returns what happens to an operation that is overdue or to be cancelled, and
// nothing for any other. Only an update can be cancelled so that the stack is as it
// was.
func (t Task) late(live plan.Live) string {
	switch {
	case t.Step.Verb == plan.Update && (t.Forced || t.overdue()) && live.Status == "UPDATE_ROLLBACK_IN_PROGRESS":
		return "CloudFormation rolls it back"
	case t.overdue():
		return "overdue since " + t.deadline().UTC().Format(time.RFC3339) + "; left to CloudFormation"
	}
	return ""
}

// unwanted reports whether t is to be cancelled and can be: it is an update that has
// not ended yet.
func (t Task) unwanted(live plan.Live) bool {
	return t.Step.Verb == plan.Update && live.Status == "UPDATE_IN_PROGRESS" && (t.Forced || t.overdue())
}

// stop cancels the update of a stack if it is ours, and says so. It repeats the
// request until CloudFormation shows the rollback; all repetitions have one token,
// so they are one request. An update that cannot be cancelled is left alone.
func (a change) stop(ctx context.Context, t Task) (Progress, error) {
	work, err := a.Events(ctx, t)
	if err != nil || !work.Found || work.Over {
		return Progress{}, err
	}
	work.Receipt.Restored = t.Receipt.Restored
	t.Receipt = work.Receipt
	p := Progress{Receipt: work.Receipt, Soon: true, Why: "CloudFormation is asked to cancel it"}
	if err := a.Cancel(ctx, t); err != nil { // the update may have ended just now
		p.Why, p.Soon = "it cannot be cancelled: "+err.Error(), !fault.Is(err, fault.Denied, fault.Broken)
	}
	return p, nil
}

// stopped says why Stackwright cancelled the operation at the given time.
func (t Task) stopped(then time.Time) string {
	if d := t.deadline(); d.IsZero() || t.Forced && then.Before(d) {
		return "it was cancelled, as requested"
	}
	return "it took longer than " + t.Step.Timeout.String() + " and was cancelled"
}
