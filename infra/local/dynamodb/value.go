package dynamodb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// attributes are those of an item or of a key, or the values of placeholders, by name.
type attributes map[string]value

// value is an attribute's value in DynamoDB's JSON: a type and a content.
type value struct {
	kind    string          // S, N, BOOL, L, M …; "" if there is no value
	content json.RawMessage // of that type
}

// UnmarshalJSON reads {"S": "text"} and the like. It is called for every attribute of every item, so it does not decode
// the text, which is valid JSON, a second time.
func (v *value) UnmarshalJSON(text []byte) error {
	inner, object := bytes.CutPrefix(text, []byte("{"))
	kind, content, found := bytes.Cut(bytes.TrimSuffix(inner, []byte("}")), []byte(":"))
	if content = bytes.TrimSpace(content); !object || !found || !single(content) {
		return fmt.Errorf("an attribute's value has one type: %s", text)
	}
	v.kind, v.content = string(bytes.Trim(kind, "\" \t\r\n")), bytes.Clone(content)
	switch v.kind {
	case "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS":
	default:
		return fmt.Errorf("%s is not a type of attributes", v.kind)
	}
	if _, err := v.number(); v.kind == "N" && err != nil {
		return err
	}
	return nil
}

// single reports whether a part of valid JSON is one value: it has no comma outside of strings and brackets.
func single(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
		case c == ']', c == '}':
			depth--
		case c == ',' && depth == 0:
			return false
		}
	}
	return true
}

// MarshalJSON writes what UnmarshalJSON reads.
func (v value) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"%s":%s}`, v.kind, v.content), nil
}

func stringValue(text string) value {
	content, _ := json.Marshal(text) // a string always marshals
	return value{"S", content}
}

// string is the text of a value of type S, or "".
func (v value) string() string {
	if v.kind != "S" {
		return ""
	}
	return v.text()
}

// text is the content if it is a JSON string, else "".
func (v value) text() string {
	if n := len(v.content); n >= 2 && v.content[0] == '"' && !bytes.ContainsRune(v.content, '\\') {
		return string(v.content[1 : n-1])
	}
	var text string
	if json.Unmarshal(v.content, &text) != nil {
		return ""
	}
	return text
}

// number is the number of a value of type N.
func (v value) number() (*big.Rat, error) {
	text := v.text()
	if v.kind != "N" || text == "" {
		return nil, fmt.Errorf("%s:%s is not a number", v.kind, v.content)
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXpP") {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}

// plus is the sum of two numbers.
func (v value) plus(w value) (value, error) {
	a, err := v.number()
	if err != nil {
		return value{}, err
	}
	b, err := w.number()
	if err != nil {
		return value{}, err
	}
	sum := a.Add(a, b)
	digits, exact := sum.FloatPrec()
	if !exact {
		return value{}, fmt.Errorf("%s has no end in decimal digits", sum)
	}
	content, _ := json.Marshal(sum.FloatString(digits)) // a string always marshals
	return value{"N", content}, nil
}

// compare orders two strings or two numbers. Values of other types, or of two different ones, have no order.
func (v value) compare(w value) (order int, ordered bool) {
	switch {
	case v.kind == "S" && w.kind == "S":
		return strings.Compare(v.string(), w.string()), true
	case v.kind == "N" && w.kind == "N":
		a, _ := v.number() // it was one when it was read
		b, _ := w.number()
		return a.Cmp(b), true
	}
	return 0, false
}

// equal tells whether two values are the same.
func (v value) equal(w value) bool {
	if order, ordered := v.compare(w); ordered {
		return order == 0
	}
	return v.kind == w.kind && bytes.Equal(v.content, w.content)
}
