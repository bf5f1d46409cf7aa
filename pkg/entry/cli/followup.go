package cli

import (
	"context"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A followUp is what was followed: a run, and the rollback that followed it, whose
// ID is empty if none did.
type followUp struct{ first, back run.Run }

// toTheEnd follows a run, and then the rollback that follows it, if one does.
func (s *session) toTheEnd(ctx context.Context, w watch) (followUp, error) {
	r, err := s.follow(ctx, w, s.call.view())
	q := followUp{first: r}
	if err != nil || !plan.AllOperations().Of(r.Operation).Reversible || r.State != run.StateFailed && r.State != run.StateCancelled {
		return q, err
	}
	id := engine.RollbackOf(r.ID)
	if _, err := s.load(ctx, id); fault.Is(err, fault.Missing) {
		return q, nil
	} else if err != nil {
		return q, err
	}
	q.back, err = s.follow(ctx, watch{run: id}, s.call.view())
	q.back.ID = id
	return q, err
}

// last is the run that was followed last: id, if no rollback was.
func (q followUp) last(id string) string {
	if q.back.ID != "" {
		return q.back.ID
	}
	return id
}

// exit is the code for what has come of it: what failed has failed, though a
// rollback has repaired it. meant is what the run was to come to, which is success
// then; it may be empty.
func (q followUp) exit(meant run.State) int {
	code := exit(q.first.State)
	if meant != "" && q.first.State == meant {
		code = ExitOK
	}
	if code == ExitOK && q.back.ID != "" {
		code = exit(q.back.State)
	}
	return code
}
