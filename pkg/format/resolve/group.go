package resolve

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// groups lists the groups of the project and of its environment.
func (r *resolver) groups() map[string]declared.Limit {
	all := make(map[string]declared.Limit)
	for _, l := range r.maxParallel() {
		if l.Group != "" {
			all[l.Group] = l
		}
	}
	return all
}

// setGroup sets the group of the stack.
func (r *resolver) setGroup(what string, s *Stack) {
	if s.Settings.Group == nil {
		return
	}
	name, ok := r.option(what, s, *s.Settings.Group)
	if _, known := r.groups()[name]; ok && !known {
		r.Add(s.Settings.Group.At, "%s: there is no group %q%s", what, problem.Short(name), r.Hint(name, slices.Sorted(maps.Keys(r.groups()))))
		return
	}
	s.Node.Group = name
}

// checkGroups refuses groups without stacks. One of another environment may have them.
func (r *resolver) checkGroups() {
	all := r.groups()
	for _, s := range r.Stacks {
		delete(all, s.Node.Group)
	}
	if len(r.Stacks) == 0 || len(r.elsewhere) > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r.Add(all[name].At, "%s: no stack has the group: write group: %s under a stack, or remove it", all[name].Label, name)
	}
}
