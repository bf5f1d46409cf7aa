package jinja

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of tokens.
type kind int

const (
	end kind = iota
	literalText
	variableStart
	variableEnd
	blockStart
	blockEnd
	name
	integer
	float
	text
	operator
)

// A token is one word of a template.
type token struct {
	kind kind
	text string
	at   Position
}

// A lexer divides a source into tokens.
type lexer struct {
	Settings
	template     string
	source       string
	offset       int
	line, column int
	tokens       []token
	lineStart    bool // the previous match ended with a newline
}

func lex(s Settings, template, source string) []token {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	if !s.KeepTrailingNewline {
		source = strings.TrimSuffix(source, "\n")
	}
	l := &lexer{Settings: s, template: template, source: source, line: 1, column: 1, lineStart: true}
	for l.offset < len(l.source) {
		l.outside()
	}
	return append(l.tokens, token{kind: end, at: l.at()})
}

func (l *lexer) at() Position { return Position{l.template, l.line, l.column} }

func (l *lexer) rest() string { return l.source[l.offset:] }

// take moves over n bytes.
func (l *lexer) take(n int) string {
	taken := l.source[l.offset : l.offset+n]
	for _, r := range taken {
		if r == '\n' {
			l.line++
			l.column = 1
		} else {
			l.column++
		}
	}
	l.offset += n
	l.lineStart = strings.HasSuffix(taken, "\n")
	return taken
}

func (l *lexer) add(k kind, text string, at Position) {
	l.tokens = append(l.tokens, token{k, text, at})
}

// next finds the first delimiter; the longest, if several begin there.
func (l *lexer) next() (at int, start string) {
	at = -1
	for _, s := range []string{l.BlockStart, l.VariableStart, l.CommentStart} {
		i := strings.Index(l.rest(), s)
		if i >= 0 && (at < 0 || i < at || i == at && len(s) > len(start)) {
			at, start = i, s
		}
	}
	return at, start
}

// outside reads literal text up to a delimiter, and what the delimiter begins.
func (l *lexer) outside() {
	at, start := l.next()
	if at < 0 {
		from := l.at()
		l.add(literalText, l.take(len(l.rest())), from)
		return
	}
	begins := l.lineStart
	from, data := l.at(), l.take(at)
	opened := l.at()
	l.take(len(start))
	sign := ""
	if strings.HasPrefix(l.rest(), "-") || strings.HasPrefix(l.rest(), "+") && start != l.VariableStart {
		sign = l.take(1)
	}
	kept := data
	switch {
	case sign == "-":
		kept = strings.TrimRightFunc(data, unicode.IsSpace)
	case sign != "+" && l.LstripBlocks && start != l.VariableStart:
		last := strings.LastIndexByte(data, '\n') + 1
		if (last > 0 || begins) && strings.TrimFunc(data[last:], unicode.IsSpace) == "" {
			kept = data[:last]
		}
	}
	if kept != "" {
		l.add(literalText, kept, from)
	}
	switch start {
	case l.CommentStart:
		l.comment(opened)
	case l.VariableStart:
		l.add(variableStart, "", opened)
		l.inside(variableEnd, l.VariableEnd)
	default:
		if l.raw(opened) {
			return
		}
		l.add(blockStart, "", opened)
		l.inside(blockEnd, l.BlockEnd)
	}
}

func (l *lexer) comment(opened Position) {
	i := strings.Index(l.rest(), l.CommentEnd)
	if i < 0 {
		fail(opened, "the comment is not closed: write %s", l.CommentEnd)
	}
	l.take(i)
	l.closed(i > 0 && l.source[l.offset-1] == '-', i > 0 && l.source[l.offset-1] == '+', len(l.CommentEnd), true)
}

// closed moves over a closing delimiter and the space that it strips.
func (l *lexer) closed(minus, plus bool, size int, trims bool) {
	l.take(size)
	switch {
	case minus:
		l.take(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), unicode.IsSpace)))
	case trims && !plus && l.TrimBlocks && strings.HasPrefix(l.rest(), "\n"):
		l.take(1)
	}
}

