// Package convert writes a project of another format as one with a project file, and proves that both are the same.
package convert

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/draft"
	"github.com/stackwright/stackwright/pkg/project"
)

// Name is the file that Project writes.
const Name = "stackwright.yaml"

// A Converted is a project of another format as one with a project file.
type Converted struct {
	Files    archive.Files
	Projects []project.Project // of each environment, as the files declare them
	LeftOut  []string          // stacks that operations leave alone and that cannot be read, sorted
}

// Project converts the project that files describe. read reads one environment of a project. Each environment of the
// result has the same stacks, with the same templates, parameters, tags, options and dependencies: the digests of all its
// nodes are the same. An error of kind Refused says what a project file cannot say.
func Project(f archive.Files, read func(f archive.Files, environment string) (format.Loaded, error)) (Converted, error) {
	d := format.Declared(f)
	switch {
	case d.Kind == project.WithFile && d.File != "":
		return Converted{}, fault.New(fault.Refused, "%s is a project file already: there is nothing to convert", d.File)
	case d.Kind == project.CDK:
		return Converted{}, fault.New(fault.Refused, "a CDK cloud assembly is not converted, because a project file cannot name assets to publish: deploy the folder cdk.out itself")
	}
	environments := format.Environments(f)
	var was []format.Loaded
	var wrong []error
	for _, e := range environments {
		l, err := read(f, e)
		was, wrong = append(was, l), append(wrong, err)
		for _, a := range l.Lacked {
			wrong = append(wrong, fault.New(fault.Refused, "the project uses %s, which is not in it: save the file in the project, and write its path", a))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return Converted{}, err
	}
	w := &writer{from: f, files: archive.Files{}, lines: map[string][]line{}, rests: map[string]string{}, bodies: bodies(f, d), name: was[0].Project.Name}
	c := Converted{Files: w.files}
	c.Files[Name] = draft.File(w.project(readable(d, was)))
	for i, e := range environments {
		l, err := read(c.Files, e)
		if err != nil {
			return c, fault.New(fault.Refused, "the project cannot be written with a project file: %w", err)
		}
		wrong = append(wrong, same(was[i].Project, l.Project)...)
		c.Projects = append(c.Projects, l.Project)
		c.LeftOut = append(c.LeftOut, unread(was[i].Project)...)
	}
	slices.Sort(c.LeftOut)
	c.LeftOut = slices.Compact(c.LeftOut)
	return c, errors.Join(wrong...)
}

// unread lists the stacks that operations leave alone and that are not among the nodes.
func unread(p project.Project) []string {
	return slices.DeleteFunc(slices.Concat(p.Ignored, p.Obsolete), func(name string) bool { _, read := p.Nodes[name]; return read })
}

// readable is the declared project without the stacks that no environment has, because they are left alone and cannot be read.
func readable(d declared.Project, in []format.Loaded) declared.Project {
	left := func(s declared.Stack) bool {
		return slices.ContainsFunc(in, func(l format.Loaded) bool { return slices.Contains(unread(l.Project), s.Name) })
	}
	d.Stacks = slices.DeleteFunc(slices.Clone(d.Stacks), left)
	d.Environments = slices.Clone(d.Environments)
	for i, e := range d.Environments {
		d.Environments[i].Stacks = slices.DeleteFunc(slices.Clone(e.Stacks), left)
	}
	return d
}

// same returns what differs between two projects, but for their kind and the stacks that cannot be read.
func same(was, is project.Project) []error {
	var all []error
	differs := func(what string) {
		all = append(all, fault.New(fault.Refused, "%s: %s cannot be written in a project file with the same effect: write the project by hand", was.ID(), what))
	}
	names := maps.Clone(was.Nodes)
	maps.Copy(names, is.Nodes)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		one, err := was.Nodes[name].Digest()
		other, wrong := is.Nodes[name].Digest()
		if err := errors.Join(err, wrong); err != nil {
			return append(all, err)
		}
		if one != other {
			differs("stack " + name + part(was.Nodes[name], is.Nodes[name]))
		}
	}
	left := unread(was)
	without := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(left, name) })
	}
	if !slices.Equal(without(was.Ignored), is.Ignored) || !slices.Equal(without(was.Obsolete), is.Obsolete) {
		differs("which stacks are left alone")
	}
	was.Ignored, is.Ignored, was.Obsolete, is.Obsolete = nil, nil, nil, nil
	was.Nodes, is.Nodes = nil, nil
	was.Kind, is.Kind = "", ""
	if !reflect.DeepEqual(was, is) {
		differs("what is not about a stack")
	}
	return all
}

