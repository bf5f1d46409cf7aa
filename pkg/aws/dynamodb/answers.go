package dynamodb

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// RecordAnswer implements engine.Answers. An answer is part of its step's item, so
// that loading the run loads it too.
func (t *Table) RecordAnswer(ctx context.Context, id string, number int, a run.Answer) (run.Run, error) {
	for {
		r, err := t.Load(ctx, id) // with all steps: one person gives one approval of a run
		if err != nil {
			return run.Run{}, err
		}
		if number >= len(r.Steps) {
			return run.Run{}, fault.New(fault.Missing, "run %s has no step %d", id, number)
		}
		s := r.Steps[number]
		if s.Answer.ID == a.ID {
			return t.Run(ctx, id)
		}
		if err := r.Accepts(s, a); err != nil {
			return run.Run{}, err
		}
		what := "no to " + s.ID
		if a.Yes {
			what = "yes to " + s.ID
		}
		failed, err := t.write(ctx,
			write{
				key: stepKey(id, number), set: values{"answer": a},
				where: "#status = :waiting AND attribute_not_exists(#answer)", with: values{"waiting": run.Waiting},
			},
			write{
				key: runKey(id), add: values{"generation": 1},
				where: "#generation = :generation AND " + live, with: alive(values{"generation": r.Generation}),
			},
			write{key: eventKey(id, a.At, nonce()), put: eventItem{Time: a.At, What: what, Who: a.By(), From: a.From, Why: a.Why}},
		)
		if err != nil {
			return run.Run{}, err
		}
		if failed == held {
			return t.Run(ctx, id)
		}
	}
}
