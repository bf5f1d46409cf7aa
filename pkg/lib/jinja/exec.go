package jinja

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
)

// A rendering is one template with the blocks of those that extend it.
type rendering struct {
	template *template
	scope    *scope                // of the top level
	blocks   map[string][]*chained // the most specific first
	extends  string                // the template that it extends; "" for none
	out      *output
}

// A chained is a block with the rendering that defines it.
type chained struct {
	*block
	of *rendering
}

// A module is an imported template.
type module struct {
	name    string
	exports map[string]any
}

// flow is what a statement does to a loop.
type flow int

const (
	onward flow = iota
	broken
	continued
)

// jumps are the tags that leave the body of a loop.
var jumps = map[string]flow{"break": broken, "continue": continued}

// template loads and parses a template once.
func (e *evaluator) template(name string) *template {
	if t, ok := e.env.parsed[name]; ok {
		return t
	}
	source, ok := e.env.Load(name)
	if !ok {
		e.fail("there is no template %s", quoted(short(name)))
	}
	e.charge(20 * len(source))
	t := parse(e.env.Settings, name, source)
	if e.env.parsed == nil {
		e.env.parsed = map[string]*template{}
	}
	e.env.parsed[name] = t
	return t
}

// root renders a template and those that it extends, and returns the values that it exports.
func (e *evaluator) root(t *template, outer *scope, variables map[string]any, out *output) map[string]any {
	defer e.enter()()
	context := &scope{variables, outer}
	blocks := map[string][]*chained{}
	var exports map[string]any
	for {
		r := &rendering{template: t, scope: context.inner(), blocks: blocks, out: out}
		for _, name := range slices.Sorted(maps.Keys(t.blocks)) {
			blocks[name] = append(blocks[name], &chained{t.blocks[name], r})
		}
		r.scope.values["self"] = &state{field: func(name string) (any, bool) {
			if len(blocks[name]) == 0 {
				return nil, false
			}
			return &callable{name, func(e *evaluator, _ args) any {
				return e.capture(func(out *output) { e.block(r, name, 0, r.scope, out) })
			}}, true
		}}
		e.statements(r, t.body, r.scope, out)
		delete(r.scope.values, "self")
		if exports == nil {
			exports = map[string]any{}
		}
		maps.Copy(exports, r.scope.values)
		if r.extends == "" {
			return exports
		}
		defer e.enter()()
		t = e.template(r.extends)
		context = &scope{r.scope.values, context}
	}
}

// capture collects the text that f writes.
func (e *evaluator) capture(f func(*output)) string {
	out := &output{}
	f(out)
	return out.text.String()
}

func (e *evaluator) statements(r *rendering, all []statement, s *scope, out *output) flow {
	for _, one := range all {
		if f := e.statement(r, one, s, out); f != onward {
			return f
		}
	}
	return onward
}

// write writes the text of a value.
func (e *evaluator) write(r *rendering, v any, at Position, out *output) {
	if r.extends != "" && out == r.out {
		return // only the blocks of a template that extends another are written
	}
	text := e.str(v)
	if e.env.Escapes != nil && e.env.Escapes(r.template.name) && strings.ContainsAny(text, `<>&'"`) {
		e.fail("Jinja2 escapes HTML in a file with this name, and the text has one of < > & ' \": %s", cmp.Or(e.env.Unescaped, "rename the file so that its name ends in .j2"))
	}
	e.charge(len(text))
	out.write(text, at, false)
}

func (e *evaluator) statement(r *rendering, one statement, s *scope, out *output) flow {
	e.step()
	e.at = one.position()
	switch x := one.(type) {
	case *data:
		if r.extends == "" || out != r.out {
			e.charge(len(x.text))
			out.write(x.text, x.at, true)
		}
	case *print:
		v := e.eval(x.of, s)
		e.at = x.of.position()
		e.write(r, v, x.at, out)
	case *ifs:
		for i, test := range x.tests {
			if e.truth(e.eval(test, s)) {
				return e.statements(r, x.bodies[i], s, out)
			}
		}
		return e.statements(r, x.rest, s, out)
	case *loop:
		return e.loop(r, x, x.over, nil, s, out, 0)
	case *set:
		e.assign(r, x, s)
	case *with:
		inner := s.inner()
		for i, target := range x.targets {
			e.store(target, e.eval(x.values[i], s), inner)
		}
		return e.statements(r, x.body, inner, out)
	case *macro:
		s.values[x.name] = e.macro(r, x, s)
	case *callBlock:
		f := e.eval(x.call.of, s)
		a := e.arguments(x.call.arguments, s)
		e.at = x.at
		a.names, a.named = append(slices.Clone(a.names), "caller"), append(slices.Clone(a.named), e.macro(r, x.macro, s))
		e.write(r, e.call(f, a), x.at, out)
	case *filterBlock:
		text := e.capture(func(inner *output) { e.statements(r, x.body, s.inner(), inner) })
		e.write(r, e.filtered(x.filter, text, s), x.at, out)
	case *block:
		if r.extends == "" || out != r.out {
			within := r.scope
			if x.scoped {
				within = s
			}
			e.block(r, x.name, 0, within, out)
		}
	case *extends:
		if r.extends != "" {
			e.fail("the template extends two templates")
		}
		name, ok := e.eval(x.of, s).(string)
		if !ok || s != r.scope {
			e.fail("extends: expected the name of a template, at the top level")
		}
		r.extends = name
	case *include:
		e.include(r, x, s, out)
	case *imports:
		e.imports(x, s)
	case *do:
		e.eval(x.of, s)
	case *jump:
		return x.to
	}
	return onward
}