// part names the first part of a node that differs; "" if it is none of those that users name.
func part(was, is project.Node) string {
	for _, c := range []struct {
		what    string
		was, is map[string]project.Text
	}{{": parameter ", was.Parameters, is.Parameters}, {": tag ", was.Tags, is.Tags}} {
		for _, name := range slices.Sorted(maps.Keys(c.was)) {
			if !slices.Equal(c.was[name], c.is[name]) {
				return c.what + name
			}
		}
	}
	if !reflect.DeepEqual(was.Hooks, is.Hooks) {
		return ": hooks"
	}
	return ""
}

// A writer writes a declared project as a new one.
type writer struct {
	from, files archive.Files
	name        string
	bodies      map[string][][]byte // the templates that are made of each file
	lines       map[string][]line
	rests       map[string]string // the comments of each file that belong to no value
}

// project is the project that the project file describes. It adds its templates to the files.
func (w *writer) project(d declared.Project) draft.Project {
	if d.Kind == project.Templates { // templates may name any of the files
		maps.Copy(w.files, w.from)
	}
	p := draft.Project{Name: w.name}
	var all []*draft.Stack
	p.Stacks = w.stacks(d.Stacks, project.DefaultEnvironment, &all)
	for _, e := range d.Environments {
		p.Environments = append(p.Environments, draft.Environment{Name: e.Name, Stacks: w.stacks(e.Stacks, e.Name, &all)})
	}
	if len(all) > 1 {
		p.Defaults = common(all)
	}
	return p
}

// stacks writes the stacks of a layer.
func (w *writer) stacks(from []declared.Stack, environment string, all *[]*draft.Stack) []draft.Stack {
	stacks := make([]draft.Stack, len(from))
	for i, s := range from {
		stacks[i] = w.stack(s, environment)
		*all = append(*all, &stacks[i])
	}
	return stacks
}

// stack writes one stack.
func (w *writer) stack(s declared.Stack, environment string) draft.Stack {
	one := draft.Stack{
		Name: s.Name, Template: w.template(s), Parameters: w.values(s.Settings.Parameters), Tags: w.values(s.Settings.Tags),
		Capabilities: literals(s.Settings.Capabilities), Targets: literals(s.Settings.Targets), Needs: literals(s.Settings.Needs),
		Timeout: literal(s.Settings.Timeout), Protect: literal(s.Settings.Protect) == "true", StackName: literal(s.StackName), Ignored: literal(s.Settings.Enabled) == "false",
		Obsolete:      literal(s.Settings.Obsolete) == "true",
		Notifications: writtenAll(s.Settings.Notifications), OnFailure: literal(s.Settings.OnFailure), DisableRollback: literal(s.Settings.DisableRollback) == "true",
	}
	one.Hooks = hooks(s.Settings.Hooks)
	if p := s.Settings.StackPolicy; p != nil {
		one.Policy = p.Body
	}
	if one.StackName == project.StackName(w.name, environment, s.Name) {
		one.StackName = ""
	}
	if slices.Equal(one.Targets, []string{project.DefaultTarget}) {
		one.Targets = nil
	}
	if from, _ := source(w.from, s); s.At.File != from { // otherwise the template has the comments
		one.Comment = w.rest(s.At.File) // after those of the values
	}
	return one
}

