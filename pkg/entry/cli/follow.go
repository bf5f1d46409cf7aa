package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	glance  = 200 * time.Millisecond // the shortest time between two polls of a run
	patient = 30 * time.Second       // how long to wait for a run to be recorded
	giveUp  = 2 * time.Minute        // how long an installation may not answer
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

// An unwatched is the error of a run that continues, but cannot be followed.
type unwatched struct {
	error
	run, again string // the command that follows it again
}

// Unwrap is why it cannot be followed.
func (u *unwatched) Unwrap() error { return u.error }

// hint says that the run continues, and what to do.
func (u *unwatched) hint() string {
	return fmt.Sprintf("run %s goes on without its watcher. Follow it again with\n  %s", u.run, u.again)
}

// A watch says when to stop following, and what to follow instead.
type watch struct {
	run     string             // to follow
	instead string             // the ID of another run that is followed instead if it is created; may be empty
	enough  func(run.Run) bool // when to stop; nil stops when the run has ended or waits for a person
}

// follow shows a run until the watch says enough, and returns its last state.
func (s *session) follow(ctx context.Context, w watch, v view) (run.Run, error) {
	if w.enough == nil {
		w.enough = finished
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
		if err = s.again(ctx, err); errors.Is(err, errGap) {
			l.gone(cause)
			next()
			continue
		}
		switch {
		case fault.Is(err, fault.Missing) && !known && (time.Since(startedAt) < s.patient || s.delivers()):
		case fault.Is(err, fault.Missing) && !known:
			return r, fault.New(fault.Unavailable, "nothing has taken up run %s: %s", w.run, s.silence)
		case isLost(err), err != nil && known && s.host == nil:
			return r, &unwatched{err, w.run, s.call.spell("status", w.run, "--follow")}
		case err != nil:
			return r, err
		case w.enough(r):
			return r, v.End(r)
		default:
			known = true
			l.back()
			l.tell(ctx, r)
			if err := v.Show(r); err != nil {
				return r, fmt.Errorf("show run %s: %w: %w", r.ID, err, errInterrupted)
			}
		}
		next()
	}
}

// see loads the followed run, or the run to follow instead as soon as that is
// recorded.
func (s *session) see(ctx context.Context, w watch) (run.Run, error) {
	if w.instead != "" {
		r, err := s.load(ctx, w.instead)
		if !fault.Is(err, fault.Missing) {
			return r, err
		}
	}
	return s.load(ctx, w.run)
}

// delivers reports whether this process still delivers events to functions that
// it hosts. A failed delivery is tried again, and may still start the run.
func (s *session) delivers() bool { return s.host != nil && s.host.Delivering() }

// finished reports whether a run has ended, or waits for a person.
func finished(r run.Run) bool { return r.State.Over() || r.State == run.StateWaiting }
