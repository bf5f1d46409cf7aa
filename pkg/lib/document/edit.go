package document

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// An Edit replaces the bytes of a text between two offsets.
type Edit struct {
	From, To int
	Text     string
}

// Apply returns a copy of a text with edits, and the text itself if there are none. An edit that overlaps one before it in
// the text is left out.
func Apply(body []byte, edits ...Edit) []byte {
	if len(edits) == 0 {
		return body
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.From < at {
			continue
		}
		out = append(append(out, body[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, body[at:]...)
}

// Offset returns the offset of a line and column of a text, which count characters from 1.
func Offset(body []byte, line, column int) int {
	at := 0
	if bytes.HasPrefix(body, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	for ; line > 1; line-- {
		end := bytes.IndexByte(body[at:], '\n')
		if end < 0 {
			return len(body)
		}
		at += end + 1
	}
	for ; column > 1 && at < len(body); column-- {
		_, size := utf8.DecodeRune(body[at:])
		at += size
	}
	return at
}

// Span returns the offsets at which a node that Read has returned begins, with its tag and its anchor, and ends. It is not ok
// if the end is not found: the value is written in a way that a change of bytes does not understand. Who changes what is between the
// offsets reads the result, and compares it with what it should be.
func Span(body []byte, n *yaml.Node) (from, to int, ok bool) {
	from = Offset(body, n.Line, n.Column)
	to = end(body, n, from)
	return from, to, to >= from
}

// end is the offset of the end of a node, and -1 if it is not found.
func end(body []byte, n *yaml.Node, from int) int {
	if n.Kind == yaml.AliasNode {
		return from + len("*") + len(n.Value)
	}
	at := from
	for at < len(body) && (body[at] == '!' || body[at] == '&') {
		for at < len(body) && !isBlank(body[at]) {
			at++
		}
		at = skip(body, at, "")
	}
	last := at
	if len(n.Content) > 0 {
		child := n.Content[len(n.Content)-1]
		if last = end(body, child, Offset(body, child.Line, child.Column)); last < 0 {
			return -1
		}
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		return scalarEnd(body, n, at)
	case at >= len(body):
		return -1
	case n.Style&yaml.FlowStyle == 0:
		return last
	case body[at] != '{' && body[at] != '[':
		return -1
	case len(n.Content) == 0:
		last++
	}
	last = skip(body, last, ",")
	if last >= len(body) || body[last] != body[at]+2 { // ] and } are two characters behind [ and {
		return -1
	}
	return last + 1
}

// scalarEnd is end for a scalar whose text begins at an offset.
func scalarEnd(body []byte, n *yaml.Node, from int) int {
	rest := body[from:]
	switch quoted, block := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle), n.Style&(yaml.LiteralStyle|yaml.FoldedStyle); {
	case block != 0:
		return blockEnd(body, from)
	case quoted == 0:
		return plainEnd(body, n.Value, from)
	case len(rest) == 0 || rest[0] != '"' && rest[0] != '\'':
		return -1
	}
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[0] == '"' && rest[i] == '\\', rest[i] == '\'' && rest[0] == '\'' && bytes.HasPrefix(rest[i+1:], []byte("'")):
			i++
		case rest[i] == rest[0]:
			return from + i + 1
		}
	}
	return -1
}

// plainEnd is the end of a text without quotes. Where it goes on in the next line, its value has a blank or the ends of lines.
func plainEnd(body []byte, value string, from int) int {
	at := from
	for i := 0; i < len(value); i++ {
		switch {
		case at < len(body) && isBlank(value[i]) && isBlank(body[at]):
			for i+1 < len(value) && isBlank(value[i+1]) {
				i++
			}
			for at < len(body) && isBlank(body[at]) {
				at++
			}
		case at < len(body) && body[at] == value[i]:
			at++
		default:
			return -1
		}
	}
	return at
}

// blockEnd is the end of a text that begins with | or >: of the last line that is indented as the first one.
func blockEnd(body []byte, from int) int {
	lineEnd := func(at int) int {
		if n := bytes.IndexByte(body[at:], '\n'); n >= 0 {
			return at + n
		}
		return len(body)
	}
	last, indent := lineEnd(from), -1
	for at := last + 1; at < len(body); {
		to := lineEnd(at)
		line := bytes.TrimRight(body[at:to], "\r")
		if text := bytes.TrimLeft(line, " "); len(text) > 0 {
			has := len(line) - len(text)
			if indent < 0 {
				indent = max(has, 1)
			}
			if has < indent {
				break
			}
			last = at + len(line)
		}
		at = to + 1
	}
	return last
}

// skip is the offset of what follows white space, comments, and the given characters.
func skip(body []byte, at int, more string) int {
	for at < len(body) {
		switch c := body[at]; {
		case c == '#' && at > 0 && isBlank(body[at-1]):
			n := bytes.IndexByte(body[at:], '\n')
			if n < 0 {
				return len(body)
			}
			at += n
		case isBlank(c) || more != "" && bytes.IndexByte([]byte(more), c) >= 0:
			at++
		default:
			return at
		}
	}
	return at
}
