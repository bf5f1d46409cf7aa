package dynamodb

import (
	"strings"

	"github.com/truora/minidyn/interpreter/language"
	"github.com/truora/minidyn/server"
)

// span is the part of a partition that a key condition may select. It says where to look, no more: which of the items
// there the condition holds for is for minidyn to say.
type span struct {
	hash     string
	from, to string // sort keys, both inclusive
	bounded  bool   // whether to is one
}

// condition is a key condition, with what is needed to read it.
type condition struct {
	table  *table
	keys   schema
	names  map[string]string
	values attributes
}

// span reads the expression; false if it does not say which partition.
func (c condition) span(expression string) (span, bool) {
	parser := language.NewParser(language.NewLexer(expression))
	parsed := parser.ParseConditionalExpression()
	if len(parser.Errors()) > 0 {
		return span{}, false
	}
	var s span
	said := c.read(parsed.Expression, &s)
	return s, said
}

// read narrows s by an expression, and tells whether that says which partition.
func (c condition) read(e language.Expression, s *span) bool {
	switch e := e.(type) {
	case *language.InfixExpression:
		if e.Operator == "AND" {
			left, right := c.read(e.Left, s), c.read(e.Right, s)
			return left || right
		}
		return c.compare(e, s)
	case *language.BetweenExpression:
		if from, ok := c.sort(e.Left, e.Range[0]); ok {
			s.from = from
		}
		if to, ok := c.sort(e.Left, e.Range[1]); ok {
			s.to, s.bounded = to, true
		}
	case *language.CallExpression:
		if e.Function == nil || e.Function.String() != "begins_with" || len(e.Arguments) != 2 {
			return false
		}
		if prefix, ok := c.sort(e.Arguments[0], e.Arguments[1]); ok {
			s.from, s.to, s.bounded = prefix, prefix+"\xff", true // no text has this byte
		}
	}
	return false
}

func (c condition) compare(e *language.InfixExpression, s *span) bool {
	if e.Operator == "=" && c.word(e.Left) == c.keys.hash {
		hash, ok := c.table.text(c.keys.hash, c.value(e.Right))
		s.hash = hash
		return ok
	}
	sort, ok := c.sort(e.Left, e.Right)
	if !ok {
		return false
	}
	if e.Operator == "=" || strings.HasPrefix(e.Operator, ">") {
		s.from = sort
	}
	if e.Operator == "=" || e.Operator == "<" || e.Operator == "<=" {
		s.to, s.bounded = sort, true
	}
	return false
}

// sort is the text that the sort key is compared with. Numbers and bytes are in another order than their text.
func (c condition) sort(left, right language.Expression) (string, bool) {
	if c.keys.sort == "" || c.word(left) != c.keys.sort {
		return "", false
	}
	v := c.value(right)
	if v == nil || v.S == nil || c.table.types[c.keys.sort] != "S" {
		return "", false
	}
	return *v.S, true
}

// word is the attribute that an expression names, or "".
func (c condition) word(e language.Expression) string {
	if id, ok := e.(*language.Identifier); ok {
		return named(id.Value, c.names)
	}
	return ""
}

// value is the value that an expression names, or nil.
func (c condition) value(e language.Expression) *server.AttributeValue {
	if id, ok := e.(*language.Identifier); ok {
		return c.values[id.Value]
	}
	return nil
}
