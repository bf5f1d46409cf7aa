package plan

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// DeployName is the name of the operation that an upload requests.
const DeployName = "deploy"

// deploy brings the stacks to what the project's files say.
func deploy() Operation {
	return Operation{
		Name: DeployName, Plan: Deploy,
		Requestable: true, NeedsFiles: true, Approvable: true, Writes: true, Reversible: true, Retryable: true, Schedulable: true, NeedsRunning: true,
		Options: append(Selecting(), OptionChangedSince, OptionRollback, OptionRefuse, OptionAdopt, OptionMaxDeletions, OptionSkip, OptionPlan, OptionUpload, OptionWhileSuspended),
		ShownBy: preview().Name,
		Effect:  "it deploys",
	}
}

// Deploy plans to create and update the desired stacks, and to delete those that are
// no longer desired.
//
// Each node has up to two phases of steps: a delete phase and a deploy phase.
// Delete phases run against the recorded dependencies, dependents first; deploy
// phases run along the desired dependencies; and a node is deployed after it was
// deleted. Unchanged nodes have no steps.
//
// Deploy plans no steps that change nodes which the selection leaves out. If there are steps, those that call the hooks of the deploy are
// around them.
//
// Deploy never deletes everything, and no more stacks than View.MaxDeletions.
func Deploy(v View) (Plan, error) {
	p, err := v.plan(v.guard())
	if err != nil || len(p.Steps) == 0 {
		return p, err
	}
	return v.around(p, project.BeforeDeploy, project.AfterDeploy)
}

// plan makes the plan of a deploy. It refuses with the given refusals and those that
// it finds itself.
func (v View) plan(refusals []error) (Plan, error) {
	wants, err := v.Desired.Graph()
	if err != nil {
		return Plan{}, err
	}
	order, err := wants.Order()
	if err != nil {
		return Plan{}, fault.As(fault.Invalid, err)
	}
	about, unknown := v.selected()
	v.about, refusals = about, append(refusals, unknown...)
	b := builder{view: v, deletes: make(phases), deploys: make(phases)}
	same, possible, adopted, err := v.unchanged(order)
	if err != nil {
		return Plan{}, err
	}
	b.possible = possible
	for _, name := range order {
		if v.stays(name) {
			delete(same, name)
			continue
		}
		if same[name] {
			if beside, err := v.beside(name); err != nil {
				refusals = append(refusals, err)
			} else if len(beside) > 0 { // its stack is unchanged, and so are its dependents
				b.deploys[name] = beside
				delete(same, name)
			}
			continue
		}
		deletes, deploys, err := v.planConvergence(name, adopted[name])
		if err == nil {
			n := v.Desired.Nodes[name]
			deploys, err = withHooks(deploys, n.Hooks, callOf(n))
			if err == nil && slices.ContainsFunc(deploys, func(s Step) bool { return s.does(Create, Update) }) {
				deploys, err = v.withPending(deploys, n)
			}
		}
		if err != nil {
			refusals = append(refusals, err)
			continue
		}
		b.deletes[name], b.deploys[name] = deletes, deploys
	}
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if !v.removes(name, about) {
			continue
		}
		if b.deletes[name], err = v.planRemoval(name); err == nil {
			r := v.Recorded[name]
			b.deletes[name], err = withHooks(b.deletes[name], r.Hooks, HookCall{Stack: cmp.Or(r.formerNode(), name), StackName: r.Stack, Target: r.Target})
		}
		if err != nil {
			refusals = append(refusals, err)
		}
	}
	refusals = append(refusals, v.unskippable()...)
	refusals = append(refusals, v.leftDependents(b.deletes)...)
	refusals = append(refusals, v.lacking(b.deploys)...)
	refusals = append(refusals, v.readLeft(b.deploys)...)
	if err := v.refuseCycle(b.deploys); err != nil {
		refusals = append(refusals, err)
	}
	maps.Copy(b.deletes, v.uncalled(about))
	if b.leaving, b.arriving, b.moves, err = v.movements(); err != nil {
		refusals = append(refusals, err)
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	p, err := b.plan()
	p.Unchanged, p.Twins, p.MaxFailures = slices.Sorted(maps.Keys(same)), v.twins(), v.Desired.MaxFailures
	p.Messages = slices.Concat(v.Desired.Warnings, p.Messages, v.adoptionMessages(p), v.ignoredMessages(about), v.stuckMessages(p), v.renameMessages(about), v.leftoverMessages(p),
		v.keptMessages(about), v.driftMessages(p))
	return p, err
}

