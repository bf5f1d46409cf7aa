package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Pattern decides which events a rule is for, as EventBridge defines it:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
type Pattern struct{ root node }

// node is one level of a pattern: fields that must all match, and alternatives of which one must.
type node struct {
	fields map[string]field
	or     []node
}

// field is either an object further down or a list of tests, of which one must hold.
type field struct {
	inner *node
	tests []test
}

// test is one entry of a field's list. absent tells whether it holds where the event has no such field.
type test struct {
	holds  func(value any) bool
	absent bool
}

// Compile reads a pattern. The error says what in it EventBridge does not accept.
func Compile(text string) (Pattern, error) {
	value, err := decode([]byte(text))
	if err != nil {
		return Pattern{}, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Pattern{}, fmt.Errorf("filter is not an object")
	}
	if len(object) == 0 {
		return Pattern{}, fmt.Errorf("empty patterns are not allowed")
	}
	root, err := compileNode(object)
	return Pattern{root}, err
}

// Match tells whether the event, as JSON, is one that the pattern is for.
func (p Pattern) Match(event []byte) bool {
	value, err := decode(event)
	return err == nil && p.root.match(value)
}

// decode keeps numbers as they are written: EventBridge compares them so, unless told "numeric".
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more follows after its end")
	}
	return value, nil
}

func compileNode(object map[string]any) (node, error) {
	n := node{fields: map[string]field{}}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if alternatives, ok := object[name].([]any); ok && name == "$or" && len(alternatives) > 1 {
			or, err := compileOr(alternatives)
			if err != nil {
				return n, err
			}
			n.or = or
			continue
		}
		f, err := compileField(name, object[name])
		if err != nil {
			return n, err
		}
		n.fields[name] = f
	}
	return n, nil
}

func compileOr(alternatives []any) ([]node, error) {
	var or []node
	for _, alternative := range alternatives {
		object, ok := alternative.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("each alternative of $or must be an object")
		}
		n, err := compileNode(object)
		if err != nil {
			return nil, err
		}
		or = append(or, n)
	}
	return or, nil
}

func compileField(name string, value any) (field, error) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return field{}, fmt.Errorf("empty objects are not allowed: %q", name)
		}
		inner, err := compileNode(value)
		return field{inner: &inner}, err
	case []any:
		if len(value) == 0 {
			return field{}, fmt.Errorf("empty arrays are not allowed: %q", name)
		}
		var tests []test
		for _, entry := range value {
			t, err := compileTest(entry)
			if err != nil {
				return field{}, fmt.Errorf("%q: %w", name, err)
			}
			tests = append(tests, t)
		}
		return field{tests: tests}, nil
	default:
		return field{}, fmt.Errorf("%q must be an object or an array", name)
	}
}

// match looks at one level of the event; where the event has an array of objects there, any of them may match.
func (n node) match(value any) bool {
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, n.match)
	}
	object, _ := value.(map[string]any) // what is no object has no fields
	for name, f := range n.fields {
		inner, present := object[name]
		if !f.match(inner, present) {
			return false
		}
	}
	return len(n.or) == 0 || slices.ContainsFunc(n.or, func(alternative node) bool { return alternative.match(value) })
}

func (f field) match(value any, present bool) bool {
	if f.inner != nil {
		return f.inner.match(value)
	}
	return slices.ContainsFunc(f.tests, func(t test) bool { return t.match(value, present) })
}

func (t test) match(value any, present bool) bool {
	if !present || t.absent {
		return !present && t.absent
	}
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return t.match(v, true) })
	}
	if _, object := value.(map[string]any); object {
		return false // tests are for leaves
	}
	return t.holds(value)
}
