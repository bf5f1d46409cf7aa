package asl

import (
	"cmp"
	"slices"
	"strings"
)

// names refuses a name that two states have: in a history nobody could tell them apart.
func (r *reader) names(m *Machine, at string, seen map[string]string) {
	for _, name := range m.sorted() {
		switch first, twice := seen[name]; {
		case twice:
			r.refuse(at+name, "a state of this name is also at %s", first)
		case name == "" || len([]rune(name)) > 80:
			r.refuse(at+name, "the name of a state has 1 to 80 characters")
		}
		seen[name] = at + name
		if each := m.States[name].Each; each != nil {
			r.names(each, at+name+"/", seen)
		}
	}
}

// check refuses transitions that lead nowhere, states that nothing leads to, and states from which there is no end.
func (r *reader) check(m *Machine, at string, in scoped) {
	if m.States[m.StartAt] == nil {
		r.refuse(cmp.Or(strings.TrimSuffix(at, "/"), "machine"), "StartAt leads to %q, which is no state here", m.StartAt)
		return
	}
	for _, name := range m.sorted() {
		s := m.States[name]
		for _, to := range s.Leads() {
			if m.States[to] == nil {
				r.refuse(at+name, "leads to %q, which is no state here", to)
			}
		}
		in.check(r, s, at+name)
		if s.Each != nil {
			r.check(s.Each, at+name+"/", scopeOf(true))
		}
	}
	r.reach(m, at)
}

func (r *reader) reach(m *Machine, at string) {
	reached := m.spread([]string{m.StartAt}, func(s *State) []string { return s.Leads() })
	before := make(map[string][]string)
	var ends []string
	for _, name := range m.sorted() {
		for _, to := range m.States[name].Leads() {
			before[to] = append(before[to], name)
		}
		if m.States[name].ends() {
			ends = append(ends, name)
		}
	}
	ending := m.spread(ends, func(s *State) []string { return before[s.Name] })
	for _, name := range m.sorted() {
		switch {
		case !reached[name]:
			r.refuse(at+name, "nothing leads to it from %q", m.StartAt)
		case !ending[name]:
			r.refuse(at+name, "no way leads from it to an end")
		}
	}
}

// spread finds all that can be come to from some states.
func (m *Machine) spread(from []string, next func(*State) []string) map[string]bool {
	seen := make(map[string]bool)
	for len(from) > 0 {
		name := from[0]
		from = from[1:]
		if s := m.States[name]; s != nil && !seen[name] {
			seen[name] = true
			from = append(from, next(s)...)
		}
	}
	return seen
}

func (m *Machine) sorted() []string {
	names := make([]string, 0, len(m.States))
	for name := range m.States {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// scoped says what the context object holds where a state stands.
type scoped struct{ item bool }

func scopeOf(item bool) scoped { return scoped{item: item} }

// check refuses a token where none is given, an item where there is no Map, and a waiting task that gives its token to nobody.
func (in scoped) check(r *reader, s *State, at string) {
	token := false
	for _, p := range s.contextPaths() {
		switch {
		case strings.HasPrefix(p.text, "$$.Task"):
			if token = true; s.Type != Task || !s.Resource.Waits() {
				r.refuse(at, "%s is only there in a task that waits for its token", p.text)
			}
		case strings.HasPrefix(p.text, "$$.Map") && !in.item && s.Type != Map:
			r.refuse(at, "%s is only there in a Map", p.text)
		}
	}
	if s.Type == Task && s.Resource.Waits() && !token {
		r.refuse(at, "waits for a token that it gives to nobody: pass $$.Task.Token in the Payload")
	}
}

// contextPaths are the paths of s that lead into the context object.
func (s *State) contextPaths() []path {
	var all []path
	for _, t := range []template{s.parameters, s.resultSelector} {
		if t != nil {
			all = append(all, t.paths()...)
		}
	}
	for _, p := range []*path{s.inputPath.path, s.outputPath.path, s.timeout.path, s.wait.path, &s.itemsPath} {
		if p != nil {
			all = append(all, *p)
		}
	}
	for _, r := range s.rules {
		all = append(all, r.paths()...)
	}
	return slices.DeleteFunc(all, func(p path) bool { return !p.context })
}
