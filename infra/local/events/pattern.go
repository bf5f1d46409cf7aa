package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pattern decides which events a rule matches. It knows what Stackwright's rules use of EventBridge's patterns: exact values
// and prefixes. Every other operator is refused.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
type Pattern struct{ root node }

// node is one level of a pattern: fields that must all match.
type node map[string]field

// field is either an object further down or a list of tests, one of which must hold.
type field struct {
	inner node
	tests []test
}

// test compares the value of a field.
type test func(value any) bool

// Compile reads a pattern. The error says what in it EventBridge, or this emulator, does not accept.
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

// Match tells whether the pattern matches an event, given as JSON.
func (p Pattern) Match(event []byte) bool {
	value, err := decode(event)
	return err == nil && p.matches(value)
}

// matches reports the same for a decoded event.
func (p Pattern) matches(event any) bool { return p.root.match(event) }

// decode keeps numbers as they are written, because EventBridge compares them so.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("there is text after its end")
	}
	return value, nil
}

func compileNode(object map[string]any) (node, error) {
	n := node{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f, err := compileField(name, object[name])
		if err != nil {
			return nil, err
		}
		n[name] = f
	}
	return n, nil
}

func compileField(name string, value any) (f field, err error) {
	if name == "$or" {
		return f, fmt.Errorf("the local emulator does not know $or")
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return f, fmt.Errorf("empty objects are not allowed: %q", name)
		}
		f.inner, err = compileNode(value)
		return f, err
	case []any:
		if len(value) == 0 {
			return f, fmt.Errorf("empty arrays are not allowed: %q", name)
		}
		for _, entry := range value {
			t, err := compileTest(entry)
			if err != nil {
				return f, fmt.Errorf("%q: %w", name, err)
			}
			f.tests = append(f.tests, t)
		}
		return f, nil
	default:
		return f, fmt.Errorf("%q must be an object or an array", name)
	}
}

func compileTest(entry any) (test, error) {
	switch entry := entry.(type) {
	case []any:
		return nil, fmt.Errorf("a list within a list is not allowed")
	case map[string]any:
		prefix, ok := entry["prefix"].(string)
		if !ok || len(entry) != 1 {
			return nil, fmt.Errorf(`the local emulator knows one operator, {"prefix": "text"}`)
		}
		return func(value any) bool {
			text, ok := value.(string)
			return ok && strings.HasPrefix(text, prefix)
		}, nil
	}
	return func(value any) bool { return value == entry }, nil
}

// match reads one level of the event. What is not an object has no fields.
func (n node) match(value any) bool {
	object, _ := value.(map[string]any)
	for name, f := range n {
		inner, present := object[name]
		if !present || !f.match(inner) {
			return false
		}
	}
	return true
}

// match compares the value of a field. If the event has a list there, one of its elements must match.
func (f field) match(value any) bool {
	if f.inner != nil {
		return f.inner.match(value)
	}
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, f.match)
	case map[string]any:
		return false // only leaves are compared
	}
	return slices.ContainsFunc(f.tests, func(t test) bool { return t(value) })
}
