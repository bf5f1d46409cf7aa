package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// selected returns the nodes that Only selects, or nil for all nodes: the named nodes
// and the dependencies of the desired ones, which must be deployed first. A name that ends in a slash means all nodes
// below it, and one without a target means the stack in all its targets. An unknown
// name is refused.
func (v View) selected() (map[string]bool, []error) {
	if len(v.Only) == 0 {
		return nil, nil
	}
	about := make(map[string]bool)
	var unknown []error
	for _, name := range v.Only {
		found := v.matching(name)
		if len(found) == 0 {
			unknown = append(unknown, fault.New(fault.Invalid, "only: there is no stack %s, neither in the project's files nor recorded%s", name, suggest.Hint(name, v.names())))
		}
		for len(found) > 0 {
			next := found[0]
			if found = found[1:]; !about[next] {
				about[next] = true
				found = append(found, v.Desired.Nodes[next].Needs...)
			}
		}
	}
	return about, unknown
}

// Selection returns the desired nodes that a request for some stacks is about, or nil for all nodes.
func Selection(desired project.Project, only []string) map[string]bool {
	about, _ := View{Desired: desired, Only: only}.selected()
	return about
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

// matching lists the nodes that a name in Only means, sorted.
func (v View) matching(name string) []string {
	is := func(node string) bool { return means(name, node) }
	var found []string
	for node := range v.Desired.Nodes {
		if is(node) {
			found = append(found, node)
		}
	}
	for node, r := range v.Recorded {
		if _, both := v.Desired.Nodes[node]; !both && (is(node) || is(r.FormerName)) {
			found = append(found, node)
		}
	}
	for _, s := range v.Uncalled {
		if is(s.Node) {
			found = append(found, s.Node)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// means reports whether a name in Only means a node.
func means(name, node string) bool {
	return node == name || strings.HasSuffix(name, "/") && strings.HasPrefix(node, name) || strings.HasPrefix(node, name+"@")
}

// leftDependents refuses to delete a stack if other stacks, which Only does not select or which are left alone,
// depend on it, directly or not. Each error names these dependents.
func (v View) leftDependents(about map[string]bool, deletes phases) []error {
	if about == nil && len(v.Desired.Ignored)+len(v.Desired.Obsolete) == 0 {
		return nil
	}
	var uses graph.Graph[string] // from each stack to its dependents that stay
	for name, r := range v.Recorded {
		for _, need := range r.Needs {
			if (about != nil && !about[name] || v.Desired.Ignores(name)) && v.exists(name) {
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
		if len(refusals) == maxListed {
			if len(uses.After(name)) > 0 {
				more++
			}
			continue
		}
		users := uses.Reach(name)
		delete(users, name)
		if len(users) > 0 {
			left := slices.Sorted(maps.Keys(users))
			refusal := fault.New(fault.Refused, "stack %s would be deleted, but other stacks depend on it (%s): name these too, or do not name %s", name, listed(left), name)
			if ignored := slices.DeleteFunc(slices.Clone(left), func(user string) bool { return !v.Desired.Ignores(user) }); len(ignored) > 0 {
				refusal = fault.New(fault.Refused, "stack %s would be deleted, but stacks depend on it (%s) that are left alone because the project's files say %s: enable or remove these, or leave %s in the project; a destroy knows the files of the last deploy", name, listed(ignored), v.whyIgnored(ignored...), name)
			}
			refusals = append(refusals, refusal)
		}
	}
	if more > 0 {
		refusals = append(refusals, fault.New(fault.Refused, "other stacks depend on %d more stacks that would be deleted", more))
	}
	return refusals
}
