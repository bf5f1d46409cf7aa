// Package problem collects the problems of a project's files, each with its
// position, so that a user sees all of them at once.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// MaxReported is how many problems are reported.
const MaxReported = 100

const (
	maxKept  = 1_000  // are kept and sorted, so that the reported ones are the first
	maxMore  = 10_000 // are counted; then reading ends
	maxHints = 200    // each compares every name that is defined
)

// A Position is where something is written in a file. Line is 0 if only the
// file is known.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A List is the problems that were found. The zero value has none.
type List struct {
	kept  []document.Error
	seen  map[document.Error]bool
	more  int
	hints int

	warnings []Problem
	warned   map[Problem]bool
}

// Add adds a problem. One that is in the list already is not added again.
func (l *List) Add(at Position, format string, args ...any) {
	if len(l.kept) == maxKept {
		l.more++
		return
	}
	one := document.Error{File: at.File, Line: at.Line, Column: at.Column, Text: fmt.Sprintf(format, args...)}
	if l.seen[one] {
		return
	}
	if l.seen == nil {
		l.seen = map[document.Error]bool{}
	}
	l.seen[one] = true
	l.kept = append(l.kept, one)
}

// Warn adds a warning: what a user should know, and what is no reason to refuse a project. One that is in the list
// already is not added again, nor is one of more than are reported.
func (l *List) Warn(at Position, format string, args ...any) {
	one := Problem{at, fmt.Sprintf(format, args...)}
	if l.warned[one] || len(l.warned) == MaxReported {
		return
	}
	if l.warned == nil {
		l.warned = map[Problem]bool{}
	}
	l.warned[one] = true
	l.warnings = append(l.warnings, one)
}

// Warnings lists the warnings in the order of their positions.
func (l *List) Warnings() []Problem {
	all := slices.Clone(l.warnings)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(a.Compare(b.Position), strings.Compare(a.Text,
			b.Text))
	})
	return all
}

// Join adds the problems that a parser found in a file.
func (l *List) Join(file string, err error) {
	for _, e := range Errors(file, err) {
		l.Add(Position{e.File, e.Line, e.Column}, "%s", e.Text)
	}
}

// Errors lists the problems that a parser found in a file.
func Errors(file string, err error) document.Errors {
	var all document.Errors
	all.Join(file, err)
	return all
}

// A Problem is one problem, with its position if it has one.
type Problem struct {
	Position
	Text string `json:"text"`
}

// String is the problem as it is printed.
func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return p.Position.String() + ": " + p.Text
}

// All lists the problems that are joined in an error.
func All(err error) []Problem {
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		var all []Problem
		for _, one := range many.Unwrap() {
			all = append(all, All(one)...)
		}
		return all
	}
	switch one, ok := errors.AsType[*document.Error](err); {
	case err == nil:
		return nil
	case ok:
		return []Problem{{Position{one.File, one.Line, one.Column}, one.Text}}
	}
	return []Problem{{Text: err.Error()}}
}

// TooMany reports whether there are so many problems that reading should end.
func (l *List) TooMany() bool { return l.more > maxMore }

// Err returns the first problems in the order of their positions, as a Fault of
// kind Invalid that joins one error for each, or nil.
func (l *List) Err() error {
	if len(l.kept) == 0 {
		return nil
	}
	slices.SortStableFunc(l.kept, func(a, b document.Error) int {
		return Position{a.File, a.Line, a.Column}.Compare(Position{b.File, b.Line, b.Column})
	})
	var reported document.Errors
	for _, one := range l.kept[:min(len(l.kept), MaxReported)] {
		reported = append(reported, &one)
	}
	switch more := l.more + len(l.kept) - len(reported); {
	case l.TooMany():
		reported = append(reported, &document.Error{Text: fmt.Sprintf("and more than %d more", maxMore)})
	case more > 0:
		reported = append(reported, &document.Error{Text: fmt.Sprintf("and %d more", more)})
	}
	return fault.As(fault.Invalid, reported)
}

// Hint is suggest.Hint for the first unknown names, and empty for the rest.
func (l *List) Hint(written string, names []string) string {
	if l.hints++; l.hints > maxHints {
		return ""
	}
	return suggest.Hint(written, names)
}

// Closest is Hint without the names to choose from.
func (l *List) Closest(written string, names []string) string {
	if l.hints++; l.hints > maxHints {
		return ""
	}
	if closest := suggest.Closest(written, names); closest != "" {
		return ": did you mean " + closest + "?"
	}
	return ""
}

// Short cuts a text that is too long for a message.
func Short(s string) string {
	if r := []rune(s[:min(len(s), 400)]); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
