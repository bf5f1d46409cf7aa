package asl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Encode writes a value that Decode read, or that was made of such values, as compact JSON without HTML escapes, and
// with the keys of objects in order.
func Encode(v any) (json.RawMessage, error) { return appendValue(make([]byte, 0, 256), v) }

// appendValue appends v as encoding/json writes it, which is left what is rare.
func appendValue(b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case map[string]any:
		if v != nil {
			return appendObject(b, v)
		}
	case []any:
		if v != nil {
			return appendArray(b, v)
		}
	case string:
		if plain(v) {
			return append(append(append(b, '"'), v...), '"'), nil
		}
	case json.Number:
		if v != "" && v[0] != '0' && strings.Trim(string(v), "0123456789") == "" {
			return append(b, v...), nil
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("asl: JSON: %w", err)
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...), nil
}

func appendObject(b []byte, v map[string]any) (_ []byte, err error) {
	b = append(b, '{')
	var room [16]string // most objects are small
	keys := room[:0]
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, key); err != nil {
			return nil, err
		}
		if b, err = appendValue(append(b, ':'), v[key]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendArray(b []byte, v []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, e := range v {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, e); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// plain reports whether a text is written as it is, between quotes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
