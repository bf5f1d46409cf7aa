package jinja

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unsupportedFilters are those of Jinja2 that are not here.
var unsupportedFilters = []string{"filesizeformat", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr"}

// unknown says that there is no filter or test of a name.
func unknown[T any](what, name string, unsupported []string, all map[string]T) string {
	if slices.Contains(unsupported, name) {
		return fmt.Sprintf("the %s %s of Jinja2 is not supported", what, name)
	}
	return fmt.Sprintf("there is no %s %q: there are %s", what, short(name), strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// bound are the arguments of a filter or a function by parameter.
type bound struct {
	e      *evaluator
	name   string
	values []any
	given  []bool
}

// bind finds the values of parameters.
func (e *evaluator) bind(what string, a args, parameters ...string) bound {
	b := bound{e, what, make([]any, len(parameters)), make([]bool, len(parameters))}
	if len(a.list) > len(parameters) {
		e.fail("%s takes at most %d arguments, found %d", what, len(parameters), len(a.list))
	}
	for i, v := range a.list {
		b.values[i], b.given[i] = v, true
	}
	for i, name := range a.names {
		at := slices.Index(parameters, name)
		if at < 0 || b.given[at] {
			e.fail("%s takes no argument %s, or it is given twice", what, quoted(name))
		}
		b.values[at], b.given[at] = a.named[i], true
	}
	return b
}

func (b bound) any(i int, otherwise any) any {
	if !b.given[i] {
		return otherwise
	}
	return b.e.defined(b.values[i])
}

func (b bound) int(i int, otherwise int64) int64 {
	v := b.any(i, otherwise)
	n, _, isInt, ok := number(v)
	if !ok || !isInt {
		b.e.fail("%s: expected a whole number, found %s", b.name, Kind(v))
	}
	return n
}

// size is a number of characters or items that are made.
func (b bound) size(i int, otherwise int64) int {
	n := b.int(i, otherwise)
	if n > int64(b.e.env.Budget.Bytes) {
		b.e.exhausted()
	}
	return int(max(n, -1))
}

func (b bound) str(i int, otherwise string) string {
	v := b.any(i, otherwise)
	s, ok := v.(string)
	if !ok {
		b.e.fail("%s: expected text, found %s", b.name, Kind(v))
	}
	return s
}

func (b bound) bool(i int, otherwise bool) bool { return Truth(b.any(i, otherwise)) }

// function is a filter: of is the value before the bar.
type function func(e *evaluator, of any, a args) any

var filters map[string]function

func init() {
	filters = map[string]function{
		"abs":         absolute,
		"attr":        attr,
		"batch":       batch,
		"capitalize":  textFilter(capitalized),
		"center":      centered,
		"count":       length,
		"d":           defaulted,
		"default":     defaulted,
		"dictsort":    dictsort,
		"e":           escaped,
		"escape":      escaped,
		"first":       first,
		"float":       toFloat,
		"forceescape": escaped,
		"format":      formatted,
		"groupby":     groupby,
		"indent":      indent,
		"int":         toInt,
		"items":       itemsOf,
		"join":        join,
		"last":        last,
		"length":      length,
		"list":        list,
		"lower":       textFilter(strings.ToLower),
		"map":         mapped,
		"max":         extreme(1),
		"min":         extreme(-1),
		"reject":      selected(false, false),
		"rejectattr":  selected(false, true),
		"replace":     replace,
		"reverse":     reverse,
		"round":       round,
		"safe":        textFilter(func(s string) string { return s }),
		"select":      selected(true, false),
		"selectattr":  selected(true, true),
		"slice":       sliced,
		"sort":        sorted,
		"string":      textFilter(func(s string) string { return s }),
		"sum":         sum,
		"title":       textFilter(titled),
		"tojson":      toJSON,
		"trim":        trim,
		"truncate":    truncate,
		"unique":      unique,
		"upper":       textFilter(strings.ToUpper),
		"urlencode":   urlencode,
		"wordcount":   wordcount,
	}
}

// textFilter is a filter without arguments that makes text of text.
func textFilter(f func(string) string) function {
	return func(e *evaluator, of any, a args) any {
		e.bind("the filter", a)
		text := e.str(of)
		e.charge(2 * len(text))
		return f(text)
	}
}

func capitalized(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + strings.ToLower(s[size:])
}

// titled begins each word with a capital; words begin after space and after - ( { [ <.
func titled(s string) string {
	var b strings.Builder
	begins := true
	for _, r := range s {
		if begins {
			b.WriteString(strings.ToUpper(string(r)))
		} else {
			b.WriteString(strings.ToLower(string(r)))
		}
		begins = unicode.IsSpace(r) || strings.ContainsRune("-({[<", r)
	}
	return b.String()
}

func absolute(e *evaluator, of any, a args) any {
	e.bind("abs", a)
	i, f, isInt, ok := number(e.defined(of))
	switch {
	case !ok:
		e.fail("abs: expected a number, found %s", Kind(of))
	case isInt && i < 0:
		return e.unary("-", i)
	case isInt:
		return i
	}
	return math.Abs(f)
}

func attr(e *evaluator, of any, a args) any {
	name := e.bind("attr", a, "name").str(0, "")
	e.defined(of)
	if m := e.method(of, name); m != nil {
		return m
	}
	if d, ok := of.(*namespace); ok {
		return e.attribute(d, name)
	}
	return Undefined{Why: missing(of, quoted(name))}
}

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

func centered(e *evaluator, of any, a args) any {
	return e.pad(e.str(of), e.bind("center", a, "width").size(0, 80), " ", '^')
}

// pad fills a text to a width, as Python's ljust, rjust and center do.
func (e *evaluator) pad(s string, width int, fill string, align byte) string {
	missing := width - utf8.RuneCountInString(s)
	if missing <= 0 {
		return s
	}
	e.charge(width * len(fill))
	left := 0
	switch align {
	case '>':
		left = missing
	case '^':
		left = missing/2 + missing&width&1
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, missing-left)
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

func defaulted(e *evaluator, of any, a args) any {
	b := e.bind("default", a, "default_value", "boolean")
	if _, undefined := of.(Undefined); undefined || b.bool(1, false) && !Truth(of) {
		if b.given[0] {
			return b.values[0]
		}
		return ""
	}
	return of
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

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

func escaped(e *evaluator, of any, a args) any {
	e.bind("escape", a)
	text := e.str(of)
	e.charge(5 * len(text))
	return escapes.Replace(text)
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

// plainNumber is a text as Python's int and float read it, without the underscores.
func plainNumber(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") || strings.ContainsAny(s, "xXpP") {
		return "", false
	}
	return strings.ReplaceAll(s, "_", ""), s != ""
}

func toFloat(e *evaluator, of any, a args) any {
	b := e.bind("float", a, "default")
	if _, f, _, ok := number(e.defined(of)); ok {
		return f
	}
	if s, ok := of.(string); ok {
		if plain, ok := plainNumber(s); ok {
			if f, err := strconv.ParseFloat(plain, 64); err == nil {
				return f
			}
		}
	}
	return b.any(0, 0.0)
}

func toInt(e *evaluator, of any, a args) any {
	b := e.bind("int", a, "default", "base")
	i, f, isInt, ok := number(e.defined(of))
	if ok && isInt {
		return i
	}
	if s, isText := of.(string); isText {
		base := b.int(1, 10)
		plain, fine := plainNumber(s)
		if base != 10 {
			plain, fine = strings.ToLower(strings.TrimSpace(s)), base >= 2 && base <= 36
			for prefix, of := range map[string]int64{"0b": 2, "0o": 8, "0x": 16} {
				if of == base {
					plain = strings.TrimPrefix(plain, prefix)
				}
			}
		}
		if fine {
			if i, err := strconv.ParseInt(plain, int(base), 64); err == nil {
				return i
			}
			if g, err := strconv.ParseFloat(plain, 64); err == nil {
				f, ok = g, true
			}
		}
	}
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return b.any(0, int64(0))
	}
	if math.Abs(f) >= 1<<63 {
		e.large()
	}
	return int64(f)
}

func formatted(e *evaluator, of any, a args) any {
	if len(a.names) > 0 {
		if len(a.list) > 0 {
			e.fail("format: give either arguments with names or without")
		}
		d := NewDict()
		for i, name := range a.names {
			e.set(d, name, a.named[i])
		}
		return e.percent(e.str(of), d)
	}
	return e.percent(e.str(of), Tuple(a.list))
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

func indent(e *evaluator, of any, a args) any {
	b := e.bind("indent", a, "width", "first", "blank")
	by, isText := b.any(0, int64(4)).(string)
	if !isText {
		n := b.size(0, 4)
		e.charge(max(n, 0))
		by = strings.Repeat(" ", max(n, 0))
	}
	text := e.str(of) + "\n"
	lines := splitlines(text, false)
	e.charge(2*len(text) + len(lines)*len(by))
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		if (i > 0 || b.bool(1, false)) && (line != "" || b.bool(2, false) || i == 0) {
			out.WriteString(by)
		}
		out.WriteString(line)
	}
	return out.String()
}

// splitlines is Python's str.splitlines.
func splitlines(s string, keep bool) []string {
	var all []string
	for s != "" {
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if i < 0 {
			return append(all, s)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			size = 2
		}
		if keep {
			all = append(all, s[:i+size])
		} else {
			all = append(all, s[:i])
		}
		s = s[i+size:]
	}
	return all
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

func join(e *evaluator, of any, a args) any {
	b := e.bind("join", a, "d", "attribute")
	get := e.getter(b.any(1, nil))
	between := e.str(b.any(0, ""))
	var out strings.Builder
	for i, v := range e.items(of) {
		if i > 0 {
			e.charge(len(between))
			out.WriteString(between)
		}
		if get != nil {
			v = get(v)
		}
		text := e.str(v)
		e.charge(len(text))
		out.WriteString(text)
	}
	return out.String()
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

func replace(e *evaluator, of any, a args) any {
	b := e.bind("replace", a, "old", "new", "count")
	if !b.given[0] || !b.given[1] {
		e.fail("replace needs what to replace and the replacement")
	}
	count := int64(-1)
	if b.any(2, nil) != nil {
		count = b.int(2, -1)
	}
	return e.replace(e.str(of), e.str(b.any(0, nil)), e.str(b.any(1, nil)), count)
}

func (e *evaluator) replace(s, old, replacement string, count int64) string {
	times := int64(strings.Count(s, old))
	if count >= 0 {
		times = min(times, count)
	}
	if len(replacement) > 0 && times > int64(e.env.Budget.Bytes/len(replacement)) {
		e.exhausted()
	}
	e.charge(len(s) + int(times)*len(replacement))
	return strings.Replace(s, old, replacement, int(times))
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

func round(e *evaluator, of any, a args) any {
	b := e.bind("round", a, "precision", "method")
	i, f, isInt, ok := number(e.defined(of))
	if !ok {
		e.fail("round: expected a number, found %s", Kind(of))
	}
	precision := b.int(0, 0)
	if precision < 0 || precision > 300 {
		e.fail("round: the precision must be from 0 to 300")
	}
	switch method := b.str(1, "common"); method {
	case "common":
		if isInt {
			return i
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(precision), 64), 64)
		return rounded
	case "ceil", "floor":
		scale := math.Pow(10, float64(precision))
		if method == "ceil" {
			return math.Ceil(f*scale) / scale
		}
		return math.Floor(f*scale) / scale
	}
	e.fail("round: the method must be common, ceil or floor")
	return nil
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

func trim(e *evaluator, of any, a args) any {
	b := e.bind("trim", a, "chars")
	text := e.str(of)
	if b.any(0, nil) == nil {
		return strings.TrimFunc(text, unicode.IsSpace)
	}
	return strings.Trim(text, b.str(0, ""))
}

func truncate(e *evaluator, of any, a args) any {
	b := e.bind("truncate", a, "length", "killwords", "end", "leeway")
	text, most, tail := []rune(e.str(of)), b.size(0, 255), b.str(2, "...")
	leeway := 5
	if b.any(3, nil) != nil {
		leeway = b.size(3, 5)
	}
	kept := most - utf8.RuneCountInString(tail)
	if kept < 0 || leeway < 0 {
		e.fail("truncate: the length must be at least that of the end, and leeway at least 0")
	}
	if len(text) <= most+leeway {
		return string(text)
	}
	cut := string(text[:kept])
	if !b.bool(1, false) {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + tail
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

func urlencode(e *evaluator, of any, a args) any {
	e.bind("urlencode", a)
	quote := func(v any, safe string) string {
		text := e.str(v)
		e.charge(3 * len(text))
		var b strings.Builder
		for i := range len(text) {
			c := text[i]
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_.-~"+safe, c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		return b.String()
	}
	var pairs []any
	switch v := e.defined(of).(type) {
	case *Dict:
		pairs = e.pairs(v)
	case *List, Tuple:
		pairs = e.items(v)
	default:
		return quote(of, "/")
	}
	var all []string
	for _, p := range pairs {
		pair := e.items(p)
		if len(pair) != 2 {
			e.fail("urlencode: expected pairs of a key and a value")
		}
		all = append(all, strings.ReplaceAll(quote(pair[0], " ")+"="+quote(pair[1], " "), " ", "+"))
	}
	return strings.Join(all, "&")
}

func wordcount(e *evaluator, of any, a args) any {
	e.bind("wordcount", a)
	n := int64(0)
	within := false
	for _, r := range e.str(of) {
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && !within {
			n++
		}
		within = word
	}
	return n
}

func toJSON(e *evaluator, of any, a args) any {
	b := e.bind("tojson", a, "indent")
	by := -1
	if b.any(0, nil) != nil {
		by = max(b.size(0, 0), 0)
	}
	var out strings.Builder
	e.json(&out, of, by, 0)
	return out.String()
}

// json writes a value as Python's json.dumps with sorted keys, safe in HTML.
func (e *evaluator) json(out *strings.Builder, v any, by, depth int) {
	e.step()
	if depth > maxNested {
		e.fail("tojson: the value contains itself, or is nested too deep")
	}
	line := func(depth int) {
		if by >= 0 {
			e.charge(by * depth)
			out.WriteString("\n" + strings.Repeat(" ", by*depth))
		}
	}
	separator := ", "
	if by >= 0 {
		separator = ","
	}
	each := func(open, end string, n int, one func(i int)) {
		out.WriteString(open)
		for i := range n {
			if i > 0 {
				out.WriteString(separator)
			}
			line(depth + 1)
			one(i)
		}
		if n > 0 {
			line(depth)
		}
		out.WriteString(end)
	}
	switch v := e.defined(v).(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case int64, float64:
		out.WriteString(e.repr(v))
	case string:
		e.charge(6 * len(v))
		jsonText(out, v)
	case *List, Tuple:
		items := e.items(v)
		each("[", "]", len(items), func(i int) { e.json(out, items[i], by, depth+1) })
	case *Dict:
		entries := e.sort(e.pairs(v), false, func(p any) any { return p.(Tuple)[0] })
		each("{", "}", len(entries), func(i int) {
			p := entries[i].(Tuple)
			key, ok := p[0].(string)
			if !ok {
				e.fail("tojson: a key of type %s", Kind(p[0]))
			}
			jsonText(out, key)
			out.WriteString(": ")
			e.json(out, p[1], by, depth+1)
		})
	default:
		e.fail("tojson: a value of type %s has no JSON", Kind(v))
	}
}

func jsonText(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case strings.ContainsRune("\n\r\t\b\f", r):
			out.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[r])
		case r < 0x20 || strings.ContainsRune("<>&'", r) || r > 0x7e && r < 0x10000:
			fmt.Fprintf(out, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}
