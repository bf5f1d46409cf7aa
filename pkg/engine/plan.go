package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Plan makes the plan of a new run, or continues a run that has one. If something is
// wrong with the request, the run ends as refused.
func (e *Engine) Plan(ctx context.Context, d ExecutionInput) (LoopState, error) {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case err != nil:
		return LoopState{}, fmt.Errorf("plan run %s: %w", d.Run, err)
	case r.Epoch != d.Epoch || r.State != run.StatePending:
		return e.continueRun(ctx, r, d)
	case r.Command.Stops():
		return e.finish(ctx, r, r.Stopped())
	}
	_, err = e.makePlan(ctx, &r)
	switch {
	case errors.Is(err, errOutdated):
		r.Messages = []string{"a newer upload of " + r.Source.Key + " was requested before this one"}
		return e.finish(ctx, r, run.StateSuperseded)
	case errors.Is(err, errDuplicate), errors.Is(err, errUnscheduled):
		r.Messages = []string{err.Error()}
		return e.finish(ctx, r, run.StateSuperseded)
	case errors.Is(err, errQueued):
		r.State = run.StateQueued
		e.Notifier.Notify(ctx, r)
		return loopState(r, run.StateQueued, 0), nil
	case fault.Is(err, fault.Stale):
		return e.afterStaleCommit(ctx, d)
	case refusal(err):
		r.Messages, r.Changes = fault.Messages(err), ""
		return e.finish(ctx, r, run.StateRefused)
	case err != nil:
		return LoopState{}, fmt.Errorf("plan %s of %s: %w", r.Operation, r.Project, err)
	case e.onlyShown(r) || len(r.Steps) == 0:
		return e.finish(ctx, r, run.StateSucceeded)
	}
	e.Notifier.Notify(ctx, r)
	ready, err := e.ready(ctx, r)
	switch {
	case fault.Is(err, fault.Stale):
		return e.afterStaleCommit(ctx, d)
	case err != nil || len(ready) == 0: // the run was paused or cancelled before its first step, or the budget has no room
		return loopState(r, run.StatePoll, wakeWait), err
	}
	t := loopState(r, run.StateReady, wakeWait)
	t.Ready = ready
	return t, nil
}

// continueRun returns the loop state of a run that already has a plan, or that another
// execution plans.
func (e *Engine) continueRun(ctx context.Context, r run.Run, d ExecutionInput) (LoopState, error) {
	switch {
	case r.Epoch != d.Epoch:
		return e.fencedOff(ctx, d.Run, d.Epoch)
	case r.State.Over(): // the function that ended it may have crashed before it notified
		r, err := e.loadWhole(ctx, r)
		if err != nil {
			return LoopState{}, err
		}
		e.Notifier.Notify(ctx, r)
		return loopState(r, r.State, 0), e.startLockOwner(ctx, r)
	case r.State == run.StateQueued:
		return loopState(r, r.State, 0), nil
	case r.State == run.StateRunning && e.onlyShown(r): // its planner crashed before it ended the run
		return e.finish(ctx, r, run.StateSucceeded)
	}
	err := e.acceptApprovals(ctx, r)
	if err == nil {
		err = e.checkContinued(ctx, r)
	}
	if fault.Is(err, fault.Stale) { // another function has written a step meanwhile, or there is a newer epoch
		return e.afterStaleCommit(ctx, d)
	}
	return loopState(r, run.StatePoll, wakeWait), err
}

// takeEffect makes effective what the plan of r, which was approved just now, changes beside stacks: before that, a plan
// changes nothing. After a crash, it is repeated.
func (e *Engine) takeEffect(ctx context.Context, r run.Run) error {
	desired, err := e.desired(ctx, r)
	if err != nil {
		return err
	}
	records, err := e.Store.Records(ctx, r.Project)
	if err != nil {
		return err
	}
	_, leave, take := plan.Rename(desired, records)
	return e.replace(ctx, r, desired, [][]plan.Record{leave, take})
}

// replace puts the schedules and names of the files of r in the place of those before.
func (e *Engine) replace(ctx context.Context, r run.Run, desired project.Project, moved [][]plan.Record) error {
	if err := e.setSchedules(ctx, r, desired); err != nil {
		return err
	}
	return e.rename(ctx, r, moved)
}

// afterStaleCommit returns the loop state for a planner whose write was stale. Another
// function has planned the run meanwhile, or another run has taken the lock.
func (e *Engine) afterStaleCommit(ctx context.Context, d ExecutionInput) (LoopState, error) {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case err != nil:
		return LoopState{}, err
	case r.Epoch == d.Epoch && r.State == run.StatePending: // the run has no plan yet: try again
		return LoopState{}, fault.New(fault.Unavailable, "another function is planning run %s", d.Run)
	}
	return e.continueRun(ctx, r, d)
}

