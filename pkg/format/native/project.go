package native

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

func (p *parser) project(root *yaml.Node) (d declared.Project, ok bool) {
	d = declared.Project{File: p.file, ListAt: problem.Position{File: p.file}}
	if root.Kind != yaml.MappingNode {
		p.Add(p.at(root), "expected a project with project: and stacks:, found %s", document.Kind(root))
		return d, false
	}
	if _, ok := document.Lookup(root, "Resources"); ok {
		p.Add(p.at(root), "this is a CloudFormation template and not a project: write a stackwright.yaml with project: and stacks: that names it")
		return d, false
	}
	_, hasName := document.Lookup(root, "project")
	if _, hasStacks := document.Lookup(root, "stacks"); !hasName && !hasStacks && !slices.Contains(names, p.file) {
		p.Add(p.at(root), "this is neither a project file nor a CloudFormation template: a project file has project: and stacks:, a template has Resources:")
		return d, false
	}
	top := p.keys("the project file", withoutAnchors(root), topKeys, topLater)
	d.NameAt = p.at(root)
	if n := top["project"]; n != nil {
		d.NameAt = p.at(n)
		d.Name = p.name(n)
	} else {
		p.Add(p.at(root), "project is missing: write project: and its name")
	}
	p.environmentNames = environmentNames(top["environments"])
	p.dates = times(p, "calendars", top["calendars"], p.days)
	d.Layer = p.layer("", top, nil)
	d.Environments = p.environments(top["environments"], d.Schedules)
	if n := top["environments"]; n != nil {
		d.ListAt = p.at(n)
	}
	if n := top["stacks"]; n == nil {
		p.Add(p.at(root), "stacks is missing: a project has at least one stack; to delete all its stacks, use destroy")
	} else if len(d.Stacks) == 0 && isMapping(n) && len(document.Pairs(document.Resolve(n))) == 0 {
		p.Add(p.at(n), "stacks: there are none: a project has at least one stack; to delete all its stacks, use destroy")
	}
	p.checkEnvironments(d)
	p.unusedApproval(root)
	d.Moved = p.moved(top["moved"], d)
	d.Promote = p.promote(top["promote"])
	d.Policies = p.policies(top["policies"])
	d.Unchecked, d.UncheckedIn = p.unchecked(top["unchecked"]), p.file
	return d, true
}

func (p *parser) name(n *yaml.Node) string {
	v, ok := p.scalar("project", n)
	if !ok {
		return ""
	}
	text := document.Resolve(n).Value
	if !project.Name.MatchString(text) {
		p.Add(v.At, "project: %q is not a valid name: use letters, digits and hyphens, at most 64, beginning with a letter", problem.Short(text))
		return ""
	}
	return text
}

// layer reads the keys that the top level and an environment have in common. of
// names the environment in messages; inherited are the schedules of the top level.
func (p *parser) layer(of string, keys map[string]*yaml.Node, inherited map[string]project.Schedule) declared.Layer {
	l := declared.Layer{
		Variables:    p.entries(of+"variables", "variable", keys["variables"], p.variable),
		Defaults:     p.defaults(of, keys["defaults"]),
		Stacks:       p.stacks(of, keys["stacks"]),
		MaxDeletions: p.deletions(of+"max_deletions", keys["max_deletions"]),
		MaxParallel:  slices.Concat(p.maxParallel(of+"max_parallel", keys["max_parallel"]), p.groups(of+"groups", keys["groups"])),
		MaxFailures:  p.share(of+"max_failures", keys["max_failures"]),
		Timeout:      p.duration(of+"timeout", keys["timeout"]),
		Schedules:    times(p, of+"schedules", keys["schedules"], p.schedule),
	}
	l.Installation = p.installation(of+"installation", keys["installation"])
	if text := p.choice(of+"on_failure", keys["on_failure"], []string{"keep", "rollback"}); text != "" {
		back := text == "rollback"
		l.Rollback = &back
	}
	l.Snapshots = p.snapshots(of+"snapshots", keys["snapshots"])
	l.Approval = p.approval(of, keys)
	l.Hooks = p.hooks(of+"hooks", keys["hooks"], project.ProjectMoments())
	all := maps.Clone(l.Schedules)
	maps.Copy(all, inherited)
	if n := keys["schedules"]; n != nil && len(all) > declared.MaxSchedules {
		p.Add(p.at(n), "%sschedules: %d schedules: an environment has at most %d", of, len(all), declared.MaxSchedules)
	}
	return l
}

