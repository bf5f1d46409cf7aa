package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// retry requests a new run of the operation of an old run, and follows it.
func retry(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "retry", which: failedRun, anew: true, enough: finished})
}

// goOn continues a paused run, and follows it.
func goOn(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "continue", which: pausedRun, enough: func(r run.Run) bool {
		return r.State.Over() || r.State == run.StateWaiting && r.Command != run.Continue
	}})
}

// pause pauses a run, and follows it until it waits.
func pause(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "pause", which: openRun, meant: run.StateWaiting, enough: finished})
}

// cancel cancels a run, and follows it until it has ended.
func cancel(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "cancel", which: openRun, meant: run.StateCancelled, enough: func(r run.Run) bool { return r.State.Over() }})
}

// A runCommand is a request about a run.
type runCommand struct {
	operation string
	which     choice             // the run, if none is named
	anew      bool               // it starts a new run
	meant     run.State          // the state of the run that is a success for this command; may be empty
	enough    func(run.Run) bool // reports whether to stop following

	unreadable func(context.Context, *session, error) (int, error) // what to do if the run cannot be read; may be nil
}

// steer sends a request about a run, and follows the run.
func (c *call) steer(ctx context.Context, w runCommand) (int, error) {
	s, err := c.open(ctx)
	if err != nil {
		return ExitFailed, err
	}
	return s.leave(ctx, func() (int, error) {
		about, err := s.chosen(ctx, w.which)
		if w.unreadable != nil && fault.Is(err, fault.Missing, fault.Broken) {
			return w.unreadable(ctx, s, err)
		}
		if err != nil {
			return ExitFailed, err
		}
		if about.ID != strings.Join(c.args, "") && !c.flags.quiet {
			fmt.Fprintf(c.Err, "%s of run %s (%s of %s, %s)\n", w.operation, about.ID, about.Operation, about.Project, about.State)
		}
		requested := s.made(ctx, w.operation, about.Project, about.Source)
		requested.Of = about.ID
		id, err := s.post(ctx, requested)
		if err != nil {
			return ExitFailed, err
		}
		follow := watch{run: id, enough: finished}
		if !w.anew { // the run itself, or the refusal of the command
			follow = watch{run: about.ID, instead: id, enough: func(r run.Run) bool {
				if r.ID == id {
					return finished(r)
				}
				return w.enough(r) && r.Generation > about.Generation
			}}
		}
		q, err := s.toTheEnd(ctx, follow)
		switch {
		case errors.Is(err, errInterrupted):
			return s.detach(ctx, q.last(follow.run))
		case err != nil:
			return ExitFailed, err
		}
		return q.exit(w.meant), nil
	})
}

// load returns the run of the given ID.
func (s *session) load(ctx context.Context, id string) (run.Run, error) {
	r, err := s.reader.Load(ctx, id)
	if err != nil {
		return r, fmt.Errorf("run %s: %w", id, err)
	}
	return r, nil
}
