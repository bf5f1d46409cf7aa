package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// begin starts a run. What is wrong with the request is all told at once, and
// then no run is made of it.
func (a API) start(ctx context.Context, q question) (answer, error) {
	project, err := q.project()
	if err != nil {
		return answer{}, err
	}
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	r := a.ParseRequest(project, text)
	if engine.Steers(r.Operation) {
		return answer{}, fault.New(fault.Invalid, "operation: a %s starts no run: wish it of the run that it is about, with POST /runs/{run}/wishes", r.Operation)
	}
	if r.Who != "" {
		r.Problems = append(r.Problems, "options.who: who asks is known: leave it out")
	}
	if r.ID, err = q.id(project); err != nil {
		r.Problems = append(r.Problems, fault.Messages(err)...)
	}
	if len(r.Problems) > 0 {
		return answer{}, wrong(r.Problems)
	}
	r.Who = q.who
	if err := a.Engine.Start(ctx, r); err != nil {
		return answer{}, uncertain(err, fmt.Sprintf("run %s may have been started all the same: read it, or ask again with the same Idempotency-Key", r.ID))
	}
	return a.accepted(ctx, r.ID, func(kept run.Run) error { return another(kept, r) })
}

// another refuses an idempotency key that was used before for something else.
func another(kept run.Run, r run.Request) error {
	same := kept.Operation == r.Operation && kept.Source == r.Source && slices.Equal(kept.Only, r.Only)
	if r.Operation == "retry" { // by now it may be what it repeats
		same = true
	}
	rolls := kept.Rollback || !r.Rollback // the project may say so, too
	if same && rolls && kept.Of == r.Of && kept.Force == r.Force && kept.Refuse == r.Refuse && limited(kept, r) {
		return nil
	}
	return fault.New(fault.Refused, "idempotency-key: run %s was asked for with it, which is something else (%s): use another key for another request", kept.ID, kept.Operation)
}

// limited reports whether a run may delete as many stacks as a request says. A
// retry that does not say it has the limit of what it repeats.
func limited(kept run.Run, r run.Request) bool {
	if kept.MaxDeletions == nil || r.MaxDeletions == nil {
		return r.MaxDeletions == nil && (kept.MaxDeletions == nil || r.Operation == "retry")
	}
	return *kept.MaxDeletions == *r.MaxDeletions
}

// wish steers a run. With one idempotency key each wish is carried out once: one
// that is another is never taken for what was carried out before, and lost.
func (a API) command(ctx context.Context, q question) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	r, err := a.find(ctx, q.PathParameters["run"])
	if err != nil {
		return answer{}, err
	}
	w := a.ParseCommand(r.Project, r.ID, text)
	if w.ID, err = q.id(fmt.Sprintln(r.ID, w.Operation, w.Rollback, w.Force)); err != nil {
		w.Problems = append(w.Problems, fault.Messages(err)...)
	}
	if len(w.Problems) > 0 {
		return answer{}, wrong(w.Problems)
	}
	w.Who = q.who
	if err := a.Engine.Steer(ctx, w); err != nil {
		return answer{}, uncertain(err, "it may have been wished all the same: read the run, or ask again with the same Idempotency-Key")
	}
	return a.accepted(ctx, r.ID, func(run.Run) error { return nil })
}

// accepted tells of a run of which something was asked, with the run as it is if
// that can be read now, and is what check wants it to be.
func (a API) accepted(ctx context.Context, id string, check func(run.Run) error) (answer, error) {
	said := answer{status: http.StatusAccepted, location: "/runs/" + id, body: map[string]string{"run": id}}
	r, err := a.Reader.Load(ctx, id)
	if err == nil {
		err = check(r)
	}
	if fault.Is(err, fault.Refused) {
		return answer{}, err
	}
	if err == nil {
		if shown, err := a.shown(ctx, r); err == nil {
			said.body = shown
		}
	}
	return said, nil
}

// wrong is all that is wrong with a request.
func wrong(problems []string) error {
	var all []error
	for _, p := range problems {
		all = append(all, fault.New(fault.Invalid, "%s", p))
	}
	return errors.Join(all...)
}

// uncertain adds to an error that leaves open what was done what to do then.
func uncertain(err error, then string) error {
	if k := fault.KindOf(err); k != fault.Refused && k != fault.Missing && k != fault.Invalid {
		return fault.New(k, "%w: %s", err, then)
	}
	return err
}
