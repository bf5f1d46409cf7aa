package asl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/stackwright/stackwright/pkg/lib/shorten"
)

// A reader collects everything that is wrong with a machine.
type reader struct{ faults []error }

func (r *reader) refuse(at, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("asl: %s: %s", at, fmt.Sprintf(format, args...)))
}

// Fields are the fields of one JSON object, each taken once. What is left at the end is unknown.
type fields struct {
	*reader
	at  string // where the object is: Execute/ExecuteStep
	raw map[string]json.RawMessage
}

func (r *reader) fields(at string, b json.RawMessage) fields {
	f := fields{reader: r, at: at}
	if err := json.Unmarshal(b, &f.raw); err != nil || f.raw == nil {
		r.refuse(at, "must be an object, not %s", brief(b))
	}
	return f
}

// brief shows a value in a message, cut where it is long.
func brief(b json.RawMessage) string {
	return shorten.To(60, string(b))
}

func (f fields) has(name string) bool { _, ok := f.raw[name]; return ok }

func (f fields) take(name string) (json.RawMessage, bool) {
	b, ok := f.raw[name]
	delete(f.raw, name)
	return b, ok
}

// need refuses an object without the field.
func (f fields) need(name string) {
	if !f.has(name) {
		f.refuse(f.at, "field %q is missing", name)
	}
}

// decode takes a field into v, which says what it should be in words.
func (f fields) decode(name, what string, v any) bool {
	b, ok := f.take(name)
	if !ok {
		return false
	}
	if err := json.Unmarshal(b, v); err != nil || string(b) == "null" {
		f.refuse(f.at, "field %q must be %s, not %s", name, what, brief(b))
		return false
	}
	return true
}

func (f fields) text(name string) string {
	var s string
	f.decode(name, "a string", &s)
	return s
}

// state takes the name of a state. An empty one would silently end the machine.
func (f fields) state(name string) string {
	has := f.has(name)
	s := f.text(name)
	if has && s == "" {
		f.refuse(f.at, "field %q must name a state", name)
	}
	return s
}

func (f fields) flag(name string) bool {
	var b bool
	f.decode(name, "true or false", &b)
	return b
}

func (f fields) objects(name string) []json.RawMessage {
	var list []json.RawMessage
	if f.decode(name, "a list of objects", &list) && len(list) == 0 {
		f.refuse(f.at, "field %q is empty", name)
	}
	return list
}

// whole takes a number without a fraction, between lowest and highest.
func (f fields) whole(name string, lowest, highest int) (int, bool) {
	b, ok := f.take(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(b))
	if err != nil || n < lowest || n > highest {
		f.refuse(f.at, "field %q must be a whole number from %d to %d, not %s", name, lowest, highest, brief(b))
		return 0, false
	}
	return n, true
}

func (f fields) path(name string) *path {
	text, ok := "", false
	if ok = f.decode(name, "a path", &text); !ok {
		return nil
	}
	p, err := parsePath(text)
	if err != nil {
		f.refuse(f.at, "field %q: %v", name, err)
		return nil
	}
	f.contextual(name, p)
	return &p
}

// selection takes an InputPath or OutputPath.
func (f fields) selection(name string) selection {
	if string(f.raw[name]) == "null" {
		f.take(name)
		return selection{none: true}
	}
	return selection{path: f.path(name)}
}

// target takes a ResultPath.
func (f fields) target(name string) target {
	if string(f.raw[name]) == "null" {
		f.take(name)
		return target{none: true}
	}
	p := f.path(name)
	if p == nil {
		return target{}
	}
	if p.context || slices.ContainsFunc(p.steps, func(s step) bool { return s.index >= 0 }) {
		f.refuse(f.at, "field %q: %q is no place to put a result: only names are understood, such as $.a.b", name, p.text)
	}
	return target{steps: p.steps}
}

// template takes an object whose fields may be paths.
func (f fields) template(name string) template {
	b, ok := f.take(name)
	if !ok {
		return nil
	}
	v, err := Decode(b)
	if err != nil {
		f.refuse(f.at, "field %q: %v", name, err)
		return nil
	}
	if _, ok := v.(map[string]any); !ok {
		f.refuse(f.at, "field %q must be an object, not %s", name, brief(b))
		return nil
	}
	t, err := compile(v)
	if err != nil {
		f.refuse(f.at, "field %q: %v", name, err)
		return nil
	}
	for _, p := range t.paths() {
		f.contextual(name, p)
	}
	return t
}

// contextual refuses a path into what the context object does not hold here.
func (f fields) contextual(name string, p path) {
	if p.context && p.field == nil {
		f.refuse(f.at, "field %q: the context object has no %s that is understood", name, p.text)
	}
}

// errors takes an ErrorEquals.
func (f fields) errors() []string {
	var names []string
	f.need("ErrorEquals")
	if f.decode("ErrorEquals", "a list of error names", &names) && len(names) == 0 {
		f.refuse(f.at, "field \"ErrorEquals\" is empty")
	}
	for _, name := range names {
		if !reserved(name) {
			f.refuse(f.at, "field \"ErrorEquals\": the language knows no error %s", name)
		}
		if name == Runtime {
			f.refuse(f.at, "field \"ErrorEquals\": %s always fails the execution and cannot be named", name)
		}
	}
	if slices.Contains(names, All) && len(names) > 1 {
		f.refuse(f.at, "field \"ErrorEquals\": %s must stand alone", All)
	}
	return names
}

// close refuses the fields that nobody took.
func (f fields) close(what string) {
	names := make([]string, 0, len(f.raw))
	for name := range f.raw {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f.refuse(f.at, "%s has no field %q that is understood", what, name)
	}
}

// duplicates refuses an object that has a field twice: one of the two values would be lost. Its path is made from the
// inside out, so that it is put together only if it is needed: a path for every field would take the square of the text.
func duplicates(d *json.Decoder, depth int) (at []string, err error) {
	t, err := d.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return nil, err
	}
	if depth == maxNesting {
		return nil, fmt.Errorf("objects and lists are nested more than %d deep", maxNesting)
	}
	seen := make(map[string]bool)
	for i := 0; d.More(); i++ {
		inner := strconv.Itoa(i)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if seen[name] {
				return nil, fmt.Errorf("field %q stands there twice", name)
			}
			seen[name], inner = true, name
		}
		if at, err := duplicates(d, depth+1); err != nil {
			return append(at, inner), err
		}
	}
	_, err = d.Token()
	return nil, err
}
