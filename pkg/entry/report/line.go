package report

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Runs is where runs and locks are read.
type Runs interface {
	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// Lock returns a project's lock.
	Lock(ctx context.Context, project string) (run.Lock, error)
}

// A Place is a run that holds a project's lock, or waits for it.
type Owner struct {
	Run       string    `json:"run"`
	Operation string    `json:"operation"`
	State     run.State `json:"state"`
	Who       string    `json:"who"`
	Requested time.Time `json:"asked"`
	Does      string    `json:"does"` // for people: what it does now, or does when it is its turn
}

// A Line is who holds a project's lock, and who waits for it.
type QueueEntry struct {
	Project string  `json:"project"`
	Owner   Owner   `json:"owner"`
	Waiting []Owner `json:"waiting"` // the next one first
}

// LineOf reports who holds the lock of a project, or nil if nobody does.
func QueueEntryOf(ctx context.Context, runs Runs, project string) (*QueueEntry, error) {
	lock, err := runs.Lock(ctx, project)
	if err != nil || lock.Owner.Run == "" {
		return nil, err
	}
	l := &QueueEntry{Project: project, Waiting: []Owner{}}
	for i, w := range append([]run.Writer{lock.Owner}, lock.Waiting...) {
		r, err := runs.Run(ctx, w.Run)
		switch {
		case fault.Is(err, fault.Missing):
			r = run.Run{Request: run.Request{ID: w.Run}} // it ended since
		case err != nil:
			return nil, fmt.Errorf("run %s: %w", w.Run, err)
		}
		p := Owner{r.ID, r.Operation, r.State, r.Who, r.Requested, turn(r)}
		if i > 0 {
			l.Waiting = append(l.Waiting, p)
			continue
		}
		p.Does = doing(r)
		l.Owner = p
	}
	return l, nil
}

// doing says how far the run has come that holds a lock.
func doing(r run.Run) string {
	switch {
	case r.Command == run.Supersede:
		return "what is in flight ends, then it makes way for run " + r.By
	case r.Command == run.CancelAndRollBack:
		return "what is in flight ends, then it is rolled back"
	case r.Command == run.Cancel:
		return "what is in flight ends, then it is cancelled"
	case r.State == run.StateWaiting:
		return "only a person can move it on"
	case r.Command == run.Pause:
		return "what is in flight ends, then it is parked"
	case r.State == run.StatePending:
		return "it is being planned"
	case r.State == run.StateQueued:
		return "it is about to begin"
	}
	return "it is carried out"
}

// turn says what a run that waits does when it is its turn.
func turn(r run.Run) string {
	switch {
	case r.Command.Stops():
		return "it is being cancelled"
	case r.State.Over(), r.State == "":
		return "it has ended"
	case r.Upload:
		return "it deploys what was uploaded, unless a newer upload takes its place"
	}
	return plan.AllOperations().Of(r.Operation).AtTurn(r.Of)
}
