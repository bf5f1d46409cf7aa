package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Poll registers the waiting token first, and then polls the run: it records which
// steps have finished and starts those that are ready. If many are ready, it answers the
// token, so that execute-step starts them. It also answers if the run ends, or if the wait
// should now have another length; else the token waits for an event.
//
// While a poll works, an event, a command or an answer does not wake the execution: the
// poll reads the run again before it ends. A poll may finish after its execution has
// registered a newer token. Such a poll does nothing more.
func (e *Engine) Poll(ctx context.Context, in PollInput) error {
	t, now := in.Loop, e.Now()
	newest, err := e.Store.Register(ctx, t.Run, t.Epoch, in, t.Past+perPoll+perRetry*in.Retries, now.Add(action.MaxStartTime))
	if err == nil && newest {
		wait := time.Duration(t.Wait) * time.Second
		err = e.pollRun(ctx, poll{PollInput: in, waitEnds: now.Add(wait), deadline: now.Add(max(min(wait-stopsBefore, mostWork), leastWork))})
	}
	if fault.Is(err, fault.Stale) {
		fenced, err := e.fencedOff(ctx, t.Run, t.Epoch)
		if err != nil {
			return fmt.Errorf("leave run %s to a newer execution: %w", t.Run, err)
		}
		return e.Machine.Answer(ctx, in.Token, fenced)
	}
	if err != nil {
		return fmt.Errorf("poll run %s: %w", t.Run, err)
	}
	return nil
}

// A poll is one call of Poll.
type poll struct {
	PollInput
	waitEnds time.Time // the wait of the execution times out
	deadline time.Time // until when the poll may start something
}

// pollRun polls until many steps are ready, until nothing has changed since it last read the
// run, or until its deadline.
func (e *Engine) pollRun(ctx context.Context, p poll) error {
	for {
		r, ready, more, err := e.refresh(ctx, p)
		switch {
		case fault.Is(err, fault.Stale): // another function has written a step: read again
			continue
		case err != nil:
			return err
		case r.Epoch == p.Loop.Epoch && r.Token != p.Token && !r.State.Over(): // the next wait has its own poll
			return nil
		}
		if len(ready) <= pollStarts && e.Now().Before(p.deadline) {
			due, err := e.startSteps(ctx, &r, ready, p.deadline)
			if err != nil {
				return err
			}
			if due || more {
				continue
			}
			ready = nil
		}
		answer, got, err := e.decide(ctx, r, ready, p)
		if err == nil && answer == nil {
			r.Due = r.NextPoll(e.Now())
			err = e.Store.EndPoll(ctx, r)
		}
		switch {
		case fault.Is(err, fault.Stale): // a command, an answer or an event has arrived: read again
			continue
		case err != nil || answer == nil:
			return err
		}
		if got != nil {
			e.Notifier.Notify(ctx, *got)
		}
		if err := e.Machine.Answer(ctx, p.Token, *answer); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		return nil
	}
}

// refresh reads the run, records the steps that have finished, skips those that can no
// longer start, and returns the numbers of those that are to start now. It is Stale if
// another function has written meanwhile. If the run has a newer epoch or token, or is
// over, refresh changes nothing. It reports more if other steps are due.
func (e *Engine) refresh(ctx context.Context, p poll) (r run.Run, ready []int, more bool, err error) {
	r, err = e.Store.Follow(ctx, p.Loop.Run)
	if err != nil || r.Epoch != p.Loop.Epoch || r.Token != p.Token || r.State.Over() {
		return r, nil, false, err
	}
	if err := e.resume(ctx, &r); err != nil {
		return r, nil, false, err
	}
	if more, err = e.pollSteps(ctx, &r, p.deadline); err != nil {
		return r, nil, false, err
	}
	if err := e.skip(ctx, r, r.Prune(e.Now())); err != nil {
		return r, nil, false, err
	}
	ready, err = e.ready(ctx, r)
	return r, ready, more, err
}

// skip writes that steps of r, given as they were before, are skipped.
func (e *Engine) skip(ctx context.Context, r run.Run, pruned []run.Step) error {
	changes, numbers := make([]Change, len(pruned)), make([]int, len(pruned))
	for i, was := range pruned {
		s := &r.Steps[was.Number]
		s.Ended, numbers[i] = e.Now(), was.Number
		changes[i] = Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was.Status, Attempt: s.Attempt, Step: *s}
	}
	if err := e.selects(ctx, r, numbers); err != nil {
		return err
	}
	return e.Store.Move(ctx, changes...)
}

