package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/project"
)

// leftOut reports whether the plan is not about a node, because the selection does not select it.
func (v View) leftOut(name string) bool { return v.about != nil && !v.about[name] }

// stays reports whether the plan leaves a node as it is: the selection leaves it out, or the project's files do.
func (v View) stays(name string) bool { return v.leftOut(name) || v.Desired.Ignores(name) }

// excludes reports whether a pattern of the selection excludes a node.
func (v View) excludes(name string) bool {
	c := v.selectable(name)
	return slices.ContainsFunc(v.Exclude, func(p string) bool { return c.matches(p, name) })
}

// names lists the names of the nodes and their folders, sorted.
func (v View) names() []string {
	all := make(map[string]bool)
	for _, nodes := range [][]string{slices.Collect(maps.Keys(v.Desired.Nodes)), slices.Collect(maps.Keys(v.Recorded))} {
		for _, name := range nodes {
			if strings.Contains(name, ":") { // the record of an old stack: its name is the stack ID
				continue
			}
			all[name] = true
			if at := strings.LastIndexByte(name, '/'); at >= 0 {
				all[name[:at+1]] = true
			}
			if stack, _, several := strings.Cut(name, "@"); several {
				all[stack] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// leftDependents refuses to delete a stack if other stacks, which the selection leaves out or which are left alone,
// depend on it, directly or not. Each error names these dependents.
func (v View) leftDependents(deletes phases) []error {
	if v.about == nil && len(v.Desired.Ignored)+len(v.Desired.Obsolete) == 0 {
		return nil
	}
	var uses graph.Graph[string] // from each stack to its dependents that stay
	for name, r := range v.Recorded {
		for _, need := range r.Needs {
			if v.stays(name) && v.exists(name) {
				uses.Add(need, name)
			}
		}
	}
	var refusals []error
	more := 0
	for _, name := range slices.Sorted(maps.Keys(deletes)) {
		if len(deletes[name]) == 0 || !v.exists(name) {
			continue
		}
		users := uses.Reach(name)
		delete(users, name)
		stack := "stack " + name + " would be deleted"
		if node := v.Recorded[name].formerNode(); node != "" {
			stack = fmt.Sprintf("stack %s has another physical name or target now, so its old stack %s would be deleted", node, v.Recorded[name].Stack)
			for _, user := range uses.After(node) {
				if v.mayUseFormer(user, node) {
					users[user] = true
					maps.Copy(users, uses.Reach(user))
				}
			}
			name = node
		}
		switch {
		case len(users) == 0:
		case len(refusals) == maxListed:
			more++
		default:
			left := slices.Sorted(maps.Keys(users))
			refusal := fault.New(fault.Refused, "%s, but other stacks depend on it (%s): name these too, or do not name %s", stack, listed(left), name)
			if excluded := slices.DeleteFunc(slices.Clone(left), func(user string) bool { return !v.excludes(user) }); len(excluded) > 0 {
				refusal = fault.New(fault.Refused, "%s, but other stacks depend on it that are excluded (%s): do not exclude these, or exclude %s too", stack, listed(excluded), name)
			}
			if ignored := slices.DeleteFunc(slices.Clone(left), func(user string) bool { return !v.Desired.Ignores(user) }); len(ignored) > 0 {
				refusal = fault.New(fault.Refused, "%s, but stacks depend on it (%s) that are left alone because the project's files say %s: enable or remove these, or leave %s in the project; a destroy knows the files of the last deploy", stack, listed(ignored), v.whyIgnored(ignored...), name)
			}
			refusals = append(refusals, refusal)
		}
	}
	if more > 0 {
		refusals = append(refusals, fault.New(fault.Refused, "other stacks depend on %d more stacks that would be deleted", more))
	}
	return refusals
}

// mayUseFormer reports whether a stack which the plan leaves as it is may use the stack that a node had before the one it has now: its record names only the
// node. A stack that was changed after the node's new stack uses that one.
func (v View) mayUseFormer(user, node string) bool {
	now := v.Recorded[node]
	return now.StackID == "" || !v.Recorded[user].LastUpdated.After(now.LastUpdated)
}

// lacking refuses to deploy stacks whose dependencies the selection leaves out, unless these are deployed already: each with all that it lacks.
func (v View) lacking(deploys phases) []error {
	var refusals []error
	more := 0
	for _, name := range deploys.names() {
		if !slices.ContainsFunc(deploys[name], func(s Step) bool { return s.does(Create, Update) }) {
			continue
		}
		n := v.Desired.Nodes[name]
		for _, need := range n.Needs {
			if !v.leftOut(need) || v.Desired.Ignores(need) {
				continue
			}
			lacks := v.lacks(n, need)
			switch {
			case lacks == "":
			case len(refusals) == maxListed:
				more++
			default:
				refusals = append(refusals, fault.New(fault.Refused, "stack %s depends on %s, which %s, and the selection leaves %s out (%s): select %s too, deploy it first, or leave %s out as well", name, need, lacks, need, v.whyLeftOut(need), need, name))
			}
		}
	}
	if more > 0 {
		refusals = append(refusals, fault.New(fault.Refused, "%d more dependencies are left out that are not deployed", more))
	}
	return refusals
}

// whyLeftOut says why the selection does not select a dependency.
func (v View) whyLeftOut(name string) string {
	c := v.selectable(name)
	if i := slices.IndexFunc(v.Exclude, func(p string) bool { return c.matches(p, name) }); i >= 0 {
		return "--exclude " + shell(v.Exclude[i])
	}
	return "--with-dependencies=false"
}

// lacks says why a stack cannot be deployed with a dependency as that is now; it is empty if it can.
func (v View) lacks(n project.Node, need string) string {
	live := v.Live[need]
	switch {
	case !v.exists(need) || v.Recorded[need].StackID == "":
		return "is not deployed yet"
	case v.managed(need) && (live.Dead() || live.Status.Fragile()):
		return "is " + string(live.Status)
	}
	for _, texts := range []map[string]project.Text{n.Parameters, n.Tags} {
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			for _, o := range texts[key].Outputs() {
				if _, has := v.outputOf(need, o.Output); o.Node == need && o.Certain && !has {
					return "has no output " + o.Output + " yet"
				}
			}
		}
	}
	return ""
}