// unchanged returns the desired nodes that need no step: they were deployed from the
// same template and parameters, were not changed since, have the recorded outputs,
// and depend on unchanged nodes only. Nodes that depend on a node with a step, but
// are otherwise unchanged with the present outputs, are possible changes. So are
// nodes whose outputs are not as recorded: their step corrects the record. A stack that a
// node adopts is in adopted if it is already as desired, with its digest. The order
// lists dependencies before their dependents.
func (v View) unchanged(order []string) (same, possible map[string]bool, adopted map[string]string, err error) {
	same, possible, adopted = make(map[string]bool), make(map[string]bool), make(map[string]string)
	changes := func(need string) bool { return !same[need] && adopted[need] == "" && !v.stays(need) }
	for _, name := range order {
		n, r, live := v.Desired.Nodes[name], v.Recorded[name], v.Live[name]
		if v.adopts(name) {
			if !slices.ContainsFunc(n.Needs, changes) {
				adopted[name] = v.adoptedDigest(name)
			}
			continue
		}
		if v.Desired.Ignores(name) || !n.Template.Pinned || !v.managed(name) || !r.Current(live) || live.Protected != n.Protect || !slices.Equal(n.Needs, r.Needs) {
			continue
		}
		got, err := n.Resolve(v.output)
		if err == nil && !Pinned(n, got) {
			continue
		}
		changing := slices.ContainsFunc(n.Needs, changes)
		changing = changing || !maps.Equal(r.Outputs, live.Outputs)
		switch {
		case changing: // the new outputs of its dependencies are not known yet
			possible[name] = err == nil && got.Digest == r.Digest
		case fault.Is(err, fault.Missing, fault.Invalid): // the step reports it when it starts, if the output is still missing, or still unfit for a function
		case err != nil:
			return nil, nil, nil, err
		case got.Digest == r.Digest:
			same[name] = true
		}
	}
	return same, possible, adopted, nil
}

// output returns an output of a node, or an error of kind Missing.
func (v View) output(node, output string) (string, error) {
	if value, ok := v.outputOf(node, output); ok {
		if whole, has := v.Outputs[node][output]; has {
			return value, whole.Refuse(node, output)
		}
		return value, nil
	}
	return "", fault.New(fault.Missing, "it has no output %s", output)
}

// outputOf returns an output of a node as it is now, or the ID of its stack.
func (v View) outputOf(node, output string) (value string, ok bool) {
	if output == project.StackID {
		value = v.Recorded[node].StackID
		if value == "" && v.adopts(node) {
			value = v.Live[node].StackID
		}
		return value, value != ""
	}
	value, ok = v.outputs(node)[output]
	if whole, has := v.Outputs[node][output]; has {
		value = whole.Value
	}
	return value, ok
}

// certain is output for values that must not be guessed: an output that does not exist may exist
// when the node is deployed, so that no default takes its place.
func (v View) certain(node, output string) (string, error) {
	value, err := v.output(node, output)
	if fault.Is(err, fault.Missing) {
		err = project.ErrUnknown
	}
	return value, err
}

// outputs returns the outputs of a node: the live ones if the stack is as Stackwright
// left it, is adopted, or is left as it is, else the recorded ones.
func (v View) outputs(name string) map[string]string {
	r, live := v.Recorded[name], v.Live[name]
	if r.Current(live) || v.adopts(name) || v.stays(name) && v.managed(name) {
		return live.Outputs
	}
	return r.Outputs
}

// Current reports whether the live stack is as Stackwright left it, and its last
// operation succeeded or was rolled back.
func (r Record) Current(live Live) bool {
	return r.Digest != "" && r.LastUpdated.Equal(live.LastUpdated) && (live.Status.Good() || live.Status.Restored())
}

// managed reports whether Stackwright created the live stack of a node: it has the
// recorded ID, or its first operation has our token.
func (v View) managed(name string) bool {
	r, ok := v.Recorded[name]
	live := v.Live[name]
	return ok && !live.Status.Gone() && (r.StackID == live.StackID || live.CreatedByToken)
}

// inaccessible reports whether Stackwright is not allowed to read a node's stack. Its
// plan is one step. The step fails with the reason, unless access has been granted when
// it starts.
func (v View) inaccessible(name string) bool { return v.Live[name].AccessError != "" }

// exists reports whether a node has a managed stack, or may have one that Stackwright
// is not allowed to read.
func (v View) exists(name string) bool { return v.managed(name) || v.inaccessible(name) }

// keeps returns the node that has the stack which is where another node's would be, and that the plan leaves as it is; empty if there is none.
func (v View) keeps(other string) string {
	live := v.Live[other]
	if live.Status.Gone() || live.StackID == "" || v.managed(other) {
		return ""
	}
	for name, r := range v.Recorded {
		if r.StackID == live.StackID && v.stays(name) {
			return name
		}
	}
	return ""
}

// NotManaged ends the message about a stack that exists and that Stackwright did
// not create.
const NotManaged = "is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name:"

