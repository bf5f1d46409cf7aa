package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxCompared is how many different templates that are deployed, and no longer desired, one plan
// reads: the plan function has to hold them in memory. The stacks of further templates are not
// compared. The desired templates are read all: policies have to see their resources, and what
// the files of a project may hold has a limit.
const maxCompared = 1000

// changes says what the plan of r changes. Only stacks with steps are compared, and each
// template is read once.
func (e *Engine) changes(ctx context.Context, r run.Run, v plan.View, p plan.Plan) (plan.Changes, error) {
	templates, err := e.compared(ctx, v, p)
	if err == nil {
		v, templates, err = e.withLost(ctx, r, v, p, templates)
	}
	if err != nil {
		return plan.Changes{}, fmt.Errorf("compare templates: %w", err)
	}
	c := v.Describe(p, templates)
	c.Run, c.Operation, c.Revision = r.ID, r.Operation, r.Source.Version
	if !c.HasNewNames() {
		return c, nil
	}
	if c, err = e.besideNames(ctx, r, v, c); err != nil {
		return c, fmt.Errorf("compare physical names: %w", err)
	}
	return c, nil
}

// compared reads the templates that the description of p compares.
func (e *Engine) compared(ctx context.Context, v plan.View, p plan.Plan) (plan.Templates, error) {
	desired, deployed := v.TemplateDigests(p)
	return e.templates(ctx, slices.Concat(desired, deployed[:min(len(deployed), maxCompared)]))
}

// showPlan stores what the plan of a preview would change, with a reference in r. An exact plan
// gets the steps that propose its updates, in place of those that are shown.
func (e *Engine) showPlan(ctx context.Context, r *run.Run, v plan.View, p plan.Plan, c plan.Changes) (err error) {
	c.Digest, c.Messages = r.Digest, limitMessages(slices.Concat(r.Messages, c.Messages))
	c.MaxParallel, c.MaxFailures, c.Seconds = r.MaxParallel, r.MaxFailures, plan.SecondsOf(r.Estimate())
	if r.Proposes() {
		var proposals []plan.Step
		proposals, c = v.Proposals(p, c)
		specs, err := e.specs(ctx, plan.Plan{Steps: proposals}, v.Desired)
		if err != nil {
			return err
		}
		for i, s := range proposals {
			proposals[i].Expected = e.Verbs.Expected(s, v.Desired.Nodes[s.Node], v.Recorded[s.Node])
		}
		r.SetSteps(v.Counted(proposals), specs)
	}
	r.Changes, err = e.saveChanges(ctx, c)
	return err
}

// refuseOtherPlan refuses r unless p is the saved plan that r carries out, if it names one.
func (e *Engine) refuseOtherPlan(ctx context.Context, r run.Run, p plan.Plan, basis []plan.Basis) error {
	if r.Options.Plan == "" {
		return nil
	}
	saved, err := e.Changes.PlannedChanges(ctx, r.Options.Plan)
	if fault.Is(err, fault.Missing) {
		return fault.New(fault.Refused, "the installation has no such plan: it was made by another installation, or is no longer stored: plan again")
	}
	if err != nil {
		return fmt.Errorf("read the saved plan: %w", err)
	}
	if err := saved.RefuseRun(r.Operation, r.Project); err != nil {
		return err
	}
	return saved.Refuse(r.Source.Version, p, basis)
}

// exact puts what the change sets of an exact plan say in place of its estimate, when r would end in state s. A stack
// without a change set keeps its estimate and says why, so the run has succeeded all the same.
func (e *Engine) exact(ctx context.Context, r run.Run, s run.State) (run.Run, run.State, error) {
	if !e.operation(r).Preview || r.TimedOut() || s != run.StateSucceeded && s != run.StateFailed {
		return r, s, nil
	}
	c, err := e.Changes.PlannedChanges(ctx, r.Changes)
	if err != nil {
		return r, s, err
	}
	said := make([]plan.Proposal, len(r.Steps))
	err = e.Parallel(ctx, len(r.Steps), func(ctx context.Context, i int) (err error) {
		said[i].Failure = r.Steps[i].Why
		if r.Steps[i].Status == run.Done {
			said[i], err = e.Changes.Proposal(ctx, r.Steps[i].Receipt.Proposal)
		}
		return err
	})
	if err != nil {
		return r, s, fmt.Errorf("read the change sets: %w", err)
	}
	proposals := make(map[string]plan.Proposal, len(said))
	for i, p := range said {
		proposals[r.Steps[i].Node] = p
	}
	r.Changes, err = e.saveChanges(ctx, c.Exact(proposals))
	return r, run.StateSucceeded, err
}

// readProposal reads the change set that t, a step of r, approves or executes, and what the plan said of its stack.
func (e *Engine) readProposal(ctx context.Context, t *action.Task, r run.Run) error {
	made := r.Step(t.Step.Proposal)
	if made == nil {
		return fault.New(fault.Broken, "run %s has no step %s", r.ID, t.Step.Proposal)
	}
	t.Proposal, t.ChangeSet = made.Receipt, action.Token(r.ID, r.TokenKey, made.Number, made.Attempt)
	var err error
	if t.Proposed, err = e.Changes.Proposal(ctx, t.Proposal.Proposal); err != nil {
		return fmt.Errorf("read the change set: %w", err)
	}
	estimate, err := e.Changes.PlannedChanges(ctx, r.Changes)
	if err != nil {
		return fmt.Errorf("read what the plan changes: %w", err)
	}
	t.Estimate = estimate.Of(t.Step.Node)
	return nil
}

