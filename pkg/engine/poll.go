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
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Poll registers the token first, then polls: it finishes what is over and says
// what may start. It answers its own token when there is something to do, or
// when it would now choose another wait; else it lets the token wait for an
// event. A poll that comes so late that its execution waits anew by now is
// nobody's: it leaves the newer token in its place.
func (e *Engine) Poll(ctx context.Context, w PollInput) error {
	t := w.Loop
	newest, err := e.Store.Register(ctx, t.Run, t.Epoch, w, perPoll+perStart*len(t.Ready))
	if err == nil && newest {
		err = e.pollRun(ctx, t, w.Token)
	}
	if fault.Is(err, fault.Stale) {
		fenced, err := e.fencedOff(ctx, t.Run, t.Epoch)
		if err != nil {
			return fmt.Errorf("step aside from run %s: %w", t.Run, err)
		}
		return e.Machine.Answer(ctx, w.Token, fenced)
	}
	if err != nil {
		return fmt.Errorf("look at run %s: %w", t.Run, err)
	}
	return nil
}

// poll polls until what it saw is still so when it writes it.
func (e *Engine) pollRun(ctx context.Context, t LoopState, token string) error {
	started := e.Now()
	for {
		r, err := e.refresh(ctx, t, started)
		if err == nil {
			err = e.releaseUnclaimed(ctx, r, &t, started)
		}
		if fault.Is(err, fault.Stale) {
			continue // a step was finished by another poll: see again
		}
		if err != nil {
			return err
		}
		answer, got, err := e.decide(ctx, r, t)
		switch {
		case fault.Is(err, fault.Stale):
			continue // there is generation
		case err != nil || answer == nil:
			return err
		}
		if got != nil {
			e.Notifier.Notify(ctx, *got)
		}
		if err := e.Machine.Answer(ctx, token, *answer); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		return nil
	}
}

// unclaimed puts off what was to be executed, and of which nothing is to be seen:
// anyone who was to claim it died, or was not let. It is polled for once.
func (e *Engine) releaseUnclaimed(ctx context.Context, r run.Run, t *LoopState, started time.Time) error {
	sent := t.Ready
	t.Ready = nil
	ready := r.Ready(started, maxReady)
	for _, number := range sent {
		if r.Epoch != t.Epoch || !slices.Contains(ready, number) || r.Steps[number].NotBefore.After(started) {
			continue
		}
		s := r.Steps[number]
		s.Why, s.Claimed, s.NotBefore = "its start went astray: see the log of execute-step", e.Now(), e.Now().Add(backoff(s))
		if err := e.move(ctx, r, s, run.Pending, nil, false); err != nil {
			return err
		}
		r.Steps[number] = s
	}
	return nil
}

// see loads the run, finishes what is over and skips what can no longer start.
// It is Stale if another has written meanwhile; if that was a newer epoch, it
// is over for this one.
func (e *Engine) refresh(ctx context.Context, t LoopState, started time.Time) (run.Run, error) {
	r, err := e.Store.Load(ctx, t.Run)
	if err != nil || r.Epoch != t.Epoch || r.State.Over() {
		return r, err
	}
	if err := e.resume(ctx, &r); err != nil {
		return r, err
	}
	if err := e.pollSteps(ctx, &r, started.Add(time.Duration(t.Wait)*time.Second-stopsBefore)); err != nil {
		return r, err
	}
	for _, was := range r.Prune(e.Now()) {
		s := r.Steps[was.Number]
		s.Ended = e.Now()
		c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was.Status, Attempt: s.Attempt, Step: s}
		if err := e.Store.Move(ctx, c); err != nil {
			return r, err
		}
	}
	return r, nil
}

// judge says what the execution is to do next, or nothing if it is to wait, and
// what the setup is to be reported.
func (e *Engine) decide(ctx context.Context, r run.Run, t LoopState) (*LoopState, *run.Run, error) {
	answer := func(s run.State, wait time.Duration) (*LoopState, *run.Run, error) {
		a := loopState(r, s, wait)
		return &a, nil, nil
	}
	now := e.Now()
	wait := r.NextPoll(now).Sub(now)
	switch s := r.Next(now); {
	case r.Epoch != t.Epoch:
		a, err := e.fencedOff(ctx, t.Run, t.Epoch)
		return &a, nil, err
	case r.State.Over(): // anyone who ended it may have died there
		a := loopState(r, r.State, 0)
		return &a, &r, e.passOn(ctx, r)
	case s == run.StateWaiting || s.Over():
		if s == run.StateFailed && r.TimedOut() {
			r.Messages = append(r.Messages, "timeout: it took longer than "+project.Timeout(r.Deadline.Sub(r.Started)).String())
		}
		ended, err := e.end(ctx, r, s)
		a := loopState(ended, s, 0)
		return &a, &ended, err
	case r.Events >= handover:
		if err := e.startExecution(ctx, r); err != nil {
			return nil, nil, err
		}
		return answer(run.StateFencedOff, 0)
	case s == run.StateReady:
		if ready := e.ready(ctx, r, now); len(ready) > 0 {
			a := loopState(r, s, minWait) // what is started is due by then
			a.Ready = ready
			return &a, nil, nil
		}
	}
	if now := seconds(wait); now < t.Wait || now >= 2*t.Wait {
		return answer(run.StateWatch, wait)
	}
	return nil, nil, nil
}

