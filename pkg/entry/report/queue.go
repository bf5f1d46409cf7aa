package report

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Runs reads runs and locks.
type Runs interface {
	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// Lock returns a project's lock.
	Lock(ctx context.Context, project string) (run.Lock, error)
}

// An Owner is a run that holds a project's lock, or is queued for it.
type Owner struct {
	Run       string    `json:"run"`
	Operation string    `json:"operation"`
	State     run.State `json:"state"`
	Who       string    `json:"who"`
	Requested time.Time `json:"requested"`
	Does      string    `json:"does"` // a sentence: what it does now, or will do when it has the lock
}

// A QueueEntry is the run that holds a project's lock, and the runs that are queued
// for it.
type QueueEntry struct {
	Project string  `json:"project"`
	Owner   Owner   `json:"owner"`
	Waiting []Owner `json:"waiting"` // the next one first
}

// QueueEntryOf reports which run holds the lock of a project, or nil if none does.
func QueueEntryOf(ctx context.Context, runs Runs, project string) (*QueueEntry, error) {
	lock, err := runs.Lock(ctx, project)
	if err != nil || lock.Owner.Run == "" {
		return nil, err
	}
	q := &QueueEntry{Project: project, Waiting: []Owner{}}
	for i, w := range append([]run.Writer{lock.Owner}, lock.Waiting...) {
		r, err := runs.Run(ctx, w.Run)
		switch {
		case fault.Is(err, fault.Missing):
			r = run.Run{Request: run.Request{ID: w.Run}} // it ended since
		case err != nil:
			return nil, fmt.Errorf("run %s: %w", w.Run, err)
		}
		o := Owner{r.ID, r.Operation, r.State, r.Who, r.Requested, queued(r)}
		if i > 0 {
			q.Waiting = append(q.Waiting, o)
			continue
		}
		o.Does = owning(r)
		q.Owner = o
	}
	return q, nil
}

// owning says what the run that holds a lock does.
func owning(r run.Run) string {
	const finishes = "it finishes its running steps, then "
	switch {
	case r.Command == run.Supersede:
		return finishes + "run " + r.SupersededBy + " supersedes it" + by(r)
	case r.Command == run.CancelAndRollBack:
		return finishes + "is rolled back" + by(r)
	case r.Command == run.Cancel:
		return finishes + "is cancelled" + by(r)
	case r.State == run.StateWaiting && r.Command == run.Pause:
		return "it is paused" + by(r) + ": only a person can continue it"
	case r.State == run.StateWaiting:
		return "it waits for the answer of a person"
	case r.Command == run.Pause:
		return finishes + "pauses" + by(r)
	case r.State == run.StatePending:
		return "it is being planned"
	case r.State == run.StateQueued:
		return "it is about to start"
	}
	return "it is being executed"
}

// by says who gave r its command, and why.
func by(r run.Run) string {
	c := r.Given()
	switch {
	case c.Who == "":
		return ""
	case c.Why == "":
		return " (by " + c.Who + ")"
	}
	return " (by " + c.Who + ": " + c.Why + ")"
}

// queued says what a queued run will do.
func queued(r run.Run) string {
	switch {
	case r.Command.Stops():
		return "it is being cancelled" + by(r)
	case r.State.Over(), r.State == "":
		return "it has ended"
	case r.Upload:
		return "it deploys an upload, unless a newer upload replaces it"
	}
	return plan.AllOperations().Of(r.Operation).AtTurn(r.Of)
}
