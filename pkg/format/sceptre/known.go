package sceptre

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// Names in configurations, before they are rendered.
var (
	expression = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)
	variableAt = regexp.MustCompile(`(?:^|[^\w.'"])var\b(?:\.(\w+)|\[\s*'([^']*)'\s*\]|\[\s*"([^"]*)"\s*\])?`)
	profileAt  = regexp.MustCompile(`(?m)^[ \t]*profile[ \t]*:(.*)$`)
)

// Methods of a mapping of Jinja: var.get('stage') does not use a variable that is called get.
var methods = []string{"get", "items", "keys", "values"}

// A nameSet has the names that the configurations of a project use.
type nameSet struct {
	names map[string]bool
	any   bool // it cannot be known which: a name is computed
}

// usedVariables are the names of the variables that configurations use.
func usedVariables(f archive.Files) nameSet {
	k := nameSet{names: make(map[string]bool)}
	for name, body := range f {
		if !strings.HasPrefix(name, configs) {
			continue
		}
		for _, e := range expression.FindAllString(string(body), -1) {
			for _, found := range variableAt.FindAllStringSubmatch(e, -1) {
				name := found[1] + found[2] + found[3]
				k.any = k.any || name == "" || slices.Contains(methods, name)
				k.names[name] = true
			}
		}
	}
	return k
}

// namedProfiles are the profiles of the AWS CLI that configurations name.
func namedProfiles(f archive.Files) nameSet {
	k := nameSet{names: make(map[string]bool)}
	for name, body := range f {
		if !strings.HasPrefix(name, configs) {
			continue
		}
		for _, found := range profileAt.FindAllStringSubmatch(string(body), -1) {
			value, _, _ := strings.Cut(found[1], " #")
			value = strings.Trim(strings.TrimSpace(value), `'"`)
			k.any = k.any || value == "" || strings.ContainsAny(value, "{%&*!|>")
			k.names[value] = true
		}
	}
	return k
}

// lacks reports whether no configuration uses a name, and then suggests a name that one uses.
func (k nameSet) lacks(name string) (hint string, lacks bool) {
	if k.any || k.names[name] {
		return "", false
	}
	return suggest.Hint(problem.Short(name), slices.Sorted(maps.Keys(k.names))), true
}
