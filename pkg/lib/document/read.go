package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// Read reads one document of YAML or JSON and returns its topmost node (a
// mapping, list or scalar; never the document node itself, never nil without an error).
// The file's name is only used to say where an error is.
//
// Refused, each with its place: more than MaxBytes, text that is not UTF-8, no
// document or more than one, duplicate keys, keys that are not scalars, merge
// keys (<<), %TAG directives, aliases that contain themselves, and whatever
// exceeds MaxDepth, MaxNodes, MaxExpanded or MaxText.
// An error is of type Errors: a syntax error comes alone, others all at once.
//
// Tags such as !Ref are kept on the nodes: a reader that does not support them must refuse them
// (see Tagged).
func Read(file string, body []byte) (*yaml.Node, error) {
	return read(file, body, &inspector{file: file}, false)
}

// ReadRepeating is Read for a document in which a key may stand several times in a mapping: the last one counts, and
// the others are not in the result. repeated has the places of the keys that count.
func ReadRepeating(file string, body []byte) (root *yaml.Node, repeated Errors, err error) {
	in := &inspector{file: file, repeating: true}
	root, err = read(file, body, in, false)
	return root, in.repeated, err
}

// ReadMerged is Read with merge keys: the pairs of the mappings that << names are in the place
// of the key. A key that the mapping has itself wins, and then the first mapping in a list. What is
// no scalar is an alias there.
func ReadMerged(file string, body []byte) (*yaml.Node, error) {
	return read(file, body, &inspector{file: file}, true)
}

func read(file string, body []byte, in *inspector, merges bool) (*yaml.Node, error) {
	if err := admit(file, body); err != nil {
		return nil, Errors{err}
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	parse := parseYAML
	if isJSON(body) {
		// YAML's escapes lack surrogate pairs, and its indentation forbids
		// tabs, so JSON is not quite a part of it.
		parse = parseJSON
	}
	root, err := parse(file, body)
	if err != nil {
		return nil, Errors{err}
	}
	in.sizes = map[*yaml.Node]size{}
	if merges {
		m := merger{inspector: in, state: map[*yaml.Node]bool{}}
		m.visit(root)
	}
	if len(in.errors) == 0 {
		in.visit(root)
	}
	if err := in.errors.Err(); err != nil {
		return nil, err
	}
	return root, nil
}

// admit refuses what would be too much for the parser itself.
func admit(file string, body []byte) *Error {
	if len(body) > MaxBytes {
		return At(file, nil, "the file has %d bytes: at most %d are read", len(body), MaxBytes)
	}
	line := 0
	for text := range bytes.Lines(body) {
		if line++; !utf8.Valid(text) {
			return &Error{File: file, Line: line, Text: "this is not UTF-8: save the file as UTF-8"}
		}
	}
	if n := Weight(body); n > MaxNodes {
		return At(file, nil, "the file has about %d keys and values: at most %d are read", n, MaxNodes)
	}
	for line := range bytes.Lines(body) {
		// A long prefix used by many tags would need the product of both in memory.
		if bytes.HasPrefix(line, []byte("%TAG")) {
			return At(file, nil, "a %%TAG directive: this is not supported, write tags in full")
		}
	}
	return nil
}

// Weight is about how many keys and values a text makes, and never less, found
// without reading it: each but the first needs one of the signs counted here. A
// reader of many documents limits their sum.
func Weight(body []byte) int {
	n := 1
	for i, c := range body {
		switch c {
		case ',', '[', '{':
			n++
		case ':':
			n += 2
		case '-', '?':
			if i+1 == len(body) || isBlank(body[i+1]) {
				n += 2
			}
		}
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isJSON(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(body)
}

// nextLine ends a line in YAML 1.1, and so for the parser, but not in YAML 1.2:
// in a text it would be a blank to one reader and itself to another.
const nextLine = "\u0085"

func parseYAML(file string, body []byte) (root *yaml.Node, bad *Error) {
	if before, _, found := bytes.Cut(body, []byte(nextLine)); found {
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, &Error{File: file, Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(line),
			Text: `the character U+0085 stands here, which ends a line to some readers of YAML and not to others: in double quotes write \N`}
	}
	defer func() {
		// What comes from strangers must not bring the process down, and the
		// parser answers its own inner errors with a panic.
		if p := recover(); p != nil {
			root, bad = nil, At(file, nil, "the YAML parser gave up: %v", p)
		}
	}()
	limits := loaderlimits.New(loaderlimits.DepthValue(MaxDepth), loaderlimits.AliasNone())
	loader, err := yaml.NewLoader(bytes.NewReader(body), yaml.WithPlugin(limits))
	if err != nil {
		return nil, At(file, nil, "the YAML parser does not start: %v", err)
	}
	var document, second yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0 {
		return nil, At(file, nil, "the file is empty: a document is expected")
	} else if err != nil {
		return nil, syntaxError(file, body, err)
	}
	switch err := loader.Load(&second); {
	case err == nil:
		return nil, At(file, &second, "a second document begins here: only one is read, remove the --- or split the file")
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(file, body, err)
	}
	return document.Content[0], nil
}

// syntaxError gives the parser's error its place, and clearer words for what
// people run into.
func syntaxError(file string, body []byte, err error) *Error {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return At(file, nil, "not YAML: %v", err)
	}
	mark, message := load.Mark, load.Message
	if mark.Line == 0 {
		mark = load.ContextMark
	}
	e := &Error{File: file, Line: mark.Line, Column: mark.Column}
	switch {
	case strings.Contains(message, "exceeded max depth"):
		e.Text = fmt.Sprintf("lists and mappings are nested too deep: at most %d levels are read", MaxDepth)
	case tabAt(body, mark):
		e.Text = "a tab stands where YAML wants spaces: replace it by spaces"
	case strings.Contains(message, "unknown anchor"):
		e.Text = strings.TrimSuffix(message, " referenced") + ": an alias (*name) needs an anchor (&name) before it"
	case load.ContextMsg != "" && load.ContextMsg != message:
		e.Text = "not YAML: " + load.ContextMsg + ": " + message
	default:
		e.Text = "not YAML: " + message
	}
	return e
}

// tabAt says whether the line is indented with a tab up to the mark, or has
// one at it.
func tabAt(body []byte, mark yaml.Mark) bool {
	line := 1
	for text := range bytes.Lines(body) {
		if line == mark.Line {
			indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
			i := mark.Column - 1
			return bytes.ContainsRune(indent, '\t') || i >= 0 && i < len(text) && text[i] == '\t'
		}
		line++
	}
	return false
}
