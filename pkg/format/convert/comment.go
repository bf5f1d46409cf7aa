package convert

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// A line is a line of a configuration.
type line struct {
	text    string // without white space at its ends
	comment bool   // it is nothing but a comment
	taken   bool   // the comment belongs to a value
}

// The end of a line after which deeper lines are a text, in which # is no comment.
var opensText = pattern.New(`[|>][-+]?[1-9]?[-+]?$`)

// read splits a file into lines.
func read(body []byte) []line {
	var all []line
	within := -1 // the indentation of the key of a text; -1 outside of one
	for text := range strings.Lines(string(body)) {
		one := line{text: strings.TrimSpace(text)}
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if one.text != "" && indent <= within {
			within = -1
		}
		one.comment = within < 0 && strings.HasPrefix(one.text, "#")
		if within < 0 && !one.comment && opensText.MatchString(one.text) {
			within = indent
		}
		all = append(all, one)
	}
	return all
}

// of returns the lines of a file.
func (w *writer) of(file string) []line {
	if _, ok := w.lines[file]; !ok {
		w.lines[file] = read(w.from[file])
	}
	return w.lines[file]
}

// comment is the comment of the entry of a name: the lines directly above it, and the end of its line.
func (w *writer) comment(at problem.Position, name string) string {
	lines := w.of(at.File)
	i := at.Line - 1
	if i < 0 || i >= len(lines) {
		return ""
	}
	key, value, ok := strings.Cut(lines[i].text, ":")
	if !ok || strings.Trim(key, `"' `) != name { // a mapping in one line, or rendered text
		return ""
	}
	first := i
	for first > 0 && lines[first-1].comment {
		first--
	}
	var b strings.Builder
	for j := first; j < i; j++ {
		lines[j].taken = true
		b.WriteString(stripped(lines[j].text))
	}
	if end := strings.LastIndex(value, " #"); end > strings.LastIndexAny(value, `"'}`) {
		b.WriteString(stripped(value[end+1:]))
	}
	return b.String()
}

// rest is every comment of a file that belongs to no value.
func (w *writer) rest(file string) string {
	if rest, ok := w.rests[file]; ok {
		return rest
	}
	var b strings.Builder
	for _, l := range w.of(file) {
		if l.comment && !l.taken {
			b.WriteString(stripped(l.text))
		}
	}
	w.rests[file] = b.String()
	return w.rests[file]
}

// stripped is a comment without its sign, as a line.
func stripped(text string) string {
	return strings.TrimSpace(strings.TrimLeft(text, "#")) + "\n"
}
