// Package revision finds the revisions of projects that are deployed again, or promoted to other environments.
package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Store reads what was deployed.
type Store interface {
	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// List returns the newest runs of a project, newest first, without steps.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Lock returns the lock of a project.
	Lock(ctx context.Context, project string) (run.Lock, error)
}

// Find finds the revision of a project that a word names, as run.History.Revision does. It searches the newest MostSearched runs; the whole ID of a run
// finds an older one, too.
func Find(ctx context.Context, store Store, project, word string) (run.Revision, error) {
	r, found, err := namedRun(ctx, store, project, word)
	switch {
	case err != nil:
		return run.Revision{}, err
	case found && r.IsRevision(plan.AllOperations().Of(r.Operation)):
		return r.AsRevision(), nil
	case found:
		return run.Revision{}, fault.New(fault.Missing, "run %s is a %s (%s) that has deployed no files: stackwright revisions lists the runs that have", r.ID, r.Operation, r.State)
	}
	l, err := store.Lock(ctx, project)
	if err != nil {
		return run.Revision{}, err
	}
	runs, err := store.List(ctx, project, run.MostSearched)
	if err != nil {
		return run.Revision{}, fmt.Errorf("list the runs of %s: %w", project, err)
	}
	return l.Revision(project, word, l.Revisions(plan.AllOperations(), runs))
}

// Files finds the files that a word names, as a run with the ID, the project and the source: those of a revision, or those of any run that
// the word is the whole ID of, such as a plan.
func Files(ctx context.Context, store Store, project, word string) (run.Run, error) {
	of := func(id string, s run.Source) run.Run {
		return run.Run{Request: run.Request{ID: id, Project: project, Source: s}}
	}
	r, found, err := namedRun(ctx, store, project, word)
	if err != nil || found && r.Source != (run.Source{}) {
		return of(r.ID, r.Source), err
	}
	v, err := Find(ctx, store, project, word)
	return of(v.Run, v.Source), err
}

// namedRun returns the run of a project that a word is the ID of. It reports false if there is none.
func namedRun(ctx context.Context, store Store, project, word string) (run.Run, bool, error) {
	if word == "" || len(word) > run.IDLength {
		return run.Run{}, false, nil
	}
	r, err := store.Run(ctx, word)
	if fault.Is(err, fault.Missing) {
		return run.Run{}, false, nil
	}
	return r, err == nil && r.Project == project, err
}

// A Finder gives runs the files of revisions. All its fields are needed.
type Finder struct {
	Store      Store
	Operations plan.Operations
	Alarms     Alarms // that stop promotions
	Permits    Permits

	// Deployable returns why the files of r cannot be deployed.
	Deployable func(ctx context.Context, r *run.Run) error
}

// Permits says which targets a project may use.
type Permits interface {
	// Permit returns an error of kind Denied if a project, as "shop@prod", may not use a target.
	Permit(ctx context.Context, project string, t project.Target) error
}

// Give gives r the files of the revision that it deploys again or promotes. r holds the lock of its project: only its owner can say which
// revision is the current one. The revision of a retry is that of the run that it repeats.
func (f Finder) Give(ctx context.Context, r *run.Run) error {
	if r.PromotedFrom() != "" {
		return f.promote(ctx, r)
	}
	l, err := f.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	word, err := l.RevisionNamed(r, f.Operations.Of(r.Operation))
	if err != nil {
		return err
	}
	v, err := Find(ctx, f.Store, r.Project, cmp.Or(r.Revision, word))
	if err != nil {
		return fmt.Errorf("the revision to roll back to: %w", err)
	}
	r.Source, r.Revision = v.Source, v.Run
	r.Messages = append(r.Messages, about(v))
	return l.MovedSince(v)
}

// NotAgain returns err, and that it is about files that were deployed before if r deploys those of a revision.
func NotAgain(r run.Run, err error) error {
	if r.Revision == "" || !fault.Final(err) {
		return err
	}
	if from := r.PromotedFrom(); from != "" {
		return errors.Join(fault.New(fault.Refused, "the files of run %s of %s cannot be deployed to %s: correct them, deploy them to %s, and promote that", r.Revision, from, r.Project, from), err)
	}
	return errors.Join(fault.New(fault.Refused, "the files of run %s cannot be deployed again: provide what they need, or choose another revision: stackwright revisions lists them", r.Revision), err)
}

// about says which revision is deployed again.
func about(v run.Revision) string {
	text := fmt.Sprintf("the files are those of run %s (%s, %s), requested by %s at %s", v.Run, v.Operation, v.State, v.Who, v.Requested.UTC().Format(time.RFC3339))
	switch {
	case v.State != run.StateSucceeded:
		return text + ": this run has not deployed them successfully"
	case v.Partial:
		return text + ": this run deployed only some of their stacks"
	}
	return text
}