// refusal reports whether err means that the request cannot be carried out, however
// often it is tried.
func refusal(err error) bool {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(many.Unwrap(), func(e error) bool { return !refusal(e) })
	}
	return err != nil && !fault.Is(err, fault.Throttled, fault.Unavailable, fault.Stale)
}

// finish ends a run that needs no further execution. A command that arrives meanwhile
// changes nothing.
func (e *Engine) finish(ctx context.Context, r run.Run, s run.State) (LoopState, error) {
	for {
		ended, err := e.end(ctx, r, s)
		if err == nil {
			e.Notifier.Notify(ctx, ended)
			return loopState(ended, s, 0), nil
		}
		now, again := e.Store.Run(ctx, r.ID)
		switch {
		case !fault.Is(err, fault.Stale):
			return LoopState{}, err
		case again != nil:
			return LoopState{}, again
		case now.Epoch != r.Epoch || now.State != r.State: // another function has changed the run
			return e.continueRun(ctx, now, ExecutionInput{Run: r.ID, Epoch: r.Epoch})
		}
		r.Generation = now.Generation
	}
}

// makePlan plans what r requests and commits the plan.
func (e *Engine) makePlan(ctx context.Context, r *run.Run) (plan.Plan, error) {
	if len(r.Messages) > 0 {
		return plan.Plan{}, problems(r.Messages)
	}
	if e.operation(*r).Repeats {
		if err := e.retry(ctx, r); err != nil {
			return plan.Plan{}, err
		}
	}
	o, ok := e.Operations.Named(r.Operation)
	if !ok {
		return plan.Plan{}, fault.New(fault.Invalid, "there is no operation %q: request one of %s", r.Operation, strings.Join(e.Operations.Requestable(), ", "))
	}
	if err := e.scheduledSource(ctx, r); err != nil {
		return plan.Plan{}, err
	}
	desired, err := e.desired(ctx, *r)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := e.permitDesired(ctx, r.Project, desired); err != nil {
		return plan.Plan{}, err
	}
	r.Rollback = r.Rollback || desired.Rollback && o.Reversible
	if err := e.lock(ctx, *r); err != nil {
		return plan.Plan{}, err
	}
	if err := e.refuseOutdated(ctx, *r); err != nil {
		return plan.Plan{}, err
	}
	view, moved, err := e.view(ctx, *r, desired)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := e.refuseLostFile(ctx, *r, view); err != nil {
		return plan.Plan{}, err
	}
	p, err := o.Plan(view)
	if err != nil {
		return p, err
	}
	for i, s := range p.Steps {
		p.Steps[i].Expected = e.Verbs.Expected(s.Verb, view.Desired.Nodes[s.Node], view.Recorded[s.Node])
	}
	gated, err := e.gated(ctx, r, view, p)
	if err != nil {
		return p, err
	}
	shown, waits := p, len(gated.Steps) > 0 && gated.Steps[0].Approval != nil && gated.Steps[0].Approval.Plan // for approval
	shows := o.Preview || len(gated.Steps) > len(p.Steps)
	changes, err := e.checkPolicies(ctx, r, view, p, shows)
	if err != nil {
		return p, err
	}
	p = gated
	if o.Preview {
		r.Messages = accessErrors(view.Live)
		for _, t := range p.Twins {
			r.Messages = append(r.Messages, t.String())
		}
		if desired.Rollback {
			l, err := e.Store.Lock(ctx, r.Project)
			if err != nil {
				return p, err
			}
			r.Messages = append(r.Messages, l.OnFailure())
		}
	}
	basis, err := view.Basis(shown)
	if err != nil {
		return p, err
	}
	if err := e.refuseOtherPlan(ctx, *r, shown, basis); err != nil {
		return p, err
	}
	r.Messages = limitMessages(append(r.Messages, p.Messages...))
	if o.Preview {
		demands, err := e.demands(ctx, *r, view, p)
		if err != nil {
			return p, err
		}
		r.Messages = limitMessages(append(r.Messages, demands...))
	}
	var specs map[string]string
	if !o.Preview { // nobody starts the steps of a preview
		if specs, err = e.specs(ctx, p, desired); err != nil {
			return p, err
		}
	}
	switch asks := len(gated.Steps) > len(shown.Steps); { // schedules deploy only files that were approved
	case !asks:
		err = e.replace(ctx, *r, desired, moved)
	case !waits: // the stacks that need no approval go on, by their new names
		err = e.rename(ctx, *r, moved)
	}
	if err != nil {
		return p, err
	}
	r.Start(p, specs)
	r.Digest = shown.Digest(basis)
	r.MaxParallel, r.Kind = desired.MaxParallel, desired.Kind
	if desired.Approval.Known() {
		r.Approval = &desired.Approval
	}
	if shows {
		changes.Basis = plan.Short(basis)
		if err := e.showPlan(ctx, r, view, shown, changes); err != nil {
			return p, err
		}
	}
	if r.Started = e.Now(); desired.Timeout > 0 {
		r.Deadline = r.Started.Add(time.Duration(desired.Timeout))
	}
	return p, e.Store.Commit(ctx, *r)
}