// planConvergence lists the steps of a desired node's delete phase and deploy phase.
// If the stack is busy, the plan does not know how that operation will end. Its phases
// then have a step for each possible end, and a step that is not needed does nothing: a
// delete step deletes only a dead stack, a continue step continues only a stuck one,
// and an update step creates a stack that is gone. A stack that the node adopts is updated
// if adopted, the digest of what is live, is not known to be what is desired.
func (v View) planConvergence(name, adopted string) (deletes, deploys []Step, err error) {
	n, live := v.Desired.Nodes[name], v.Live[name]
	step := func(v Verb) Step { return Step{Verb: v, Timeout: n.Timeout} }
	deploy := func(v Verb) Step { return Step{Verb: v, Timeout: n.Timeout, Deployment: n.Deployment} }
	s, wait := live.Status, Step{Verb: Wait} // without a timeout: another started the operation
	refuse := func(format string, args ...any) ([]Step, []Step, error) {
		return nil, nil, fault.New(fault.Refused, "stack %s: "+format, append([]any{name}, args...)...)
	}
	_, recorded := v.Recorded[name]
	imports, err := v.importation(name)
	if err != nil {
		return nil, nil, err
	}
	if other := v.keeps(name); other != "" {
		return refuse("%s is the stack of %s, which this plan leaves as it is: let the plan be about %s too, or write another name under stack_name:", n.Stack, other, other)
	}
	switch {
	case v.inaccessible(name) && n.Adopt && !recorded:
		return refuse("it cannot be read, so it cannot be adopted: %s", live.AccessError)
	case v.inaccessible(name) && !recorded: // if the stack exists after all, it is not ours, and CloudFormation refuses to create it
		return nil, []Step{deploy(Create)}, nil
	case v.inaccessible(name): // the update step reads the stack when it starts
		return nil, []Step{deploy(Update)}, nil
	case v.adopts(name):
		step, err := v.adoption(name, adopted)
		if err != nil || adopted != "" {
			return nil, []Step{step}, err
		}
		return nil, slices.Concat([]Step{step}, imports, []Step{deploy(Update)}), nil
	case s.Gone() && n.Adopt && !recorded:
		return refuse("%s does not exist, so it cannot be adopted: to create it, remove adopt: true or --adopt; otherwise correct stack_name: or the target", n.Stack)
	case s.Gone() && imports != nil: // an import changes nothing else: an update does the rest
		return nil, append(imports, deploy(Update)), nil
	case s.Gone():
		return nil, []Step{deploy(Create)}, nil
	case v.foreign(name):
		return nil, nil, v.refuseForeign(name)
	case !v.managed(name) && live.Leftover():
		remove, err := leftover(live)
		if imports != nil {
			return []Step{remove}, append(imports, deploy(Update)), err
		}
		return []Step{remove}, []Step{deploy(Create)}, err
	case !v.managed(name) && live.Dead():
		return refuse("%s exists (%s), Stackwright did not create it, and it can only be deleted: "+
			"aws cloudformation delete-stack --stack-name %s --region %s; or write another name under stack_name:", n.Stack, s,
			n.Stack, n.Target.Region)
	case !v.managed(name):
		return refuse("%s exists (%s) and "+NotManaged, n.Stack, s)
	case live.Dead() && live.Protected && n.Protect:
		return refuse("it is %s and must be created again, but is protected: set protect: false first", s)
	case live.Dead() && imports != nil:
		return []Step{step(Delete)}, append(imports, deploy(Update)), nil
	case live.Dead(): // not deleted in express mode: it could leave resources for later whose names the creation needs
		return []Step{step(Delete)}, []Step{deploy(Create)}, nil
	case s.Fragile():
		return []Step{wait, step(Delete)}, []Step{deploy(Update)}, nil
	case s.Busy():
		return nil, []Step{wait, step(Continue), deploy(Update)}, nil
	case s.Stuck():
		resume, err := v.continuation(name, step(Continue))
		return nil, []Step{resume, deploy(Update)}, err
	case live.Updatable():
		return nil, append(imports, deploy(Update)), nil
	}
	return refuse("%w", live.Unrecoverable())
}

// beside returns the steps of a node whose stack is unchanged: they record what no request to CloudFormation has, and call
// the hooks that were not called successfully after the stack was changed.
func (v View) beside(name string) ([]Step, error) {
	n, r := v.Desired.Nodes[name], v.Recorded[name]
	var steps []Step
	if r.Approve != n.Approve {
		steps = append(steps, Step{Verb: SetLevel})
	}
	if !project.SameHooks(r.Hooks, project.HooksOfDeletion(n.Hooks)) {
		steps = append(steps, Step{Verb: SetHooks})
	}
	if !slices.Equal(r.Retain, n.Retain) {
		steps = append(steps, Step{Verb: SetRetain})
	}
	return v.withPending(steps, n)
}

// planRemoval lists the steps that delete a recorded node's stack permanently, in the
// mode in which it was last deployed: no project says how.
func (v View) planRemoval(name string) ([]Step, error) {
	live := v.Live[name]
	remove, err := v.Recorded[name].deletion()
	remove.Deployment = live.Deployment
	switch s := live.Status; {
	case err != nil:
		return nil, fault.New(fault.Refused, "stack %s: retain: %w", name, err)
	case v.inaccessible(name):
		return []Step{remove}, nil
	case s.Gone(), !v.managed(name):
		return []Step{{Verb: Forget}}, nil
	case !s.Known(), s == "REVIEW_IN_PROGRESS" && live.HasResources:
		return nil, fault.New(fault.Refused, "stack %s: %w", name, live.Unrecoverable())
	case live.Protected:
		return nil, fault.New(fault.Refused, "stack %s: it is protected, and so it is not deleted: deploy it with protect: false first", name)
	case s.Busy():
		return []Step{{Verb: Wait}, remove}, nil
	}
	return []Step{remove}, nil
}
