package cli

import (
	"context"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A followUp holds a followed run and its rollback. The ID of the rollback is
// empty if there was none.
type followUp struct{ first, back run.Run }

// toTheEnd follows a run, and then its rollback if there is one.
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

// last is the ID of the rollback, or id if there was none.
func (q followUp) last(id string) string {
	if q.back.ID != "" {
		return q.back.ID
	}
	return id
}

// exit is the exit code for the result. A failed run has failed even if its
// rollback succeeded. If the run ends in the state meant, which may be empty,
// that is a success.
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
