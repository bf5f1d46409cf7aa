package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Hooks calls hooks, and reads alarms as they do. Its methods are those of hook.Services.
type Hooks interface {
	// Call calls a hook once, and returns what it has started, if anything outlasts the call.
	Call(context.Context, hook.Call) (started string, err error)

	// Ended reports whether what the call has started is over.
	Ended(context.Context, hook.Call) (bool, error)

	// Stop stops what the call has started.
	Stop(context.Context, hook.Call) error

	// InAlarm lists which of the alarms of a target are in the state ALARM, in the given order. The error is of kind Refused if
	// there is no such alarm, and Denied if the project may not reach it.
	InAlarm(ctx context.Context, project string, in project.Target, names []string) ([]string, error)
}

// hookVerb calls a hook.
func hookVerb(h Hooks) Verb {
	return Verb{Name: plan.Hook, Action: calls{h}, Request: CallHook, Past: "hooks called"}
}

// calls calls a hook at least once, and never after its step is over. A call that may not have arrived is repeated with the
// same token.
type calls struct{ Hooks }

// call returns the call of t's hook.
func (t Task) call() hook.Call {
	name, environment, _ := strings.Cut(t.Project, "@")
	c, token := t.Hook, Token(t.Run, t.TokenKey, t.Number, 1) // whatever the attempt
	return hook.Call{
		Token: token, Target: c.Target, Type: c.Hook.Type, Values: t.Values.Values, Files: c.Hook.Files, Started: t.Receipt.Operation, Now: t.Now,
		Message: hook.Message{
			Token: token, Project: name, Environment: environment, Run: t.Run, Hook: c.Hook.Name, Moment: c.Moment,
			Stack: c.Stack, StackName: c.StackName, Account: c.Target.Account, Region: c.Target.Region, Payload: t.Values.Payload,
		},
	}
}

// Start calls the hook, unless there is nothing to call it for.
func (a calls) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	if t.skipsHook() != "" {
		return plan.Receipt{Skipped: true}, nil
	}
	started, err := a.Call(ctx, t.call())
	if fault.Is(err, fault.Busy, fault.Throttled) && t.tried() >= time.Duration(t.Step.Timeout) {
		err = fault.New(fault.Refused, "no call of it was accepted within %s: %w", t.Step.Timeout, err)
	}
	switch {
	case err == nil:
		return plan.Receipt{Executed: true, Operation: started}, nil
	case t.Hook.Hook.Ignore && !fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable):
		return plan.Receipt{Failure: err.Error()}, nil
	}
	return plan.Receipt{}, err
}

// Poll reports that the step is over when the call is over. If the function that claimed the step has crashed, or nobody
// knows whether the call arrived, the step is claimed again, which repeats the call: only the function that has the
// claim calls, and only while no other can end the step.
func (a calls) Poll(ctx context.Context, t Task) (Progress, error) {
	switch {
	case t.Receipt.Skipped:
		return t.hookDone(t.skipsHook()), nil
	case t.Receipt.Failure != "":
		return t.hookFailed(fault.New(fault.Refused, "%s", t.Receipt.Failure)), nil
	case !t.Receipt.Known() && t.young():
		return Progress{}, nil
	case !t.Receipt.Known() && t.tried() >= time.Duration(t.Step.Timeout):
		return t.hookFailed(fault.New(fault.Refused, "no call of it was answered within %s", t.Step.Timeout)), nil
	case !t.Receipt.Known():
		return Progress{Repeat: true}, nil
	case t.Receipt.Operation == "":
		return t.hookDone(""), nil
	case t.overdue() || t.Forced:
		if err := a.Stop(ctx, t.call()); err != nil {
			return Progress{}, err
		}
		if t.Forced {
			return t.hookFailed(fault.New(fault.Refused, "it was stopped, as requested")), nil
		}
		return t.hookFailed(fault.New(fault.Refused, "it took longer than %s and was stopped%s", t.Step.Timeout, t.awaited())), nil
	}
	ended, err := a.Ended(ctx, t.call())
	switch {
	case fault.Is(err, fault.Refused, fault.Missing):
		return t.hookFailed(err), nil
	case err != nil || !ended:
		return Progress{}, err
	}
	return t.hookDone(""), nil
}

// awaited says what t's hook has waited for in vain; "" if hooks of its type do not wait.
func (t Task) awaited() string {
	h, _ := hook.Named(t.Hook.Hook.Type)
	if h.Awaits == nil {
		return ""
	}
	return fmt.Sprintf(": it waited for %s", h.Awaits(t.Receipt.Operation, t.Now))
}

