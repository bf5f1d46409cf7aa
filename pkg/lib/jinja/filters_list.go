package jinja

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func batch(e *evaluator, of any, a args) any {
	b := e.bind("batch", a, "linecount", "fill_with")
	size := b.size(0, 0)
	if size < 1 {
		e.fail("batch: expected a number of at least 1")
	}
	var all []any
	for chunk := range slices.Chunk(e.items(of), size) {
		chunk = slices.Clone(chunk)
		if fill := b.any(1, nil); fill != nil {
			e.charge(16 * size)
			for len(chunk) < size {
				chunk = append(chunk, fill)
			}
		}
		all = append(all, e.list(chunk))
	}
	return &generator{all}
}

func length(e *evaluator, of any, a args) any {
	e.bind("length", a)
	switch of := e.defined(of).(type) {
	case string:
		return int64(utf8.RuneCountInString(of))
	case *Dict:
		return int64(of.Len())
	case numbers:
		return of.size()
	case *List, Tuple, view:
		return int64(len(e.items(of)))
	}
	e.fail("a value of type %s has no length", Kind(of))
	return nil
}

// ignoringCase is what filters compare unless they are case sensitive.
func ignoringCase(v any) any {
	if s, ok := v.(string); ok {
		return strings.ToLower(s)
	}
	return v
}

// sort sorts values by keys that are computed once.
func (e *evaluator) sort(items []any, reverse bool, key func(any) any) []any {
	type keyed struct{ key, value any }
	all := make([]keyed, len(items))
	e.charge(32 * len(items))
	for i, v := range items {
		all[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if reverse {
			a, b = b, a
		}
		return e.order(e.defined(a.key), e.defined(b.key))
	})
	out := make([]any, len(items))
	for i, one := range all {
		out[i] = one.value
	}
	return out
}

func dictsort(e *evaluator, of any, a args) any {
	b := e.bind("dictsort", a, "case_sensitive", "by", "reverse")
	d, ok := e.defined(of).(*Dict)
	if !ok {
		e.fail("dictsort: expected a dict, found %s", Kind(of))
	}
	at, ok := map[string]int{"key": 0, "value": 1}[b.str(1, "key")]
	if !ok {
		e.fail(`dictsort: by must be "key" or "value"`)
	}
	return e.list(e.sort(e.pairs(d), b.bool(2, false), func(v any) any {
		key := v.(Tuple)[at]
		if !b.bool(0, false) {
			key = ignoringCase(key)
		}
		return key
	}))
}

// pairs lists the entries of a dictionary.
func (e *evaluator) pairs(d *Dict) []any {
	e.charge(64 * d.Len())
	var all []any
	for _, entry := range d.entries {
		all = append(all, Tuple{entry.Key, entry.Value})
	}
	return all
}

func first(e *evaluator, of any, a args) any {
	e.bind("first", a)
	if items := e.items(of); len(items) > 0 {
		return items[0]
	}
	return Undefined{Why: "No first item, sequence was empty."}
}

func last(e *evaluator, of any, a args) any {
	e.bind("last", a)
	if items := e.items(of); len(items) > 0 {
		return items[len(items)-1]
	}
	return Undefined{Why: "No last item, sequence was empty."}
}

// getter returns the function that finds an attribute such as "a.b.0" of a value; nil if
// there is no attribute.
func (e *evaluator) getter(attribute any) func(any) any {
	switch path := attribute.(type) {
	case nil:
		return nil
	case int64:
		return func(v any) any { return e.item(v, path) }
	case string:
		return func(v any) any {
			for part := range strings.SplitSeq(path, ".") {
				var key any = part
				if i, err := strconv.ParseInt(part, 10, 64); err == nil {
					key = i
				}
				v = e.item(v, key)
			}
			return v
		}
	}
	e.fail("expected the name of an attribute, found %s", Kind(attribute))
	return nil
}

func groupby(e *evaluator, of any, a args) any {
	b := e.bind("groupby", a, "attribute", "default", "case_sensitive")
	get := e.getter(b.any(0, nil))
	if get == nil {
		e.fail("groupby needs an attribute")
	}
	value := func(v any) any {
		v = get(v)
		if _, undefined := v.(Undefined); undefined && b.given[1] {
			return b.values[1]
		}
		return v
	}
	key := func(v any) any {
		if b.bool(2, false) {
			return value(v)
		}
		return ignoringCase(value(v))
	}
	var all []any
	var group *List
	var current any
	for _, v := range e.sort(e.items(of), false, key) {
		if k := key(v); group == nil || !e.equal(current, k, 0) {
			current, group = k, &List{}
			all = append(all, Tuple{value(v), group})
		}
		group.Items = append(group.Items, v)
	}
	return e.list(all)
}

func itemsOf(e *evaluator, of any, a args) any {
	e.bind("items", a)
	if _, undefined := of.(Undefined); undefined {
		return &generator{}
	}
	d, ok := of.(*Dict)
	if !ok {
		e.fail("items: expected a dict, found %s", Kind(of))
	}
	return &generator{e.pairs(d)}
}

func list(e *evaluator, of any, a args) any {
	e.bind("list", a)
	return e.list(slices.Clone(e.items(of)))
}

