package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A detection is a drift detection in memory. It is ready after a time.
type detection struct {
	stack string // its ID
	ready time.Time
	finds plan.Detection
}

// detecting is how long a drift detection takes.
const detecting = 5 * time.Second

// Drift changes the topic of the live stack of that name without CloudFormation, or deletes it.
func (c *Cloud) Drift(name string, deleted bool) {
	st := c.live[name]
	if st == nil {
		return
	}
	f := plan.Finding{Kind: plan.DriftModified, Resource: "Topic", Type: "AWS::SNS::Topic", Property: "DisplayName", Expected: "expected", Actual: "drifted"}
	if deleted {
		f = plan.Finding{Kind: plan.DriftDeleted, Resource: f.Resource, Type: f.Type}
	}
	st.drift = &f
}

// DriftInside changes the topic of the stack that is nested in the live stack of that name, without CloudFormation.
func (c *Cloud) DriftInside(name string) {
	if st := c.live[name]; st != nil && HasNested(versionOf(st.now.template)) {
		st.inside = &plan.Finding{Kind: plan.DriftModified, Resource: Nested + "/Topic", Type: "AWS::SNS::Topic", Property: "DisplayName", Expected: "expected", Actual: "drifted"}
	}
}

// Drifted reports whether the topic of the stack at a location is another than its template says.
func (c *Cloud) Drifted(p plan.Location) bool {
	st := c.find(p)
	return st != nil && st.drift != nil
}

// Restore lets the stack at a location be as its template says, as somebody can do without CloudFormation.
func (c *Cloud) Restore(p plan.Location) {
	if st := c.find(p); st != nil {
		st.drift = nil
	}
}

// detect starts a drift detection.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html
func (c *Cloud) detect(st *stack, t action.Task) (plan.Receipt, error) {
	switch {
	case st == nil || st.status == "DELETE_COMPLETE":
		return plan.Receipt{}, fault.New(fault.Missing, "stack does not exist")
	case st.status.Busy() || st.status.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is in %s state", st.name, st.status)
	case !st.status.Good() && !st.status.Restored() && !st.status.Stuck():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is in %s state", st.name, st.status)
	}
	for _, d := range c.detections {
		if d.stack == st.id && c.clock.Now().Before(d.ready) {
			return plan.Receipt{}, fault.New(fault.Busy, "Drift detection is already in progress for stack [%s]", st.id)
		}
	}
	id := fmt.Sprintf("drift %s %d", st.id, len(c.detections))
	d := detection{stack: st.id, ready: c.clock.Now().Add(detecting)}
	if st.inside != nil { // the adapter detects the drift of nested stacks, too
		d.finds.Findings = append(d.finds.Findings, *st.inside)
	}
	if st.drift != nil {
		d.finds.Findings = append(d.finds.Findings, *st.drift)
	}
	c.detections[id] = d
	return plan.Receipt{StackID: st.id, Operation: id}, nil
}

// Detection implements action.Cloud.
func (c *Cloud) Detection(_ context.Context, t action.Task) (plan.Detection, bool, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return plan.Detection{}, false, err
	}
	d, ok := c.detections[t.Receipt.Operation]
	switch {
	case !ok:
		return plan.Detection{}, false, fault.New(fault.Missing, "No drift detection found for id %s", t.Receipt.Operation)
	case c.clock.Now().Before(d.ready):
		return plan.Detection{}, false, nil
	}
	return d.finds, true, nil
}
