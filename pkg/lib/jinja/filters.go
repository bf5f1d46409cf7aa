package jinja

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