// tag returns the size of a word with the end of its tag, such as `raw %}`, if they are there.
func (l *lexer) tag(at int, word string) (size int, minus, plus, ok bool) {
	rest := strings.TrimLeftFunc(l.source[at:], unicode.IsSpace)
	if !strings.HasPrefix(rest, word) {
		return 0, false, false, false
	}
	rest = strings.TrimLeftFunc(rest[len(word):], unicode.IsSpace)
	minus, plus = strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "+")
	if minus || plus {
		rest = rest[1:]
	}
	if !strings.HasPrefix(rest, l.BlockEnd) {
		return 0, false, false, false
	}
	return len(l.source) - at - len(rest), minus, plus, true
}

// raw reads a raw block, of which the opening delimiter was read, if it is one.
func (l *lexer) raw(opened Position) bool {
	size, minus, plus, ok := l.tag(l.offset, "raw")
	if !ok {
		return false
	}
	l.take(size)
	l.closed(minus, plus, len(l.BlockEnd), true)
	for from := l.offset; ; {
		i := strings.Index(l.source[from:], l.BlockStart)
		if i < 0 {
			fail(opened, "the raw block is not closed: write %s endraw %s", l.BlockStart, l.BlockEnd)
		}
		start := from + i
		after := start + len(l.BlockStart)
		strips := strings.HasPrefix(l.source[after:], "-")
		keeps := strings.HasPrefix(l.source[after:], "+")
		if strips || keeps {
			after++
		}
		size, minus, plus, ok := l.tag(after, "endraw")
		if !ok {
			from = start + len(l.BlockStart)
			continue
		}
		at, data := l.at(), l.take(start-l.offset)
		switch last := strings.LastIndexByte(data, '\n') + 1; {
		case strips:
			data = strings.TrimRightFunc(data, unicode.IsSpace)
		case !keeps && l.LstripBlocks && last > 0 && strings.TrimFunc(data[last:], unicode.IsSpace) == "":
			data = data[:last]
		}
		if data != "" {
			l.add(literalText, data, at)
		}
		l.take(after - l.offset)
		l.take(size)
		l.closed(minus, plus, len(l.BlockEnd), true)
		return true
	}
}

// operators are the longest first.
var operators = []string{"**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

// inside reads an expression or a statement up to its closing delimiter.
func (l *lexer) inside(closes kind, delimiter string) {
	opened := l.at()
	var open []byte
	for {
		l.take(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), unicode.IsSpace)))
		rest := l.rest()
		at := l.at()
		if rest == "" {
			fail(opened, "the tag is not closed: write %s", delimiter)
		}
		if len(open) == 0 {
			sign := rest[0]
			if strings.HasPrefix(rest, delimiter) {
				l.add(closes, "", at)
				l.closed(false, false, len(delimiter), closes == blockEnd)
				return
			}
			if (sign == '-' || sign == '+' && closes == blockEnd) && strings.HasPrefix(rest[1:], delimiter) {
				l.take(1)
				l.add(closes, "", at)
				l.closed(sign == '-', sign == '+', len(delimiter), closes == blockEnd)
				return
			}
		}
		l.word(at, &open)
	}
}

// word reads one token of an expression.
func (l *lexer) word(at Position, open *[]byte) {
	rest := l.rest()
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case first == '_' || unicode.IsLetter(first):
		n := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		if n < 0 {
			n = len(rest)
		}
		l.add(name, l.take(n), at)
	case '0' <= first && first <= '9':
		l.number(at)
	case first == '"' || first == '\'':
		l.quoted(at, byte(first))
	default:
		for _, o := range operators {
			if !strings.HasPrefix(rest, o) {
				continue
			}
			switch o {
			case "(", "[", "{":
				*open = append(*open, map[string]byte{"(": ')', "[": ']', "{": '}'}[o])
			case ")", "]", "}":
				if n := len(*open); n == 0 || (*open)[n-1] != o[0] {
					fail(at, "unexpected %q", o)
				}
				*open = (*open)[:len(*open)-1]
			}
			l.take(len(o))
			l.add(operator, o, at)
			return
		}
		fail(at, "unexpected %q", first)
	}
}

