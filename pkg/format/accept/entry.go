package accept

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// insert are the ways to add an entry to the parent: a key at its end, an item at its place.
func (w *writer) insert(v any) [][]document.Edit {
	i := len(w.parent.Content)
	if place, item := w.step.(int); item {
		i = min(place, i)
	}
	switch {
	case len(w.parent.Content) == 0:
		return w.insertFirst(v)
	case w.flow():
		return w.insertFlow(v, i)
	}
	return w.insertBlock(v, i)
}

// insertFirst fills a parent that has no entries, which is written with braces or brackets.
func (w *writer) insertFirst(v any) (ways [][]document.Edit) {
	from, to, ok := document.Span(w.body, w.parent)
	if !ok {
		return nil
	}
	opens, closes := string(w.body[from]), string(w.body[to-1])
	for _, text := range w.entries(v, "") {
		ways = append(ways, []document.Edit{{From: from, To: to, Text: opens + text + closes}})
	}
	return ways
}

// insertFlow adds an entry to a parent with braces or brackets.
func (w *writer) insertFlow(v any, i int) (ways [][]document.Edit) {
	between, indent := ", ", ""
	if before, blank := w.before(w.start(len(w.parent.Content) - w.size())); blank && w.start(0) > 0 {
		between, indent = ","+w.eol+before, before
	}
	for _, text := range w.entries(v, indent) {
		if i < len(w.parent.Content) {
			at := w.start(i)
			ways = append(ways, []document.Edit{{From: at, To: at, Text: text + between}})
			continue
		}
		at, ok := w.end(i - 1)
		if !ok {
			return nil
		}
		ways = append(ways, []document.Edit{{From: at, To: at, Text: between + text}})
		if comma := bytes.IndexByte(w.body[at:w.lineEnd(at)], ','); comma >= 0 { // one after the last entry
			at += comma
			ways = append(ways, []document.Edit{{From: at, To: at, Text: between + text}})
		}
	}
	return ways
}

// insertBlock adds an entry to a parent that has one in each line.
func (w *writer) insertBlock(v any, i int) (ways [][]document.Edit) {
	indent := strings.Repeat(" ", w.parent.Column-1)
	for _, text := range w.entries(v, indent) {
		if i == 0 {
			at := document.Offset(w.body, w.parent.Line, w.parent.Column)
			if _, blank := w.before(at); blank {
				at = w.lineStart(at)
				ways = append(ways, []document.Edit{{From: at, To: at, Text: indent + text + w.eol}})
			}
			continue
		}
		at, ok := w.end(i - 1)
		if !ok {
			return nil
		}
		at = w.lineEnd(at)
		ways = append(ways, []document.Edit{{From: at, To: at, Text: w.eol + indent + text}})
	}
	return ways
}

// remove are the ways to remove the entry.
func (w *writer) remove() [][]document.Edit {
	first := w.at - w.size() + 1
	end, ok := w.end(w.at)
	switch {
	case !ok:
		return nil
	case len(w.parent.Content) == w.size():
		return w.removeOnly(first, end)
	case w.flow():
		return w.removeFlow(first, end)
	}
	if edit, ok := w.lines(first, end); ok {
		return [][]document.Edit{{edit}}
	}
	next := w.at + 1
	if next == len(w.parent.Content) || w.parent.Kind != yaml.MappingNode {
		return nil
	}
	from, to := w.start(first), w.start(next) // the first key of an item, behind its dash
	if bytes.IndexByte(w.body[end:to], '#') >= 0 {
		return nil // its comment would go, too
	}
	return [][]document.Edit{{{From: from, To: to}}}
}

// removeFlow removes one of several entries of a parent with braces or brackets, and one comma.
func (w *writer) removeFlow(first, end int) [][]document.Edit {
	if next := w.at + 1; next < len(w.parent.Content) {
		return [][]document.Edit{{{From: w.start(first), To: w.start(next)}}}
	}
	before, ok := w.end(first - 1)
	if !ok {
		return nil
	}
	return [][]document.Edit{{{From: before, To: end}}}
}

// removeOnly removes the only entry: an empty mapping or list stays.
func (w *writer) removeOnly(first, end int) [][]document.Edit {
	none := map[yaml.Kind]string{yaml.MappingNode: "{}", yaml.SequenceNode: "[]"}[w.parent.Kind]
	from, to, ok := document.Span(w.body, w.parent)
	if !ok {
		return nil
	}
	whole := []document.Edit{{From: from, To: to, Text: none}}
	if w.flow() || w.key == nil {
		return [][]document.Edit{whole}
	}
	_, colon, ok := document.Span(w.body, w.key)
	if ok {
		colon += bytes.IndexByte(w.body[colon:], ':') + 1
	}
	if edit, lines := w.lines(first, end); ok && lines && edit.From >= colon {
		return [][]document.Edit{{{From: colon, To: colon, Text: " " + none}, edit}, whole} // the first keeps comments between the two
	}
	return [][]document.Edit{whole}
}

// lines is the edit that removes the lines of an entry. It is not ok if something else is in them.
func (w *writer) lines(first, end int) (e document.Edit, ok bool) {
	from := w.start(first)
	if w.parent.Kind == yaml.SequenceNode {
		if from = bytes.LastIndexByte(w.body[:from], '-'); from < 0 {
			return e, false
		}
	}
	if _, blank := w.before(from); !blank {
		return e, false
	}
	e = document.Edit{From: w.lineStart(from), To: w.lineEnd(end)}
	switch rest := w.body[e.To:]; {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		e.To += 2
	case len(rest) > 0:
		e.To++
	default: // it is the last line, which nothing ends
		e.From = max(e.From-1, 0)
	}
	return e, true
}
