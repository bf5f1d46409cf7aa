package resolve

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/project"
)

// A writer makes one text of literal parts and outputs.
type writer struct {
	parts []project.Part
	known strings.Builder // literal text after the parts
	bytes int
}

func (w *writer) literal(s string) {
	w.bytes += len(s)
	if w.bytes <= declared.MaxValue { // a longer value is refused
		w.known.WriteString(s)
	}
}

func (w *writer) output(node, output string) {
	w.flush()
	w.parts = append(w.parts, project.Part{Node: node, Output: output})
	w.bytes += len("${.}") // an output may be empty, but the list of parts still grows
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

func (w *writer) expression(x *project.Expression) {
	w.flush()
	w.parts = append(w.parts, project.Part{Expression: x})
	w.bytes += len("${}")
}

func (w *writer) source(s *project.Source) {
	w.flush()
	w.parts = append(w.parts, project.Part{Source: s})
	w.bytes += len("${}")
}

// setTexts resolves a stack's parameters and tags as far as they are known.
func (r *resolver) setTexts(s *Stack) {
	what := "stack " + s.Name + ": "
	s.Node.Parameters = r.texts(s, what, "parameter ", s.Settings.Parameters)
	if n := len(s.Settings.Tags); n > declared.MaxTags {
		r.Add(s.At, "%s%d tags: CloudFormation accepts at most %d", what, n, declared.MaxTags)
	}
	tags := map[string]declared.Entry{}
	for name, e := range s.Settings.Tags {
		lower := strings.ToLower(name)
		switch {
		case name == "" || utf8.RuneCountInString(name) > 128:
			r.Add(e.At, "%stag %q: the name of a tag has 1 to 128 characters", what, problem.Short(name))
		case strings.HasPrefix(lower, "aws:") || strings.HasPrefix(lower, "stackwright:"):
			r.Add(e.At, "%stag %s: tags that begin with aws: or stackwright: are set by AWS and by Stackwright: use another name", what, problem.Short(name))
		default:
			tags[name] = e
		}
	}
	s.Node.Tags = r.texts(s, what, "tag ", tags)
}

// texts resolves the values that can be resolved.
func (r *resolver) texts(s *Stack, what, kind string, entries map[string]declared.Entry) map[string]project.Text {
	var all map[string]project.Text
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if all == nil {
			all = map[string]project.Text{}
		}
		e := entries[name]
		if !e.Value.Written() {
			continue // it could not be read, which was reported
		}
		text, ok := r.text(what, kind+name, s, e.Value)
		if !ok {
			continue
		}
		size := len(name) + 64*len(text)
		for _, p := range text {
			size += len(p.Literal)
		}
		if r.limits.text(size) {
			all[name] = text
		}
	}
	return all
}

// text resolves the known parts of a value. If a part cannot be resolved, it adds a problem
// and reports false.
func (r *resolver) text(what, of string, s *Stack, v declared.Value) (project.Text, bool) {
	w := writer{}
	c := computation{resolver: r, stack: s, of: of, at: v.At}
	good := true
	for i, item := range v.Items {
		if i > 0 {
			w.literal(",")
		}
		for _, p := range item {
			var err error
			switch {
			case p.Reference != nil:
				err = c.refer(&w, *p.Reference)
			case p.Expression != nil:
				err = c.write(&w, *p.Expression, len(item) == 1)
			default:
				w.literal(p.Literal)
			}
			if err != nil {
				r.refuse(v.At, what+of+": "+shown(p), err)
				good = false
			}
		}
	}
	if limit := map[bool]int{true: 256, false: declared.MaxValue}[strings.HasPrefix(of, "tag ")]; w.bytes > limit {
		r.Add(v.At, "%s%s: more than %d bytes, which is the most that CloudFormation accepts", what, of, limit)
		good = false
	}
	return w.text(), good
}

// shown is a part as it is written, in messages.
func shown(p declared.Part) string {
	line, _, more := strings.Cut(p.Written(), "\n")
	if more {
		line += "…"
	}
	return problem.Short(line)
}

// option resolves a value that must be known before any stack is deployed.
func (r *resolver) option(what string, s *Stack, v declared.Value) (string, bool) {
	var b strings.Builder
	c := computation{resolver: r, stack: s, of: what, at: v.At}
	good := true
	for _, item := range v.Items {
		for _, p := range item {
			if !p.Computed() {
				b.WriteString(p.Literal)
				continue
			}
			if late := slices.IndexFunc(p.References(), func(ref declared.Reference) bool { k, _ := reference.Of(ref.Kind); return !k.Early }); late >= 0 {
				r.Add(v.At, "%s: %s is not known before stacks are deployed: use only %s here", what, problem.Short(p.References()[late].Written), reference.Early())
				good = false
				continue
			}
			text, err := c.known(p)
			if err != nil {
				r.refuse(v.At, what+": "+shown(p), err)
				good = false
			}
			b.WriteString(text)
			if b.Len() > declared.MaxValue {
				r.Add(v.At, "%s: more than %d bytes", what, declared.MaxValue)
				return "", false
			}
		}
	}
	return b.String(), good
}