func mapped(e *evaluator, of any, a args) any {
	var all []any
	items := e.items(of)
	e.charge(16 * len(items))
	if len(a.list) == 0 {
		b := e.bind("map", a, "attribute", "default")
		get := e.getter(b.any(0, nil))
		if get == nil {
			e.fail("map needs the name of a filter or an attribute")
		}
		for _, v := range items {
			got := get(v)
			if _, undefined := got.(Undefined); undefined && b.given[1] {
				got = b.values[1]
			}
			all = append(all, got)
		}
		return &generator{all}
	}
	name, _ := a.list[0].(string)
	f := filters[name]
	if f == nil {
		e.fail("%s", unknown("filter", name, unsupportedFilters, filters))
	}
	rest := args{a.list[1:], a.names, a.named}
	for _, v := range items {
		e.step()
		all = append(all, f(e, v, rest))
	}
	return &generator{all}
}

// extreme is max or min.
func extreme(sign int) function {
	return func(e *evaluator, of any, a args) any {
		b := e.bind("max and min", a, "case_sensitive", "attribute")
		get := e.getter(b.any(1, nil))
		key := func(v any) any {
			if get != nil {
				v = get(v)
			}
			if !b.bool(0, false) {
				v = ignoringCase(v)
			}
			return e.defined(v)
		}
		items := e.items(of)
		if len(items) == 0 {
			return Undefined{Why: "No aggregated item, sequence was empty."}
		}
		best := items[0]
		for _, v := range items[1:] {
			if e.order(key(v), key(best))*sign > 0 {
				best = v
			}
		}
		return best
	}
}

// selected is select, reject, selectattr or rejectattr.
func selected(keep, attribute bool) function {
	return func(e *evaluator, of any, a args) any {
		get := func(v any) any { return v }
		if attribute {
			if len(a.list) == 0 {
				e.fail("selectattr and rejectattr need the name of an attribute")
			}
			get = e.getter(e.defined(a.list[0]))
			a.list = a.list[1:]
		}
		passes := func(v any) bool { return e.truth(v) }
		if len(a.list) > 0 {
			name, _ := a.list[0].(string)
			t := tests[name]
			if t == nil {
				e.fail("%s", unknown("test", name, nil, tests))
			}
			rest := args{a.list[1:], a.names, a.named}
			passes = func(v any) bool { return t(e, v, rest) }
		}
		var all []any
		items := e.items(of)
		e.charge(16 * len(items))
		for _, v := range items {
			e.step()
			if passes(get(v)) == keep {
				all = append(all, v)
			}
		}
		return &generator{all}
	}
}

func reverse(e *evaluator, of any, a args) any {
	e.bind("reverse", a)
	items := slices.Clone(e.items(of))
	slices.Reverse(items)
	if _, isText := of.(string); isText {
		var b strings.Builder
		for _, item := range items {
			b.WriteString(item.(string))
		}
		return b.String()
	}
	return &generator{items}
}

func sliced(e *evaluator, of any, a args) any {
	b := e.bind("slice", a, "slices", "fill_with")
	count := b.size(0, 0)
	if count < 1 {
		e.fail("slice: expected a number of at least 1")
	}
	items := e.items(of)
	e.charge(16 * count)
	per, extra := len(items)/count, len(items)%count
	var all []any
	for i, at := 0, 0; i < count; i++ {
		size := per
		if i < extra {
			size++
		}
		chunk := slices.Clone(items[at : at+size])
		if fill := b.any(1, nil); fill != nil && i >= extra {
			chunk = append(chunk, fill)
		}
		at += size
		all = append(all, e.list(chunk))
	}
	return &generator{all}
}

func sorted(e *evaluator, of any, a args) any {
	b := e.bind("sort", a, "reverse", "case_sensitive", "attribute")
	var gets []func(any) any
	if path, ok := b.any(2, nil).(string); ok {
		for part := range strings.SplitSeq(path, ",") {
			gets = append(gets, e.getter(part))
		}
	} else if b.any(2, nil) != nil {
		gets = append(gets, e.getter(b.any(2, nil)))
	}
	return e.list(e.sort(e.items(of), b.bool(0, false), func(v any) any {
		fold := ignoringCase
		if b.bool(1, false) {
			fold = func(v any) any { return v }
		}
		if gets == nil {
			return fold(v)
		}
		var key Tuple
		for _, get := range gets {
			key = append(key, fold(e.defined(get(v))))
		}
		return key
	}))
}

func sum(e *evaluator, of any, a args) any {
	b := e.bind("sum", a, "attribute", "start")
	get := e.getter(b.any(0, nil))
	total := b.any(1, int64(0))
	if _, isText := total.(string); isText {
		e.fail("sum: text cannot be added: use join")
	}
	for _, v := range e.items(of) {
		if get != nil {
			v = get(v)
		}
		total = e.arithmetic("+", total, e.defined(v))
	}
	return total
}

func unique(e *evaluator, of any, a args) any {
	b := e.bind("unique", a, "case_sensitive", "attribute")
	get := e.getter(b.any(1, nil))
	seen := NewDict()
	var all []any
	for _, v := range e.items(of) {
		key := v
		if get != nil {
			key = get(v)
		}
		if !b.bool(0, false) {
			key = ignoringCase(key)
		}
		if _, there := seen.Get(key); !there {
			e.set(seen, key, true)
			all = append(all, v)
		}
	}
	return &generator{all}
}