// installation reads the name of an installation. A wrong one is returned, too, so that nobody takes it for none.
func (p *parser) installation(what string, n *yaml.Node) string {
	if n == nil {
		return ""
	}
	text, ok := p.literal(what, n)
	if ok && !project.InstallationName.MatchString(text) {
		p.Add(p.at(n), "%s: %q is not the name of a stack: write the name of the stack of the installation, such as stackwright",
			what, problem.Short(text))
	}
	return cmp.Or(text, "?")
}

func (p *parser) defaults(of string, n *yaml.Node) []declared.Defaults {
	var all []declared.Defaults
	for _, pair := range p.mapping(of+"defaults", n) {
		what := of + "defaults " + quoted(pair.Key.Value)
		keys := p.keys(what, pair.Value, defaultKeys, stackLater)
		all = append(all, declared.Defaults{Prefix: pair.Key.Value, Label: what, At: p.at(pair.Key), Settings: p.settings(what, keys)})
	}
	return all
}

func (p *parser) stacks(of string, n *yaml.Node) []declared.Stack {
	pairs := p.mapping(of+"stacks", n)
	if len(pairs) > declared.MaxStacks {
		p.Add(p.at(n), "%sstacks: %d stacks: a project has at most %d: divide it into several projects", of, len(pairs), declared.MaxStacks)
		return nil
	}
	var all []declared.Stack
	for _, pair := range pairs {
		name := pair.Key.Value
		switch {
		case name == "var":
			p.Add(p.at(pair.Key), "%sstacks: var is not a valid name, because ${var.x} is a variable: use another name", of)
			continue
		case len(name) > declared.MaxName:
			p.Add(p.at(pair.Key), "%sstacks: %q is too long for a name: use at most %d characters", of, problem.Short(name), declared.MaxName)
			continue
		case !declared.StackName.MatchString(name):
			p.Add(p.at(pair.Key), "%sstacks: %q is not a valid name: use letters, digits and hyphens, in parts divided by /", of, problem.Short(name))
			continue
		}
		all = append(all, p.stack(of, pair))
	}
	return all
}

func (p *parser) stack(of string, pair document.Pair) declared.Stack {
	what, known := of+"stack "+problem.Short(pair.Key.Value), stackKeys
	if of != "" {
		known = overrideKeys
	}
	keys := p.keys(what, pair.Value, known, stackLater)
	s := declared.Stack{Name: pair.Key.Value, At: p.at(pair.Key), Settings: p.settings(what, keys)}
	switch n := keys["template"]; {
	case n != nil:
		s.Template = p.template(what+": template", n)
	case isMapping(pair.Value) && of == "":
		p.Add(s.At, "%s: template is missing: write template: and its path", what)
	}
	s.StackName = p.optional(what, "stack_name", keys)
	p.inEnvironments(what, keys, &s)
	return s
}