// gated returns the plan p of r with the steps that wait for approval, if it needs any. A rollback needs none: it restores
// what was approved. A plan without steps needs none, unless its files change the rule that was deployed last.
func (e *Engine) gated(ctx context.Context, r *run.Run, v plan.View, p plan.Plan) (plan.Plan, error) {
	o := e.operation(*r)
	if !o.Approvable {
		return p, nil
	}
	l, err := e.Store.Lock(ctx, r.Project)
	rule, changed := l.Rule(v.Desired.Approval, o.Writes && o.NeedsFiles)
	if err != nil || len(p.Steps) == 0 && !changed {
		return p, err
	}
	if changed {
		p.Messages = append(p.Messages, "the files change who has to approve plans: this plan has to be approved by the rule before")
	}
	if !rule.Plan {
		p.Messages = append(p.Messages, v.Demands(p)...)
	}
	gated := v.Gated(p, rule)
	if r.Subject == "" && slices.ContainsFunc(gated.Steps, func(s plan.Step) bool { return s.Approval != nil && s.Approval.NotByAuthor }) {
		return p, fault.New(fault.Refused, "nobody could approve this run: not_by_author says that its author may not, and AWS does not say who has requested it: request it through the HTTP API, as stackwright deploy does on AWS; on a laptop, remove not_by_author")
	}
	return gated, nil
}

// demands says for what the run that r shows would wait for approval.
func (e *Engine) demands(ctx context.Context, r run.Run, v plan.View, p plan.Plan) ([]string, error) {
	o := e.operation(r)
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	rule, changed := l.Rule(v.Desired.Approval, o.NeedsFiles && !o.Adopts)
	switch {
	case changed:
		return []string{"the files change who has to approve plans: the deploy waits before its first step until it is approved by the rule before"}, nil
	case rule.Plan && len(p.Steps) > 0:
		return []string{"the run waits before its first step until its plan is approved"}, nil
	}
	return v.Demands(p), nil
}

// onlyShown reports whether no step of r is executed.
func (e *Engine) onlyShown(r run.Run) bool { return e.operation(r).Preview && !r.Exact }

// operation returns the row of r's operation; the zero row if there is none.
func (e *Engine) operation(r run.Run) plan.Operation {
	return e.Operations.Of(r.Operation)
}

// problems is what is wrong with a request, as an error.
func problems(messages []string) error {
	var all []error
	for _, m := range messages {
		all = append(all, fault.New(fault.Invalid, "%s", m))
	}
	return errors.Join(all...)
}

// desired returns the project that r's source describes. It is an empty project for an
// operation that needs only the records, and for a rollback if no deploy has succeeded.
func (e *Engine) desired(ctx context.Context, r run.Run) (project.Project, error) {
	if o := e.operation(r); !o.NeedsFiles || o.Restores && r.Source == (run.Source{}) {
		name, environment, _ := strings.Cut(r.Project, "@")
		return project.Project{Name: name, Environment: environment}, nil
	}
	p, err := e.Configurations.Project(ctx, r)
	switch {
	case err != nil:
		return p, err
	case e.operation(r).Adopts:
		p = plan.Adopting(p, r.Only)
	case len(r.Adopt) > 0:
		p, err = plan.AlsoAdopting(p, r.Adopt)
	}
	if r.MaxDeletions != nil {
		p.MaxDeletions = r.MaxDeletions
	}
	p.Rollback = p.Rollback || r.Rollback
	return p, err
}

