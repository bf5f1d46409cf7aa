package template

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Unknown is the value of what does not follow from what is known. It may stand
// for a whole value or for a part of one: an item of a list, a value of a mapping.
type Unknown struct{}

// noValue is AWS::NoValue: it removes the item or the key that it is the value of.
type noValue struct{}

// Known says whether nothing in a value is Unknown.
func Known(v any) bool {
	switch v := v.(type) {
	case Unknown:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !Known(item) })
	case map[string]any:
		return Known(slices.Collect(maps.Values(v)))
	}
	return true
}

// Text returns a known scalar as CloudFormation writes it where text is wanted
// (true, 80, some text), and whether the value is one.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return plain(v), true
	}
	return "", false
}

// equal compares known values; scalars are compared as text.
func equal(a, b any) bool {
	if left, ok := Text(a); ok {
		right, ok := Text(b)
		return ok && left == right
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	}
	return a == nil && b == nil
}
