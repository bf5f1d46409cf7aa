package action

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// bakeVerb waits after a wave of a rollout, and watches its alarms.
func bakeVerb(h Hooks) Verb { return Verb{Name: plan.Bake, Action: bake{h}, Past: "waves baked"} }

// bake is over when the time to bake has passed since the targets of its wave were changed, and fails as soon as a poll finds an alarm
// of them in the state ALARM. Nothing runs meanwhile.
type bake struct{ Hooks }

// watched is how often alarms are read: CloudWatch evaluates most of them once a minute.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
const watched = time.Minute

// Start does nothing.
func (bake) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reads the alarms, if there are any, and then the clock. If no step of this run has changed a target, the time counts from when
// the last of them was changed before.
func (a bake) Poll(ctx context.Context, t Task) (Progress, error) {
	var b plan.Baking
	if err := t.Step.Arguments.Read(plan.BakingVersion, &b); err != nil {
		return Progress{}, err
	}
	for _, target := range b.Targets {
		on, err := a.InAlarm(ctx, t.Project, target, b.Alarms)
		switch {
		case err != nil:
			return Progress{}, fmt.Errorf("target %s: %w", target.Name, err)
		case len(on) > 0:
			return Progress{Over: true, Err: fault.New(fault.Refused, "in target %s (account %s, region %s), the state ALARM has %s: no other wave begins; retry the run when it has ended, or roll back (stackwright rollback --to current)",
				target.Name, target.Account, target.Region, strings.Join(on, ", "))}, nil
		}
	}
	began := b.Since
	if t.Changed {
		began = t.Claimed
	}
	ends := began.Add(time.Duration(b.For))
	if !t.Now.Before(ends) {
		return Progress{Over: true}, nil
	}
	next := ends
	if soon := t.Now.Add(watched); len(b.Alarms) > 0 && soon.Before(ends) {
		next = soon
	}
	return Progress{Why: "bakes until " + ends.UTC().Format(time.DateTime) + " UTC", Next: next}, nil
}