// view reads the three states that a plan compares: desired, recorded and live. It
// returns with them the renames of records that the plan assumes, in their order.
func (e *Engine) view(ctx context.Context, r run.Run, desired project.Project) (plan.View, [][]plan.Record, error) {
	records, err := e.Store.Records(ctx, r.Project)
	if err != nil {
		return plan.View{}, nil, err
	}
	recorded, leave, take := plan.Rename(desired, records)
	live, err := e.observePermitted(ctx, r, plan.Locations(desired, recorded))
	if err != nil {
		return plan.View{}, nil, err
	}
	v := plan.View{Desired: desired, Recorded: recorded, Live: live, Only: r.Only, Moves: plan.Moves(desired)}
	if e.operation(r).Restores {
		failed, err := e.rolledBack(ctx, r)
		if err != nil {
			return plan.View{}, nil, err
		}
		if failed, err = e.Store.Load(ctx, failed.ID); err != nil {
			return plan.View{}, nil, fmt.Errorf("load run %s, which is rolled back: %w", r.Of, err)
		}
		plan.KeepLevels(desired.Nodes, recorded)
		v.Created, v.Changed, v.Moves = e.created(failed), changed(failed), movesBack(failed)
	}
	if v.Found, err = e.found(ctx, r, v); err != nil {
		return plan.View{}, nil, fmt.Errorf("adopt stacks: %w", err)
	}
	if e.operation(r).NeedsFiles && !e.operation(r).Adopts {
		if err := e.readImports(ctx, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("import resources: %w", err)
		}
		if err := e.readMoves(ctx, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("move resources: %w", err)
		}
	}
	return v, [][]plan.Record{leave, take}, nil
}

// refuseLostFile refuses the files of r if the project file that the project was deployed with is
// not among them. A rollback restores what was deployed before, with or without a
// project file.
func (e *Engine) refuseLostFile(ctx context.Context, r run.Run, v plan.View) error {
	if v.Desired.Kind == project.WithFile || e.operation(r).Restores {
		return nil
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	return l.LostFile(v.Desired, len(v.Recorded))
}

// created returns the IDs of the stacks that a run has created.
func (e *Engine) created(failed run.Run) map[string]bool {
	ids := make(map[string]bool)
	for _, s := range failed.Steps {
		if e.Verbs.Of(s.Verb).Request == action.CreateStack && s.Receipt.StackID != "" {
			ids[s.Receipt.StackID] = true
		}
	}
	return ids
}

// changed returns the nodes of which a run has started a step.
func changed(failed run.Run) map[string]bool {
	nodes := make(map[string]bool)
	for _, s := range failed.Steps {
		if s.Attempt > 0 && s.Approval == nil {
			nodes[s.Node] = true
		}
	}
	return nodes
}

// movesBack lists the moves that undo those of a run.
func movesBack(failed run.Run) []plan.Move {
	var steps []plan.Step
	for _, s := range failed.Steps {
		steps = append(steps, s.Step)
	}
	return plan.MovesBack(steps)
}

// accessErrors lists why some stacks could not be read, each reason once: what a
// preview says about them may be wrong. When a plan is executed, the steps of these
// stacks fail for the same reason.
func accessErrors(live map[string]plan.Live) []string {
	var all []string
	for _, l := range live {
		if l.AccessError != "" {
			all = append(all, "could not be read: "+l.AccessError)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rename renames records to the names that the plan assumes. A plan that is refused
// renames nothing, so that the files before it find their records unchanged.
func (e *Engine) rename(ctx context.Context, r run.Run, moves [][]plan.Record) error {
	for _, records := range moves {
		if len(records) == 0 || e.operation(r).Preview {
			continue
		}
		if err := e.Store.Rename(ctx, r, records); err != nil {
			return fmt.Errorf("rename records: %w", err)
		}
	}
	return nil
}

// specs stores the spec and the template of every desired node that has a step, and
// returns the references to the specs by node.
func (e *Engine) specs(ctx context.Context, p plan.Plan, desired project.Project) (map[string]string, error) {
	var nodes []project.Node
	var templates []string
	seen := make(map[string]bool)
	for _, s := range p.Steps {
		n, ok := desired.Nodes[s.Node]
		if !ok || seen[s.Node] {
			continue
		}
		seen[s.Node] = true
		nodes, templates = append(nodes, n), append(templates, n.Template.Digest)
	}
	slices.Sort(templates)
	templates = slices.Compact(templates)
	err := e.Parallel(ctx, len(templates), func(ctx context.Context, i int) error {
		return e.Specs.SaveTemplate(ctx, templates[i])
	})
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	references, err := e.Specs.SaveSpecs(ctx, nodes)
	if err != nil {
		return nil, fmt.Errorf("store the specs: %w", err)
	}
	specs := make(map[string]string, len(nodes))
	for i, n := range nodes {
		specs[n.Name] = references[i]
	}
	return specs, nil
}