// selects writes which steps of r are about to change, before they change the first
// time. A step that was claimed or put off was selected before.
func (e *Engine) selects(ctx context.Context, r run.Run, numbers []int) error {
	fresh := slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return !r.Steps[n].Claimed.IsZero() })
	if len(fresh) == 0 {
		return nil
	}
	return e.Store.Select(ctx, r.ID, r.Epoch, fresh)
}

// decide returns what the execution does next, or nil if it waits, and the run to
// notify about, if it has ended or waits for a person.
func (e *Engine) decide(ctx context.Context, r run.Run, ready []int, p poll) (*LoopState, *run.Run, error) {
	answer := func(s run.State, wait time.Duration) (*LoopState, *run.Run, error) {
		a := loopState(r, s, wait)
		return &a, nil, nil
	}
	now := e.Now()
	wait := r.NextPoll(now).Sub(now)
	s, err := e.next(ctx, &r, p)
	switch {
	case err != nil:
		return nil, nil, err
	case r.Epoch != p.Loop.Epoch:
		a, err := e.fencedOff(ctx, p.Loop.Run, p.Loop.Epoch)
		return &a, nil, err
	case r.State.Over(): // the function that ended the run may have crashed before it passed on the lock
		a := loopState(r, r.State, 0)
		return &a, &r, e.startLockOwner(ctx, r)
	case s == run.StateWaiting || s.Over():
		r.Messages = limitMessages(append(r.Messages, r.Ending(s)...))
		r, s, err := e.exact(ctx, r, s)
		if err != nil {
			return nil, nil, err
		}
		ended, err := e.end(ctx, r, s)
		a := loopState(ended, s, 0)
		return &a, &ended, err
	case r.Events >= handover, r.NewlyApproved(), r.Unchecked(): // function plan continues the run
		if err := e.startExecution(ctx, r); err != nil {
			return nil, nil, err
		}
		return answer(run.StateFencedOff, 0)
	case len(ready) > 0:
		a := loopState(r, run.StateReady, wait)
		a.Ready = ready
		return &a, nil, nil
	case wait <= 0 && !now.Before(p.deadline): // the next poll continues
		return answer(run.StatePoll, wakeWait)
	}
	if next, left := seconds(wait), seconds(p.waitEnds.Sub(now)); next < left || next >= 2*left {
		return answer(run.StateWatch, wait)
	}
	return nil, nil, nil
}

// next returns the state that r should have now. A run does not end before what its steps have left behind is deleted.
func (e *Engine) next(ctx context.Context, r *run.Run, p poll) (run.State, error) {
	s := r.Next(e.Now())
	if !s.Over() || r.State.Over() || r.Epoch != p.Loop.Epoch {
		return s, nil
	}
	tidied, err := e.tidy(ctx, r, p.deadline)
	if !tidied {
		s = run.StateWatch
	}
	return s, err
}

// pollSteps polls the running steps that are due, as many as the budgets allow, and
// writes the results. A step that is not polled, or not before the deadline, stays
// due. pollSteps polls no more than atOnce steps in one account and region, so that the
// dependents of those that have finished start soon, and reports more if others are due.
// Steps that one request has described together do not count.
func (e *Engine) pollSteps(ctx context.Context, r *run.Run, deadline time.Time) (more bool, err error) {
	due, flying := e.due(r)
	seen := e.describe(ctx, *r, due)
	due, more = e.affordable(ctx, r.ID, e.pollOrder(due), func(s run.Step) budget.Demand {
		if seen[s.Number] != nil {
			return budget.Demand{}
		}
		return e.pollCost(s)
	})
	requested := make([]bool, len(due))
	err = e.Parallel(ctx, len(due), func(ctx context.Context, i int) error {
		if requested[i] = e.Now().Before(deadline); !requested[i] {
			return nil
		}
		return e.pollStep(ctx, *r, due[i], others{seen[due[i].Number], flying[due[i].Where]})
	})
	if err != nil {
		return false, err
	}
	var later []run.Step
	for i, s := range due {
		if requested[i] && s.Status == run.Running {
			later = append(later, *s)
		}
	}
	if len(later) == 0 {
		return more, nil
	}
	return more, e.Store.Postpone(ctx, r.ID, r.Epoch, later)
}