// block renders a block, of those with its name the one at an index.
func (e *evaluator) block(r *rendering, name string, index int, within *scope, out *output) {
	defer e.enter()()
	chain := r.blocks[name]
	c := chain[index]
	if c.required {
		e.fail("the block %s is required: a template that extends this one must define it", name)
	}
	s := within.inner()
	if index+1 < len(chain) {
		s.values["super"] = &callable{"super", func(e *evaluator, _ args) any {
			return e.capture(func(inner *output) { e.block(r, name, index+1, within, inner) })
		}}
	} else {
		s.values["super"] = Undefined{Why: "there is no parent block called " + quoted(name)}
	}
	inner := *c.of
	inner.extends, inner.blocks, inner.scope = "", r.blocks, s
	e.statements(&inner, c.body, s, out)
}

// assign executes set.
func (e *evaluator) assign(r *rendering, x *set, s *scope) {
	if x.value != nil {
		e.store(x.target, e.eval(x.value, s), s)
		return
	}
	text := e.capture(func(inner *output) { e.statements(r, x.body, s.inner(), inner) })
	e.store(x.target, e.filtered(x.filter, text, s), s)
}

// filtered applies the filters of a block.
func (e *evaluator) filtered(x expression, text string, s *scope) any {
	f, ok := x.(*filter)
	if !ok {
		return text
	}
	return e.filter(f, e.filtered(f.of, text, s), s)
}

// store sets the variables of a target.
func (e *evaluator) store(target expression, v any, s *scope) {
	switch x := target.(type) {
	case *variable:
		s.values[x.name] = v
	case *namespaceField:
		of, _ := s.get(x.name)
		n, ok := of.(*namespace)
		if !ok {
			fail(x.at, "%s is no namespace: only fields of a namespace can be set", x.name)
		}
		e.set(n.fields, x.field, v)
	case *listOf:
		items := e.items(v)
		if len(items) != len(x.items) {
			fail(x.at, "there are %d values for %d names", len(items), len(x.items))
		}
		for i, one := range x.items {
			e.store(one, items[i], s)
		}
	}
}

// A state is an object of which a function knows the fields, such as loop.
type state struct {
	field func(name string) (any, bool)
	call  func(e *evaluator, a args) any // nil if it cannot be called
}

// loop executes a loop. outer are the items of a recursive call, or nil.
func (e *evaluator) loop(r *rendering, x *loop, over expression, outer *List, s *scope, out *output, depth int64) flow {
	var items []any
	if outer != nil {
		items = outer.Items
	} else {
		items = e.items(e.eval(over, s))
	}
	items = slices.Clone(items)
	e.charge(16 * len(items))
	if x.test != nil {
		var kept []any
		for _, v := range items {
			inner := s.inner()
			e.store(x.target, v, inner)
			if e.truth(e.eval(x.test, inner)) {
				kept = append(kept, v)
			}
		}
		items = kept
	}
	if len(items) == 0 {
		return e.statements(r, x.rest, s.inner(), out)
	}
	var last any = Undefined{}
	changed := false
	for i := range items {
		e.step()
		inner := s.inner()
		n := int64(i)
		about := &state{field: func(name string) (any, bool) {
			return e.aboutLoop(name, items, n, depth, &last, &changed)
		}}
		if x.recursive {
			about.call = func(e *evaluator, a args) any {
				defer e.enter()()
				if len(a.list) != 1 || len(a.names) > 0 {
					e.fail("loop takes one argument")
				}
				again := &List{e.items(a.list[0])}
				return e.capture(func(out *output) { e.loop(r, x, nil, again, s, out, depth+1) })
			}
		}
		inner.values["loop"] = about
		e.store(x.target, items[i], inner)
		if e.statements(r, x.body, inner, out) == broken {
			break
		}
	}
	return onward
}

