package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Execute starts the ready steps of a loop state, several at the same time: it claims each
// step, sends the request to CloudFormation and records the answer. A step that another
// function has claimed, or that is no longer ready, is left alone. One step's failure
// does not stop the others, unless CloudFormation throttles requests in their account and
// region: they stay pending.
func (e *Engine) Execute(ctx context.Context, in StartInput) (LoopState, error) {
	t, deadline := in.Loop, e.Now().Add(mostWork)
	r, err := e.Store.Follow(ctx, t.Run)
	// Otherwise a poll does the rest: the next one finds out why the run does not go on, or a
	// newer one has started already, and starts the steps.
	if late := r.Since.After(in.Entered); err == nil && r.Epoch == t.Epoch && r.State == run.StateRunning && !late {
		ready := slices.DeleteFunc(r.Ready(e.Now(), len(r.Steps)), func(n int) bool { return !slices.Contains(t.Ready, n) })
		_, err = e.startSteps(ctx, &r, ready, deadline)
	}
	if err != nil {
		return t, fmt.Errorf("start steps of run %s: %w", t.Run, err)
	}
	now := e.Now()
	t.State, t.Ready, t.Wait = run.StateWatch, []int{}, seconds(r.NextPoll(now).Sub(now))
	t.Past += perStart + perRetry*in.Retries
	return t, nil
}

// startSteps starts the given steps, which are ready. Steps that it does not start before
// the deadline stay pending. It reports due if one of the steps can be polled at once or
// has ended.
func (e *Engine) startSteps(ctx context.Context, r *run.Run, ready []int, deadline time.Time) (due bool, err error) {
	failed := make([]error, len(ready))
	arrive := r.EventsArrive(e.Now()) // nothing may read all steps while each is being started
	var throttled sync.Map            // accounts and regions
	var failing atomic.Bool           // a step has failed, and too many failures stop others: the next poll decides
	_ = e.Parallel(ctx, len(ready), func(ctx context.Context, i int) error {
		s := &r.Steps[ready[i]]
		if _, wait := throttled.Load(s.Where); wait || failing.Load() || !e.Now().Before(deadline) {
			return nil
		}
		if failed[i] = e.startStep(ctx, *r, s, arrive[s.Where]); errors.Is(failed[i], errThrottled) {
			throttled.Store(s.Where, true)
		}
		if s.Status == run.Failed && len(r.MaxFailures) > 0 {
			failing.Store(true)
		}
		return nil
	})
	for i, n := range ready {
		s := &r.Steps[n]
		if errors.Is(failed[i], errThrottled) || fault.Is(failed[i], fault.Stale) { // another function has claimed it, or the run is to start none
			failed[i] = nil
		}
		due = due || s.Over() || s.Status == run.Running && !s.DueAt().After(e.Now())
	}
	return due, errors.Join(failed...)
}

// ready takes the shares for the steps of r that may start now, and returns the numbers of
// those that have got one. The others stay pending. It is Stale if the run has a newer epoch.
func (e *Engine) ready(ctx context.Context, r run.Run) ([]int, error) {
	var steps []*run.Step
	for _, n := range r.Ready(e.Now(), len(r.Steps)) {
		steps = append(steps, &r.Steps[n])
	}
	steps, _ = e.affordable(ctx, r.ID, steps, e.startCost)
	var numbers []int
	for _, s := range steps {
		numbers = append(numbers, s.Number)
	}
	return numbers, e.selects(ctx, r, numbers)
}

// errThrottled says that CloudFormation has throttled the start of a step, which was put
// off.
var errThrottled = errors.New("CloudFormation throttles requests")

// startStep starts one step, in an account and region whose events arrive or not. If the
// code of its action panics, only this step is delayed, and the function reports the
// panic.
func (e *Engine) startStep(ctx context.Context, r run.Run, s *run.Step, events bool) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		err = fault.New(fault.Unavailable, "panic: %v\n%s", cause, debug.Stack())
		if s.Status == run.Pending { // it is not claimed
			s.Why, s.Claimed, s.NotBefore = "its start has failed: see the log of its function", e.Now(), e.Now().Add(backoff(*s))
			err = errors.Join(err, e.move(ctx, r, s, run.Pending, nil, false))
		}
		err = fmt.Errorf("start %s: %w", s.ID, err)
	}()
	if err := e.claimAndStart(ctx, r, s, events); err != nil {
		return fmt.Errorf("start %s: %w", s.ID, err)
	}
	return nil
}

