package config

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// resolve makes nodes of the stacks that were read: each step needs what those
// before it found out about all stacks.
func (r *reader) resolve() {
	target, ok := r.options.Targets[project.DefaultTarget]
	if !ok {
		r.add(place{}, "target %s is not registered: the installation lacks its own account and region", project.DefaultTarget)
		return
	}
	for _, s := range r.stacks {
		if r.ends() {
			return
		}
		if s.template != nil {
			s.source = r.readTemplate("stack "+s.name, s.template)
		}
		s.settings = r.merge(s)
	}
	r.spread(target)
	for _, s := range r.stacks {
		if r.ends() {
			return
		}
		r.settle(s)
	}
	r.checkDefaults()
	r.collisions()
	for _, s := range r.stacks {
		if r.ends() {
			return
		}
		r.needs(s)
		r.texts(s)
		r.checkParameters(s)
		r.checkCapabilities(s)
	}
	for _, s := range r.stacks {
		r.checkOutputs(s)
	}
	r.importsAndExports()
	for _, s := range r.stacks {
		if r.ends() {
			return
		}
		r.harm(s)
	}
	if !r.ends() {
		r.cycles()
	}
}

// merge returns a stack's settings with the defaults for it: those with a
// longer prefix over those with a shorter one, its own over all. Mappings are
// merged key by key, all else replaces what was said before. Of the default
// parameters a stack takes those that its template has.
func (r *reader) merge(s *stack) settings {
	merged := settings{parameters: map[string]entry{}, tags: map[string]entry{}}
	for _, l := range r.layersOf(s.name) {
		l.matches = append(l.matches, s)
		overlay(&merged, l.settings, func(parameter string) bool {
			return s.source != nil && slices.Contains(s.source.names, parameter)
		})
	}
	overlay(&merged, s.settings, func(string) bool { return true })
	r.room(100 * (len(merged.parameters) + len(merged.tags)))
	return merged
}

// layersOf lists the defaults for a stack, the shortest prefix first.
func (r *reader) layersOf(name string) []*layer {
	var all []*layer
	for i := range len(name) + 1 {
		if l, ok := r.layers[name[:i]]; ok {
			all = append(all, l)
		}
	}
	return all
}

func overlay(on *settings, s settings, takes func(parameter string) bool) {
	for name, e := range s.parameters {
		if takes(name) {
			on.parameters[name] = e
		}
	}
	for name, e := range s.tags {
		on.tags[name] = e
	}
	on.damaged = on.damaged || s.damaged
	if s.needs != nil {
		on.needs = s.needs
	}
	if s.capabilities != nil {
		on.capabilities = s.capabilities
	}
	if s.targets != nil {
		on.targets = s.targets
	}
	if s.protect != nil {
		on.protect = s.protect
	}
	if s.timeout != nil {
		on.timeout = s.timeout
	}
}