// CheckWaits returns an error of kind Refused if the plan p, whose steps begin now, waits in vain: a step that comes after no other
// calls a hook that waits for what is not there before its timeout. When other steps begin, nobody knows.
func CheckWaits(p plan.Plan, now time.Time) error {
	var all []error
	for _, s := range p.Steps {
		c, calls, err := plan.CallOf(s)
		if err != nil || !calls || len(s.After) > 0 || c.Hook.Ignore || c.Hook.CacheKey != nil { // a step that cannot be read reports it when it starts, and a key may skip the call
			continue
		}
		t, _ := hook.Named(c.Hook.Type)
		on, known := c.Hook.Values[c.Hook.Type].Known()
		if t.Awaits == nil || !known {
			continue
		}
		if a := t.Awaits(on, now); a.Opens.After(now.Add(time.Duration(s.Timeout))) {
			all = append(all, fault.New(fault.Refused, "%s waits at most %s for %s: deploy then, or give the hook a longer timeout", s.ID, s.Timeout, a))
		}
	}
	return errors.Join(all...)
}

// skipsHook says why t's hook is not called: the step before it has not changed the stack, or the cache key is that of the
// last success. It is empty if the hook is called.
func (t Task) skipsHook() string {
	name := t.Hook.Hook.Name
	after := slices.Contains([]project.Moment{project.AfterCreate, project.AfterUpdate}, t.Hook.Moment)
	switch {
	case after && !t.Record.Keyed(name, t.Values.CacheKey) && !slices.Contains(t.Record.Pending, name) && !slices.Contains(t.Record.Unsent([]project.Hook{t.Hook.Hook}), name):
		return "not called: the stack did not change"
	case t.Record.Cache(name, t.Values.CacheKey):
		return "not called: its cache_key is that of its last success"
	}
	return ""
}

// hookDone is the progress of a hook that has succeeded, or was not called because of skipped.
func (t Task) hookDone(skipped string) Progress {
	p := Progress{Over: true, Why: skipped}
	if t.Record.Node == "" { // the stack is not created yet, or gone, or the hook is that of a deploy
		return p
	}
	r := t.recordCalled()
	if skipped == "" {
		r.Cached = r.WithKey(t.Hook.Hook.Name, t.Values.CacheKey, false)
	}
	if sent, err := t.Hook.Hook.Uploaded(); err == nil && sent != "" {
		if r.Sent = maps.Clone(r.Sent); r.Sent == nil {
			r.Sent = make(map[string]string)
		}
		r.Sent[t.Hook.Hook.Name] = sent
	}
	p.Record = &r
	return p
}

// hookFailed is the progress of a hook that has failed. If its failure is ignored, it is over all the same, and not called
// again.
func (t Task) hookFailed(err error) Progress {
	if !t.Hook.Hook.Ignore {
		return Progress{Over: true, Err: err}
	}
	p := Progress{Over: true, Why: "failed, which is ignored: " + err.Error()}
	if t.Record.Node != "" {
		r := t.recordCalled()
		r.Cached = r.WithKey(t.Hook.Hook.Name, t.Values.CacheKey, true)
		p.Record = &r
	}
	return p
}

// recordCalled returns the record, which no longer demands the hook.
func (t Task) recordCalled() plan.Record {
	r := t.Record
	r.Run = t.Run
	r.Pending = slices.DeleteFunc(slices.Clone(r.Pending), func(name string) bool { return name == t.Hook.Hook.Name })
	return r
}

// pendingHooks lists the hooks that have to be called because t has changed its stack, and those that had to be called
// before, sorted.
func (t Task) pendingHooks() []string {
	all := plan.HooksAfter(t.Node.Hooks, t.Step)
	for _, h := range t.Node.Hooks {
		if slices.Contains(t.Record.Pending, h.Name) {
			all = append(all, h.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// setHooksVerb records the hooks of a stack's deletion, if nothing else of the stack changes.
func setHooksVerb() Verb {
	return Verb{Name: plan.SetHooks, Action: setHooks{}, Past: "with other hooks of their deletion"}
}

// setHooks writes the hooks of the node into its record. It sends no request.
type setHooks struct{}

// Start does nothing: a poll writes the record.
func (setHooks) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll writes the record.
func (setHooks) Poll(_ context.Context, t Task) (Progress, error) {
	if t.Record.Node == "" {
		return Progress{Over: true, Err: fault.New(fault.Missing, "stack %s is no longer recorded: retry the run", t.Node.Stack)}, nil
	}
	r := t.Record
	r.Hooks, r.Run = project.HooksOfDeletion(t.Node.Hooks), t.Run
	return Progress{Over: true, Record: &r}, nil
}
