package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// RevertDriftName is the name of the operation that reverts drift.
const RevertDriftName = "revert-drift"

// revertDrift brings resources back that have drifted.
func revertDrift() Operation {
	return Operation{
		Name: RevertDriftName, Plan: RevertDrift,
		Requestable: true, NeedsRunning: true, Approvable: true, Retryable: true,
		Options: append(Selecting(), OptionReason, OptionRefuse, OptionWhileSuspended),
		Command: "drift --revert",
		Effect:  "it brings the resources back that have drifted, as the last drift detection has found",
	}
}

// previewRevertDrift shows what reverting drift would do.
func previewRevertDrift() Operation {
	return Operation{
		Name: PlanPrefix + RevertDriftName, Plan: RevertDrift,
		Requestable: true, NeedsRunning: true, Preview: true,
		Options: append(Selecting(), OptionExact),
		Effect:  "bringing back what has drifted is planned",
	}
}

// RevertDrift plans to bring back the resources of each recorded stack that the last drift detection has found to differ from the template
// that is deployed. Each stack gets a change set that compares with the live resources, and nothing else: no files are read, so nothing
// new is deployed. The steps have no order, because no stack gets other inputs.
func RevertDrift(v View) (Plan, error) {
	about, refusals := v.selected()
	var p Plan
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		r, live := v.Recorded[name], v.Live[name]
		switch {
		case about != nil && !about[name], !r.Drifted():
		case live.AccessError != "":
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it cannot be read, so its drift cannot be reverted: %s", r.displayName(), live.AccessError))
		case live.StackID != r.StackID:
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: the recorded stack does not exist any more: refresh forgets it, and the next deploy creates it", r.displayName()))
		case !live.Status.Busy() && !live.Status.Cleaning() && !live.Updatable():
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it is %s, and cannot be updated as it is: deploy it first", r.displayName(), live.Status))
		default:
			p.Steps = append(p.Steps, Step{ID: StepID(name, Revert, ""), Node: name, Where: v.where(name), Verb: Revert})
		}
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	if len(p.Steps) == 0 {
		p.Messages = []string{v.nothingDrifted(about)}
	}
	return p, nil
}

// nothingDrifted says that none of the selected stacks, nil for all, has drifted by its record, and of how many that is not known.
func (v View) nothingDrifted(about map[string]bool) string {
	unknown := 0
	for name, r := range v.Recorded {
		if (about == nil || about[name]) && r.Drift == nil {
			unknown++
		}
	}
	if unknown > 0 {
		return fmt.Sprintf("no drift is recorded, and that of %d stacks was never detected: run stackwright drift first", unknown)
	}
	return "no drift is recorded: if something was changed since, run stackwright drift first"
}

// driftMessages says which stacks that the steps of p update have drifted by their records.
func (v View) driftMessages(p Plan) []string {
	var names []string
	for _, s := range p.Steps {
		if r := v.Recorded[s.Node]; s.does(Update) && r.Drifted() {
			names = append(names, fmt.Sprintf("%s (%s, found %s)", r.displayName(), strings.Join(r.Drift.Resources[:min(len(r.Drift.Resources), 5)], ", "), r.Drift.At.UTC().Format(time.DateTime)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return []string{fmt.Sprintf("stacks have drifted that are updated: %s. CloudFormation overwrites what the update changes too, and leaves the rest as it is. To see it: stackwright drift. To bring it back: stackwright drift --revert", listed(names))}
}

// Left returns what is left of a drift after the change set of p was executed: the resources that it has not brought back. It is nil if
// none is left.
func (d *Drift) Left(p Proposal) *Drift {
	if d == nil {
		return nil
	}
	rest := *d
	rest.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(id string) bool { return find(p.Resources, id) != nil })
	if len(rest.Resources) == 0 {
		return nil
	}
	return &rest
}

// Unreverted says what of a drift the change set of p does not bring back, and why; empty if it brings all back.
func (d *Drift) Unreverted(p Proposal) string {
	var texts []string
	if left := d.Left(p); left != nil {
		texts = append(texts, "CloudFormation does not bring back "+listed(left.Resources)+": change them by hand, or accept how they are in the template")
	}
	for _, r := range p.Resources {
		if len(r.Ignored) > 0 {
			texts = append(texts, fmt.Sprintf("of %s it leaves %s", r.ID, strings.Join(r.Ignored, ", ")))
		}
	}
	return strings.Join(texts, "; ")
}
