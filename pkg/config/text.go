package config

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/project"
)

// instead says what to write for references that are not carried out yet.
var instead = map[form]string{
	export:   "let the template import it, with Fn::ImportValue",
	external: "let the template import it, with Fn::ImportValue, or write the value",
}

// A writer makes one text of literal parts and references.
type writer struct {
	parts []project.Part
	known strings.Builder // literal text that follows the parts
	bytes int
}

func (w *writer) literal(s string) {
	w.bytes += len(s)
	if w.bytes <= MaxValue { // what is longer is refused
		w.known.WriteString(s)
	}
}

func (w *writer) output(node, output string) {
	w.flush()
	w.parts = append(w.parts, project.Part{Node: node, Output: output})
	w.bytes += len("${.}") // an output may be empty, but not for nothing
}

func (w *writer) flush() {
	if w.known.Len() > 0 {
		w.parts = append(w.parts, project.Part{Literal: w.known.String()})
		w.known.Reset()
	}
}

func (w *writer) text() project.Text {
	w.flush()
	if len(w.parts) == 0 {
		return project.Literal("")
	}
	return w.parts
}

// texts resolves a stack's parameters and tags as far as they are known.
func (r *reader) texts(s *stack) {
	what := "stack " + s.name
	for _, name := range slices.Sorted(maps.Keys(s.settings.parameters)) {
		s.put(&s.node.Parameters, name, r, what+": ", "parameter "+name, s.settings.parameters[name])
	}
	names := slices.Sorted(maps.Keys(s.settings.tags))
	if len(names) > MaxTags {
		r.add(s.at, "%s: %d tags: CloudFormation takes at most %d", what, len(names), MaxTags)
	}
	for _, name := range names {
		e := s.settings.tags[name]
		lower := strings.ToLower(name)
		switch {
		case name == "" || utf8.RuneCountInString(name) > 128:
			r.add(e.at, "%s: tag %q: a tag's name has 1 to 128 characters", what, short(name))
		case strings.HasPrefix(lower, "aws:") || strings.HasPrefix(lower, "stackwright:"):
			r.add(e.at, "%s: tag %s: what begins with aws: or stackwright: is set by AWS and by Stackwright: choose another name", what, short(name))
		default:
			s.put(&s.node.Tags, name, r, what+": ", "tag "+name, e)
		}
	}
}

// put resolves one text into a node's parameters or tags.
func (s *stack) put(into *map[string]project.Text, name string, r *reader, what, of string, e entry) {
	if *into == nil {
		*into = map[string]project.Text{}
	}
	if e.value.items == nil && !e.value.list {
		return // it could not be read, which has been said
	}
	text, ok := r.text(what, of, s, e.value)
	if !ok {
		return
	}
	size := len(name) + 64*len(text)
	for _, p := range text {
		size += len(p.Literal)
	}
	if r.room(size) {
		(*into)[name] = text
	}
}

// text resolves a value as far as it is known. It reports false, having said
// why, if it cannot be.
func (r *reader) text(what, of string, s *stack, v value) (project.Text, bool) {
	var w writer
	good := true
	for i, item := range v.items {
		if i > 0 {
			w.literal(",")
		}
		for _, p := range item {
			switch {
			case p.written == "":
				w.literal(p.literal)
			case p.form == outputOf:
				node, ok := r.output(what+of, of, s, v.at, p)
				w.output(node, p.output)
				good = good && ok
			case p.dynamic.Service != "":
				text, ok := r.dynamic(what, of, s, v.at, p)
				w.literal(text)
				good = good && ok
			default:
				text, ok := r.known(what+of, s, v.at, p)
				w.literal(text)
				good = good && ok
			}
		}
	}
	if limit := map[bool]int{true: 256, false: MaxValue}[strings.HasPrefix(of, "tag ")]; w.bytes > limit {
		r.add(v.at, "%s%s: more than %d bytes, which is all that CloudFormation takes", what, of, limit)
		good = false
	}
	return w.text(), good
}

