package engine

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Request is what was asked for, by an upload, a schedule or a person.
type Request struct {
	ID        string // of the run: the same asker gets the same run
	Project   string // "shop@prod"
	Operation string
	Source    run.Source
	Run       string // the run that a retry or a wish is about
	Force     bool   // retry, though a newer revision was deployed since
	Who       string
	Problems  []string // what is wrong with the request itself

	MaxDeletions *int // as in run.Run
}

// RunID names the run that is asked for by the given words, in 20 base32
// characters of their SHA-256. The same words make the same run.
func RunID(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// wishes are the operations that steer a run instead of making one.
func wishes() map[string]run.Wish {
	return map[string]run.Wish{"pause": run.Pause, "continue": run.Go, "cancel": run.Cancel}
}

// Start makes a run of what is asked and starts an execution that drives it, or
// steers the run that the request is about. Asked twice, it makes one run; a wish
// it carries out again.
func (e *Engine) Start(ctx context.Context, q Request) error {
	if wish, ok := wishes()[q.Operation]; ok && len(q.Problems) == 0 {
		err := e.Wish(ctx, q, wish)
		if !fault.Is(err, fault.Refused, fault.Missing) {
			return err
		}
		q.Problems = fault.Messages(err)
	}
	r, _, err := e.Store.Ask(ctx, run.Run{
		ID: q.ID, Version: run.Version, Project: q.Project, Operation: q.Operation, Source: q.Source,
		Of: q.Run, Force: q.Force, Who: q.Who, Wish: run.Go, State: run.Asked,
		Messages: q.Problems, Asked: e.Now(), MaxDeletions: q.MaxDeletions,
	})
	switch {
	case err != nil:
		return fmt.Errorf("ask for run %s: %w", q.ID, err)
	case r.State != run.Asked:
		return nil // it has been taken up
	case r.Drive > 0:
		return e.launch(ctx, r.ID, r.Drive) // whoever raised it may have died there
	}
	return e.drive(ctx, r)
}

// Wish steers the run that q is about, which is of q's own project: it is obeyed
// at the next look. A parked run gets a new execution, for nobody looks at it.
func (e *Engine) Wish(ctx context.Context, q Request, w run.Wish) error {
	r, err := e.Store.Run(ctx, q.Run)
	if err == nil && r.Project != q.Project {
		err = fault.New(fault.Refused, "run %s is of %s, not of %s", r.ID, r.Project, q.Project)
	}
	if err == nil {
		r, err = e.Store.Wish(ctx, q.Run, w, q.Who, e.Now())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Operation, err)
	}
	if r.State == run.Parked {
		return e.drive(ctx, r)
	}
	if r.Drive > 0 { // whoever woke it before may have died between raise and start
		if err := e.launch(ctx, r.ID, r.Drive); err != nil {
			return err
		}
	}
	return e.wake(ctx, r)
}

// again makes of a retry the run that it repeats. It is refused if that run is
// not over.
func (e *Engine) again(ctx context.Context, r *run.Run) error {
	old, err := e.Store.Run(ctx, r.Of)
	if err != nil {
		return err
	}
	switch {
	case old.Project != r.Project:
		return fault.New(fault.Invalid, "run %s is of %s, not of %s", old.ID, old.Project, r.Project)
	case !old.State.Over():
		return fault.New(fault.Refused, "run %s is not over (%s): wait for its end, or cancel it", old.ID, old.State)
	case !slices.Contains([]string{"deploy", "destroy", "refresh"}, old.Operation):
		return fault.New(fault.Refused, "run %s was a %s, of which nothing can be retried: ask for it anew", old.ID, old.Operation)
	}
	r.Operation, r.Source = old.Operation, old.Source
	if r.MaxDeletions == nil {
		r.MaxDeletions = old.MaxDeletions
	}
	return nil
}

// newest refuses the retry of a run if something newer was deployed since. It is
// asked when the lock is held, so that nothing newer can come.
func (e *Engine) newest(ctx context.Context, r run.Run) error {
	if r.Of == "" || r.Force || r.Operation == "refresh" {
		return nil
	}
	old, err := e.Store.Run(ctx, r.Of)
	if err != nil {
		return err
	}
	runs, err := e.Store.List(ctx, r.Project, 0)
	if err != nil {
		return err
	}
	for _, newer := range runs {
		if newer.Asked.After(old.Asked) && newer.Writes() && newer.Source != old.Source {
			return fault.New(fault.Refused, "run %s is not retried, for run %s has deployed something newer since: deploy that again, or force the retry", old.ID, newer.ID)
		}
	}
	return nil
}
