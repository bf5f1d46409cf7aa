package reference

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// maxValues is how many values one expression may at most have.
const maxValues = 1000

// isExpression reports whether what is no reference was meant to be an expression.
func isExpression(written string) bool {
	return strings.HasPrefix(written, "${{") || strings.ContainsAny(written, "()[]'\"") || strings.Contains(written, "??") || strings.HasPrefix(written, "${var.") && strings.Count(written, ".") > 1
}

// parseExpression reads the expression in ${…} that begins at an offset in a text, and returns
// how long it is. docs/configuration.md has the grammar.
func parseExpression(text string, at int) (declared.Expression, int, error) {
	s := &scanner{text: text, at: at + len("${")}
	x, err := s.expression(0)
	if err == nil && !s.take("}") {
		err = s.expected("an operator, or } at the end")
	}
	if err != nil {
		return x, 0, err
	}
	x.Written = text[at:s.at]
	return x, s.at - at, nil
}

// A scanner reads an expression in a text.
type scanner struct {
	text   string
	at     int // the next byte
	values int
}

// fail is an error at an offset.
func (s *scanner) fail(at int, format string, args ...any) error {
	return fmt.Errorf("%s: %w", Show(s.place(at)), fmt.Errorf(format, args...))
}

// Show is a place in messages.
func Show(p declared.Place) string {
	if p.Line > 1 {
		return fmt.Sprintf("line %d, column %d of the value", p.Line, p.Column)
	}
	return fmt.Sprintf("column %d of the value", p.Column)
}

func (s *scanner) place(at int) declared.Place {
	before := s.text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return declared.Place{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line)}
}

// expected is the error that something else was expected than what is next.
func (s *scanner) expected(what string) error {
	s.space()
	found := "the end of the value"
	if rest := s.text[s.at:]; rest != "" {
		found = s.name()
		if found == "" {
			_, size := utf8.DecodeRuneInString(rest)
			found = rest[:size]
		}
		found = fmt.Sprintf("%q", problem.Short(found))
	}
	return s.fail(s.at, "expected %s, found %s", what, found)
}

func (s *scanner) space() {
	s.at = len(s.text) - len(strings.TrimLeft(s.text[s.at:], " \t\r\n"))
}

// take reads a sign after blanks, if it is next.
func (s *scanner) take(sign string) bool {
	s.space()
	if !strings.HasPrefix(s.text[s.at:], sign) {
		return false
	}
	s.at += len(sign)
	return true
}

// expression reads operand { "??" operand }.
func (s *scanner) expression(depth int) (declared.Expression, error) {
	s.space()
	first := s.place(s.at)
	x, err := s.operand(depth)
	if err != nil || !s.take("??") {
		return x, err
	}
	all := declared.Expression{Place: first, Function: function.Default, Items: []declared.Expression{x}}
	for {
		s.values++
		if x, err = s.operand(depth); err != nil {
			return x, err
		}
		all.Items = append(all.Items, x)
		if !s.take("??") {
			return all, nil
		}
	}
}

// operand reads a value, and the indexes and keys after it.
func (s *scanner) operand(depth int) (declared.Expression, error) {
	x, err := s.value(depth)
	for err == nil {
		var key declared.Expression
		switch {
		case strings.HasPrefix(s.text[s.at:], "["):
			s.at++
			if key, err = s.expression(depth + 1); err == nil && !s.take("]") {
				err = s.expected("]")
			}
		case strings.HasPrefix(s.text[s.at:], "."):
			s.at++
			key.Place = s.place(s.at)
			text := plainKey.FindStringSubmatch(s.text[s.at:])
			if text == nil {
				return x, s.expected("a key: write ['key'] for one with other signs than letters, digits, _ and -")
			}
			s.at += len(text[0])
			key.Known = text[0]
		default:
			return x, nil
		}
		if s.values++; s.values > maxValues {
			return x, s.fail(s.at, "more than %d values in one expression: divide it, or write a file", maxValues)
		}
		x = declared.Expression{Place: key.Place, Function: "select", Items: []declared.Expression{key, x}}
	}
	return x, err
}

var plainKey = pattern.New(`^[A-Za-z0-9_-]+`)

// value reads a text, a list, a map, a call, or a name.
func (s *scanner) value(depth int) (x declared.Expression, err error) {
	s.space()
	x.Place = s.place(s.at)
	if s.values++; s.values > maxValues {
		return x, s.fail(s.at, "more than %d values in one expression: divide it, or write a file", maxValues)
	}
	if depth > function.MaxDepth {
		return x, s.fail(s.at, "the expression is nested too deep: at most %d levels are read", function.MaxDepth)
	}
	switch {
	case s.at == len(s.text):
		return x, s.expected("a value")
	case s.text[s.at] == '\'' || s.text[s.at] == '"':
		x.Known, err = s.quoted()
		return x, err
	case s.take("["):
		x.List = true
		x.Items, err = s.items(depth, "]")
		return x, err
	case s.take("{"):
		return x, s.entries(&x, depth)
	}
	return x, s.word(&x, depth)
}