func (e *evaluator) aboutLoop(name string, items []any, i, depth int64, last *any, changed *bool) (any, bool) {
	size := int64(len(items))
	near := func(at int64, why string) any {
		if at < 0 || at >= size {
			return Undefined{Why: why}
		}
		return items[at]
	}
	switch name {
	case "index":
		return i + 1, true
	case "index0":
		return i, true
	case "revindex":
		return size - i, true
	case "revindex0":
		return size - i - 1, true
	case "first":
		return i == 0, true
	case "last":
		return i == size-1, true
	case "length":
		return size, true
	case "depth":
		return depth + 1, true
	case "depth0":
		return depth, true
	case "previtem":
		return near(i-1, "there is no previous item"), true
	case "nextitem":
		return near(i+1, "there is no next item"), true
	case "cycle":
		return &callable{"cycle", func(e *evaluator, a args) any {
			if len(a.list) == 0 {
				e.fail("cycle needs at least one argument")
			}
			return a.list[i%int64(len(a.list))]
		}}, true
	case "changed":
		return &callable{"changed", func(e *evaluator, a args) any {
			now := Tuple(a.list)
			if *changed && e.equal(*last, now, 0) {
				return false
			}
			*last, *changed = now, true
			return true
		}}, true
	}
	return nil, false
}

// macro makes the function of a macro.
func (e *evaluator) macro(r *rendering, x *macro, s *scope) *callable {
	return &callable{x.name, func(e *evaluator, a args) any {
		defer e.enter()()
		at := e.at
		inner := s.inner()
		for i, name := range x.parameters {
			given := slices.Index(a.names, name)
			switch first := len(x.parameters) - len(x.defaults); {
			case i < len(a.list) && given >= 0:
				e.fail("the macro %s gets %s twice", x.name, name)
			case i < len(a.list):
				inner.values[name] = a.list[i]
			case given >= 0:
				inner.values[name] = a.named[given]
			case i >= first:
				inner.values[name] = e.eval(x.defaults[i-first], inner)
			default:
				inner.values[name] = Undefined{Why: "parameter " + quoted(name) + " was not provided"}
			}
		}
		e.rest(x, a, inner)
		e.at = at
		text := e.capture(func(out *output) { e.statements(r, x.body, inner, out) })
		e.at = at
		return text
	}}
}

// rest sets varargs, kwargs and caller, or refuses arguments that the macro does not take.
func (e *evaluator) rest(x *macro, a args, s *scope) {
	extra := a.list[min(len(a.list), len(x.parameters)):]
	if len(extra) > 0 && !x.varargs {
		e.fail("the macro %s takes not more than %d arguments", x.name, len(x.parameters))
	}
	if x.varargs {
		s.values["varargs"] = Tuple(slices.Clone(extra))
	}
	more := NewDict()
	for i, name := range a.names {
		switch {
		case slices.Contains(x.parameters, name):
		case name == "caller" && x.caller:
			s.values["caller"] = a.named[i]
		case x.kwargs:
			e.set(more, name, a.named[i])
		default:
			e.fail("the macro %s takes no argument %s", x.name, quoted(name))
		}
	}
	if x.kwargs {
		s.values["kwargs"] = more
	}
	if _, given := s.values["caller"]; x.caller && !given {
		s.values["caller"] = Undefined{Why: "no caller is defined: call the macro with {% call %}"}
	}
}

// include executes include.
func (e *evaluator) include(r *rendering, x *include, s *scope, out *output) {
	v := e.defined(e.eval(x.of, s))
	names, isList := sequence(v)
	if !isList {
		names = []any{v}
	}
	for _, one := range names {
		name, ok := one.(string)
		if !ok {
			e.fail("include: expected the name of a template, found %s", Kind(one))
		}
		if _, there := e.env.parsed[name]; !there {
			if _, there = e.env.Load(name); !there {
				continue
			}
		}
		outer := &scope{globals, nil}
		if x.context {
			outer = s
		}
		at := e.at
		text := &output{}
		if r.extends == "" || out != r.out {
			text = out
		}
		e.root(e.template(name), outer, nil, text)
		e.at = at
		return
	}
	if !x.ignoreMissing {
		e.fail("there is no template %s", short(e.repr(v)))
	}
}

// imports executes import and from.
func (e *evaluator) imports(x *imports, s *scope) {
	name, ok := e.eval(x.of, s).(string)
	if !ok {
		e.fail("import: expected the name of a template")
	}
	outer := &scope{globals, nil}
	if x.context {
		outer = s
	}
	at := e.at
	all := e.root(e.template(name), outer, nil, &output{})
	e.at = at
	maps.DeleteFunc(all, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
	if x.as != "" {
		s.values[x.as] = &module{name, all}
		return
	}
	for i, one := range x.names {
		v, ok := all[one]
		if !ok {
			v = Undefined{Why: "the template " + quoted(name) + " does not export " + quoted(one)}
		}
		s.values[x.aliases[i]] = v
	}
}

// Exhausted reports whether an error is that the budget is used up.
func Exhausted(err error) bool { return errors.Is(err, ErrExhausted) }
