package sim

import (
	"context"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/run"
)

// RecordAnswer implements engine.Answers.
func (s *Store) RecordAnswer(_ context.Context, id string, number int, a run.Answer) (out run.Run, err error) {
	err = s.write("RecordAnswer", id, func() (bool, error) {
		k, err := s.find(id)
		if err != nil {
			return false, err
		}
		step, err := k.step(number)
		if err != nil {
			return false, err
		}
		if step.Answer.ID == a.ID {
			out = copyRun(k.run)
			return false, nil
		}
		whole := k.run
		whole.Steps = k.steps
		if err := whole.Accepts(*step, a); err != nil {
			return false, err
		}
		step.Answer = a
		k.run.Generation++
		what := "no to " + step.ID
		if a.Yes {
			what = "yes to " + step.ID
		}
		s.audit[id] = append(s.audit[id], Entry{Time: a.At, What: what, Who: a.By(), Why: a.Why})
		out = copyRun(k.run)
		return true, nil
	})
	return out, err
}

// A questioner is an action whose steps in Backend.Questions wait for a user's answer
// before they end.
type questioner struct {
	action.Action
	backend *Backend
}

// questioners makes the action of every verb a questioner.
func questioners(b *Backend, verbs action.Verbs) action.Verbs {
	for name, v := range verbs {
		v.Action = questioner{v.Action, b}
		verbs[name] = v
	}
	return verbs
}

// Poll implements action.Action.
func (q questioner) Poll(ctx context.Context, t action.Task) (action.Progress, error) {
	p, err := q.Action.Poll(ctx, t)
	if err == nil && p.Over && p.Err == nil && !t.Answered && q.backend.Questions[t.Step.ID] {
		return action.Progress{Receipt: p.Receipt, Question: "is " + t.Step.ID + " as it should be?"}, nil
	}
	return p, err
}