// tidy deletes what the steps of r, which ends, have left behind and nobody needs any more, such as change sets that were
// not executed, as many as the budgets allow. It reports whether all is deleted; else it writes how far it has come, so that the next
// poll continues there. What could not be deleted is said in the messages of r.
func (e *Engine) tidy(ctx context.Context, r *run.Run, deadline time.Time) (all bool, err error) {
	for was := r.Tidied; ; {
		left := e.leftovers(*r)
		n := 0
		if len(left) > 0 && e.Now().Before(deadline) {
			n, err = e.tidySome(ctx, r, left)
		}
		if n > 0 {
			r.Tidied, r.Messages = left[n-1].Number+1, limitMessages(r.Messages)
		}
		switch {
		case len(left) == 0:
			return true, nil
		case n == len(left) && err == nil:
			continue
		case r.Tidied > was:
			err = errors.Join(err, e.Store.MarkTidied(ctx, *r))
		}
		return false, err
	}
}

// leftovers returns the first steps of r that have left something behind, at most atOnce of them.
func (e *Engine) leftovers(r run.Run) []*run.Step {
	var left []*run.Step
	for i := r.Tidied; i < len(r.Steps) && len(left) < atOnce; i++ {
		if s := &r.Steps[i]; e.leaves(r, *s) {
			left = append(left, s)
		}
	}
	return left
}

// leaves reports whether s, a step of r, has left something behind that is still to be deleted. A step that runs was ended by force.
func (e *Engine) leaves(r run.Run, s run.Step) bool {
	return e.Verbs.Of(s.Verb).Tidy != nil && s.Number >= r.Tidied && s.Receipt.Known() && s.Over() && !r.Executed(s)
}

// tidySome deletes what the given steps of r have left behind, and returns of how many, the first ones: the budgets allow no more, or
// CloudFormation has throttled a request.
func (e *Engine) tidySome(ctx context.Context, r *run.Run, left []*run.Step) (int, error) {
	may, _ := e.affordable(ctx, r.ID, left, func(run.Step) budget.Demand { return budget.Demand{Writes: 1} })
	n := 0
	for n < len(may) && may[n] == left[n] {
		n++
	}
	failed := make([]error, n)
	err := e.Parallel(ctx, n, func(ctx context.Context, i int) error {
		s := left[i]
		t, err := e.task(ctx, *r, *s)
		if err == nil {
			err = e.Verbs.Of(s.Verb).Tidy(ctx, t)
			e.reportThrottled(ctx, s.Where, budget.Write, err)
		}
		failed[i] = err
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i, err := range failed {
		switch {
		case fault.Is(err, fault.Throttled):
			return i, nil
		case fault.Is(err, fault.Unavailable):
			return i, fmt.Errorf("delete what %s has left behind: %w", left[i].ID, err)
		case err != nil:
			r.Messages = append(r.Messages, fmt.Sprintf("%s has left a %s behind, delete it: %s", left[i].ID, e.Verbs.Of(left[i].Verb).Leaves, err))
		}
	}
	return n, nil
}

// saveChanges stores what a plan would change, and returns a reference to it.
func (e *Engine) saveChanges(ctx context.Context, c plan.Changes) (string, error) {
	c, err := c.Fit(plan.MaxChanges)
	if err != nil {
		return "", err
	}
	reference, err := e.Changes.SaveChanges(ctx, c)
	if err != nil {
		return "", fmt.Errorf("store what the plan changes: %w", err)
	}
	return reference, nil
}

// templates reads templates. The result returns an error for a template that does not
// exist or cannot be understood.
func (e *Engine) templates(ctx context.Context, digests []string) (plan.Templates, error) {
	bodies, missing := make([][]byte, len(digests)), make([]error, len(digests))
	err := e.Parallel(ctx, len(digests), func(ctx context.Context, i int) (err error) {
		bodies[i], err = e.Changes.Template(ctx, digests[i])
		if fault.Is(err, fault.Missing) {
			missing[i], err = fault.New(fault.Missing, "it is no longer stored"), nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	read := make(map[string]func() (*template.Template, error), len(digests))
	for i, digest := range digests {
		read[digest] = func() (*template.Template, error) {
			if missing[i] != nil {
				return nil, missing[i]
			}
			return template.Parse("template", bodies[i])
		}
	}
	parsed := make(map[string]*template.Template)
	return func(digest string) (*template.Template, error) {
		if t, ok := parsed[digest]; ok {
			return t, nil
		}
		parse, ok := read[digest]
		if !ok {
			return nil, fault.New(fault.Refused, "more than %d different templates are deployed", maxCompared)
		}
		t, err := parse()
		if err == nil {
			parsed[digest] = t
		}
		return t, err
	}, nil
}
