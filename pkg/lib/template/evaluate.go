package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// budget is how many bytes one evaluation may make: a Fn::Sub whose variables
// are Fn::Subs doubles its text at each level.
const budget = 64 << 20

// running is one evaluation under way.
type running struct {
	e        *Evaluation
	left     int
	verifies bool // it explains what it refuses, after CloudFormation's words
	decides  bool // it evaluates conditions: what CloudFormation may understand in another way is not known
}

func (e *Evaluation) begin() *running { return &running{e: e, left: budget} }

func (r *running) fail(x *Expr, format string, args ...any) *document.Error {
	return &document.Error{File: r.e.t.File, Line: x.Line, Column: x.Column, Text: fmt.Sprintf(format, args...)}
}

// spend counts bytes of values.
func (r *running) spend(x *Expr, bytes int) *document.Error {
	if r.left -= bytes; r.left < 0 {
		return r.fail(x, "the values of this template take more than %d MB: they grow without end", budget>>20)
	}
	if room := r.e.s.Room; room != nil && room.left.Add(-int64(bytes)) < 0 {
		return r.fail(x, "the values of all templates take too much memory")
	}
	return nil
}

// eval evaluates an expression; the result may be noValue.
func (r *running) eval(x *Expr) (any, *document.Error) {
	if err := r.spend(x, 64); err != nil {
		return nil, err
	}
	switch x.form {
	case scalar:
		if x.vague && r.decides {
			return Unknown{}, nil
		}
		return x.value, nil
	case list:
		return r.list(x)
	case mapping:
		return r.mapping(x)
	}
	v, err := r.call(x)
	if err != nil {
		return nil, err
	}
	return v, r.spend(x, weight(v))
}

// weight is about how many bytes are in the topmost level of a value.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		n := 0
		for _, item := range v {
			s, _ := item.(string)
			n += 32 + len(s)
		}
		return n
	}
	return 0
}

func (r *running) list(x *Expr) (any, *document.Error) {
	values := make([]any, 0, len(x.items))
	for _, item := range x.items {
		v, err := r.eval(item)
		if err != nil {
			return nil, err
		}
		if v != (noValue{}) {
			values = append(values, v)
		}
	}
	return values, nil
}

func (r *running) mapping(x *Expr) (any, *document.Error) {
	values := make(map[string]any, len(x.items))
	for i, item := range x.items {
		v, err := r.eval(item)
		if err != nil {
			return nil, err
		}
		if v != (noValue{}) {
			values[x.keys[i]] = v
		}
	}
	return values, nil
}

// nameOf evaluates the name of an export, and says whether it is known.
func (r *running) nameOf(x *Expr) (string, bool) {
	v, err := r.eval(x)
	if err != nil {
		return "", false
	}
	name, ok := Text(v)
	return name, ok && name != "" && !strings.Contains(name, "{{resolve:")
}

// named evaluates a condition once.
func (r *running) named(name string) (any, *document.Error) {
	if v, ok := r.e.conditions[name]; ok {
		return v, nil
	}
	x, ok := r.e.t.Conditions[name]
	if !ok {
		return Unknown{}, nil // it comes out of a macro, or Parse would have refused it
	}
	v, err := r.truth(x)
	r.e.conditions[name] = v
	return v, err
}

// truth evaluates to true, false or Unknown.
func (r *running) truth(x *Expr) (any, *document.Error) {
	v, err := r.eval(x)
	if err != nil {
		return Unknown{}, err
	}
	switch text, _ := Text(v); {
	case v == any(Unknown{}):
		return Unknown{}, nil
	case text == "true":
		return true, nil
	case text == "false":
		return false, nil
	}
	return Unknown{}, r.fail(x, "Template error: a condition must be true or false")
}

// ref gives what a name stands for.
func (r *running) ref(name string, x *Expr) (any, *document.Error) {
	e := r.e
	if pseudo, ok := pseudos[name]; ok {
		return pseudo(e.s), nil
	}
	if p, ok := e.t.Parameters[name]; ok {
		if r.decides && p.vague && e.s.Parameters[name] == *p.Default {
			return Unknown{}, nil
		}
		return e.s.parameter(p), nil
	}
	if err := r.standing(name, x); err != nil {
		return nil, err
	}
	if e.s.Ref != nil && e.t.has(name) {
		if v, ok := e.s.Ref(name); ok {
			return v, nil
		}
	}
	return Unknown{}, nil
}

func (r *running) getAtt(resource, attribute string, x *Expr) (any, *document.Error) {
	if err := r.standing(resource, x); err != nil {
		return nil, err
	}
	if r.e.s.GetAtt != nil && r.e.t.has(resource) {
		if v, ok := r.e.s.GetAtt(resource, attribute); ok {
			return v, nil
		}
	}
	return Unknown{}, nil
}

// standing refuses a reference to a resource that the stack does not have.
func (r *running) standing(resource string, x *Expr) *document.Error {
	condition := r.e.t.Resources[resource].Condition
	switch {
	case r.e.mayBe(condition):
		return nil
	case r.verifies:
		return r.fail(x, "%s: its condition %s is false", unresolved(resource, x.block), condition)
	}
	return r.fail(x, "%s", unresolved(resource, x.block))
}

func (t *Template) has(resource string) bool {
	_, ok := t.Resources[resource]
	return ok
}

// parameter gives what a Ref to a parameter gives.
func (s Scope) parameter(p Parameter) any {
	value, ok := s.Parameters[p.Name]
	if ok && p.Stored() {
		if s.Stored == nil {
			return Unknown{}
		}
		value, ok = s.Stored(value)
	}
	switch {
	case !ok:
		return Unknown{}
	case p.List():
		return texts(splitList(value))
	}
	return value
}

// branch evaluates Fn::If. Where the condition is unknown but both values are
// known and the same, the condition does not matter.
func (r *running) branch(x *Expr) (any, *document.Error) {
	name, _ := x.items[0].Literal()
	condition, err := r.named(name)
	if err != nil {
		return nil, err
	}
	switch condition {
	case true:
		return r.eval(x.items[1])
	case false:
		return r.eval(x.items[2])
	}
	yes, err := r.eval(x.items[1])
	if err != nil {
		return Unknown{}, nil // the branch may never be taken
	}
	no, err := r.eval(x.items[2])
	if err != nil || yes == (noValue{}) != (no == (noValue{})) {
		return Unknown{}, nil
	}
	if yes == (noValue{}) || Known(yes) && Known(no) && equal(yes, no) {
		return yes, nil
	}
	return Unknown{}, nil
}

// decided evaluates Fn::Or (stop is true) or Fn::And (stop is false): one argument
// that is stop decides, whatever the others are.
func (r *running) decided(x *Expr, stop bool) (any, *document.Error) {
	values := make([]any, len(x.items))
	for i, item := range x.items {
		v, err := r.truth(item)
		if err != nil {
			return nil, err
		}
		if v == any(stop) {
			return stop, nil
		}
		values[i] = v
	}
	if slices.Contains(values, any(Unknown{})) {
		return Unknown{}, nil
	}
	return !stop, nil
}
