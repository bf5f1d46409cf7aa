package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// unlock ends the run that holds a project's lock, which frees the lock.
func unlock(ctx context.Context, c *call) (int, error) {
	if strings.TrimSpace(c.flags.reason) == "" {
		return c.refuse("unlock", fault.New(fault.Invalid, "unlock: give a reason with --reason TEXT: it is recorded with the run"))
	}
	return c.steer(ctx, runCommand{
		operation: "unlock", which: lockOwner, meant: run.StateCancelled,
		enough:     func(r run.Run) bool { return r.State.Over() },
		unreadable: release,
	})
}

// release requests that the lock is taken from a run that cannot be read because of
// cause, and waits until it is. The run is the one that the call names, or the only
// such run that holds a lock.
func release(ctx context.Context, s *session, cause error) (int, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return ExitFailed, err
	}
	var about []run.Request
	for _, p := range projects {
		lock, err := s.reader.Lock(ctx, p)
		if err != nil {
			return ExitFailed, fmt.Errorf("read the lock of %s: %w", p, err)
		}
		id := lock.Owner.Run
		if id == "" || len(s.call.args) > 0 && !strings.HasPrefix(id, strings.ToLower(s.call.args[0])) {
			continue
		}
		if _, why := s.load(ctx, id); fault.Is(why, fault.Missing, fault.Broken) {
			q := s.made(ctx, "unlock", p, run.Source{})
			q.Of, cause = id, why
			about = append(about, q)
		}
	}
	if len(about) != 1 {
		return ExitFailed, cause
	}
	q := about[0]
	id, err := s.post(ctx, q)
	if err != nil {
		return ExitFailed, err
	}
	fmt.Fprintf(s.call.Err, "unlock: %v\nOnly the lock on %s is released. The next run finds the operations that are in progress.\n", cause, q.Project)
	for {
		lock, err := s.reader.Lock(ctx, q.Project)
		if err != nil {
			return ExitFailed, fmt.Errorf("read the lock of %s: %w", q.Project, err)
		}
		if lock.Owner.Run != q.Of {
			fmt.Fprintf(s.call.Err, "run %s no longer holds the lock on %s\n", q.Of, q.Project)
			return ExitOK, nil
		}
		if r, err := s.load(ctx, id); err == nil && r.State == run.StateRefused {
			return s.call.refuse("unlock", fault.New(fault.Refused, "%s", strings.Join(r.Messages, "; ")))
		}
		select {
		case <-ctx.Done():
			return ExitFailed, context.Cause(ctx)
		case <-s.call.Interrupts:
			return ExitFailed, errInterrupted
		case <-time.After(glance):
		}
	}
}

// lockOwner is the only run that holds a lock.
func lockOwner(ctx context.Context, s *session) (run.Run, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return run.Run{}, err
	}
	var owners []run.Run
	for _, p := range projects {
		lock, err := s.reader.Lock(ctx, p)
		if err != nil {
			return run.Run{}, fmt.Errorf("read the lock of %s: %w", p, err)
		}
		if lock.Owner.Run == "" {
			continue
		}
		r, err := s.load(ctx, lock.Owner.Run)
		if err != nil {
			return run.Run{}, err
		}
		owners = append(owners, r)
	}
	switch len(owners) {
	case 0:
		return run.Run{}, fault.New(fault.Refused, "no run holds a lock: there is nothing to unlock")
	case 1:
		return owners[0], nil
	}
	return run.Run{}, fault.New(fault.Refused, "%d runs hold a lock: name the one that is meant: %s", len(owners), ids(owners))
}
