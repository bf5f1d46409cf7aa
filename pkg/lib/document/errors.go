package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Error is one thing wrong at one place of one file.
type Error struct {
	File   string
	Line   int // counted from 1; 0 when it is the file as a whole
	Column int // counted from 1, in characters; 0 when it is the line as a whole
	Text   string
}

// Error gives "file:line:column: text", without the parts that are not known.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			place += fmt.Sprintf(":%d", e.Column)
		}
	}
	if place == "" {
		return e.Text
	}
	return place + ": " + e.Text
}

// At returns an error at a node's place. A nil node means the file as a whole.
func At(file string, n *yaml.Node, format string, args ...any) *Error {
	e := &Error{File: file, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Line, e.Column = n.Line, n.Column
	}
	return e
}

// Errors holds all errors of a document, so that they are reported at once.
type Errors []*Error

// Error gives one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single errors.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// Add adds an error at a node's position.
func (e *Errors) Add(file string, n *yaml.Node, format string, args ...any) {
	*e = append(*e, At(file, n, format, args...))
}

// Join adds another error: each of its errors if it is Errors, its
// place if it is an *Error, else its text for the file as a whole. Nil is nothing.
func (e *Errors) Join(file string, err error) {
	switch err := err.(type) {
	case nil:
	case Errors:
		*e = append(*e, err...)
	case *Error:
		*e = append(*e, err)
	default:
		*e = append(*e, &Error{File: file, Text: err.Error()})
	}
}

// Err returns the errors sorted by file, line and column, each once; nil (and
// not an empty Errors) when there is none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return slices.CompactFunc(sorted, func(a, b *Error) bool { return *a == *b })
}
