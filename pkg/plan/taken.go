package plan

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// NewExports lists the names of exports that the plan adds, which no stack of the view has, sorted, by their targets. A
// name that only a deploy can say is not among them.
func (v View) NewExports() map[project.Target][]string {
	v.about, _ = v.selected()
	had := v.exporters()
	all := make(map[project.Target][]string)
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		n := v.Desired.Nodes[name]
		if v.stays(name) || v.inaccessible(name) {
			continue
		}
		for _, export := range n.Links.CertainExports() {
			if had[exportAt{placeOf(n.Target), export}] == "" {
				all[n.Target] = append(all[n.Target], export)
			}
		}
	}
	for t, names := range all {
		slices.Sort(names)
		all[t] = slices.Compact(names)
	}
	return all
}

// exporters lists the recorded nodes whose stacks have exports now, by the export.
func (v View) exporters() map[exportAt]string {
	all := make(map[exportAt]string)
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		for _, export := range v.Live[name].Exports {
			if v.managed(name) {
				all[exportAt{placeOf(v.Recorded[name].Target), export}] = name
			}
		}
	}
	return all
}

// refuseTaken refuses exports whose names have stacks that the plan does not change: CloudFormation makes no second one
// in an account and region.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func (b *builder) refuseTaken() []error {
	v := b.view
	var refusals []error
	exporters, owners := v.exporters(), v.owners()
	for _, name := range b.deploys.names() {
		n := v.Desired.Nodes[name]
		for _, export := range n.Links.CertainExports() {
			at := exportAt{placeOf(n.Target), export}
			stack, holder := v.Holders[n.Target.Where()][export], exporters[at]
			if stack != "" {
				holder = owners[exportAt{at.place, stack}]
			}
			switch {
			case holder == name || stack == n.Stack:
			case stack != "" && holder == "":
				refusals = append(refusals, fault.New(fault.Refused, "stack %s makes the export %s, but stack %s, which is not "+
					"part of this plan, has it in the same account and region, and CloudFormation makes no second one: give it "+
					"another name, or remove it there first", n.Name, export, stack))
			case holder != "" && v.stays(holder):
				refusals = append(refusals, fault.New(fault.Refused, "stack %s makes the export %s, but %s, which this plan "+
					"leaves as it is, has it, and CloudFormation makes no second one: let the plan be about %s too",
					n.Name, export, v.shownName(holder), v.shownName(holder)))
			}
		}
	}
	return refusals
}
