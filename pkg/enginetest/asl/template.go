package asl

import (
	"fmt"
	"slices"
	"strings"
)

// A template makes a value of a state's input and the context object: Parameters, ItemSelector, ResultSelector.
// The zero template is absent.
type template interface {
	make(*scope) (any, error)
	paths() []path
}

type literal struct{ value any }

type reference struct {
	field string
	path  path
}

type object struct {
	constant map[string]any
	keys     []string
	values   []template
}

type list []template

func (l literal) make(*scope) (any, error) { return l.value, nil }
func (l literal) paths() []path            { return nil }

func (r reference) make(s *scope) (any, error) {
	v, ok := s.find(r.path)
	if !ok {
		return nil, runtimef(s.state.Name, "The JSONPath '%s' specified for the field '%s' could not be found in the input", r.path.text, r.field)
	}
	return v, nil
}
func (r reference) paths() []path { return []path{r.path} }

func (o object) make(s *scope) (any, error) {
	out := make(map[string]any, len(o.constant)+len(o.keys))
	for k, v := range o.constant {
		out[k] = v
	}
	for i, k := range o.keys {
		v, err := o.values[i].make(s)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

func (o object) paths() []path { return list(o.values).paths() }

func (l list) make(s *scope) (any, error) {
	out := make([]any, len(l))
	for i, t := range l {
		v, err := t.make(s)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (l list) paths() []path {
	var out []path
	for _, t := range l {
		out = append(out, t.paths()...)
	}
	return out
}

// compile reads a template from its JSON value. What holds no path is a literal, made once.
func compile(v any) (template, error) {
	switch v := v.(type) {
	case map[string]any:
		return compileObject(v)
	case []any:
		out, constant := make(list, len(v)), true
		for i, e := range v {
			t, err := compile(e)
			if err != nil {
				return nil, err
			}
			_, same := t.(literal)
			out[i], constant = t, constant && same
		}
		if constant {
			return literal{v}, nil
		}
		return out, nil
	}
	return literal{v}, nil
}

func compileObject(v map[string]any) (template, error) {
	o := object{constant: make(map[string]any)}
	names := make([]string, 0, len(v))
	for key := range v {
		names = append(names, key)
	}
	slices.Sort(names)
	for _, name := range names {
		key, dynamic := strings.CutSuffix(name, ".$")
		t, err := compileField(name, v[name], dynamic)
		if err != nil {
			return nil, err
		}
		if _, twice := v[key]; twice && dynamic {
			return nil, fmt.Errorf("%q and %q are one field", key, name)
		}
		if l, ok := t.(literal); ok {
			o.constant[key] = l.value
			continue
		}
		o.keys, o.values = append(o.keys, key), append(o.values, t)
	}
	if len(o.keys) == 0 {
		return literal{o.constant}, nil
	}
	return o, nil
}

func compileField(name string, v any, dynamic bool) (template, error) {
	if !dynamic {
		return compile(v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("field %q must be a path, because its name ends in .$", name)
	}
	p, err := parsePath(text)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name, err)
	}
	return reference{field: name, path: p}, nil
}
