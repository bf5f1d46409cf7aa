package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// reach returns the nodes that an operation is about, or nil if that is all of
// them: those that are named, and what the desired ones among them need, for
// they cannot rise without it. A name that ends in a slash is that of all nodes
// below it, and one without a target that of the stack in all its targets. What
// is named and unknown is refused.
func (v View) reach() (map[string]bool, []error) {
	if len(v.Only) == 0 {
		return nil, nil
	}
	about := make(map[string]bool)
	var unknown []error
	for _, name := range v.Only {
		found := v.named(name)
		if len(found) == 0 {
			unknown = append(unknown, fault.New(fault.Invalid, "only %s: there is no such stack, desired or recorded", name))
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

// named lists the nodes that a name is the name of, sorted.
func (v View) named(name string) []string {
	is := func(node string) bool {
		return node == name || strings.HasSuffix(name, "/") && strings.HasPrefix(node, name) || strings.HasPrefix(node, name+"@")
	}
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
	slices.Sort(found)
	return found
}

// left refuses an operation on some nodes that would delete a stack under one
// that it leaves alone.
func (v View) left(about map[string]bool, falls phases) []error {
	if about == nil {
		return nil
	}
	var refusals []error
	for _, user := range slices.Sorted(maps.Keys(v.Recorded)) {
		if about[user] || !v.ours(user) && !v.inaccessible(user) {
			continue
		}
		for _, need := range v.Recorded[user].Needs {
			if slices.Contains(falls[need], Delete) {
				refusals = append(refusals, fault.New(fault.Refused, "stack %s would be deleted, and %s uses it: name %s too, or do not name %s", need, user, user, need))
			}
		}
	}
	return refusals
}
