package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	firstPoll     = 20 * time.Millisecond  // the shortest time between two polls of a run
	pollInterval  = 200 * time.Millisecond // the longest on a laptop
	recordTimeout = 30 * time.Second       // how long to wait for a run to be recorded
	answerTimeout = 2 * time.Minute        // how long an installation may not answer
)

// errInterrupted ends the following of a run after Ctrl-C, or when the reader of
// the output has closed it.
var errInterrupted = fault.New(fault.Stale, "interrupted")

// errGap says that the installation does not answer now; a later request may succeed.
var errGap = fault.New(fault.Unavailable, "no answer")

// A lostError says that an installation has not answered for two minutes.
type lostError struct{ label, cause string }

// Error names the installation and the cause.
func (e *lostError) Error() string {
	return fmt.Sprintf("%s has not answered for two minutes: %s", e.label, e.cause)
}

// isLost reports whether an error is a lostError.
func isLost(err error) bool {
	_, is := errors.AsType[*lostError](err)
	return is
}

// A followError is the error of a command that cannot follow its run. The run continues.
type followError struct {
	error
	run         string
	again, stop string // the commands that follow it again, and that stop it
}

// unfollowed says that the call cannot follow a run.
func (c *call) unfollowed(err error, id string) *followError {
	return &followError{err, id, c.commandLine("status", id, "--follow"), c.commandLine("cancel", id)}
}

// Unwrap is why the command cannot follow the run.
func (u *followError) Unwrap() error { return u.error }

// hint says that the run continues, and what to do.
func (u *followError) hint() string {
	return fmt.Sprintf("run %s continues; this command no longer follows it. To follow it again:\n  %s\nTo stop it:\n  %s", u.run, u.again, u.stop)
}

// A watch says when to stop following, and what to follow instead.
type watch struct {
	run     string             // to follow
	instead []string           // the IDs of other runs; the first one that is created is followed instead
	done    func(run.Run) bool // when to stop; nil stops when the run has ended or waits for a person
	success run.State          // the state of the run that is a success for this command; may be empty
}

