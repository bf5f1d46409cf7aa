package api

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// fieldsName is the name of the parameter that selects fields of an answer.
const fieldsName = "fields"

// selectable is the parameter of every route that reads and answers JSON of a known type.
func selectable() parameter {
	return parameter{name: fieldsName, text: "only these fields of the answer, separated by commas; a.b is field b of field a, or of each entry of list a"}
}

// selects reports whether a caller can select fields of the answers of a route.
func (r route) selects() bool {
	return slices.ContainsFunc(r.query, func(p parameter) bool { return p.name == fieldsName })
}

// A selection has the names of the fields that a caller selects of an object, each with what is selected of its value: nil is all of it.
type selection map[string]selection

// selection reads the fields that a request selects, nil for all, and says what is wrong with them.
func (q question) selection() (selection, []string) {
	text, given := q.QueryStringParameters[fieldsName]
	if !given || !q.route.selects() {
		return nil, nil
	}
	if format := q.QueryStringParameters["format"]; pictures()[format] != "" {
		return nil, []string{fmt.Sprintf("%s: %s has none: leave it out, or ask for json", fieldsName, format)}
	}
	all := selection{}
	var wrongs []string
	for _, path := range strings.Split(text, ",") {
		if err := all.add(reflect.TypeOf(q.route.answers), path); err != nil {
			wrongs = append(wrongs, err.Error())
		}
	}
	return all, wrongs
}

// add selects the field at a path in values of a type.
func (s selection) add(t reflect.Type, path string) error {
	names := strings.Split(path, ".")
	for i, name := range names {
		fields := fieldsIn(t)
		of, known := fields[name]
		switch {
		case len(fields) == 0:
			return fault.New(fault.Invalid, "%s: %.80q: %s has no fields: write %s", fieldsName, path, names[i-1], strings.Join(names[:i], "."))
		case !known:
			return fault.New(fault.Invalid, "%s: %.80q: there is no %.40q: it is one of %s", fieldsName, path, name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		inner, selected := s[name]
		switch {
		case i == len(names)-1:
			s[name] = nil
		case !selected:
			inner = selection{}
			s[name] = inner
		case inner == nil: // all of it is selected
			inner = selection{}
		}
		s, t = inner, of
	}
	return nil
}

// fieldsIn are the fields in JSON of the values of a type or, if it is a list, of its entries. Texts, numbers, times and maps have none.
func fieldsIn(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil
	}
	all := make(map[string]reflect.Type)
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			all[name] = f.Type
		}
	}
	return all
}

// of leaves out what is not selected of a value, which was read from JSON.
func (s selection) of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			inner, selected := s[name]
			switch {
			case !selected:
				delete(v, name)
			case inner != nil:
				v[name] = inner.of(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = s.of(v[i])
		}
	}
	return v
}

// from is what is selected of a text in JSON.
func (s selection) from(text string) (string, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", fault.New(fault.Broken, "select fields of the answer: %w", err)
	}
	return written(s.of(v))
}