// due returns the running steps of r that have to be polled now, and how many steps wait
// for polls in each account and region, because events do not report their ends. If
// several of these are due, one request can answer for those that are nearly due too.
func (e *Engine) due(r *run.Run) (due []*run.Step, flying map[string]int) {
	now, lossy := e.Now(), r.Lossy(e.Now())
	var later []*run.Step
	waiting := make(map[string]int)
	flying = make(map[string]int)
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != run.Running {
			continue
		}
		at := r.DueAt(*s, lossy)
		expectsPoll := s.Event.Status == "" && at.Equal(s.Due)
		if expectsPoll {
			flying[s.Where]++
		}
		switch {
		case !at.After(now):
			due = append(due, s)
			waiting[s.Where]++
		case expectsPoll && s.Receipt.Known():
			later = append(later, s)
		}
	}
	for _, s := range later {
		nearly := e.interval(s, now.Sub(s.Claimed), flying[s.Where]) / 2
		if waiting[s.Where] > oneByOne && !s.Due.After(now.Add(nearly)) {
			due = append(due, s)
		}
	}
	return due, flying
}

// The others of a step are what a poll knows of it because of the other steps.
type others struct {
	live   *plan.Live // the description of its stack; nil if it has to be read
	flying int        // how many steps wait for polls in its account and region
}

// takeOver gives a running step another nonce before a poll may start it again. The
// function that claimed the step may still be running, if the clocks of the two
// functions differ; it can no longer write that the step did not start.
func (e *Engine) takeOver(ctx context.Context, r run.Run, s *run.Step) error {
	nonce := s.Nonce
	s.Nonce = e.Nonce()
	return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Nonce: nonce, Step: *s})
}

// pollStep polls one running step, and writes the result if the step has finished.
func (e *Engine) pollStep(ctx context.Context, r run.Run, s *run.Step, o others) error {
	t, err := e.task(ctx, r, *s)
	t.Seen = o.live
	if err == nil && t.MayStartAgain() {
		if err = e.permit(ctx, t); err == nil {
			if err := e.takeOver(ctx, r, s); err != nil {
				return err
			}
		}
	}
	var got action.Progress
	if err == nil {
		got, err = e.Verbs.Of(s.Verb).Poll(ctx, t)
		e.reportThrottled(ctx, s.Where, budget.Read, err)
	}
	switch {
	case fault.Is(err, fault.Denied) && e.Now().Before(s.Claimed.Add(tolerated)): // the permission may be granted again
		s.Why, s.Due = err.Error(), e.Now().Add(e.interval(s, e.Now().Sub(s.Claimed), o.flying))
		return nil
	case fault.Is(err, fault.Denied, fault.Missing, fault.Invalid, fault.Refused, fault.Broken):
		got = action.Progress{Over: true, Err: fmt.Errorf("it cannot be followed: %w", err)}
	case err != nil: // this poll found out nothing
		s.Why, s.Due = err.Error(), e.Now().Add(2*minWait)
		return nil
	}
	if got.Proposal != nil {
		if got.Receipt.Proposal, err = e.Changes.SaveProposal(ctx, *got.Proposal); err != nil {
			return fmt.Errorf("store the change set of %s: %w", s.ID, err)
		}
	}
	learnt := got.Receipt.Known() && got.Receipt != s.Receipt
	if got.Started {
		s.Claimed = e.Now() // its events may be late
	}
	if learnt { // another nonce: the function that claimed the step can no longer write that it did not start
		s.Receipt, s.Nonce = got.Receipt, e.Nonce()
	}
	if got.Repeat {
		claimed := s.Nonce
		s.TryAgain()
		s.Status, s.Nonce, s.NotBefore, s.Why = run.Pending, e.Nonce(), e.Now(), "its call was not answered, and is repeated"
		return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Nonce: claimed, Step: *s})
	}
	if got.Question != "" {
		s.Status, s.Why = run.Waiting, got.Question
		return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Step: *s})
	}
	if !got.Over {
		s.Why, s.Forced = got.Why, r.Forced
		if got.Ended != "" && s.Event.Status == "" {
			s.Event.Status = got.Ended // the poll itself has seen the event
		}
		e.postpone(s, got, o.flying)
		if !learnt {
			return nil
		}
		return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Step: *s})
	}
	if err := e.recordWhole(ctx, t, &got); err != nil {
		return err
	}
	if got.Err == nil && s.Answer.Known() && !s.Answer.Yes {
		got.Err, s.Cause = declined(s.Answer), run.Cause{Kind: run.CauseDeclined, Step: s.ID}
	}
	s.Status, s.Why, s.Ended, s.Result = run.Done, got.Why, e.Now(), got.Result.Found(got.Result.Findings)
	s.Result.NothingStarted = s.Result.NothingStarted || !e.Verbs.Of(s.Verb).Mutates()
	if got.Err != nil {
		s.Status, s.Why = run.Failed, got.Err.Error()
	}
	if got.Record != nil && s.Status == run.Done {
		if s.Spec != "" {
			got.Record.Revision = r.Source.Version
		}
		if e.Verbs.Of(s.Verb).Mutates() && !s.Receipt.Unchanged {
			got.Record.Durations = got.Record.Durations.Learn(s.Verb, s.Took())
		}
	}
	c := Change{
		Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt,
		Step: *s, Record: got.Record, Forget: got.Forget, Adopts: got.Adopts,
	}
	if got.Forget || got.Record != nil && got.Record.Adopted != t.Record.Adopted {
		c.Frees = t.Record.Adopted
	}
	err = e.Store.Move(ctx, c)
	if !fault.Is(err, fault.Taken) {
		return err
	}
	s.Status, s.Why = run.Failed, err.Error()+": forget it there first, then retry the run"
	return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Step: *s})
}

