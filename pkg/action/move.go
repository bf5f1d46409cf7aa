package action

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// moveOutVerb records that resources are about to leave a stack: nobody knows what is deployed
// there until its next update. Nothing in AWS changes.
func moveOutVerb() Verb {
	return Verb{Name: plan.MoveOut, Action: moveOut{}, Past: "with resources moved out"}
}

// moveOut writes the record of the stack that resources leave. The step that moves them belongs to the other stack, and
// writes only the record of that one.
type moveOut struct{}

// Start does nothing.
func (moveOut) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll writes a record without a digest: after a crash or a cancel, the next deploy updates the stack. It keeps what is
// to be moved, so that the next plan does not take the move for a change by somebody else.
func (moveOut) Poll(_ context.Context, t Task) (Progress, error) {
	t, err := t.moving()
	if err != nil {
		return Progress{}, err
	}
	r := t.Record
	r.Digest, r.Run = "", t.Run
	r.Moved = &plan.RecordedMove{Run: t.Run, Movement: t.Movement}
	return Progress{Over: true, Record: &r, Result: plan.Result{NothingStarted: true}}, nil
}

// moveInVerb moves resources of another stack into a stack.
func moveInVerb(c Cloud) Verb {
	return Verb{
		Name: plan.MoveIn, Action: moveIn{c},
		Request: CreateStackRefactor, StartReads: 2, PollReads: 4, Share: 0.25, Leaves: "stack refactor", Past: "with resources moved in",
	}
}

// moveIn moves resources in two requests: the first makes a stack refactor, which CloudFormation checks, and the
// second executes it. CloudFormation knows no token for the first one, so the refactor has the task's token as its
// description. Only the refactor in the receipt is executed, and only once.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
type moveIn struct{ Cloud }

// A RefactorState is how far a stack refactor is.
type RefactorState string

// The states of a stack refactor. Package cloudformation maps the statuses of CloudFormation to them.
const (
	RefactorMaking   RefactorState = "making"      // CloudFormation checks it
	RefactorRefused  RefactorState = "refused"     // it can never be executed
	RefactorReady    RefactorState = "ready"       // it can be executed
	RefactorOutdated RefactorState = "outdated"    // a stack was changed since
	RefactorMoving   RefactorState = "moving"      // it is being executed, or rolled back
	RefactorMoved    RefactorState = "moved"       // the resources are in the other stack
	RefactorRestored RefactorState = "rolled back" // it failed, and the resources are where they were
	RefactorFailed   RefactorState = "failed"      // it failed, and nobody knows where the resources are
)

// A Refactor is a stack refactor in CloudFormation.
type Refactor struct {
	ID    string
	State RefactorState
	Why   string   // why it was refused, or has failed
	Does  []string // what it would do if it is ready, as "shop-app.Table becomes shop-data.Orders", sorted
}

// Becomes is what a refactor does with a resource.
func Becomes(fromStack, from, toStack, to string) string {
	return fromStack + "." + from + " becomes " + toStack + "." + to
}

// moving returns t with what it moves.
func (t Task) moving() (Task, error) {
	err := t.Step.Arguments.Read(plan.MovementVersion, &t.Movement)
	return t, err
}

// places returns where both stacks are.
func (t Task) places() []plan.Location {
	var all []plan.Location
	for _, s := range []plan.MovedStack{t.Movement.Source, t.Movement.Target} {
		p := t.Location()
		p.Node, p.Stack, p.StackID, p.Token = s.Node, s.Stack, s.StackID, ""
		all = append(all, p)
	}
	return all
}

// Start makes the refactor. It refuses stacks that have changed since the plan: the templates of
// the move are those of the stacks as the plan has seen them.
func (a moveIn) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	t, err := t.moving()
	if err == nil {
		err = a.unchanged(ctx, t)
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	return a.Begin(ctx, t)
}

// unchanged returns why the resources cannot be moved as planned: a stack has changed since.
func (a moveIn) unchanged(ctx context.Context, t Task) error {
	seen := []plan.MovedStack{t.Movement.Source, t.Movement.Target}
	for i, p := range t.places() {
		switch live, err := a.Live(ctx, p); {
		case err != nil:
			return err
		case live.Status.Gone():
			return fault.New(fault.Missing, "stack %s is gone: retry the run", p.Stack)
		case live.Status.Busy(), live.Status.Cleaning():
			return fault.New(fault.Busy, "stack %s is %s", p.Stack, live.Status)
		case !live.LastUpdated.Equal(seen[i].LastUpdated):
			return fault.New(fault.Refused, "stack %s was changed after the plan was made: retry the run", p.Stack)
		}
	}
	return nil
}

