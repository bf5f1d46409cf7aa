package config

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// The keys of a project file, and those that are understood but not carried
// out yet, with what to do until then.
var (
	topKeys = []string{"project", "defaults", "stacks", "environments", "variables", "max_deletions", "on_failure", "timeout", "schedules"}
	topSoon = map[string]string{
		"approve":   "remove it, and look at the plan before you deploy",
		"hooks":     "remove it",
		"notify":    "remove it",
		"review":    "remove it, and look at the plan before you deploy",
		"snapshots": "remove it",
		"targets":   "targets are registered at the installation, never in a project: name them at a stack, or under defaults:",
	}
	environmentKeys = []string{"variables", "max_deletions", "on_failure", "timeout", "schedules"}
	environmentSoon = map[string]string{
		"approve": "remove it, and look at the plan before you deploy",
		"hooks":   "remove it",
		"notify":  "remove it",
		"queue":   "remove it",
		"review":  "remove it, and look at the plan before you deploy",
		"targets": "write targets: [\"${var.target}\"] at the stacks or under defaults:, and let each environment have its variable",
	}
	stackKeys   = []string{"template", "parameters", "needs", "tags", "capabilities", "targets", "protect", "stack_name", "timeout"}
	defaultKeys = []string{"parameters", "needs", "tags", "capabilities", "targets", "protect", "timeout"}
	stackSoon   = map[string]string{
		"adopt":   "remove it",
		"approve": "remove it, and look at the plan before you deploy",
		"drift":   "remove it",
		"hooks":   "remove it",
		"import":  "remove it",
		"review":  "remove it, and look at the plan before you deploy",
		"suspend": "remove it",
	}
)

// What may become of a deploy that has failed.
const (
	keepOnFailure = "keep" // all as it is then; so it is if nothing is said
	backOnFailure = "rollback"
)

var onFailure = []string{keepOnFailure, backOnFailure}

// An entry is one parameter, tag or variable.
type entry struct {
	at    place // of its name
	value value
}

// Settings are what defaults and stacks may say alike. What is not said is nil.
type settings struct {
	parameters, tags             map[string]entry
	needs, capabilities, targets *[]value
	protect, timeout             *value
	damaged                      bool // there are parameters that could not be read
}

// A layer is what defaults say for the stacks whose names begin with a prefix.
type layer struct {
	prefix   string
	at       place
	settings settings
	matches  []*stack
}

// An environment is what the file says of it.
type environment struct {
	at        place
	variables map[string]entry
	deletions *int
	failure   string
	timeout   project.Timeout
	schedules map[string]project.Schedule
}

// format reads the project file into r.
func (r *reader) format(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		r.add(r.place(root), "%s found, a project is wanted: project: and stacks:", document.Kind(root))
		return
	}
	if _, ok := document.Lookup(root, "Resources"); ok {
		r.add(r.place(root), "this is a CloudFormation template, not a project: write a stackwright.yaml with project: and stacks: that names it")
		return
	}
	top := r.keys("the project file", root, topKeys, topSoon)
	r.name(root, top["project"])
	r.variables = r.entries("variables", "variable", top["variables"], r.variable)
	r.deletions = r.count("max_deletions", top["max_deletions"])
	r.failure = r.choice("on_failure", top["on_failure"], onFailure)
	r.timeout = r.duration("timeout", top["timeout"])
	r.recurring = r.readSchedules("schedules", top["schedules"])
	if n := top["schedules"]; n != nil {
		r.countSchedules(r.place(n), "schedules", nil)
	}
	r.readEnvironments(top["environments"])
	r.readDefaults(top["defaults"])
	r.readStacks(root, top["stacks"])
}

func (r *reader) name(root, n *yaml.Node) {
	if n == nil {
		r.add(r.place(root), "project is missing: write project: and its name")
		return
	}
	v, ok := r.scalar("project", n)
	if !ok {
		return
	}
	text := document.Resolve(n).Value
	switch {
	case !projectName.MatchString(text):
		r.add(v.at, "project: %q cannot be its name: a letter, then letters, digits and hyphens, 64 at most", short(text))
	case r.options.Project != "" && r.options.Project != text:
		r.add(v.at, "project: this is %s, but it was asked for as %s: change one of them", text, r.options.Project)
	default:
		r.project = text
	}
}

func (r *reader) readEnvironments(n *yaml.Node) {
	for _, p := range r.mapping("environments", n) {
		name := p.Key.Value
		what := "environment " + short(name)
		if !environmentName.MatchString(name) {
			r.add(r.place(p.Key), "environments: %q cannot be the name of one: letters, digits and hyphens, 64 at most", short(name))
			continue
		}
		keys := r.keys(what, p.Value, environmentKeys, environmentSoon)
		env := &environment{
			at:        r.place(p.Key),
			variables: r.entries(what+": variables", "variable", keys["variables"], r.variable),
			deletions: r.count(what+": max_deletions", keys["max_deletions"]),
			failure:   r.choice(what+": on_failure", keys["on_failure"], onFailure),
			timeout:   r.duration(what+": timeout", keys["timeout"]),
			schedules: r.readSchedules(what+": schedules", keys["schedules"]),
		}
		if n := keys["schedules"]; n != nil {
			r.countSchedules(r.place(n), what+": schedules", env)
		}
		r.environments[name] = env
		r.environmentNames = append(r.environmentNames, name)
	}
	if _, ok := r.environments[r.environment]; !ok && r.environment != project.DefaultEnvironment {
		at := place{file: r.file}
		if n != nil {
			at = r.place(n)
		}
		r.add(at, "environments: %s is not listed: only default need not be%s", short(r.environment), r.hint(r.environment, r.environmentNames))
	}
}

