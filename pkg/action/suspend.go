package action

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// Switches stops and starts what stacks have. Its methods are those of suspend.Services.
type Switches interface {
	// Running lists what a stack has that runs and can be stopped, and says what keeps running.
	Running(ctx context.Context, in project.Target, stack string) (running []plan.Stopped, fixed []string, err error)

	// Stoppable says what Stop would stop in a stack.
	Stoppable(ctx context.Context, in project.Target, stack string) (plan.PlannedSuspension, error)

	// Startable says what Start would start of a record.
	Startable(ctx context.Context, in project.Target, all []plan.Stopped) (plan.PlannedSuspension, error)

	// Stop stops resources.
	Stop(ctx context.Context, in project.Target, all []plan.Stopped) error

	// Start starts resources as they were.
	Start(ctx context.Context, in project.Target, all []plan.Stopped) error

	// Unsettled lists what is not yet off, or not yet on, and what is gone.
	Unsettled(ctx context.Context, in project.Target, all []plan.Stopped, on bool) (unsettled, gone []string, err error)
}

// suspendVerb stops what runs in a stack.
func suspendVerb(x Switches) Verb {
	a := stops{x}
	return Verb{Name: plan.Suspend, Action: a, Before: a.record, Past: "suspended"}
}

// stops stops what its record says. The claim has written the record, so that a suspend after a crash does not take what is stopped
// already for how it was before. Only the function that has the claim stops anything, and only while no other can end the step.
type stops struct{ Switches }

// record returns the record with what runs in the stack.
func (a stops) record(ctx context.Context, t Task) (plan.Record, error) {
	if t.Record.StackID == "" { // nobody knows the stack
		return t.Record, nil
	}
	running, _, err := a.Running(ctx, t.Record.Target, t.Record.StackID)
	if err != nil || len(running) == 0 {
		return t.Record, err
	}
	r := t.Record
	r.Run, r.Suspended = t.Run, r.Suspended.With(running, t.Run, t.Now)
	return r, nil
}

// stopped is what the record of the task's stack says that is stopped.
func (t Task) stopped() []plan.Stopped {
	if t.Record.Suspended == nil {
		return nil
	}
	return t.Record.Suspended.Resources
}

// Start stops everything that the record lists.
func (a stops) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	return t.switched(a.Stop(ctx, t.Record.Target, t.stopped()))
}

// switched returns the receipt of a start that has ended with an error, or nil. A stack without a resource that is switched
// is unchanged.
func (t Task) switched(err error) (plan.Receipt, error) {
	switch {
	case err == nil:
		return plan.Receipt{Executed: true, Unchanged: len(t.stopped()) == 0}, nil
	case fault.Is(err, fault.Busy, fault.Throttled) && t.tried() >= time.Duration(t.Step.Timeout):
		err = fault.New(fault.Refused, "it could not start within %s: %w", t.Step.Timeout, err)
	}
	return plan.Receipt{}, err
}

// Poll reports that the step is over when nothing of the list runs any more.
func (a stops) Poll(ctx context.Context, t Task) (Progress, error) {
	p, ready, err := t.finished(ctx, a.Switches, false)
	if !ready || err != nil {
		return p, err
	}
	var fixed []string
	if t.Record.StackID != "" {
		if _, fixed, err = a.Running(ctx, t.Record.Target, t.Record.StackID); err != nil {
			return Progress{}, err
		}
	}
	if fixed == nil && len(t.stopped()) == 0 {
		fixed = []string{"nothing runs that can be stopped"}
	}
	return Progress{Over: true, Why: strings.Join(slices.Concat(t.says("stopped: "), t.saves(), fixed), "; ")}, nil
}

// says names what the record lists.
func (t Task) says(did string) []string {
	if len(t.stopped()) == 0 {
		return nil
	}
	return []string{did + suspend.Names(t.stopped())}
}

// saves says what a suspension saves an hour.
func (t Task) saves() []string {
	if len(t.stopped()) == 0 {
		return nil
	}
	hourly, unknown := t.Record.Suspended.Hourly(t.Record.Target.Region)
	switch {
	case hourly == 0 && len(unknown) > 0:
		return []string{"what this saves is not known"}
	case hourly == 0:
		return nil
	}
	return []string{"this saves about " + price.PerHour(hourly) + ", an estimate" + unpriced(unknown)}
}