// Poll executes the refactor when it is ready, and is over when both stacks are at rest. A refactor that does anything
// else than what the plan says is not executed.
func (a moveIn) Poll(ctx context.Context, t Task) (Progress, error) {
	t, err := t.moving()
	switch {
	case err != nil:
		return Progress{}, err
	case t.MayStartAgain():
		return a.startAgain(ctx, t)
	case !t.Receipt.Known():
		return Progress{}, nil
	}
	r, err := a.Refactor(ctx, t)
	if fault.Is(err, fault.Missing) {
		return a.failed(t, fault.New(fault.Missing, "CloudFormation does not know the stack refactor any more: retry the run (%w)", err)), nil
	}
	if err != nil {
		return Progress{}, err
	}
	switch late := t.Now.Sub(t.Claimed) > maxProposal; r.State {
	case RefactorMaking:
		if late {
			return a.failed(t, fault.New(fault.Refused, "CloudFormation has not made the stack refactor within %s", maxProposal)), nil
		}
		return Progress{Receipt: t.Receipt, Soon: true}, nil
	case RefactorReady:
		return a.execute(ctx, t, r)
	case RefactorRefused:
		return a.failed(t, fault.New(fault.Refused, "CloudFormation refuses the move: %s", r.Why)), nil
	case RefactorOutdated:
		return a.failed(t, fault.New(fault.Refused, "a stack was changed after CloudFormation had made the stack refactor: retry the run")), nil
	case RefactorMoved, RefactorRestored, RefactorFailed:
		return a.end(ctx, t, r)
	}
	return Progress{Receipt: t.Receipt}, nil
}

// startAgain continues after a crash of the function that claimed the step: with the refactor that it has made, or a new
// one.
func (a moveIn) startAgain(ctx context.Context, t Task) (Progress, error) {
	r, err := a.Refactor(ctx, t)
	switch {
	case err == nil:
		return Progress{Receipt: plan.Receipt{StackID: t.Movement.Target.StackID, Operation: r.ID}, Soon: true}, nil
	case !fault.Is(err, fault.Missing):
		return Progress{}, err
	}
	receipt, err := a.Start(ctx, t)
	if err != nil && !fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable) {
		return a.failed(t, err), nil
	}
	return Progress{Receipt: receipt, Started: err == nil, Soon: true}, err
}

// execute executes the refactor, if it does exactly what the plan says with the stacks that the plan has seen.
func (a moveIn) execute(ctx context.Context, t Task, r Refactor) (Progress, error) {
	var wanted []string
	for _, m := range t.Movement.Resources {
		wanted = append(wanted, Becomes(t.Movement.Source.Stack, m.From, t.Movement.Target.Stack, m.To))
	}
	slices.Sort(wanted)
	if !slices.Equal(wanted, r.Does) {
		return a.failed(t, fault.New(fault.Refused, "the stack refactor does not do exactly what the plan says (%s): it was not executed; retry the run", strings.Join(r.Does, ", "))), nil
	}
	err := a.unchanged(ctx, t)
	if err == nil {
		err = a.Execute(ctx, t)
	}
	switch {
	case err == nil, fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable) && t.Now.Sub(t.Claimed) < maxProposal:
		p := Progress{Receipt: t.Receipt, Soon: true}
		if err != nil {
			p.Why = err.Error()
		}
		return p, nil
	}
	if again, found := a.Refactor(ctx, t); found == nil && again.State != RefactorReady { // another function has executed it
		return Progress{Receipt: t.Receipt, Soon: true}, nil
	}
	return a.failed(t, err), nil
}

// end returns the result of a refactor that is over, when both stacks are at rest. CloudFormation reports that a
// refactor is over while its stacks are still in progress for some seconds.
// https://github.com/aws/aws-cdk-cli/issues/1804
func (a moveIn) end(ctx context.Context, t Task, refactor Refactor) (Progress, error) {
	var live plan.Live
	var times []time.Time
	for _, p := range t.places() {
		var err error
		if live, err = a.Live(ctx, p); err != nil || live.Status.Busy() || live.Status.Cleaning() {
			return Progress{Receipt: t.Receipt, Soon: true}, err
		}
		times = append(times, live.LastUpdated)
	}
	t.Movement.Source.LastUpdated, t.Movement.Target.LastUpdated = times[0], times[1]
	r := newRecord(t, live)
	r.Digest = "" // an update does the rest
	p := Progress{Over: true, Receipt: t.Receipt, Record: &r, Result: plan.ResultOf(live)}
	if refactor.State == RefactorMoved {
		r.Template, r.Moved = t.Movement.Target.Template, &plan.RecordedMove{Run: t.Run, Movement: t.Movement}
		return p, nil
	}
	p.Err = fault.New(fault.Refused, "CloudFormation could not move the resources (%s): %s", refactor.State, refactor.Why)
	return p, nil
}

// failed returns the progress of a move that was not executed.
func (moveIn) failed(t Task, err error) Progress {
	r := t.Record
	r.Intent, r.Run = false, t.Run
	return Progress{Over: true, Err: err, Record: &r, Result: plan.Result{NothingStarted: true}}
}
