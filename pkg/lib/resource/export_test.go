package resource

import (
	"strings"
	"testing"
)

// Expectations are the replacements of all paths of all types that have any: those that the sources say, or those in
// the table if the sources are not given. Paths that corrections and rules are about are left out.
func Expectations(t *testing.T) map[string]map[string]Replacement {
	t.Helper()
	all := make(map[string]map[string]Replacement)
	add := func(name string, paths []string, is func(path []string) Replacement) {
		all[name] = make(map[string]Replacement)
		for _, path := range paths {
			if segments := strings.Split(path, "/"); !corrected(name, segments) {
				all[name][path] = is(segments)
			}
		}
	}
	if *schemas == "" || *specification == "" {
		for _, name := range Names() {
			is := parse(name, table().lines[name])
			add(name, append(append(is.createOnly, is.conditional...), is.Properties...), is.Replacement)
		}
		return all
	}
	s := readSources(t)
	for _, name := range s.names() {
		said := s.replacements(name)
		paths := s.specification[name].paths
		for path := range said {
			paths = append(paths, path)
		}
		add(name, paths, func(path []string) Replacement {
			worst := Never
			for p, r := range said {
				if overlaps(p, path) {
					worst = Worse(worst, r)
				}
			}
			return worst
		})
	}
	return all
}

// corrected reports whether a correction or a rule is about the path.
func corrected(name string, path []string) bool {
	if (Type{Name: name}).rule(path) != nil {
		return true
	}
	for _, c := range corrections()[name] {
		if overlaps(c.path, path) {
			return true
		}
	}
	return false
}
