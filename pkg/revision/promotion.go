package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// mostWorking is how many runs that hold or wait for the lock of an environment are named, if a promotion from it is refused.
const mostWorking = 10

// promote gives r the files of the revision that it promotes. All that is wrong with the promotion is said at once, also whether the files
// can be deployed. r holds the lock of its own environment; the other one may change meanwhile, and its revision stays what it is.
func (f Finder) promote(ctx context.Context, r *run.Run) error {
	p, err := f.promotion(ctx, *r)
	if err != nil {
		return err
	}
	r.Source, r.Revision = p.Revision.Source, p.Revision.Run
	r.Messages = append(r.Messages, p.Messages()...)
	refused := p.Refused()
	if r.Follows != "" {
		err := f.checkPipeline(ctx, *r, p)
		if errors.Is(err, ErrOvertaken) || err != nil && !fault.Final(err) {
			return err
		}
		refused = errors.Join(refused, err)
	}
	if refused == nil {
		return nil
	}
	if err := f.Deployable(ctx, r); err != nil {
		refused = errors.Join(refused, NotAgain(*r, err))
	}
	return refused
}

// promotion reads what decides whether r may promote a revision.
func (f Finder) promotion(ctx context.Context, r run.Run) (run.Promotion, error) {
	p := run.Promotion{From: r.PromotedFrom(), To: r.Project, Named: r.Follows == "" && (r.FromRevision != "" || r.Revision != "")}
	var err error
	if p.Revision, err = Find(ctx, f.Store, p.From, cmp.Or(r.Revision, r.FromRevision, run.CurrentRevision)); err != nil {
		return p, fmt.Errorf("the revision of %s to promote: %w", p.From, err)
	}
	from, err := f.Store.Lock(ctx, p.From)
	if err != nil {
		return p, err
	}
	to, err := f.Store.Lock(ctx, p.To)
	if err != nil {
		return p, err
	}
	p.Target = to.History
	if p.Revisions, err = f.revisionsOf(ctx, p.From, from); err != nil {
		return p, err
	}
	if p.Deployed, err = f.revisionsOf(ctx, p.To, to); err != nil {
		return p, err
	}
	if id := from.LastAttempted.Run; id != "" {
		if p.Latest, err = f.Store.Run(ctx, id); err != nil && !fault.Is(err, fault.Missing) {
			return p, err
		}
	}
	for _, w := range from.First(mostWorking) {
		working, err := f.Store.Run(ctx, w.Run)
		if err != nil {
			return p, err
		}
		if o := f.Operations.Of(working.Operation); o.Writes && !working.State.Over() {
			p.Working = append(p.Working, working)
		}
	}
	return p, nil
}

// revisionsOf lists the revisions of a project, newest first.
func (f Finder) revisionsOf(ctx context.Context, id string, l run.Lock) ([]run.Revision, error) {
	runs, err := f.Store.List(ctx, id, run.MostSearched)
	if err != nil {
		return nil, fmt.Errorf("list the runs of %s: %w", id, err)
	}
	return l.Revisions(f.Operations, runs), nil
}