func (l *lexer) number(at Position) {
	rest := l.rest()
	digits := func(from int, in string) int {
		n := from
		for n < len(rest) && (strings.IndexByte(in, rest[n]) >= 0 || rest[n] == '_' && n > from && n+1 < len(rest) && strings.IndexByte(in, rest[n+1]) >= 0) {
			n++
		}
		return n
	}
	const decimal = "0123456789"
	if len(rest) > 1 && rest[0] == '0' {
		for prefix, in := range map[byte]string{'x': "0123456789abcdefABCDEF", 'o': "01234567", 'b': "01"} {
			if rest[1]|0x20 == prefix {
				if n := digits(2, in); n > 2 {
					l.integer(at, n)
					return
				}
			}
		}
	}
	n := digits(0, decimal)
	is := integer
	if last := len(l.tokens) - 1; l.tokens[last].kind == operator && l.tokens[last].text == "." {
		l.integer(at, n) // as in a.0.1
		return
	}
	if n+1 < len(rest) && rest[n] == '.' && strings.IndexByte(decimal, rest[n+1]) >= 0 {
		n, is = digits(n+1, decimal), float
	}
	if n < len(rest) && rest[n]|0x20 == 'e' {
		from := n + 1
		if from < len(rest) && (rest[from] == '-' || rest[from] == '+') {
			from++
		}
		if m := digits(from, decimal); m > from {
			n, is = m, float
		}
	}
	if is == integer {
		l.integer(at, n)
		return
	}
	l.add(float, strings.ReplaceAll(l.take(n), "_", ""), at)
}

func (l *lexer) integer(at Position, n int) {
	written := l.take(n)
	if strings.Trim(written, "0_") != "" && written[0] == '0' && '0' <= written[1] && written[1] <= '9' {
		fail(at, "%s: a number cannot begin with 0", written)
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(written, "_", ""), 0, 64)
	if err != nil {
		fail(at, "%s: the number is too large", short(written))
	}
	l.add(integer, strconv.FormatInt(v, 10), at)
}

// quoted reads a string as Python's unicode-escape does.
func (l *lexer) quoted(at Position, quote byte) {
	rest := l.rest()
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == quote:
			l.take(i + 1)
			l.add(text, b.String(), at)
			return
		case c != '\\' || i+1 == len(rest):
			b.WriteByte(c)
			continue
		}
		i++
		escaped := rest[i]
		if plain := strings.IndexByte(`\'"abfnrtv`, escaped); plain >= 0 {
			b.WriteByte("\\'\"\a\b\f\n\r\t\v"[plain])
			continue
		}
		size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[escaped]
		switch {
		case escaped == '\n':
		case size > 0:
			if i+size >= len(rest) {
				fail(at, `\%c needs %d digits`, escaped, size)
			}
			v, err := strconv.ParseUint(rest[i+1:i+1+size], 16, 32)
			if err != nil || !utf8.ValidRune(rune(v)) {
				fail(at, `\%s is not a character`, rest[i:i+1+size])
			}
			b.WriteRune(rune(v))
			i += size
		case '0' <= escaped && escaped <= '7':
			n := i
			for n < len(rest) && n < i+3 && '0' <= rest[n] && rest[n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(rest[i:n], 8, 32)
			b.WriteRune(rune(v))
			i = n - 1
		case escaped == 'N':
			fail(at, `\N{…} is not supported: write the character itself`)
		default:
			b.WriteByte('\\')
			b.WriteByte(escaped)
		}
	}
	fail(at, "the string is not closed")
}

func short(s string) string {
	if r := []rune(s[:min(len(s), 400)]); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
