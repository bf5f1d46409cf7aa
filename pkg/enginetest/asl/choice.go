package asl

import (
	"encoding/json"
	"fmt"
)

// A rule is one arm of a Choice, or a part of one.
type rule struct {
	next     string // of the arm itself
	variable path
	operator string
	operand  any // string, float64, bool or nil, as the operator asks
	parts    []rule
}

func (f fields) choice(s *State) {
	f.need("Choices")
	for i, b := range f.objects("Choices") {
		g := f.fields(fmt.Sprintf("%s/Choices[%d]", f.at, i), b)
		g.need("Next")
		next := g.state("Next")
		r := g.rule(0)
		r.next = next
		s.rules = append(s.rules, r)
	}
	s.fallback = f.state("Default")
}

// rule takes one comparison, or And, Or, Not of several.
func (f fields) rule(depth int) rule {
	f.take("Comment")
	var found []rule
	for _, name := range []string{"And", "Or", "Not"} {
		if f.has(name) {
			found = append(found, f.compound(name, depth))
		}
	}
	for _, c := range []struct {
		name, what string
		operand    any
	}{
		{"StringEquals", "a string", new(string)},
		{"NumericEquals", "a number", new(float64)},
		{"NumericLessThan", "a number", new(float64)},
		{"NumericLessThanEquals", "a number", new(float64)},
		{"NumericGreaterThan", "a number", new(float64)},
		{"NumericGreaterThanEquals", "a number", new(float64)},
		{"BooleanEquals", "true or false", new(bool)},
		{"IsPresent", "true or false", new(bool)},
	} {
		if !f.has(c.name) {
			continue
		}
		f.decode(c.name, c.what, c.operand)
		f.need("Variable")
		r := rule{operator: c.name, operand: value(c.operand)}
		if p := f.path("Variable"); p != nil {
			r.variable = *p
		}
		found = append(found, r)
	}
	f.close("a choice rule")
	if len(found) != 1 {
		f.refuse(f.at, "a rule has exactly one comparison that is understood, not %d", len(found))
		return rule{}
	}
	return found[0]
}

func (f fields) compound(name string, depth int) rule {
	r := rule{operator: name}
	if depth == maxDepth {
		f.refuse(f.at, "rules are nested more than %d deep", maxDepth)
		f.take(name)
		return r
	}
	var parts []json.RawMessage
	if name == "Not" {
		b, _ := f.take(name)
		parts = append(parts, b)
	} else {
		parts = f.objects(name)
	}
	for i, b := range parts {
		r.parts = append(r.parts, f.fields(fmt.Sprintf("%s/%s[%d]", f.at, name, i), b).rule(depth+1))
	}
	return r
}

func value(pointer any) any {
	switch p := pointer.(type) {
	case *string:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	}
	return nil
}

func (r rule) paths() []path {
	if len(r.parts) == 0 {
		return []path{r.variable}
	}
	var out []path
	for _, part := range r.parts {
		out = append(out, part.paths()...)
	}
	return out
}

// holds says whether the rule is true. A value of another kind than the comparison's is simply not equal; one that is
// absent fails the execution, unless the rule is IsPresent.
func (r rule) holds(s *scope) (bool, error) {
	switch r.operator {
	case "And", "Or":
		for _, part := range r.parts {
			is, err := part.holds(s)
			if err != nil || is == (r.operator == "Or") {
				return is, err
			}
		}
		return r.operator == "And", nil
	case "Not":
		is, err := r.parts[0].holds(s)
		return !is, err
	}
	v, present := s.find(r.variable)
	if r.operator == "IsPresent" {
		return present == r.operand, nil
	}
	if !present {
		return false, runtimef(s.state.Name, "Invalid path '%s': The choice state's condition path references an invalid value.", r.variable.text)
	}
	return r.compare(v), nil
}

func (r rule) compare(v any) bool {
	switch want := r.operand.(type) {
	case string, bool:
		return v == want
	case float64:
		n, ok := number(v)
		switch r.operator {
		case "NumericEquals":
			return ok && n == want
		case "NumericLessThan":
			return ok && n < want
		case "NumericLessThanEquals":
			return ok && n <= want
		case "NumericGreaterThan":
			return ok && n > want
		case "NumericGreaterThanEquals":
			return ok && n >= want
		}
	}
	return false
}

// choose finds where a Choice leads.
func (s *State) choose(sc *scope) (string, error) {
	for _, r := range s.rules {
		is, err := r.holds(sc)
		if err != nil {
			return "", err
		}
		if is {
			return r.next, nil
		}
	}
	if s.fallback == "" {
		return "", &Error{Name: NoChoiceMatched, Cause: fmt.Sprintf("the state '%s' has no rule that holds, and no Default", s.Name)}
	}
	return s.fallback, nil
}