// option resolves what must be known before any stack is up.
func (r *reader) option(what string, s *stack, v value) (string, bool) {
	var b strings.Builder
	good := true
	for _, item := range v.items {
		for _, p := range item {
			if p.written == "" {
				b.WriteString(p.literal)
				continue
			}
			if p.form == outputOf || p.form == stackOf || p.dynamic.Service != "" {
				r.add(v.at, "%s: %s: it must be known before any stack is up: only ${var.x}, ${file:path}, ${project}, ${environment}, ${account} and ${region} are", what, short(p.written))
				good = false
				continue
			}
			text, ok := r.known(what, s, v.at, p)
			b.WriteString(text)
			good = good && ok
			if b.Len() > MaxValue {
				r.add(v.at, "%s: more than %d bytes", what, MaxValue)
				return "", false
			}
		}
	}
	return b.String(), good
}

// output notes the edge that a reference to an output makes, and returns the
// node that it is of.
func (r *reader) output(what, of string, s *stack, at place, p part) (string, bool) {
	other, ok := r.stack(what, s, at, p)
	if !ok {
		return "", false
	}
	if other == s {
		r.add(at, "%s: %s: a stack cannot take an output of its own: it has none before it is up", what, short(p.written))
		return "", false
	}
	r.edge(Edge{Node: s.node.Name, Needs: other.node.Name, Cause: Output, What: p.output, For: of}, at)
	return other.node.Name, true
}

// edge notes an edge, at the first place that makes it.
func (r *reader) edge(e Edge, at place) {
	first, ok := r.edges[e]
	if !ok && !r.room(256) {
		return
	}
	if !ok || before(at, first) < 0 {
		r.edges[e] = at
	}
}

// known returns what a reference other than to an output stands for.
func (r *reader) known(what string, s *stack, at place, p part) (string, bool) {
	switch p.form {
	case ofProject:
		return r.project, true
	case ofEnv:
		return r.environment, true
	case account:
		return s.node.Target.Account, true
	case region:
		return s.node.Target.Region, true
	case variable:
		return r.variableOf(what, at, p.name)
	case file:
		return r.content(what, at, p.name)
	case stackOf:
		other, ok := r.stack(what, s, at, p)
		if !ok {
			return "", false
		}
		return other.node.Stack, true
	}
	r.add(at, "%s: %s: not yet: this is understood, but not carried out yet: %s", what, short(p.written), instead[p.form])
	return "", false
}

func (r *reader) variableOf(what string, at place, name string) (string, bool) {
	e, ok := r.variables[name]
	var others []string
	if env := r.environments[r.environment]; env != nil {
		if own, has := env.variables[name]; has {
			e, ok = own, true
		}
	}
	if ok {
		text, _ := e.value.literal()
		return text, true
	}
	for _, env := range r.environmentNames {
		if _, has := r.environments[env].variables[name]; has {
			others = append(others, env)
		}
	}
	if len(others) > 0 {
		r.add(at, "%s: ${var.%s}: the variable has no value in environment %s, only in %s: give it one there, or under variables: at the top for all",
			what, name, r.environment, strings.Join(others, ", "))
		return "", false
	}
	r.add(at, "%s: ${var.%s}: there is no such variable%s", what, name, r.hint(name, r.variableNames()))
	return "", false
}

func (r *reader) variableNames() []string {
	all := map[string]bool{}
	for name := range r.variables {
		all[name] = true
	}
	if env := r.environments[r.environment]; env != nil {
		for name := range env.variables {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// content returns a file's text without the end of its last line.
func (r *reader) content(what string, at place, written string) (string, bool) {
	name, ok := r.path(what, at, written)
	if !ok {
		return "", false
	}
	body := r.files[name]
	switch {
	case len(body) > MaxValue+len("\r\n"):
		r.add(at, "%s: ${file:%s}: the file has %d bytes: CloudFormation takes at most %d as a value", what, short(written), len(body), MaxValue)
		return "", false
	case !utf8.Valid(body):
		r.add(at, "%s: ${file:%s}: the file is not UTF-8 text", what, short(written))
		return "", false
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(body), "\n"), "\r"), true
}
