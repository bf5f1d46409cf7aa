package jinja

import (
	"strings"
	"unicode/utf8"
)

// attribute is `of.name`: first a method or field of the type, then a key.
func (e *evaluator) attribute(of any, name string) any {
	e.defined(of)
	if m := e.method(of, name); m != nil {
		return m
	}
	switch of := of.(type) {
	case *Dict:
		if v, ok := of.Get(name); ok {
			return v
		}
	case *namespace:
		if v, ok := of.fields.Get(name); ok {
			return v
		}
	case *state:
		if v, ok := of.field(name); ok {
			return v
		}
	case *module:
		if v, ok := of.exports[name]; ok {
			return v
		}
		return Undefined{Why: "the template " + quoted(of.name) + " does not export " + quoted(name)}
	}
	return Undefined{Why: missing(of, quoted(name))}
}

func missing(of any, name string) string {
	if of == nil {
		return "None has no attribute " + name
	}
	return "'" + Kind(of) + " object' has no attribute " + name
}

// item is `of[key]`: first a key, then a method.
func (e *evaluator) item(of, key any) any {
	e.defined(of)
	e.defined(key)
	switch of := of.(type) {
	case *Dict:
		if v, ok := of.Get(key); ok {
			return v
		}
	case *List, Tuple, string, numbers:
		if i, _, isInt, ok := number(key); ok && isInt {
			if v, ok := e.index(of, i); ok {
				return v
			}
			return Undefined{Why: missing(of, e.repr(key))}
		}
	}
	if name, ok := key.(string); ok {
		return e.attribute(of, name)
	}
	return Undefined{Why: missing(of, e.repr(key))}
}

// index returns an item; negative indexes count from the end.
func (e *evaluator) index(of any, i int64) (any, bool) {
	if n, ok := of.(numbers); ok {
		if i < 0 {
			i += n.size()
		}
		return n.from + i*n.step, 0 <= i && i < n.size()
	}
	if s, ok := of.(string); ok {
		if i < 0 {
			i += int64(utf8.RuneCountInString(s))
		}
		e.charge(len(s))
		for _, r := range s {
			if i == 0 {
				return string(r), true
			}
			i--
		}
		return nil, false
	}
	items, _ := sequence(of)
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return items[i], true
}

// slice is `of[from:to:step]`.
func (e *evaluator) slice(of any, cut *slice, s *scope) any {
	e.defined(of)
	bound := func(x expression) (int64, bool) {
		if x == nil {
			return 0, false
		}
		v := e.defined(e.eval(x, s))
		if v == nil {
			return 0, false
		}
		i, _, isInt, ok := number(v)
		if !ok || !isInt {
			e.fail("the bounds of a slice must be whole numbers, not %s", Kind(v))
		}
		return i, true
	}
	from, hasFrom := bound(cut.from)
	to, hasTo := bound(cut.to)
	step, hasStep := bound(cut.step)
	if !hasStep {
		step = 1
	}
	if step == 0 {
		e.fail("the step of a slice cannot be 0")
	}
	var items []any
	text, isText := of.(string)
	if items, _ = sequence(of); isText {
		items = e.items(text)
	} else if items == nil {
		switch of.(type) {
		case *List, Tuple:
		default:
			e.fail("a value of type %s cannot be sliced", Kind(of))
		}
	}
	size := int64(len(items))
	clamp := func(i, low, high int64) int64 {
		if i < 0 {
			i += size
		}
		return min(max(i, low), high)
	}
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	switch {
	case hasFrom:
		from = clamp(from, low, high)
	case step < 0:
		from = high
	default:
		from = low
	}
	switch {
	case hasTo:
		to = clamp(to, low, high)
	case step < 0:
		to = low
	default:
		to = high
	}
	var cutOut []any
	for i := from; step > 0 && i < to || step < 0 && i > to; {
		cutOut = append(cutOut, items[i])
		if step > size || step < -size {
			break
		}
		i += step
	}
	switch {
	case isText:
		var b strings.Builder
		for _, item := range cutOut {
			b.WriteString(item.(string))
		}
		return b.String()
	case Kind(of) == "tuple":
		e.charge(16 * len(cutOut))
		return Tuple(cutOut)
	}
	return e.list(cutOut)
}
