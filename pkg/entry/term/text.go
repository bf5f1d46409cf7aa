package term

import (
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// cells is how many cells of a terminal a text takes. A character of Chinese, Japanese or
// Korean takes two.
func cells(s string) int { return text.StringWidthWithoutEscSequences(s) }

// splitAt divides a text behind the characters that fit into a number of cells.
func splitAt(s string, room int) (first, rest string) {
	for i, r := range s {
		if room -= text.RuneWidth(r); room < 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// breakLine divides a text between its words so that the first part fits into a number of
// cells. The first part is empty if not even one word fits.
func breakLine(s string, room int) (first, rest string) {
	if cells(s) <= room {
		return s, ""
	}
	first, _ = splitAt(s, room+1) // a line may end before a space
	end := max(strings.LastIndexByte(first, ' '), 0)
	first = strings.TrimRight(s[:end], " ")
	return first, strings.TrimLeft(s[len(first):], " ")
}

// Wrap breaks a text between its words into lines that fit a width. Lines but
// the first begin with indent. A word that is longer than a line is not broken.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case cells(line)+1+cells(word) > width:
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
		n += cells(s.text)
	}
	return n
}

// fit shows the line in at most width cells, with a mark where it was cut.
// Whatever would move the cursor is left out.
func (l line) fit(width int, colour bool) string {
	total := 0
	for i := range l {
		l[i].text = printable(l[i].text)
		total += cells(l[i].text)
	}
	long := total > width
	if long {
		width--
	}
	var b strings.Builder
	for _, s := range l {
		shown, rest := splitAt(s.text, width)
		width -= cells(shown)
		if long && (rest != "" || width <= 0) {
			paint(&b, s.style, shown+"…", colour)
			break
		}
		paint(&b, s.style, shown, colour)
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

// Line is a text on one line, without characters that control a terminal.
func Line(s string) string { return oneLine(printable(s)) }

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
	if n := width - cells(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}
