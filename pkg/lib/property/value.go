package property

import (
	"slices"
	"strconv"
	"strings"
)

// A Value is the value of a property, as far as it is known.
type Value struct {
	Kind         Kind
	Text         string   // of a scalar, as CloudFormation writes it
	Keys         []string // of a mapping, beside Items
	Items        []Value  // the values of a mapping, the items of a list, or the alternatives
	Line, Column int
}

// A Kind is what a value is.
type Kind byte

// The kinds. The zero value is not known.
const (
	Unknown Kind = iota
	Absent       // AWS::NoValue, which removes the item or the key that it is the value of
	Either       // one of several values
	Text         // a text
	Number       // a number that is written without quotes
	Truth        // true or false, written without quotes
	List
	Mapping
)

// The kinds in Node.Kinds, which are the first letters of the types of JSON Schema.
const (
	textKind    = 's' // string
	numberKind  = 'n'
	integerKind = 'i'
	truthKind   = 'b' // boolean
	listKind    = 'a' // array
	mappingKind = 'o' // object
)

func (v Value) scalar() bool { return v.Kind == Text || v.Kind == Number || v.Kind == Truth }

// number is the value as a number.
func (v Value) number() (float64, bool) {
	if v.Kind != Text && v.Kind != Number {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	return n, err == nil
}

// maybeAbsent reports whether the value may be AWS::NoValue.
func (v Value) maybeAbsent() bool {
	return v.Kind == Absent || v.Kind == Either && slices.ContainsFunc(v.Items, Value.maybeAbsent)
}

// is reports whether CloudFormation takes the value as one of a kind of JSON Schema. It converts scalars.
// https://github.com/aws-cloudformation/cfn-lint/blob/main/docs/rules.md (E3012 without strict)
func (v Value) is(kind rune) bool {
	switch kind {
	case mappingKind:
		return v.Kind == Mapping
	case listKind:
		return v.Kind == List
	case textKind:
		return v.scalar()
	case numberKind:
		_, ok := v.number()
		return ok
	case integerKind:
		n, ok := v.number()
		return ok && n == float64(int64(n))
	case truthKind:
		return v.scalar() && (strings.EqualFold(v.Text, "true") || strings.EqualFold(v.Text, "false"))
	}
	return true
}
