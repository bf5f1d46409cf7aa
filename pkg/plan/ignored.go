package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/project"
)

// obsolete is what the files of a project say of a stack that the next prune deletes.
const obsolete = "obsolete: true"

// ignoring is what the files of the project say of a stack that operations leave alone.
func (v View) ignoring() string {
	if v.Desired.Kind == project.Sceptre {
		return "ignore: true"
	}
	return "enabled: false"
}

// whyIgnored is what the files say of stacks that are left alone.
func (v View) whyIgnored(names ...string) string {
	switch {
	case !slices.ContainsFunc(names, v.Desired.IsObsolete):
		return v.ignoring()
	case slices.ContainsFunc(names, func(name string) bool { return !v.Desired.IsObsolete(name) }):
		return v.ignoring() + " or " + obsolete
	}
	return obsolete
}

// removes reports whether an operation on the selected nodes, nil for all, deletes what is recorded for a node that is no longer
// desired.
func (v View) removes(name string, about map[string]bool) bool {
	_, stays := v.Desired.Nodes[name]
	return !stays && (about == nil || about[name]) && !v.Desired.Ignores(name)
}

// readLeft adds steps that read the stacks which stay as they are and whose outputs are not as recorded, before the stacks that use
// them. It refuses the plan if such a stack is left alone and does not exist, or has to be created again: nobody could delete it while another one imports from it.
func (v View) readLeft(deploys phases) []error {
	var refusals []error
	reads := make(map[string]bool)
	for _, name := range deploys.names() {
		n := v.Desired.Nodes[name]
		for _, need := range usedBy(n) {
			switch {
			case !v.stays(need):
			case v.Desired.Ignores(need) && (!v.exists(need) || v.Recorded[need].StackID == ""):
				refusals = append(refusals, fault.New(fault.Refused, "stack %s uses outputs of %s, which is left alone because the project's files say %s, and which Stackwright has not deployed: remove that; or, if the stack %s exists, record it with stackwright adopt --only %s",
					name, need, v.whyIgnored(need), v.Desired.Nodes[need].Stack, need))
			case v.Desired.Ignores(need) && v.managed(need) && v.Live[need].Dead():
				refusals = append(refusals, fault.New(fault.Refused, "stack %s uses outputs of %s, which is %s and has to be created again, but is left alone because the project's files say %s: remove that, or the dependency",
					name, need, v.Live[need].Status, v.whyIgnored(need)))
			case v.managed(need) && !maps.Equal(v.Recorded[need].Outputs, v.Live[need].Outputs):
				reads[need] = true
			}
		}
	}
	for name := range reads {
		deploys[name] = []Step{{Verb: Read}}
	}
	return refusals
}

// refuseCycle refuses a plan with which a stack would depend on itself through one that stays as it is, because CloudFormation could
// delete none of them then. A stack without steps depends on what it was last deployed with, whatever the files say.
func (v View) refuseCycle(deploys phases) error {
	var needs graph.Graph[string]
	changes := func(name string) bool {
		return slices.ContainsFunc(deploys[name], func(s Step) bool { return !s.Reads() })
	}
	for name, r := range v.Recorded {
		if !changes(name) {
			needs.Add(name, r.Needs...)
		}
	}
	for name := range deploys {
		if changes(name) {
			needs.Add(name, v.Desired.Nodes[name].Needs...)
		}
	}
	_, err := needs.Order()
	ring, ok := errors.AsType[*graph.CycleError[string]](err)
	if !ok || !slices.ContainsFunc(ring.Cycle, changes) {
		return nil
	}
	ignored := slices.DeleteFunc(slices.Clone(ring.Cycle[1:]), func(name string) bool { return !v.stays(name) })
	if len(ignored) == 0 {
		return nil // the plan deletes what these depend on
	}
	if left := slices.DeleteFunc(slices.Clone(ignored), v.Desired.Ignores); len(left) > 0 {
		return fault.New(fault.Refused, "%w: %s would stay as last deployed, because the selection leaves them out, and CloudFormation could delete none of these stacks: select them too, or remove the dependency", err, listed(left))
	}
	why := v.whyIgnored(ignored...)
	return fault.New(fault.Refused, "%w: %s would stay as last deployed, because the project's files say %s, and CloudFormation could delete none of these stacks: remove %s, or the dependency", err, listed(ignored), why, why)
}

// usedBy lists the nodes whose outputs a node or its hooks use, sorted.
func usedBy(n project.Node) []string {
	all := n.Sources()
	for _, h := range n.Hooks {
		all = append(all, h.Sources()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ignoredMessages says which of the selected stacks, nil for all, are left alone.
func (v View) ignoredMessages(about map[string]bool) []string {
	among := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return about != nil && !about[name] })
	}
	var all []string
	if names := among(v.Desired.Ignored); len(names) > 0 {
		all = append(all, fmt.Sprintf("left alone, because the project's files say %s: %s", v.ignoring(), listed(names)))
	}
	if names := among(v.Desired.Obsolete); len(names) > 0 {
		text := fmt.Sprintf("left alone, because the project's files say %s: %s", obsolete, listed(names))
		if left := slices.DeleteFunc(names, func(name string) bool { _, recorded := v.Recorded[name]; return !recorded }); len(left) > 0 {
			text += fmt.Sprintf("; to delete %s: stackwright prune", listed(left))
		}
		all = append(all, text)
	}
	return all
}
