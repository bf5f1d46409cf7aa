package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks a text between its words into lines that fit a width. Lines but
// the first begin with indent. A word that is longer than a line is not broken.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// A style is how text is painted: the number of an ANSI colour or weight.
type style string

const (
	normal style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// A span is text in one style.
type span struct {
	style style
	text  string
}

// A line is a row of spans.
type line []span

// length is how many cells a line takes.
func (l line) length() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// fit shows the line in at most width cells, with a mark where it was cut.
// Whatever would move the cursor is left out.
func (l line) fit(width int, colour bool) string {
	total := 0
	for i := range l {
		l[i].text = printable(l[i].text)
		total += utf8.RuneCountInString(l[i].text)
	}
	cut := total > width
	if cut {
		width--
	}
	var b strings.Builder
	for _, s := range l {
		text := s.text
		if n := utf8.RuneCountInString(text); n > width {
			text = string([]rune(text)[:max(width, 0)])
		}
		width -= utf8.RuneCountInString(text)
		if cut && width <= 0 {
			text, cut = text+"…", false
			width = -1
		}
		paint(&b, s.style, text, colour)
		if width < 0 {
			break
		}
	}
	return b.String()
}

// paint writes text in a style.
func paint(b *strings.Builder, s style, text string, colour bool) {
	if !colour || s == normal || text == "" {
		b.WriteString(text)
		return
	}
	b.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
}

// printable replaces characters that control a terminal or the direction of writing,
// which a reason may contain.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// pad fills text up with spaces.
func pad(text string, width int) string {
	if n := width - utf8.RuneCountInString(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}
