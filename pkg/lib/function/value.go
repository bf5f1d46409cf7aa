package function

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Kind is what a value is: a string, a json.Number, a bool, a []any, a map[string]any or
// nil, JSON's null.
type Kind int

// The kinds of values.
const (
	Any Kind = iota // not known before it is evaluated
	Text
	Number
	Truth
	List
	Map
	Null
)

// String is the kind in messages.
func (k Kind) String() string {
	return [...]string{"a value", "a text", "a number", "true or false", "a list", "a map", "null"}[k]
}

// KindOf returns the kind of a value.
func KindOf(v any) Kind {
	switch v.(type) {
	case string:
		return Text
	case json.Number:
		return Number
	case bool:
		return Truth
	case []any:
		return List
	case map[string]any:
		return Map
	}
	return Null
}

// Fits reports whether a value of a kind may be where another is expected: a number, true and
// false are also texts, and a text may have a number.
func (k Kind) Fits(expected Kind) bool {
	switch {
	case k == expected, k == Any, expected == Any:
		return true
	case expected == Text:
		return k == Number || k == Truth
	case expected == Number:
		return k == Text
	}
	return false
}

// Empty reports whether a value has no number, true or false, and no text but empty ones.
func Empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !Empty(item) })
	case map[string]any:
		for _, item := range v {
			if !Empty(item) {
				return false
			}
		}
		return true
	}
	return false
}

// Write returns a value as a text. Lists, maps and null have none.
func Write(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", fmt.Errorf("expected %s, found %s", Text, KindOf(v))
}

// Joined returns a value as a text, a list with commas between its items, as CloudFormation
// gets a list.
func Joined(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		return join(",", v)
	case map[string]any:
		return "", errors.New("it is a map: write json(…) for its text, or choose one of its values")
	case nil:
		return "", errors.New("it is null, which is no text")
	}
	return Write(v)
}

func join(between string, items []any) (string, error) {
	var b strings.Builder
	for i, item := range items {
		text, err := Write(item)
		if err != nil {
			return "", fmt.Errorf("item %d of the list: %w", i, err)
		}
		if i > 0 {
			b.WriteString(between)
		}
		if b.WriteString(text); b.Len() > MaxText {
			return "", errTooLong
		}
	}
	return b.String(), nil
}

// convert returns a value as its function expects it: a number as an int.
func convert(v any, to Kind) (any, error) {
	if !KindOf(v).Fits(to) {
		return nil, fmt.Errorf("expected %s, found %s", to, KindOf(v))
	}
	switch to {
	case Text:
		return Write(v)
	case Number:
		text, err := Write(v)
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("expected a whole number, found %q", short(text))
		}
		return n, nil
	}
	return v, nil
}

// Size is about how many bytes a value takes.
func Size(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, item := range v {
			n += Size(item)
		}
	case map[string]any:
		for key, item := range v {
			n += 16 + len(key) + Size(item)
		}
	}
	return n
}

// depth is how many lists and maps are within one another.
func depth(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			most = max(most, depth(item))
		}
		return most + 1
	case map[string]any:
		for _, item := range v {
			most = max(most, depth(item))
		}
		return most + 1
	}
	return 0
}

// short cuts a long text for a message.
func short(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
