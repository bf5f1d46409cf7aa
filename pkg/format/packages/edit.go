package packages

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// An edit replaces bytes of a template.
type edit struct {
	from, to int
	text     string
}

// replace returns the edit that replaces a value by a text, and leaves all other bytes.
func replace(body []byte, n *yaml.Node, text string) (edit, error) {
	from := offset(body, n.Line, n.Column)
	rest := body[from:]
	length := -1
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0 && bytes.HasPrefix(rest, []byte(`"`)):
		for i := 1; i < len(rest) && length < 0; i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				length = i + 1
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0 && bytes.HasPrefix(rest, []byte(`'`+n.Value+`'`)):
		length = len(n.Value) + 2
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && bytes.HasPrefix(rest, []byte(n.Value)):
		length = len(n.Value)
	}
	if length < 0 || n.Anchor != "" {
		return edit{}, errors.New("the path cannot be replaced as it is written: write it on one line, without an anchor")
	}
	return edit{from, from + length, text}, nil
}

// offset returns the offset of a line and column, which count characters from 1.
func offset(body []byte, line, column int) int {
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

// apply returns a copy of body with edits, which do not overlap.
func apply(body []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return body
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue // one value in two places
		}
		out = append(append(out, body[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, body[at:]...)
}