// follow shows a run until the watch is done, and returns its last state.
func (s *session) follow(ctx context.Context, w watch, v view) (run.Run, error) {
	if w.done == nil {
		w.done = finished
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	startedAt, known, l := time.Now(), false, &monitor{session: s, view: v}
	next := func() { timer.Reset(s.until(time.Since(startedAt))) }
	for {
		select {
		case <-ctx.Done():
			return run.Run{}, context.Cause(ctx)
		case <-s.call.Interrupts:
			return run.Run{}, errInterrupted
		case <-timer.C:
		}
		r, err := s.see(ctx, w)
		cause := err
		if err = s.retryable(err); errors.Is(err, errGap) {
			l.reportLost(cause)
			next()
			continue
		}
		if err == nil {
			l.reportFound()
		}
		switch {
		case fault.Is(err, fault.Missing) && !known && (time.Since(startedAt) < s.timeout || s.delivers()):
		case fault.Is(err, fault.Missing) && !known:
			return r, fault.New(fault.Unavailable, "no function has started run %s: %s", w.run, s.silence)
		case isLost(err), err != nil && known && s.host() == nil:
			return r, s.call.unfollowed(err, w.run)
		case err != nil:
			return r, err
		case over(r) && !w.done(r): // it ended before the command, whose refusal is shown instead
			known = true
		default:
			known = true
			last := w.done(r)
			if !last {
				l.report(ctx, r)
			}
			if err := v.Show(r); err != nil {
				return r, fmt.Errorf("show run %s: %w: %w", r.ID, err, errInterrupted)
			}
			if last {
				return r, v.End(r)
			}
		}
		next()
	}
}

// see loads the followed run, or the run to follow instead as soon as that is
// recorded.
func (s *session) see(ctx context.Context, w watch) (run.Run, error) {
	for _, id := range w.instead {
		r, err := s.load(ctx, id)
		if !fault.Is(err, fault.Missing) {
			return r, err
		}
	}
	return s.load(ctx, w.run)
}

// delivers reports whether this process still delivers events to functions that
// it hosts. A failed delivery is tried again, and may still start the run.
func (s *session) delivers() bool { return s.host() != nil && s.host().Delivering() }

// finished reports whether a run has ended, or waits for a person.
func finished(r run.Run) bool { return over(r) || r.State == run.StateWaiting }

// over reports whether a run has ended.
func over(r run.Run) bool { return r.State.Over() }

// watch follows a run, and then its rollback if there is one. After Ctrl-C it
// stops following them. It returns the exit code. For a failed run this is ExitFailed,
// even if its rollback succeeded.
func (s *session) watch(ctx context.Context, w watch) (int, error) {
	if s.says() {
		if !s.call.flags.quiet {
			fmt.Fprintln(s.call.Out, s.place())
		}
		defer fmt.Fprintln(s.call.Out, s.place())
	}
	r, err := s.follow(ctx, w, s.view(ctx))
	code := exit(r.State)
	switch {
	case r.State == w.success:
		code = ExitOK
	case code == ExitOK && isPlan(r) && s.denied:
		code = ExitRefused
	case code == ExitOK && s.call.flags.exitCode && isPlan(r) && s.changes:
		code = ExitChanges
	case code == ExitOK && s.call.flags.exitCode && len(r.Differing()) > 0:
		code = ExitChanges
	}
	if err == nil && plan.AllOperations().Of(r.Operation).Reversible && (r.State == run.StateFailed || r.State == run.StateCancelled) {
		w = watch{run: engine.RollbackOf(r.ID)}
		if has, err := s.exists(ctx, w.run); err != nil || !has {
			return code, err
		}
		if r, err = s.follow(ctx, w, s.view(ctx)); code == ExitOK {
			code = exit(r.State)
		}
	}
	if errors.Is(err, errInterrupted) {
		return s.detach(ctx, w.run)
	}
	return code, err
}

// exists reports whether a run is recorded. Like follow, it tries again if the installation does not answer: on a laptop, the
// process that hosts it may end as soon as the run before has ended.
func (s *session) exists(ctx context.Context, id string) (bool, error) {
	for {
		_, err := s.load(ctx, id)
		if err = s.retryable(err); !errors.Is(err, errGap) {
			if fault.Is(err, fault.Missing) {
				return false, nil
			}
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-s.call.Interrupts:
			return false, errInterrupted
		case <-time.After(s.until(time.Since(s.lost))):
		}
	}
}

// executionCheckInterval is how often the monitor checks that a followed run has an execution.
const executionCheckInterval = 10 * time.Second

// A monitor prints, while a run is followed, what the run itself does not show:
// which runs it waits for, and that no execution executes it. It prints each
// message once.
type monitor struct {
	*session
	view           view // shows the run meanwhile; may be nil
	printed        string
	checked        time.Time // when the execution was last checked
	endedExecution string    // the execution that was then found ended
	unanswered     bool      // the installation does not answer, and that was reported
}

// report prints the messages about r, which has not ended and does not wait for a
// person. If the installation cannot be read, a later call prints them.
func (l *monitor) report(ctx context.Context, r run.Run) {
	line := ""
	switch {
	case r.State == run.StateQueued:
		line = l.queued(ctx, r)
	case r.Epoch > 0 && time.Since(l.checked) >= executionCheckInterval:
		l.checked = time.Now()
		line = l.unexecuted(ctx, r)
	}
	if line == "" {
		line = l.proposed(r)
	}
	if line != "" && line != l.printed {
		l.printed = line
		l.print(line)
	}
}

// proposed says how many change sets of an exact plan are read, or of how many stacks it is read what runs, unless a tree shows it: the lines of a plan begin when it has ended.
func (l *monitor) proposed(r run.Run) string {
	if !r.Proposes() || len(r.Steps) == 0 || l.call.drawsTree() && l.call.flags.output == "text" {
		return ""
	}
	over := 0
	for _, s := range r.Steps {
		if s.Over() {
			over++
		}
	}
	what := "stack"
	if r.Exact {
		what = "change set"
	}
	return fmt.Sprintf("%s of %s: %d of %s read", plan.CommandOf(r.Operation), r.Project, over, term.Plural(len(r.Steps), what))
}

// print prints a line beside the view.
func (l *monitor) print(line string) {
	if l.call.flags.quiet {
		return
	}
	if screen, ok := l.view.(interface{ Clear() error }); ok {
		if err := screen.Clear(); err != nil {
			return // the reader of the output has closed it; the next Show reports that
		}
	}
	fmt.Fprintln(l.call.Err, line)
}

// reportLost prints, once, that the installation does not answer.
func (l *monitor) reportLost(err error) {
	if !l.unanswered && (l.call.flags.endpoint != "" || l.call.flags.onAWS()) {
		l.print(fmt.Sprintf("%s does not answer (%v): trying again for two minutes", l.label, rootOf(err)))
		l.unanswered = true
	}
}

// reportFound prints that the installation answers again.
func (l *monitor) reportFound() {
	if l.unanswered {
		l.print(l.label + " answers again")
	}
	l.unanswered = false
}

// rootOf is the innermost cause of an error, which has the shortest text.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// unexecuted says that the execution of r has ended though r has not. It says so
// when two polls in a row find that, because between the end of an execution and
// the start of the next one the run has none.
func (l *monitor) unexecuted(ctx context.Context, r run.Run) string {
	name := engine.ExecutionName(r.ID, r.Epoch)
	s, err := l.to.Execution(ctx, r)
	if err != nil || !s.Started || s.Running {
		l.endedExecution = ""
		return ""
	}
	if l.endedExecution != name {
		l.endedExecution = name
		return ""
	}
	return fmt.Sprintf("run %s is not being executed: execution %s has ended (%s). Stackwright restarts it within five minutes", r.ID, name, s.Why)
}

// queued says which runs r waits for, or "" if the lock cannot be read.
func (s *session) queued(ctx context.Context, r run.Run) string {
	queue, err := report.QueueEntryOf(ctx, s.to, r.Project)
	if err != nil || queue == nil || queue.Owner.Run == r.ID {
		return ""
	}
	var before []string
	for _, o := range append([]report.Owner{queue.Owner}, queue.Waiting...) {
		if o.Run == r.ID {
			break
		}
		if o.State != "" { // else it has ended since
			before = append(before, fmt.Sprintf("%s (%s, %s, %s)", o.Run, o.Operation, o.State, o.By()))
		}
	}
	text := fmt.Sprintf("run %s waits for %s", r.ID, strings.Join(before, ", then "))
	if queue.Owner.State == run.StateWaiting { // nothing happens until somebody does something
		text += fmt.Sprintf("; run %s %s: see %s", queue.Owner.Run, strings.TrimPrefix(queue.Owner.Does, "it "), s.call.commandLine("status", queue.Owner.Run))
	}
	return text
}