// variable reads the value of a variable, which holds no references.
func (r *reader) variable(what string, n *yaml.Node) (value, bool) {
	v, ok := r.scalars(what, n)
	if !ok {
		return v, false
	}
	if text, plain := v.literal(); len(text) > MaxValue {
		r.add(v.at, "%s: %d bytes: CloudFormation takes at most %d as a value", what, len(text), MaxValue)
		return v, false
	} else if !plain {
		r.add(v.at, "%s: a variable holds no references: write them where the variable is used", what)
		return v, false
	}
	return v, true
}

func (r *reader) readDefaults(n *yaml.Node) {
	for _, p := range r.mapping("defaults", n) {
		what := "defaults " + quoted(p.Key.Value)
		keys := r.keys(what, p.Value, defaultKeys, stackSoon)
		r.layers[p.Key.Value] = &layer{prefix: p.Key.Value, at: r.place(p.Key), settings: r.settings(what, keys)}
	}
}

func (r *reader) readStacks(root, n *yaml.Node) {
	if n == nil {
		r.add(r.place(root), "stacks is missing: a project has at least one; to delete all that it had, ask for destroy")
		return
	}
	pairs := r.mapping("stacks", n)
	switch {
	case len(pairs) > MaxStacks:
		r.add(r.place(n), "stacks: %d stacks: a project has at most %d, make several projects of it", len(pairs), MaxStacks)
		return
	case len(pairs) == 0 && (document.Null(n) || document.Resolve(n).Kind == yaml.MappingNode):
		r.add(r.place(n), "stacks: there is none: a project has at least one; to delete all that it had, ask for destroy")
	}
	for _, p := range pairs {
		name := p.Key.Value
		switch {
		case name == "var":
			r.add(r.place(p.Key), "stacks: var cannot be the name of one: ${var.x} is a variable")
			continue
		case len(name) > maxName:
			r.add(r.place(p.Key), "stacks: %q is too long for the name of one: %d characters at most", short(name), maxName)
			continue
		case !stackName.MatchString(name):
			r.add(r.place(p.Key), "stacks: %q cannot be the name of one: letters, digits and hyphens, in parts divided by /", short(name))
			continue
		}
		what := "stack " + short(name)
		keys := r.keys(what, p.Value, stackKeys, stackSoon)
		s := &stack{name: name, at: r.place(p.Key), settings: r.settings(what, keys), template: keys["template"]}
		if n := keys["stack_name"]; n != nil {
			if v, ok := r.scalar(what+": stack_name", n); ok {
				s.stackName = &v
			}
		}
		if s.template == nil && isMapping(p.Value) {
			r.add(s.at, "%s: template is missing: write template: and its path", what)
		}
		r.stacks = append(r.stacks, s)
		r.stackNames = append(r.stackNames, name)
	}
}

func (r *reader) settings(what string, keys map[string]*yaml.Node) settings {
	s := settings{
		parameters: r.entries(what+": parameters", "parameter", keys["parameters"], r.scalars),
		tags:       r.entries(what+": tags", "tag", keys["tags"], r.scalar),
	}
	s.damaged = keys["parameters"] != nil && !isMapping(keys["parameters"])
	if len(s.parameters) > MaxParameters {
		r.add(r.place(keys["parameters"]), "%s: %d parameters: CloudFormation takes at most %d", what, len(s.parameters), MaxParameters)
		s.parameters, s.damaged = nil, true
	}
	if len(s.tags) > MaxTags {
		r.add(r.place(keys["tags"]), "%s: %d tags: CloudFormation takes at most %d", what, len(s.tags), MaxTags)
		s.tags = nil
	}
	s.needs = r.list(what, "needs", keys)
	s.capabilities = r.list(what, "capabilities", keys)
	s.targets = r.list(what, "targets", keys)
	if n := keys["protect"]; n != nil {
		v, ok := r.scalar(what+": protect", n)
		if _, plain := v.literal(); ok && plain && v.typed != "true or false" {
			r.add(v.at, "%s: protect: %s found, true or false is wanted", what, v.typed)
		} else if ok {
			s.protect = &v
		}
	}
	if n := keys["timeout"]; n != nil {
		if v, ok := r.scalar(what+": timeout", n); ok {
			s.timeout = &v
		}
	}
	return s
}

func (r *reader) list(what, key string, keys map[string]*yaml.Node) *[]value {
	n := keys[key]
	if n == nil {
		return nil
	}
	names := r.names(what+": "+key, n)
	if names == nil && len(document.Items(n)) > 0 || !isList(n) {
		return nil // which has been said
	}
	return &names
}

// entries reads a mapping of names to values.
func (r *reader) entries(what, kind string, n *yaml.Node, read func(string, *yaml.Node) (value, bool)) map[string]entry {
	all := map[string]entry{}
	for _, p := range r.mapping(what, n) {
		name := p.Key.Value
		if kind == "variable" && !variableName.MatchString(name) {
			r.add(r.place(p.Key), "%s: %q cannot be the name of one: a letter, then letters, digits, - and _, 64 at most", what, short(name))
			continue
		}
		if v, ok := read(strings.TrimSuffix(what, kind+"s")+kind+" "+short(name), p.Value); ok {
			all[name] = entry{r.place(p.Key), v}
		} else {
			all[name] = entry{at: r.place(p.Key)} // it is there, though useless
		}
	}
	return all
}

func isList(n *yaml.Node) bool {
	return document.Null(n) || document.Resolve(n).Kind == yaml.SequenceNode
}

func isMapping(n *yaml.Node) bool {
	return document.Null(n) || document.Resolve(n).Kind == yaml.MappingNode
}

func quoted(s string) string { return `"` + short(s) + `"` }
