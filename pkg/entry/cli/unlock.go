package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// unlock ends the run that holds a project's lock, which frees the lock.
func unlock(ctx context.Context, c *call) (int, error) {
	if strings.TrimSpace(c.flags.reason) == "" {
		return c.refuse("unlock", fault.New(fault.Invalid, "unlock: give a reason with --reason TEXT: it is recorded with the run"))
	}
	return c.steer(ctx, runCommand{operation: "unlock", which: lockOwner, meant: run.StateCancelled, enough: func(r run.Run) bool { return r.State.Over() }})
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
