package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Values are those of Python: nil, bool, int64, float64, string, *List, Tuple, *Dict,
// Undefined, and what only templates make. Any other type of value can be passed through a
// template, and is an error if it is used.

// A List is a list.
type List struct{ Items []any }

// A Tuple is a tuple.
type Tuple []any

// A Dict is a dictionary. It keeps the order in which its keys were added.
type Dict struct {
	entries []Entry
	index   map[any]int
}

// An Entry is a key and a value. Place is what the maker of the dictionary says about it; it
// is copied with the entry.
type Entry struct {
	Key, Value any
	Place      int
}

// Undefined is a value that is not there. To use it is an error with the reason.
type Undefined struct {
	Why     string
	lenient bool // it is an empty text, as that of a condition without else
}

// A view is what keys, values and items of a dictionary return.
type view struct {
	name  string
	items []any
}

// A numbers is a range.
type numbers struct{ from, to, step int64 }

func (n numbers) size() int64 {
	switch {
	case n.step > 0 && n.from < n.to:
		return (n.to-n.from-1)/n.step + 1
	case n.step < 0 && n.from > n.to:
		return (n.from-n.to-1)/(-n.step) + 1
	}
	return 0
}

// A generator gives its items once.
type generator struct{ items []any }

// A namespace is an object whose fields can be set.
type namespace struct{ fields *Dict }

// A callable is a function, a macro or a method.
type callable struct {
	name string
	call func(e *evaluator, a args) any
}

// args are the values of arguments.
type args struct {
	list  []any
	names []string
	named []any
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{index: map[any]int{}} }

// normal makes keys equal that are equal in Python: 1, 1.0 and True.
func normal(key any) any {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int64(k)
		}
	}
	return key
}

// Hashable reports whether a value can be a key. Tuples, which can be keys in Python, cannot:
// they may be nested without a limit.
func Hashable(v any) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string:
		return true
	}
	return false
}

// Entries lists the entries. The caller must not change them.
func (d *Dict) Entries() []Entry { return d.entries }

// Len is the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

// Get returns the value of a key.
func (d *Dict) Get(key any) (any, bool) {
	e, ok := d.Entry(key)
	return e.Value, ok
}

// Entry returns the entry of a key.
func (d *Dict) Entry(key any) (Entry, bool) {
	if !Hashable(key) {
		return Entry{}, false
	}
	i, ok := d.index[normal(key)]
	if !ok {
		return Entry{}, false
	}
	return d.entries[i], true
}

// Set sets the value of a key, and keeps the place of a key that is there.
func (d *Dict) Set(key, value any) {
	e, _ := d.Entry(key)
	d.Put(Entry{Key: key, Value: value, Place: e.Place})
}

// Put sets an entry. A key that is there keeps its position in the order.
func (d *Dict) Put(e Entry) {
	n := normal(e.Key)
	if i, ok := d.index[n]; ok {
		d.entries[i].Value, d.entries[i].Place = e.Value, e.Place
		return
	}
	d.index[n] = len(d.entries)
	d.entries = append(d.entries, e)
}

// Delete removes a key.
func (d *Dict) Delete(key any) {
	n := normal(key)
	i, ok := d.index[n]
	if !ok {
		return
	}
	d.entries = slices.Delete(slices.Clone(d.entries), i, i+1)
	delete(d.index, n)
	for key, at := range d.index {
		if at > i {
			d.index[key] = at - 1
		}
	}
}

// Copy returns a dictionary with the same entries.
func (d *Dict) Copy() *Dict {
	c := NewDict()
	for _, e := range d.entries {
		c.Put(e)
	}
	return c
}

// Truth is Python's bool(v).
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return len(v.Items) > 0
	case Tuple:
		return len(v) > 0
	case *Dict:
		return v.Len() > 0
	case view:
		return len(v.items) > 0
	case numbers:
		return v.size() > 0
	case Undefined:
		return false
	}
	return true
}