// quoted reads a text in quotes. A quote in it is written twice.
func (s *scanner) quoted() (string, error) {
	from, quote := s.at, s.text[s.at:s.at+1]
	var b strings.Builder
	for s.at++; ; {
		end := strings.Index(s.text[s.at:], quote)
		if end < 0 {
			return "", s.fail(from, "the text is not closed: write %s at its end", quote)
		}
		b.WriteString(s.text[s.at : s.at+end])
		if s.at += end + 1; !strings.HasPrefix(s.text[s.at:], quote) {
			return b.String(), nil
		}
		b.WriteString(quote)
		s.at++
	}
}

// items reads values up to the sign that ends them. A comma may be before it.
func (s *scanner) items(depth int, end string) ([]declared.Expression, error) {
	var all []declared.Expression
	for !s.take(end) {
		x, err := s.expression(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
		if !s.take(",") {
			if s.take(end) {
				break
			}
			return nil, s.expected(", or " + end)
		}
	}
	return all, nil
}

// entries reads the keys and values of a map.
func (s *scanner) entries(x *declared.Expression, depth int) error {
	x.Keys = []string{}
	seen := map[string]bool{}
	for !s.take("}") {
		s.space()
		at := s.at
		key, err := s.key()
		switch {
		case err != nil:
			return err
		case seen[key]:
			return s.fail(at, "the key %q is in the map already", problem.Short(key))
		case !s.take(":"):
			return s.expected(": after the key")
		}
		seen[key] = true
		value, err := s.expression(depth + 1)
		if err != nil {
			return err
		}
		x.Keys, x.Items = append(x.Keys, key), append(x.Items, value)
		if !s.take(",") {
			if s.take("}") {
				break
			}
			return s.expected(", or }")
		}
	}
	return nil
}

func (s *scanner) key() (string, error) {
	rest := s.text[s.at:]
	if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		return s.quoted()
	}
	m := plainKey.FindStringSubmatch(rest)
	if m == nil {
		return "", s.expected("a key: letters, digits, _ and -, or a text in quotes")
	}
	s.at += len(m[0])
	return m[0], nil
}

// name reads what is up to a blank or a sign of the grammar.
func (s *scanner) name() string {
	rest := s.text[s.at:]
	end := strings.IndexAny(rest, " \t\r\n,()[]{}'\"")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.Index(rest[:end], "??"); at >= 0 {
		end = at
	}
	return rest[:end]
}

// https://www.rfc-editor.org/rfc/rfc8259#section-6
var number = pattern.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// word reads a number, true, false, null, a call, or a reference.
func (s *scanner) word(x *declared.Expression, depth int) error {
	from := s.at
	name := s.name()
	if name == "" {
		return s.expected("a value")
	}
	s.at += len(name)
	switch {
	case strings.HasPrefix(s.text[s.at:], "("):
		if _, ok := function.Named(name); !ok {
			return s.fail(from, "there is no function %q%s", problem.Short(name), function.Hint(name))
		}
		s.at++
		var err error
		x.Function = name
		x.Items, err = s.items(depth, ")")
		return err
	case number.MatchString(name):
		x.Known = json.Number(name)
		return nil
	case name == "true" || name == "false":
		x.Known = name == "true"
		return nil
	case name == "null":
		return nil
	}
	if f, ok := function.Named(name); ok {
		return s.fail(from, "%s is a function: write %s", name, f.Syntax)
	}
	return s.reference(x, from, name)
}

// reference reads a reference without ${ and }. After a variable, keys may follow.
func (s *scanner) reference(x *declared.Expression, from int, name string) error {
	if variable, is := strings.CutPrefix(name, "var."); is {
		if first, rest, more := strings.Cut(variable, "."); more {
			s.at -= len("." + rest)
			name = "var." + first
		}
	}
	r, err := parse("${" + name + "}")
	if err != nil {
		return s.fail(from, "%w", err)
	}
	if k, _ := Of(r.Kind); k.Dynamic {
		return s.fail(from, "%s: %w", problem.Short(r.Written), ErrDynamic)
	}
	x.Reference = &r
	return nil
}

// ErrDynamic refuses what CloudFormation resolves in an expression.
var ErrDynamic = errors.New("CloudFormation resolves it, so that Stackwright never knows its value: it cannot be in an expression: write it outside, or compute the value in the template")
