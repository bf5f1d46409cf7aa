package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textFilter is a filter without arguments that makes text of text.
func textFilter(f func(string) string) function {
	return func(e *evaluator, of any, a args) any {
		e.bind("the filter", a)
		text := e.str(of)
		e.charge(2 * len(text))
		return f(text)
	}
}

func capitalized(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + strings.ToLower(s[size:])
}

// titled begins each word with a capital; words begin after space and after - ( { [ <.
func titled(s string) string {
	var b strings.Builder
	begins := true
	for _, r := range s {
		if begins {
			b.WriteString(strings.ToUpper(string(r)))
		} else {
			b.WriteString(strings.ToLower(string(r)))
		}
		begins = unicode.IsSpace(r) || strings.ContainsRune("-({[<", r)
	}
	return b.String()
}

func centered(e *evaluator, of any, a args) any {
	return e.pad(e.str(of), e.bind("center", a, "width").size(0, 80), " ", '^')
}

// pad fills a text to a width, as Python's ljust, rjust and center do.
func (e *evaluator) pad(s string, width int, fill string, align byte) string {
	missing := width - utf8.RuneCountInString(s)
	if missing <= 0 {
		return s
	}
	e.charge(width * len(fill))
	left := 0
	switch align {
	case '>':
		left = missing
	case '^':
		left = missing/2 + missing&width&1
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, missing-left)
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

func escaped(e *evaluator, of any, a args) any {
	e.bind("escape", a)
	text := e.str(of)
	e.charge(5 * len(text))
	return escapes.Replace(text)
}

func formatted(e *evaluator, of any, a args) any {
	if len(a.names) > 0 {
		if len(a.list) > 0 {
			e.fail("format: give either arguments with names or without")
		}
		d := NewDict()
		for i, name := range a.names {
			e.set(d, name, a.named[i])
		}
		return e.percent(e.str(of), d)
	}
	return e.percent(e.str(of), Tuple(a.list))
}

func indent(e *evaluator, of any, a args) any {
	b := e.bind("indent", a, "width", "first", "blank")
	by, isText := b.any(0, int64(4)).(string)
	if !isText {
		n := b.size(0, 4)
		e.charge(max(n, 0))
		by = strings.Repeat(" ", max(n, 0))
	}
	text := e.str(of) + "\n"
	lines := splitlines(text, false)
	e.charge(2*len(text) + len(lines)*len(by))
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		if (i > 0 || b.bool(1, false)) && (line != "" || b.bool(2, false) || i == 0) {
			out.WriteString(by)
		}
		out.WriteString(line)
	}
	return out.String()
}

// splitlines is Python's str.splitlines.
func splitlines(s string, keep bool) []string {
	var all []string
	for s != "" {
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if i < 0 {
			return append(all, s)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			size = 2
		}
		if keep {
			all = append(all, s[:i+size])
		} else {
			all = append(all, s[:i])
		}
		s = s[i+size:]
	}
	return all
}

func join(e *evaluator, of any, a args) any {
	b := e.bind("join", a, "d", "attribute")
	get := e.getter(b.any(1, nil))
	between := e.str(b.any(0, ""))
	var out strings.Builder
	for i, v := range e.items(of) {
		if i > 0 {
			e.charge(len(between))
			out.WriteString(between)
		}
		if get != nil {
			v = get(v)
		}
		text := e.str(v)
		e.charge(len(text))
		out.WriteString(text)
	}
	return out.String()
}

func replace(e *evaluator, of any, a args) any {
	b := e.bind("replace", a, "old", "new", "count")
	if !b.given[0] || !b.given[1] {
		e.fail("replace needs what to replace and the replacement")
	}
	count := int64(-1)
	if b.any(2, nil) != nil {
		count = b.int(2, -1)
	}
	return e.replace(e.str(of), e.str(b.any(0, nil)), e.str(b.any(1, nil)), count)
}

func (e *evaluator) replace(s, old, replacement string, count int64) string {
	times := int64(strings.Count(s, old))
	if count >= 0 {
		times = min(times, count)
	}
	if len(replacement) > 0 && times > int64(e.env.Budget.Bytes/len(replacement)) {
		e.exhausted()
	}
	e.charge(len(s) + int(times)*len(replacement))
	return strings.Replace(s, old, replacement, int(times))
}

func trim(e *evaluator, of any, a args) any {
	b := e.bind("trim", a, "chars")
	text := e.str(of)
	if b.any(0, nil) == nil {
		return strings.TrimFunc(text, unicode.IsSpace)
	}
	return strings.Trim(text, b.str(0, ""))
}

func truncate(e *evaluator, of any, a args) any {
	b := e.bind("truncate", a, "length", "killwords", "end", "leeway")
	text, most, tail := []rune(e.str(of)), b.size(0, 255), b.str(2, "...")
	leeway := 5
	if b.any(3, nil) != nil {
		leeway = b.size(3, 5)
	}
	kept := most - utf8.RuneCountInString(tail)
	if kept < 0 || leeway < 0 {
		e.fail("truncate: the length must be at least that of the end, and leeway at least 0")
	}
	if len(text) <= most+leeway {
		return string(text)
	}
	cut := string(text[:kept])
	if !b.bool(1, false) {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + tail
}

func urlencode(e *evaluator, of any, a args) any {
	e.bind("urlencode", a)
	quote := func(v any, safe string) string {
		text := e.str(v)
		e.charge(3 * len(text))
		var b strings.Builder
		for i := range len(text) {
			c := text[i]
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_.-~"+safe, c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		return b.String()
	}
	var pairs []any
	switch v := e.defined(of).(type) {
	case *Dict:
		pairs = e.pairs(v)
	case *List, Tuple:
		pairs = e.items(v)
	default:
		return quote(of, "/")
	}
	var all []string
	for _, p := range pairs {
		pair := e.items(p)
		if len(pair) != 2 {
			e.fail("urlencode: expected pairs of a key and a value")
		}
		all = append(all, strings.ReplaceAll(quote(pair[0], " ")+"="+quote(pair[1], " "), " ", "+"))
	}
	return strings.Join(all, "&")
}

func wordcount(e *evaluator, of any, a args) any {
	e.bind("wordcount", a)
	n := int64(0)
	within := false
	for _, r := range e.str(of) {
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && !within {
			n++
		}
		within = word
	}
	return n
}