// postpone sets when a running step is polled next. An event may arrive before
// CloudFormation's API shows the new status, so after an event the step is polled
// again after 2, 4 and 8 seconds, and then every 8 seconds as long as the API shows
// the end in its events but not in its description of the stack. Without an event,
// the interval grows with the time that the step has run. It is short if the action
// requests that, and ends no later than the deadline of the step.
func (e *Engine) postpone(s *run.Step, got action.Progress, flying int) {
	now := e.Now()
	if s.Event.Status != "" && (s.Event.Polls < 3 || got.Ended != "") {
		s.Due = now.Add(2 * time.Second << min(s.Event.Polls, 2))
		s.Event.Polls++
		return
	}
	s.Event = run.Event{}
	s.Due = together(now, e.interval(s, now.Sub(s.Claimed), flying), flying)
	if got.Soon {
		s.Due = now.Add(minWait)
	}
	if got.Next.After(now) {
		s.Due = got.Next
	}
	if d := s.Deadline(s.Claimed); d.After(now) && d.Before(s.Due) {
		s.Due = d
	}
}

// together returns a time after about an interval at which other steps are due too, so
// that one request answers for all: a multiple of minWait, twice minWait, and so on.
func together(now time.Time, interval time.Duration, flying int) time.Time {
	if flying <= oneByOne {
		return now.Add(interval)
	}
	grid := minWait
	for 2*grid <= interval {
		grid *= 2
	}
	return now.Add(interval + grid/2).Truncate(grid)
}

// interval is the time until the next poll of a step that has run for so long, if no
// event reports its end. The more steps one request can answer for, the less a poll
// costs, and the sooner it comes. The polls of a single step double their distance until
// the step should have ended; from then on they start close together again.
func (e *Engine) interval(s *run.Step, ran time.Duration, flying int) time.Duration {
	expected := s.Expected.Duration()
	switch {
	case !e.Verbs.Of(s.Verb).WokenByEvents: // no event reports its end
		return min(max(ran/4, minWait), 30*time.Second)
	case flying > oneByOne:
		return min(max(ran/time.Duration(flying), expected/16, minWait), maxWait)
	case ran < expected:
		return min(max(ran, expected/4, minWait), max(expected-ran, minWait))
	}
	return min(max(min(ran-expected, ran/4), expected/8, minWait), max(maxWait, expected/8))
}
