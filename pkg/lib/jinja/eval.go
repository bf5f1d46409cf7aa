package jinja

import (
	"math"
	"slices"
	"strings"
)

// A scope holds variables. A name that is not in it is looked up in its parent.
type scope struct {
	values map[string]any
	parent *scope
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *scope) inner() *scope { return &scope{map[string]any{}, s} }

// An evaluator renders one template and those that it includes.
type evaluator struct {
	env   *Environment
	at    Position
	depth int
	nests int
}

func (e *evaluator) fail(format string, args ...any) { fail(e.at, format, args...) }

func (e *evaluator) exhausted() {
	panic(&failure{Error_: Error{e.at, ErrExhausted.Error()}, exhausted: true})
}

// step counts a statement or an expression.
func (e *evaluator) step() {
	if e.env.Budget.Steps--; e.env.Budget.Steps < 0 {
		e.exhausted()
	}
}

// charge counts bytes before they are made.
func (e *evaluator) charge(bytes int) {
	if e.env.Budget.Bytes -= bytes; bytes < 0 || e.env.Budget.Bytes < 0 {
		e.exhausted()
	}
}

// list makes a list.
func (e *evaluator) list(items []any) *List {
	e.charge(16 * len(items))
	return &List{items}
}

// enter counts macros, includes and blocks within one another.
func (e *evaluator) enter() func() {
	if e.depth++; e.depth > maxDepth {
		e.fail("macros, includes and blocks are more than %d levels within one another: they never end, or must be simplified", maxDepth)
	}
	return func() { e.depth-- }
}

// str is the text of a value in a template.
func (e *evaluator) str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	s, wrong := Str(v, e.env.Budget.Bytes)
	if wrong != "" {
		if wrong == "the text is too long" {
			e.exhausted()
		}
		e.fail("%s", wrong)
	}
	e.charge(len(s))
	return s
}

func (e *evaluator) repr(v any) string {
	w := &writer{room: e.env.Budget.Bytes}
	w.repr(v)
	if w.wrong != "" {
		e.fail("%s", w.wrong)
	}
	e.charge(w.Len())
	return w.String()
}

// defined refuses a value that is not defined.
func (e *evaluator) defined(v any) any {
	if u, ok := v.(Undefined); ok && !u.lenient {
		e.fail("%s", u.Why)
	}
	return v
}

func (e *evaluator) truth(v any) bool { return Truth(e.defined(v)) }

// items lists what a loop over a value gives.
func (e *evaluator) items(v any) []any {
	switch v := e.defined(v).(type) {
	case *List:
		return v.Items
	case Tuple:
		return v
	case *Dict:
		all := make([]any, 0, v.Len())
		e.charge(16 * v.Len())
		for _, entry := range v.entries {
			all = append(all, entry.Key)
		}
		return all
	case string:
		e.charge(32 * len(v))
		var all []any
		for _, r := range v {
			all = append(all, string(r))
		}
		return all
	case view:
		return v.items
	case numbers:
		n := v.size()
		if n > int64(e.env.Budget.Bytes) {
			e.exhausted()
		}
		e.charge(16 * int(n))
		all := make([]any, 0, n)
		for i, at := int64(0), v.from; i < n; i, at = i+1, at+v.step {
			all = append(all, at)
		}
		return all
	case *generator:
		all := v.items
		v.items = nil
		return all
	case Undefined:
		return nil
	default:
		e.fail("a value of type %s has no items", Kind(v))
	}
	return nil
}

// eval evaluates an expression.
func (e *evaluator) eval(x expression, s *scope) any {
	e.step()
	if e.nests++; e.nests > 40*maxNested {
		e.fail("expressions and macros are nested too deep")
	}
	before := e.at
	e.at = x.position()
	v := e.expression(x, s)
	e.at = before
	e.nests--
	return v
}

func (e *evaluator) all(xs []expression, s *scope) []any {
	values := make([]any, 0, len(xs))
	for _, x := range xs {
		values = append(values, e.eval(x, s))
	}
	return values
}