// Kind is the name of a value's type in Python.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case Undefined:
		return "Undefined"
	case view:
		return "view of a dict"
	case numbers:
		return "range"
	case *generator:
		return "generator"
	case *namespace:
		return "namespace"
	case *callable:
		return "function"
	case *state:
		return "loop"
	case *module:
		return "module"
	}
	return fmt.Sprintf("%v", v)
}

// writer writes values as Python does.
type writer struct {
	strings.Builder
	room  int // bytes that may be written
	depth int
	wrong string // why a value could not be written
}

// Str is Python's str(v). It reports why a value has no text: it is one that Python writes
// with an address, or it is larger than room.
func Str(v any, room int) (text, wrong string) {
	w := &writer{room: room}
	switch v := v.(type) {
	case string:
		w.put(v)
	case Undefined:
		if !v.lenient {
			w.wrong = v.Why
		}
	default:
		w.repr(v)
	}
	return w.String(), w.wrong
}

func (w *writer) put(s string) {
	if w.room -= len(s); w.room < 0 {
		w.fail("the text is too long")
		return
	}
	w.WriteString(s)
}

func (w *writer) fail(why string) {
	if w.wrong == "" {
		w.wrong = why
	}
}

func (w *writer) list(open string, items []any, end string) {
	w.put(open)
	for i, item := range items {
		if w.wrong != "" {
			return
		}
		if i > 0 {
			w.put(", ")
		}
		w.repr(item)
	}
	w.put(end)
}

func (w *writer) repr(v any) {
	if w.depth++; w.depth > maxNested {
		w.fail("the value contains itself, or is nested too deep")
	}
	defer func() { w.depth-- }()
	if w.wrong != "" {
		return
	}
	switch v := v.(type) {
	case nil:
		w.put("None")
	case bool:
		w.put(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		w.put(strconv.FormatInt(v, 10))
	case float64:
		w.put(Float(v))
	case string:
		w.quoted(v)
	case *List:
		w.list("[", v.Items, "]")
	case Tuple:
		if len(v) == 1 {
			w.list("(", v, ",)")
			return
		}
		w.list("(", v, ")")
	case *Dict:
		w.dict(v)
	case view:
		w.list(v.name+"([", v.items, "])")
	case numbers:
		w.put(fmt.Sprintf("range(%d, %d", v.from, v.to))
		if v.step != 1 {
			w.put(fmt.Sprintf(", %d", v.step))
		}
		w.put(")")
	case *namespace:
		w.put("<Namespace ")
		w.dict(v.fields)
		w.put(">")
	case Undefined:
		w.fail(v.Why)
	case *generator:
		w.fail("a filter gives a generator, which has no text: add |list")
	default:
		w.fail(Kind(v) + " has no text here")
	}
}

func (w *writer) dict(d *Dict) {
	w.put("{")
	for i, e := range d.entries {
		if w.wrong != "" {
			return
		}
		if i > 0 {
			w.put(", ")
		}
		w.repr(e.Key)
		w.put(": ")
		w.repr(e.Value)
	}
	w.put("}")
}

// quoted writes a string as Python's repr does.
func (w *writer) quoted(s string) {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f || 0x80 <= r && r < 0x100 && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte(quote)
	w.put(b.String())
}

// Float is Python's repr of a float.
func Float(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if magnitude := math.Abs(f); magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// number is a value as a number.
func number(v any) (i int64, f float64, isInt, ok bool) {
	switch v := v.(type) {
	case bool:
		i = int64(map[bool]int{true: 1}[v])
		return i, float64(i), true, true
	case int64:
		return v, float64(v), true, true
	case float64:
		return 0, v, false, true
	}
	return 0, 0, false, false
}

// sequence returns the items of a list or a tuple.
func sequence(v any) ([]any, bool) {
	switch v := v.(type) {
	case *List:
		return v.Items, true
	case Tuple:
		return v, true
	}
	return nil, false
}
