package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/run"
)

// retry asks for a new run of what an old one was to do, and follows it.
func retry(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "retry", which: failedRun, anew: true, enough: finished})
}

// goOn lets a paused run go on, and follows it.
func goOn(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "continue", which: pausedRun, enough: func(r run.Run) bool {
		return r.State.Over() || r.State == run.StateWaiting && r.Command != run.Continue
	}})
}

// pause asks for a run to be paused, and follows it until it is.
func pause(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "pause", which: openRun, meant: run.StateWaiting, enough: finished})
}

// cancel asks for a run to be cancelled, and follows it until it is.
func cancel(ctx context.Context, c *call) (int, error) {
	return c.steer(ctx, runCommand{operation: "cancel", which: openRun, meant: run.StateCancelled, enough: func(r run.Run) bool { return r.State.Over() }})
}

// A runCommand is a request about a run.
type runCommand struct {
	operation string
	which     choice             // the run, if none is named
	anew      bool               // it makes a run of its own
	meant     run.State          // what the run is to come to, which is then success; may be empty
	enough    func(run.Run) bool // reports whether that is what came of it
}

// steer asks for something that is about a run, and follows what comes of it.
func (c *call) steer(ctx context.Context, w runCommand) (int, error) {
	s, err := c.open(ctx)
	if err != nil {
		return ExitFailed, err
	}
	return s.leave(ctx, func() (int, error) {
		about, err := s.chosen(ctx, w.which)
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