func (p *parser) settings(what string, keys map[string]*yaml.Node) declared.Settings {
	s := declared.Settings{
		Parameters: p.entries(what+": parameters", "parameter", keys["parameters"], p.scalars),
		Tags:       p.entries(what+": tags", "tag", keys["tags"], p.scalar),
		Incomplete: keys["parameters"] != nil && !isMapping(keys["parameters"]),
	}
	if len(s.Parameters) > declared.MaxParameters {
		p.Add(p.at(keys["parameters"]), "%s: %d parameters: CloudFormation accepts at most %d", what, len(s.Parameters), declared.MaxParameters)
		s.Parameters, s.Incomplete = nil, true
	}
	if len(s.Tags) > declared.MaxTags {
		p.Add(p.at(keys["tags"]), "%s: %d tags: CloudFormation accepts at most %d", what, len(s.Tags), declared.MaxTags)
		s.Tags = nil
	}
	s.Needs = p.list(what, "needs", keys)
	s.Capabilities = p.list(what, "capabilities", keys)
	if s.Targets = p.list(what, "targets", keys); s.Targets != nil && len(*s.Targets) == 0 {
		p.Add(p.at(keys["targets"]), "%s: targets: the list is empty: write [default], or remove it", what)
		s.Targets = nil
	}
	s.Timeout = p.optional(what, "timeout", keys)
	s.Deployment = p.optional(what, "deployment", keys)
	s.Approve = p.optional(what, "approve", keys)
	p.approves = p.approves || s.Approve != nil
	s.Protect, s.Adopt = p.truth(what, "protect", keys), p.truth(what, "adopt", keys)
	s.Enabled, s.Obsolete = p.truth(what, "enabled", keys), p.truth(what, "obsolete", keys)
	s.Notifications = p.list(what, "notifications", keys)
	s.OnFailure, s.DisableRollback = p.optional(what, "on_failure", keys), p.truth(what, "disable_rollback", keys)
	s.RollbackTriggers = p.triggers(what+": rollback_triggers", keys["rollback_triggers"])
	s.IgnoreChanges = p.list(what, "ignore_changes", keys)
	s.ResourceTypes, s.Retain = p.list(what, "resource_types", keys), p.list(what, "retain", keys)
	s.Group = p.optional(what, "group", keys)
	s.Rollout = p.rollout(what+": rollout", keys["rollout"])
	s.StackPolicy = p.stackPolicy(what+": stack_policy", keys["stack_policy"])
	s.DuringUpdate = p.stackPolicy(what+": stack_policy_during_update", keys["stack_policy_during_update"])
	s.Import = p.imports(what+": import", keys["import"])
	s.Hooks = p.hooks(what+": hooks", keys["hooks"], project.StackMoments())
	s.MoveFrom = p.moveFrom(what+": move_from", keys["move_from"])
	return s
}

// imports reads which resources a stack imports.
func (p *parser) imports(what string, n *yaml.Node) map[string]declared.Identifier {
	if n == nil {
		return nil
	}
	all := map[string]declared.Identifier{}
	if text := document.Resolve(n); text.Kind == yaml.ScalarNode && !document.Null(text) {
		p.Add(p.at(n), "%s: expected a mapping, found %s: write which resources are imported, as {Table: auto} or {Table: {TableName: orders}}", what, document.Kind(text))
		return all
	}
	pairs := p.mapping(what, n)
	if len(pairs) > template.MaxResources {
		p.Add(p.at(n), "%s: %d resources: a template has at most %d", what, len(pairs), template.MaxResources)
		return all
	}
	for _, pair := range pairs {
		id := declared.Identifier{At: p.at(pair.Key)}
		of := what + ": " + problem.Short(pair.Key.Value)
		switch value := document.Resolve(pair.Value); {
		case value.Kind == yaml.ScalarNode && value.Value == "auto":
		case value.Kind == yaml.ScalarNode:
			p.Add(p.at(pair.Value), "%s: expected auto, or the properties that identify the resource: write {%s: auto} if they are in the template, or for example {%s: {TableName: orders}}", of, problem.Short(pair.Key.Value), problem.Short(pair.Key.Value))
			continue
		default:
			if id.Properties = p.entries(of, "property", pair.Value, p.scalar); len(id.Properties) == 0 {
				p.Add(p.at(pair.Value), "%s: no property identifies the resource: write auto if the template has them", of)
				continue
			}
		}
		all[pair.Key.Value] = id
	}
	return all
}

