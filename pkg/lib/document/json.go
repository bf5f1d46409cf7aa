package document

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// jsonReader makes nodes of JSON that is known to be valid, and keeps count of
// lines and columns on the way.
type jsonReader struct {
	file         string
	body         []byte
	decoder      *json.Decoder
	at           int // bytes of body counted so far
	line, column int // place of body[at]
}

func parseJSON(file string, body []byte) (*yaml.Node, *Error) {
	r := &jsonReader{file: file, body: body, decoder: json.NewDecoder(bytes.NewReader(body)), line: 1, column: 1}
	r.decoder.UseNumber()
	return r.value(0)
}

func (r *jsonReader) value(depth int) (*yaml.Node, *Error) {
	n, delim, err := r.token()
	if err != nil || delim == 0 {
		return n, err
	}
	if depth == MaxDepth {
		return nil, At(r.file, n, "lists and mappings are nested too deep: at most %d levels are read", MaxDepth)
	}
	for r.decoder.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	_, _, err = r.token() // the closing bracket
	return n, err
}

// token reads the next token as a node; delim is 0 for a scalar.
func (r *jsonReader) token() (n *yaml.Node, delim json.Delim, bad *Error) {
	r.advance(int(r.decoder.InputOffset()))
	for r.at < len(r.body) && strings.IndexByte(" \t\r\n,:", r.body[r.at]) >= 0 {
		r.advance(r.at + 1)
	}
	n = &yaml.Node{Kind: yaml.ScalarNode, Line: r.line, Column: r.column}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, 0, At(r.file, n, "not JSON: %v", err)
	}
	switch token := token.(type) {
	case json.Delim:
		n.Kind, n.Tag, n.Style = yaml.MappingNode, "!!map", yaml.FlowStyle
		if token == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		delim = token
	case string:
		n.Tag, n.Value, n.Style = "!!str", token, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!int", token.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", "false"
		if token {
			n.Value = "true"
		}
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, delim, nil
}

// advance counts lines and characters up to a byte.
func (r *jsonReader) advance(to int) {
	passed := r.body[r.at:to]
	r.at = to
	if lines := bytes.Count(passed, []byte("\n")); lines > 0 {
		r.line += lines
		r.column = 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	r.column += utf8.RuneCount(passed)
}