// claimAndStart carries a pending step through claim, start and receipt.
func (e *Engine) claimAndStart(ctx context.Context, r run.Run, s *run.Step, events bool) error {
	t, err := e.task(ctx, r, *s)
	if err == nil {
		err = e.permit(ctx, t)
	}
	if err == nil {
		err = e.findStackID(ctx, &t)
	}
	if err == nil {
		err = e.findKept(ctx, &t)
	}
	before := t.Record
	if write := e.Verbs.Of(s.Verb).Before; err == nil && write != nil {
		t.Record, err = write(ctx, t)
	}
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		s.Why, s.Claimed, s.NotBefore = err.Error(), e.Now(), e.Now().Add(backoff(*s))
		return e.move(ctx, r, s, run.Pending, nil, false)
	case err != nil:
		s.Why = err.Error()
		return e.move(ctx, r, s, run.Failed, nil, false)
	}
	pause := backoff(*s)
	err = e.claim(ctx, r, s, &t)
	if fault.Is(err, fault.Broken, fault.Invalid) { // too large to be stored: another attempt would not help
		s.Why = err.Error()
		return e.move(ctx, r, s, run.Failed, nil, false)
	}
	if err != nil {
		return err
	}
	s.Receipt, err = e.start(ctx, t)
	e.reportThrottled(ctx, s.Where, budget.Write, err)
	if fault.Is(err, fault.Busy, fault.Throttled) {
		s.NotBefore = e.Now().Add(pause)
	}
	throttled := action.IsRateExceeded(err)
	if err := e.recordStart(ctx, r, s, before, e.firstPoll(*s, events), err); err != nil || !throttled {
		return err
	}
	return errThrottled
}

// start starts a claimed step. It gives up well before a poll may conclude that the
// claimer has crashed and start the step again: else each of the two would treat the
// other's operation as foreign.
func (e *Engine) start(ctx context.Context, t action.Task) (plan.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Claimed.Add(action.MaxStartTime-grace).Sub(e.Now()))
	defer cancel()
	return e.Verbs.Of(t.Step.Verb).Start(ctx, t)
}

// backoff is the pause before a step that could not start is tried again: twice as long
// as the last pause. It differs between steps, so that they do not all start at once.
func backoff(s run.Step) time.Duration {
	last := min(max(s.NotBefore.Sub(s.Claimed), leastPause/2), mostPause/2)
	return 2*last + time.Duration(s.Number%10)*spread
}

// recordStart writes the outcome of the start of a claimed step: the step is
// running until its first poll, pending again, or failed. A step that did not start
// leaves the record as it was before.
func (e *Engine) recordStart(ctx context.Context, r run.Run, s *run.Step, before plan.Record, firstPoll time.Time, err error) error {
	restore, forget := &before, false
	switch {
	case !e.Verbs.Of(s.Verb).Mutates():
		restore = nil
	case before.Node == "":
		restore, forget = nil, true
	}
	now := e.Now()
	switch {
	case err == nil && (s.Receipt.Unchanged || !e.Verbs.Of(s.Verb).Mutates()):
		s.Due = now
	case err == nil, fault.Is(err, fault.Unavailable): // its events decide whether it started
		s.Due = firstPoll
	case fault.Is(err, fault.Busy, fault.Throttled):
		s.Why = err.Error()
		s.TryAgain()
		return e.move(ctx, r, s, run.Pending, restore, forget)
	default:
		s.Why = err.Error()
		return e.move(ctx, r, s, run.Failed, restore, forget)
	}
	return e.move(ctx, r, s, run.Running, nil, false)
}

// firstPoll returns when a step that has just started is polled, unless an event reports
// its start before. Where events arrive, that is no sooner than the claim said: a sooner
// poll would shorten the wait of the execution, and after the event it would have to be
// lengthened again.
func (e *Engine) firstPoll(s run.Step, events bool) time.Time {
	first := e.Now().Add(e.interval(&s, 0, 0))
	if events && s.Due.After(first) && s.Receipt.Known() && e.Verbs.Of(s.Verb).WokenByEvents {
		return s.Due
	}
	return first
}

// findStackID finds the ID of a stack if an earlier step started its creation and got no
// answer. It uses the token of that creation, before the claim replaces this token in
// the record.
func (e *Engine) findStackID(ctx context.Context, t *action.Task) error {
	if id, err := t.Step.OfLeftover(); err != nil || id != "" { // no operation of the run has made that stack
		return err
	}
	if v := e.Verbs.Of(t.Step.Verb); !v.Mutates() || v.Request == action.CreateStack || t.Record.StackID != "" && !t.Record.Intent || t.Record.Token == "" {
		return nil
	}
	seen, err := e.observe(ctx, t.Run, []plan.Location{t.Record.Location()})
	switch live := seen[t.Record.Node]; {
	case err != nil:
		return err
	case live.CreatedByToken:
		t.Record.StackID = live.StackID
	case !live.Status.Gone() && live.StackID != t.Record.StackID:
		return fault.New(fault.Refused, "stack %s exists (%s) and "+plan.NotManaged, t.Record.Stack, live.Status)
	}
	return nil
}

// findKept finds the parameters whose values an update keeps, of those whose changes its node ignores. It does so before the
// claim: a request that is sent again has the same token, so it has to be the same, and by then the stack may have parameters
// that the first request has added.
func (e *Engine) findKept(ctx context.Context, t *action.Task) error {
	updates := t.Request == action.UpdateStack || t.Request == action.CreateChangeSet
	if t.Kept = nil; !updates || len(t.Node.IgnoreChanges) == 0 {
		return nil
	}
	place := t.Location()
	seen, err := e.observe(ctx, t.Run, []plan.Location{place})
	t.Kept = t.Node.Keeps(seen[place.Node].Parameters)
	return err
}