// hooks writes the hooks of a stack.
func hooks(by declared.Hooks) []draft.Hook {
	var all []draft.Hook
	for _, m := range slices.SortedFunc(maps.Keys(by), project.Moment.Compare) {
		for _, h := range by[m] {
			one := draft.Hook{Moment: m, Name: h.Name}
			for _, name := range slices.SortedFunc(maps.Keys(h.Values), func(a, b string) int {
				if a == h.Type || b == h.Type { // it comes first
					return map[bool]int{true: -1, false: 1}[a == h.Type]
				}
				return strings.Compare(a, b)
			}) {
				for _, parts := range h.Values[name].Value.Items {
					one.Keys = append(one.Keys, draft.Key{Name: name, Value: written(parts)})
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// values writes parameters or tags, with their comments.
func (w *writer) values(entries map[string]declared.Entry) map[string]draft.Value {
	all := make(map[string]draft.Value, len(entries))
	for _, name := range slices.SortedFunc(maps.Keys(entries), func(a, b string) int { return entries[a].At.Compare(entries[b].At) }) {
		e := entries[name]
		v := draft.Value{List: e.Value.List, Comment: w.comment(e.At, name)}
		for _, parts := range e.Value.Items {
			v.Items = append(v.Items, written(parts))
		}
		all[name] = v
	}
	return all
}

// written is a text with references as a project file has it.
func written(parts []declared.Part) string {
	text := ""
	for i, p := range parts {
		r := p.Reference
		switch {
		case r == nil:
			text += draft.Literal(p.Literal).Items[0]
			if before := strings.TrimRight(text, "$"); before != text && i+1 < len(parts) {
				text = before + "${'" + text[len(before):] + "'}" // $${ would be a literal ${
			}
		case r.Kind == "output" && r.Target == "": // other formats write it in another way
			text += "${" + r.Name + "." + r.Key + "}"
		default:
			text += r.Written
		}
	}
	return text
}

// writtenAll are the texts of a list.
func writtenAll(values *[]declared.Value) []string {
	var all []string
	if values != nil {
		for _, v := range *values {
			for _, item := range v.Items {
				all = append(all, written(item))
			}
		}
	}
	return all
}

// literal is the text of a value without references; "" for nil.
func literal(v *declared.Value) string {
	if v == nil {
		return ""
	}
	text, _ := v.Literal()
	return text
}

func literals(values *[]declared.Value) []string {
	if values == nil {
		return nil
	}
	var all []string
	for _, v := range *values {
		all = append(all, literal(&v))
	}
	return all
}

// common takes the settings that all stacks have in common out of them.
func common(all []*draft.Stack) draft.Stack {
	var d draft.Stack
	first := *all[0]
	if every(all, func(s *draft.Stack) bool { return slices.Equal(s.Capabilities, first.Capabilities) }) {
		d.Capabilities = first.Capabilities
	}
	if every(all, func(s *draft.Stack) bool { return slices.Equal(s.Targets, first.Targets) }) {
		d.Targets = first.Targets
	}
	if every(all, func(s *draft.Stack) bool { return s.Timeout == first.Timeout }) {
		d.Timeout = first.Timeout
	}
	if every(all, func(s *draft.Stack) bool { return slices.Equal(s.Notifications, first.Notifications) }) {
		d.Notifications = first.Notifications
	}
	d.Protect = every(all, func(s *draft.Stack) bool { return s.Protect })
	d.Tags = make(map[string]draft.Value)
	for name, v := range first.Tags {
		if every(all, func(s *draft.Stack) bool { other, ok := s.Tags[name]; return ok && other.Equal(v) }) {
			d.Tags[name] = v
		}
	}
	for _, s := range all {
		for name := range d.Tags {
			delete(s.Tags, name)
		}
		if d.Capabilities != nil {
			s.Capabilities = nil
		}
		if d.Targets != nil {
			s.Targets = nil
		}
		if d.Notifications != nil {
			s.Notifications = nil
		}
		if d.Timeout != "" {
			s.Timeout = ""
		}
		s.Protect = s.Protect && !d.Protect
	}
	return d
}

func every(all []*draft.Stack, holds func(*draft.Stack) bool) bool {
	return !slices.ContainsFunc(all, func(s *draft.Stack) bool { return !holds(s) })
}