// moveFrom reads which resources of other stacks go into a stack.
func (p *parser) moveFrom(what string, n *yaml.Node) map[string]declared.Leaving {
	if n == nil {
		return nil
	}
	all := map[string]declared.Leaving{}
	for _, pair := range p.mapping(what, n) {
		of := what + ": " + problem.Short(pair.Key.Value)
		l := declared.Leaving{At: p.at(pair.Key), Resources: map[string]string{}}
		arrived := map[string]bool{}
		for _, move := range p.mapping(of, pair.Value) {
			to := document.Resolve(move.Value)
			switch {
			case to.Kind != yaml.ScalarNode || document.Null(to) || to.Value == "":
				p.Add(p.at(move.Value), "%s: %s: expected the logical ID that the resource has in the template of this stack, found %s", of, problem.Short(move.Key.Value), document.Kind(to))
			case arrived[to.Value]:
				p.Add(p.at(move.Value), "%s: two resources become %s: write another ID for one of them", of, problem.Short(to.Value))
			default:
				arrived[to.Value] = true
				l.Resources[move.Key.Value] = to.Value
			}
		}
		if isMapping(pair.Value) && len(document.Pairs(document.Resolve(pair.Value))) == 0 {
			p.Add(l.At, "%s: no resource is named: write {OLD: NEW}, the logical IDs in that stack and in this one", of)
			continue
		}
		if len(l.Resources) > template.MaxResources {
			p.Add(l.At, "%s: %d resources: a template has at most %d", of, len(l.Resources), template.MaxResources)
			continue
		}
		all[pair.Key.Value] = l
	}
	return all
}

// triggers reads which alarms make CloudFormation roll an operation back.
func (p *parser) triggers(what string, n *yaml.Node) *declared.RollbackTriggers {
	if n == nil {
		return nil
	}
	keys := p.keys(what, n, triggerKeys, nil)
	return &declared.RollbackTriggers{
		At: p.at(n), Alarms: p.list(what, "alarms", keys), CompositeAlarms: p.list(what, "composite_alarms", keys), Minutes: p.optional(what, "minutes", keys),
	}
}

// truthOf says what to write in place of the words of YAML 1.1, which are texts now.
var truthOf = map[string]string{"yes": ": write true", "on": ": write true", "no": ": write false", "off": ": write false"}

// truth reads the value of a key that is true, false or a reference; nil if there is none
// that can be read.
func (p *parser) truth(what, key string, keys map[string]*yaml.Node) *declared.Value {
	v := p.optional(what, key, keys)
	if v == nil {
		return nil
	}
	if text, plain := v.Literal(); plain && v.Kind != "true or false" {
		p.Add(v.At, "%s: %s: expected true or false, found %s%s", what, key, v.Kind, truthOf[strings.ToLower(text)])
		return nil
	}
	return v
}

// optional reads the value of a key; nil if there is none that can be read.
func (p *parser) optional(what, key string, keys map[string]*yaml.Node) *declared.Value {
	if keys[key] == nil {
		return nil
	}
	v, ok := p.scalar(what+": "+key, keys[key])
	if !ok {
		return nil
	}
	return &v
}

func (p *parser) list(what, key string, keys map[string]*yaml.Node) *[]declared.Value {
	n := keys[key]
	if n == nil {
		return nil
	}
	names := p.names(what+": "+key, n)
	if names == nil && len(document.Items(n)) > 0 || !isList(n) {
		return nil // the problem was added
	}
	return &names
}

// entries reads a mapping of names to values.
func (p *parser) entries(what, kind string, n *yaml.Node, read func(string, *yaml.Node) (declared.Value, bool)) map[string]declared.Entry {
	all := map[string]declared.Entry{}
	for _, pair := range p.mapping(what, n) {
		name := pair.Key.Value
		if kind == "variable" && !declared.VariableName.MatchString(name) {
			p.Add(p.at(pair.Key), "%s: %q is not a valid name: use letters, digits, - and _, at most 64, beginning with a letter", what, problem.Short(name))
			continue
		}
		e := declared.Entry{At: p.at(pair.Key)}
		if v, ok := read(strings.TrimSuffix(what, kind+"s")+kind+" "+problem.Short(name), pair.Value); ok {
			e.Value = v
		}
		all[name] = e // without a value if it could not be read
	}
	return all
}