// finish asks after the running steps that are due, as many as there is room
// for, and writes what it learns. What is not requested, or not by the deadline,
// stays due.
func (e *Engine) pollSteps(ctx context.Context, r *run.Run, deadline time.Time) error {
	var due []*run.Step
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == run.Running && !r.DueAt(*s).After(e.Now()) {
			due = append(due, s)
		}
	}
	due = e.granted(ctx, due)
	requested := make([]bool, len(due))
	err := e.each(len(due), func(i int) error {
		if requested[i] = e.Now().Before(deadline); !requested[i] {
			return nil
		}
		return e.pollStep(ctx, *r, due[i])
	})
	if err != nil {
		return err
	}
	e.found(ctx, due)
	var later []run.Step
	for i, s := range due {
		if requested[i] && s.Status == run.Running {
			later = append(later, *s)
		}
	}
	if len(later) == 0 {
		return nil
	}
	return e.Store.Postpone(ctx, r.ID, r.Epoch, later)
}

// ask asks one running step whether it has finished, and writes so if it has.
func (e *Engine) pollStep(ctx context.Context, r run.Run, s *run.Step) error {
	t, err := e.task(ctx, r, *s)
	var got action.Progress
	if err == nil {
		got, err = e.Verbs.Of(s.Verb).Poll(ctx, t)
		e.throttled(ctx, s.Where, budget.Read, err)
	}
	switch {
	case fault.Is(err, fault.Denied) && e.Now().Before(s.Claimed.Add(tolerated)): // it may be granted again
		s.Why, s.Due = err.Error(), e.Now().Add(e.interval(s.Verb, e.Now().Sub(s.Claimed)))
		return nil
	case fault.Is(err, fault.Denied, fault.Missing, fault.Invalid, fault.Refused, fault.Broken):
		got = action.Progress{Over: true, Err: fmt.Errorf("it cannot be followed: %w", err)}
	case err != nil: // nothing could be learnt
		s.Why, s.Due = err.Error(), e.Now().Add(2*minWait)
		return nil
	}
	learnt := got.Receipt.Known() && got.Receipt != s.Receipt
	if learnt && !s.Receipt.Known() {
		s.Claimed = e.Now() // it may have been started just now: its events may be late
	}
	if learnt { // anyone who claimed it can no longer say that it was not started
		s.Receipt, s.Nonce = got.Receipt, e.Nonce()
	}
	if got.Question != "" {
		s.Status, s.Why = run.Waiting, got.Question
		return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Step: *s})
	}
	if !got.Over {
		s.Why, s.Forced = got.Why, r.Forced
		e.postpone(s, got.Soon)
		if !learnt {
			return nil
		}
		return e.Store.Move(ctx, Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt, Step: *s})
	}
	if got.Err == nil && s.Answer.Known() && !s.Answer.Yes {
		got.Err = declined(s.Answer)
	}
	s.Status, s.Why, s.Ended, s.Result = run.Done, got.Why, e.Now(), got.Result.Found(got.Result.Findings)
	s.Result.Untouched = s.Result.Untouched || !e.Verbs.Of(s.Verb).Mutates
	if got.Err != nil {
		s.Status, s.Why = run.Failed, got.Err.Error()
	}
	if got.Record != nil && s.Status == run.Done && s.Spec != "" {
		got.Record.Revision = r.Source.Version
	}
	return e.Store.Move(ctx, Change{
		Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Running, Attempt: s.Attempt,
		Step: *s, Record: got.Record, Forget: got.Forget,
	})
}

// postpone sets when a running step is next requested. An event may outrun what
// CloudFormation shows: until a poll agrees with it, it is requested again after 2,
// 4 and 8 seconds; without one, the less often the longer it has run, but soon if
// that is wanted, and as soon as it is overdue.
func (e *Engine) postpone(s *run.Step, soon bool) {
	now := e.Now()
	if s.Event.Status != "" && s.Event.Polls < 3 {
		s.Due = now.Add(2 * time.Second << s.Event.Polls)
		s.Event.Polls++
		return
	}
	s.Event = run.Event{}
	s.Due = now.Add(e.interval(s.Verb, now.Sub(s.Claimed)))
	if soon {
		s.Due = now.Add(minWait)
	}
	if d := s.Deadline(s.Claimed); d.After(now) && d.Before(s.Due) {
		s.Due = d
	}
}

// interval is the time between two reads a step that has run for so long.
func (e *Engine) interval(v plan.Verb, ran time.Duration) time.Duration {
	most := maxWait
	if !e.Verbs.Of(v).WokenByEvents {
		most = 30 * time.Second // no event of ours tells of its end
	}
	return min(max(ran/4, minWait), most)
}
