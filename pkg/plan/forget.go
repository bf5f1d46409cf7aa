package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// forget deletes the records of some stacks. The stacks stay.
func forget() Operation {
	return Operation{
		Name: "forget", Plan: ForgetStacks,
		Requestable: true, NeedsOnly: true, OfUnreachable: true, Approvable: true, Retryable: true, NeedsRunning: true,
		Options: append(Selecting(), OptionReason, OptionRefuse, OptionWhileSuspended),
		Effect:  "it deletes the records of some stacks; the stacks stay",
	}
}

// previewForget shows what a forget would do.
func previewForget() Operation {
	return Operation{
		Name: PlanPrefix + "forget", Plan: ForgetStacks,
		Requestable: true, NeedsOnly: true, OfUnreachable: true, Preview: true,
		Options: Selecting(),
		Effect:  "the deletion of the records of some stacks is planned",
	}
}

// ForgetStacks plans to delete the records of the stacks that are selected. Its steps send no
// request to CloudFormation. It refuses to forget a stack on which an operation is in
// progress, because the record says how that operation is followed, and a stack that other
// recorded stacks depend on, unless these are forgotten too.
func ForgetStacks(v View) (Plan, error) {
	about, refusals := v.selected()
	if len(v.Only) == 0 {
		refusals = append(refusals, fault.New(fault.Invalid, "only: missing: name the stacks to forget"))
	}
	var dependents graph.Graph[string]
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		for _, need := range v.Recorded[name].Needs {
			if !about[name] && about[need] {
				dependents.Add(need, name)
			}
		}
	}
	var p Plan
	var stay, names []string // of stacks that exist
	var used []string        // backups
	for _, name := range slices.Sorted(maps.Keys(about)) {
		r, live := v.Recorded[name], v.Live[name]
		if live.Status.Busy() {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it is %s: wait until this operation has ended, then forget the stack", r.displayName(), live.Status))
		}
		if users := dependents.After(name); len(users) > 0 {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: other stacks depend on it (%s): forget these too, or deploy them first without this dependency", r.displayName(), listed(users)))
		}
		if v.exists(name) {
			for _, one := range v.Snapshots.Kept {
				for _, b := range Left(one.Backups) {
					if what := b.usedBy(live); len(what) > 0 {
						used = append(used, fmt.Sprintf("%s of stack %s names the backup %s of snapshot %s", strings.Join(what, ", "), r.displayName(), b.ARN, one.Name))
					}
				}
			}
			names = append(names, r.displayName())
			stay = append(stay, fmt.Sprintf("%s (%s)", r.displayName(), r.Stack))
		}
		p.Steps = append(p.Steps, Step{ID: StepID(name, Forget, ""), Node: name, Where: v.where(name), Verb: Forget})
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	if len(stay) > 0 {
		p.Messages = []string{fmt.Sprintf("these stacks stay in AWS as they are, with all their tags: %s. A deploy of files that contain them is refused from now on. To take them back: stackwright adopt --only %s, or adopt: true in the project file", listed(stay), strings.Join(names, ","))}
	}
	if len(used) > 0 {
		p.Messages = append(p.Messages, "stacks that stay use backups of snapshots: "+listed(used)+". CloudFormation needs a backup again when it creates its database again: do not delete it while the stack exists")
	}
	return p, nil
}