// saved says what a suspension has saved. It counts from when the stack was suspended first until the first resume began, whose start of some
// resources may have succeeded although the resume has failed.
func (t Task) saved() []string {
	if len(t.stopped()) == 0 {
		return nil
	}
	hourly, unknown := t.Record.Suspended.Hourly(t.Record.Target.Region)
	switch {
	case hourly == 0 && len(unknown) > 0:
		return []string{"what this has saved is not known"}
	case hourly == 0:
		return nil
	}
	until := t.Now
	if first := t.Record.Suspended.Resumed; !first.IsZero() {
		until = first
	}
	hours := max(0, until.Sub(t.Record.Suspended.Since).Hours())
	return []string{fmt.Sprintf("this has saved about %s in %.1f hours, an estimate%s", hourly.Times(hours), hours, unpriced(unknown))}
}

// unpriced names what is not in an amount.
func unpriced(unknown []plan.Stopped) string {
	if len(unknown) == 0 {
		return ""
	}
	return " without " + suspend.Names(unknown) + ", whose price is not known"
}

// finished follows what the start of a task has stopped or started. It reports true when that is over. If the function that claimed the
// step has crashed, or nobody knows whether everything was requested, the step is claimed again.
func (t Task) finished(ctx context.Context, x Switches, on bool) (p Progress, ready bool, err error) {
	switch known := t.Receipt.Known(); {
	case !known && t.young():
		return Progress{}, false, nil
	case !known && t.tried() >= time.Duration(t.Step.Timeout):
		return Progress{Over: true, Err: fault.New(fault.Refused, "AWS has not accepted all requests within %s: retry the run", t.Step.Timeout)}, false, nil
	case !known:
		return Progress{Repeat: true}, false, nil
	}
	unsettled, gone, err := x.Unsettled(ctx, t.Record.Target, t.stopped(), on)
	switch {
	case err != nil:
		return Progress{}, false, err
	case len(unsettled) > 0 && t.overdue():
		return Progress{Over: true, Err: fault.New(fault.Refused, "not over after %s: %s", t.Step.Timeout, strings.Join(unsettled, "; "))}, false, nil
	case len(unsettled) > 0:
		return Progress{Why: "waits: " + strings.Join(unsettled, "; ")}, false, nil
	case len(gone) > 0:
		return Progress{Over: true, Why: fmt.Sprintf("gone: %s", strings.Join(gone, ", "))}, true, nil
	}
	return Progress{Over: true}, true, nil
}

// resumeVerb starts what was stopped in a stack.
func resumeVerb(x Switches) Verb {
	a := starts{x}
	return Verb{Name: plan.Resume, Action: a, Before: a.record, Past: "resumed"}
}

// starts starts what the record lists, and then takes the list out of the record.
type starts struct{ Switches }

// record returns the record with the time when the first resume began.
func (starts) record(_ context.Context, t Task) (plan.Record, error) {
	if t.Record.Suspended == nil || !t.Record.Suspended.Resumed.IsZero() {
		return t.Record, nil
	}
	r, s := t.Record, *t.Record.Suspended
	s.Resumed = t.Now
	r.Run, r.Suspended = t.Run, &s
	return r, nil
}

// Start starts everything that the record lists.
func (a starts) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	return t.switched(a.Switches.Start(ctx, t.Record.Target, t.stopped()))
}

// Poll reports that the step is over when everything runs, except for what is gone.
func (a starts) Poll(ctx context.Context, t Task) (Progress, error) {
	p, ready, err := t.finished(ctx, a.Switches, true)
	if !ready || err != nil {
		return p, err
	}
	if t.Record.Suspended == nil {
		return Progress{Over: true, Why: "nothing is stopped"}, nil
	}
	r := t.Record
	r.Run, r.Suspended = t.Run, nil
	says := append(t.says("started: "), t.saved()...)
	if p.Why != "" {
		says = append(says, p.Why)
	}
	return Progress{Over: true, Record: &r, Why: strings.Join(says, "; ")}, nil
}