func (e *evaluator) expression(x expression, s *scope) any {
	switch x := x.(type) {
	case *constant:
		return x.value
	case *variable:
		if v, ok := s.get(x.name); ok {
			return v
		}
		return Undefined{Why: quoted(x.name) + " is undefined"}
	case *listOf:
		if x.tuple {
			e.charge(16 * len(x.items))
			return Tuple(e.all(x.items, s))
		}
		return e.list(e.all(x.items, s))
	case *dictOf:
		d := NewDict()
		for i, k := range x.keys {
			key := e.eval(k, s)
			e.set(d, key, e.eval(x.values[i], s))
		}
		return d
	case *attribute:
		return e.attribute(e.eval(x.of, s), x.name)
	case *item:
		of := e.eval(x.of, s)
		if cut, ok := x.key.(*slice); ok {
			return e.slice(of, cut, s)
		}
		return e.item(of, e.eval(x.key, s))
	case *call:
		f := e.eval(x.of, s)
		a := e.arguments(x.arguments, s)
		e.at = x.at
		return e.call(f, a)
	case *filter:
		of := e.eval(x.of, s)
		return e.filter(x, of, s)
	case *test:
		of := e.eval(x.of, s)
		a := e.arguments(x.arguments, s)
		e.at = x.at
		return tests[x.name](e, of, a)
	case *unary:
		return e.unary(x.operator, e.eval(x.of, s))
	case *binary:
		return e.binary(x, s)
	case *comparison:
		left := e.eval(x.first, s)
		for i, o := range x.operators {
			right := e.eval(x.others[i], s)
			if !e.compare(o, left, right) {
				return false
			}
			left = right
		}
		return true
	case *concatenation:
		var b strings.Builder
		for _, part := range x.parts {
			text := e.str(e.eval(part, s))
			e.charge(len(text))
			b.WriteString(text)
		}
		return b.String()
	case *conditional:
		if e.truth(e.eval(x.test, s)) {
			return e.eval(x.then, s)
		}
		if x.otherwise == nil {
			return Undefined{Why: "the condition is false and there is no else", lenient: true}
		}
		return e.eval(x.otherwise, s)
	}
	e.fail("this is not an expression")
	return nil
}

func (e *evaluator) filter(x *filter, of any, s *scope) any {
	a := e.arguments(x.arguments, s)
	e.at = x.at
	return filters[x.name](e, of, a)
}

// set sets a key of a dictionary.
func (e *evaluator) set(d *Dict, key, value any) {
	if e.defined(key); !Hashable(key) {
		e.fail("a value of type %s cannot be a key", Kind(key))
	}
	e.charge(64)
	d.Set(key, value)
}

func (e *evaluator) arguments(of arguments, s *scope) args {
	a := args{list: e.all(of.positional, s), names: of.names, named: e.all(of.named, s)}
	if of.list != nil {
		a.list = append(a.list, e.items(e.eval(of.list, s))...)
	}
	if of.dict != nil {
		d, ok := e.eval(of.dict, s).(*Dict)
		if !ok {
			e.fail("expected a dict after **")
		}
		a.names, a.named = slices.Clone(a.names), slices.Clone(a.named)
		for _, entry := range d.entries {
			key, ok := entry.Key.(string)
			if !ok || slices.Contains(a.names, key) {
				e.fail("a key after ** is no text, or is given twice")
			}
			a.names, a.named = append(a.names, key), append(a.named, entry.Value)
		}
	}
	return a
}

func (e *evaluator) call(f any, a args) any {
	switch f := e.defined(f).(type) {
	case *callable:
		return f.call(e, a)
	case *state:
		if f.call != nil {
			return f.call(e, a)
		}
	}
	e.fail("a value of type %s cannot be called", Kind(f))
	return nil
}

func quoted(s string) string {
	w := &writer{room: math.MaxInt}
	w.quoted(s)
	return w.String()
}
