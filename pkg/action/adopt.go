package action

import (
	"context"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// adoptVerb records a live stack that Stackwright did not create. Nothing in AWS changes.
func adoptVerb(c Cloud) Verb {
	return Verb{Name: plan.Adopt, Action: adopt{c}, PollReads: 1, Past: "adopted"}
}

// adopt writes a live stack into a new record.
type adopt struct{ Cloud }

// Start does nothing: a poll reads the stack.
func (adopt) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll records the stack that the plan has seen. If somebody has changed it since, what is
// deployed is not known, and the next update is needed.
func (a adopt) Poll(ctx context.Context, t Task) (Progress, error) {
	var seen plan.Adoption
	if err := t.Step.Arguments.Read(plan.AdoptionVersion, &seen); err != nil {
		return Progress{}, err
	}
	where := t.Location()
	where.StackID = seen.StackID
	live, err := a.Live(ctx, where)
	switch {
	case err != nil:
		return Progress{}, err
	case live.Status.Gone():
		return Progress{Over: true, Err: fault.New(fault.Missing, "stack %s was deleted after the plan was made: retry the run", t.Node.Stack)}, nil
	case live.Status.Busy():
		return Progress{Over: true, Err: fault.New(fault.Busy, "stack %s is %s: wait until this operation has ended, then retry the run", t.Node.Stack, live.Status)}, nil
	case live.Project != seen.Project && live.Project != t.Project && live.Project != "":
		return Progress{Over: true, Err: fault.New(fault.Taken, "project %s has taken stack %s after the plan was made: forget it there first, then retry the run", live.Project, t.Node.Stack)}, nil
	}
	r := plan.Record{
		Node: t.Step.Node, Stack: t.Node.Stack, Target: t.Node.Target, StackID: live.StackID, Needs: slices.Clone(t.Node.Needs),
		Outputs: live.Outputs, LastUpdated: live.LastUpdated, Run: t.Run, Adopted: live.StackID, Approve: t.Node.Approve, Hooks: project.HooksOfDeletion(t.Node.Hooks), Retain: t.Node.Retain, Group: t.Node.Group,
		Restored: t.Node.Restored, Settings: plan.NewSettings(live, t.Node.IgnoreChanges),
	}
	why := "it differs from the project: the next deploy updates it"
	if r.Template = seen.Template; seen.Digest != "" {
		r.Digest, why = seen.Digest, "it is as the project says"
	}
	if !live.LastUpdated.Equal(seen.LastUpdated) { // nobody knows what is deployed now
		r.Digest, r.Template, r.LastUpdated, why = "", "", time.Time{}, "it was changed after the plan was made: the next deploy updates it"
	}
	return Progress{Over: true, Why: why, Record: &r, Adopts: live.StackID, Result: plan.ResultOf(live)}, nil
}
