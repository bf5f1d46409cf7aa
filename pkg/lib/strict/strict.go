// Package strict reads JSON objects of which every key is known and occurs once.
package strict

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// Fields maps each key of a JSON object to the variable for its value: a pointer to
// a string, a bool, a number, a time, a text of its own type or a list of strings, or to a pointer to a bool or a number that may be absent, or the Fields of an inner object.
type Fields map[string]any

// Read reads one JSON object, the body of a request, into its fields. It returns what is wrong:
// unknown keys, keys that occur twice, and values of the wrong type. Keys are matched
// exactly. It reports false if the text is not a JSON object.
func Read(text []byte, into Fields) (wrong []string, ok bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return []string{"the request is empty: send a JSON object"}, false
	}
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&value); err != nil {
		return []string{"the request is not valid JSON: " + short(err.Error())}, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return []string{"the request is not valid JSON: there is more text behind the first value"}, false
	}
	return object("", value, into), value[0] == '{'
}

// object reads one object. The path names it in messages: "", or "options.".
func object(path string, text json.RawMessage, into Fields) []string {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return []string{fmt.Sprintf("%s: %s found, an object expected", nameOf(path), jsonType(text))}
	}
	var all []string
	seen := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		var value json.RawMessage
		if err = cmp.Or(err, d.Decode(&value)); err != nil {
			return append(all, fmt.Sprintf("%s: %s", nameOf(path), short(err.Error())))
		}
		key, _ := token.(string) // of an object in valid JSON, as this is, it is one
		name := path + short(key)
		target, known := into[key]
		switch {
		case !known:
			all = append(all, fmt.Sprintf("%q is not a key of a request%s", name, suggest.Hint(short(key), slices.Sorted(maps.Keys(into)))))
		case seen[key]:
			all = append(all, fmt.Sprintf("%s: this key occurs twice: keep one of them", name))
		default:
			all = append(all, readValue(name, value, target)...)
		}
		seen[key] = true
	}
	return all
}

// readValue reads one value into its target.
func readValue(name string, value json.RawMessage, target any) []string {
	if inner, ok := target.(Fields); ok {
		return object(name+".", value, inner)
	}
	if string(value) != "null" && json.Unmarshal(value, target) == nil { // null would leave the variable as it is
		return nil
	}
	expected := "a string"
	switch target := target.(type) {
	case *time.Time:
		expected = "a time such as 2026-03-01T12:00:00Z"
	case encoding.TextUnmarshaler:
		var text string
		if json.Unmarshal(value, &text) == nil {
			return []string{fmt.Sprintf("%s: %s", name, short(target.UnmarshalText([]byte(text)).Error()))}
		}
	case *bool, **bool:
		expected = "true or false"
	case *[]string:
		expected = "a list of strings"
	case *int64, **int:
		expected = "a whole number"
	}
	return []string{fmt.Sprintf("%s: %s found, %s expected", name, jsonType(value), expected)}
}

// nameOf names the value at a path.
func nameOf(path string) string {
	if path == "" {
		return "the request"
	}
	return path[:len(path)-1]
}

// jsonType names the type of a JSON value.
func jsonType(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "the number " + short(string(value))
}

// short cuts a text that is too long for a message.
func short(text string) string { return shorten.To(200, text) }
