package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// spread makes of each stack that is written as many as it has targets: each is
// a node of its own from here on. One whose targets cannot be told goes to the
// default one, so that all else can be said of it.
func (r *reader) spread(home project.Target) {
	var all []*stack
	for _, s := range r.stacks {
		s.node.Target = home
		targets, ok := r.targets("stack "+s.name+": targets", s)
		if len(targets) == 0 {
			targets = []project.Target{home}
		}
		for _, t := range targets {
			one := *s
			one.astray = !ok
			one.node = project.Node{Name: s.name, Target: t}
			if len(targets) > 1 {
				one.node.Name += "@" + t.Name
			}
			all = append(all, &one)
			r.byName[s.name] = append(r.byName[s.name], &one)
			r.byNode[one.node.Name] = &one
		}
		if len(all) > MaxStacks && !r.full {
			r.full = true
			r.add(s.at, "the stacks in all their targets are more than %d: make several projects of it", MaxStacks)
		}
		if r.ends() {
			break
		}
	}
	r.stacks = all
}

// targets returns the targets of a stack, none if it names none. It reports
// false, having said why, if one of them is of no use.
func (r *reader) targets(what string, s *stack) ([]project.Target, bool) {
	if s.settings.targets == nil {
		return nil, true
	}
	if len(*s.settings.targets) == 0 {
		r.add(s.at, "%s: none: write [default], or leave it out", what)
		return nil, false
	}
	var all []project.Target
	good := true
	for _, v := range *s.settings.targets {
		t, ok := r.targetOf(what, s, v)
		switch {
		case !ok:
			good = false
		case slices.Contains(all, t):
			r.add(v.at, "%s: %s is there twice: remove one of them", what, t.Name)
			good = false
		default:
			all = append(all, t)
		}
	}
	return all, good
}

func (r *reader) targetOf(what string, s *stack, v value) (project.Target, bool) {
	for _, item := range v.items {
		for _, p := range item {
			if p.form == account || p.form == region {
				r.add(v.at, "%s: %s: it follows from the target, so it cannot name it: write the target's name, or ${var.x}", what, p.written)
				return project.Target{}, false
			}
		}
	}
	name, ok := r.option(what, s, v)
	if !ok {
		return project.Target{}, false
	}
	return r.registered(what, v.at, name)
}

// registered finds a target by its name.
func (r *reader) registered(what string, at place, name string) (project.Target, bool) {
	t, ok := r.options.Targets[name]
	if !ok {
		r.foreign = append(r.foreign, name)
		r.add(at, "%s: target %s is not registered%s", what, short(name), r.hint(name, slices.Sorted(maps.Keys(r.options.Targets))))
	}
	return t, ok
}

// stack finds the stack that a reference of s names: where it names a target,
// there; else the only one of that name, or the one in s's own target.
func (r *reader) stack(what string, s *stack, at place, p part) (*stack, bool) {
	all := r.byName[p.name]
	target := p.target
	switch {
	case len(all) == 0:
		r.add(at, "%s: %s: there is no stack %s%s", what, short(p.written), short(p.name), r.hint(p.name, r.stackNames))
		return nil, false
	case target == "" && len(all) == 1:
		return all[0], true
	case target == "":
		target = s.node.Target.Name
	}
	for _, other := range all {
		if other.node.Target.Name == target {
			return other, true
		}
	}
	if all[0].astray || s.astray {
		return nil, false // why has been said
	}
	if p.target != "" {
		if _, ok := r.registered(what+": "+short(p.written), at, target); ok {
			r.add(at, "%s: %s: stack %s does not go to %s: it goes to %s", what, short(p.written), p.name, target, places(all))
		}
		return nil, false
	}
	r.add(at, "%s: %s: stack %s goes to %s, and this one to %s: say which of them is meant, as in %s@%s",
		what, short(p.written), p.name, places(all), target, p.name, all[0].node.Target.Name)
	return nil, false
}

// places lists the targets of a stack.
func places(all []*stack) string {
	var names []string
	for _, s := range all {
		names = append(names, s.node.Target.Name)
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last])
}

// collisions refuses two stacks of one physical name in one account and region.
func (r *reader) collisions() {
	type spot struct{ account, region, stack string }
	by := map[spot]*stack{}
	for _, s := range r.stacks {
		if s.node.Stack == "" || r.project == "" {
			continue
		}
		on := spot{s.node.Target.Account, s.node.Target.Region, s.node.Stack}
		first, taken := by[on]
		if !taken {
			by[on] = s
			continue
		}
		at := s.at
		if s.stackName != nil {
			at = s.stackName.at
		}
		if first.name == s.name {
			r.add(s.at, "stack %s: its targets %s and %s are the same account and region: name one of them", s.name, first.node.Target.Name, s.node.Target.Name)
		} else {
			r.add(at, "stack %s: CloudFormation would know it as %s, and %s as well: give one of them another stack_name:", s.node.Name, s.node.Stack, first.node.Name)
		}
		s.node.Stack = "" // so that it is not told again of their exports
	}
}
