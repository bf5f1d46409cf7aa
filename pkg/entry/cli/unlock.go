package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// unlock takes a project's lock away from the run that holds it.
func unlock(ctx context.Context, c *call) (int, error) {
	if strings.TrimSpace(c.flags.reason) == "" {
		return c.refuse("unlock", fault.New(fault.Invalid, "unlock: say why with --reason TEXT: it is kept with the run"))
	}
	return c.steer(ctx, runCommand{operation: "unlock", meant: run.StateCancelled, enough: func(r run.Run) bool { return r.State.Over() }})
}

// meant is the run that the call names; or else, for an unlock, the only one
// that holds a lock.
func (s *session) meant(ctx context.Context) (run.Run, error) {
	if len(s.call.args) > 0 {
		return s.load(ctx, s.call.args[0])
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return run.Run{}, err
	}
	var owners []run.Run
	var names []string
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
		owners, names = append(owners, r), append(names, fmt.Sprintf("%s (%s of %s)", r.ID, r.Operation, p))
	}
	switch len(owners) {
	case 0:
		return run.Run{}, fault.New(fault.Refused, "no run holds a lock: nothing was unlocked")
	case 1:
		return owners[0], nil
	}
	return run.Run{}, fault.New(fault.Refused, "several runs hold a lock: say which one is meant: %s", strings.Join(names, ", "))
}