// claim moves a step from pending to running and writes the intent into the node's
// record. Until the outcome is known, the stack may need both its old and its new
// dependencies.
func (e *Engine) claim(ctx context.Context, r run.Run, pending *run.Step, t *action.Task) error {
	attempt, s := pending.Attempt, *pending
	s.Status, s.Attempt, s.Nonce = run.Running, attempt+1, e.Nonce()
	s.Receipt, s.Event, s.Why = plan.Receipt{}, run.Event{}, ""
	s.Claimed, s.Kept = e.Now(), t.Kept
	s.Due = s.Claimed.Add(action.MaxStartTime)
	t.Attempt, t.Claimed, t.Now = s.Attempt, s.Claimed, s.Claimed
	c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Pending, Attempt: attempt, Token: r.Token, Step: s}
	if e.Verbs.Of(s.Verb).Mutates() {
		intent := t.Record
		intent.Node, intent.Token, intent.Run, intent.Intent = s.Node, t.Token(), r.ID, true
		intent.OtherPolicy = false // from here on, it is unknown what is deployed
		if t.Node.Name != "" {
			intent.Stack, intent.Target = t.Node.Stack, t.Node.Target
			if t.Record.StackID == "" { // its creation is approved by this level, whatever becomes of the run
				intent.Approve = t.Node.Approve
			}
			intent.Needs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(t.Record.Needs, t.Node.Needs))))
		}
		c.Record, t.Record = &intent, intent
	} else if e.Verbs.Of(s.Verb).Before != nil {
		c.Record = &t.Record
	}
	err := e.Store.Move(ctx, c)
	if err == nil {
		*pending = s
	}
	return err
}

// move writes the status of a step after an attempt to start it: running with a
// receipt, pending again with the same attempt number, or failed.
func (e *Engine) move(ctx context.Context, r run.Run, s *run.Step, to run.Status, record *plan.Record, forget bool) error {
	c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: s.Status, Attempt: s.Attempt, Record: record, Forget: forget}
	if to != run.Running && s.Status == run.Running {
		c.Nonce = s.Nonce // a poll may have concluded that this function crashed, and started the step again
	}
	if to == run.Pending && s.Status == run.Running {
		s.Attempt-- // it did not start
	}
	if to == run.Failed { // CloudFormation started nothing
		s.Ended, s.Result.NothingStarted = e.Now(), true
	}
	s.Status = to
	c.Step = *s
	return e.Store.Move(ctx, c)
}

// task gathers all that a step needs: its spec, its record and the outputs that it
// refers to.
func (e *Engine) task(ctx context.Context, r run.Run, s run.Step) (action.Task, error) {
	t := action.Task{
		Run: r.ID, TokenKey: r.TokenKey, Project: r.Project, Number: s.Number, Attempt: s.Attempt, Step: s.Step, Request: e.Verbs.Of(s.Verb).Request,
		Receipt: s.Receipt, Notified: s.Event.Status != "", Forced: r.Forced, Claimed: s.Claimed, Tried: s.Tried, Kept: s.Kept, Now: e.Now(),
		Answered: s.Answer.Known(), Approved: s.Answer.Yes, Changed: r.ChangedBefore(s),
	}
	var err error
	var calls bool
	if t.Hook, calls, err = plan.CallOf(s.Step); err != nil || s.Node == "" && !calls {
		return t, err
	}
	if s.Spec != "" {
		if t.Node, err = e.Specs.Spec(ctx, s.Spec); err != nil {
			return t, err
		}
	}
	nodes := slices.Concat(t.Node.Sources(), t.Hook.Hook.Sources(), []string{s.Node})
	slices.Sort(nodes)
	nodes = slices.DeleteFunc(slices.Compact(nodes), func(node string) bool { return node == "" })
	records, err := e.Store.RecordsOf(ctx, r.Project, nodes)
	if err != nil {
		return t, err
	}
	t.Record = records[s.Node]
	if s.Proposal != "" {
		if err := e.readProposal(ctx, &t, r); err != nil {
			return t, err
		}
	}
	outputs := func(node, output string) (string, error) {
		if v, ok := records[node].Outputs[output]; ok {
			return e.whole(ctx, records[node], output, v)
		}
		if id := records[node].StackID; output == project.StackID && id != "" {
			return id, nil
		}
		has := strings.Join(slices.Sorted(maps.Keys(records[node].Outputs)), ", ")
		return "", fault.New(fault.Missing, "stack %s has no output %s (it has: %s)", node, output, has)
	}
	switch {
	case calls:
		t.Values, err = t.Hook.Hook.Resolve(outputs)
	case e.Verbs.Of(s.Verb).Configures && s.Spec != "":
		t.Want, err = t.Node.Resolve(outputs)
	}
	return t, err
}
