// Package jinja renders Jinja2 templates, byte for byte as Jinja2 for Python does, in
// bounded time and memory.
//
// It is for configurations that were written for other tools. Undefined values are errors
// (StrictUndefined). What it does not have is refused by name, never left out.
// The language: https://jinja.palletsprojects.com/en/stable/templates/
package jinja

import (
	"errors"
	"fmt"
	"strings"
)

// A Position is a place in a template. Line and Column are counted from 1.
type Position struct {
	Template     string
	Line, Column int
}

// An Error is why a template cannot be rendered.
type Error struct {
	At   Position
	Text string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.At.Template, e.At.Line, e.At.Column, e.Text)
}

// ErrExhausted is in the chain of an error if the budget is used up.
var ErrExhausted = errors.New("rendering takes too much time or memory")

// A Budget bounds what all renderings that share it may use together. It is counted, so
// that the same templates always have the same result.
type Budget struct {
	Steps int // statements and expressions
	Bytes int // of all texts and lists that are made, also those that are not kept
}

const (
	maxDepth  = 60  // macros, includes and blocks within one another
	maxNested = 100 // expressions and statements within one another
)

// Settings are options of a Jinja2 environment.
type Settings struct {
	BlockStart, BlockEnd       string
	VariableStart, VariableEnd string
	CommentStart, CommentEnd   string
	TrimBlocks, LstripBlocks   bool
	KeepTrailingNewline        bool
	Do, LoopControls           bool // the extensions jinja2.ext.do and jinja2.ext.loopcontrols
}

// Default returns the options of a Jinja2 environment that sets none.
func Default() Settings {
	return Settings{BlockStart: "{%", BlockEnd: "%}", VariableStart: "{{", VariableEnd: "}}", CommentStart: "{#", CommentEnd: "#}"}
}

// An Environment renders templates of one folder.
type Environment struct {
	Settings Settings
	Load     func(name string) (source string, ok bool) // a template by its name
	Escapes  func(name string) bool                     // whether Jinja2 would escape HTML in it; nil for never
	// Unescaped is what to do about it, for the user; "" is to rename the file.
	Unescaped string
	Budget    *Budget

	parsed map[string]*template
}

// A Rendered is the text that a template makes.
type Rendered struct {
	Text     string
	segments []segment
}

// A segment is a part of the text that was made by one part of a template.
type segment struct {
	line, column int // in the text
	at           Position
	literal      bool // the text is copied from the template
}

// Where returns the position of the template that made a line and column of the text.
func (r Rendered) Where(line, column int) Position {
	low, high := 0, len(r.segments)
	for low < high {
		middle := (low + high) / 2
		if s := r.segments[middle]; s.line < line || s.line == line && s.column <= column {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return Position{}
	}
	s := r.segments[low-1]
	at := s.at
	if s.literal {
		at.Line += line - s.line
		if line == s.line {
			at.Column += column - s.column
		} else {
			at.Column = column
		}
	}
	return at
}

// Render renders a template with variables. The error is an *Error; ErrExhausted is in its
// chain if the budget is used up.
func (env *Environment) Render(name string, variables map[string]any) (r Rendered, err error) {
	e := &evaluator{env: env, at: Position{Template: name, Line: 1, Column: 1}}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *failure:
			err = f
		default:
			panic(f)
		}
	}()
	t := e.template(name)
	out := &output{}
	e.root(t, &scope{values: globals, parent: nil}, variables, out)
	return Rendered{Text: out.text.String(), segments: out.segments}, nil
}

// A failure is what the package panics with; Render returns it.
type failure struct {
	Error_    Error
	exhausted bool
}

func (f *failure) Error() string { return f.Error_.Error() }

// Unwrap lets errors.As find the Error, and errors.Is ErrExhausted.
func (f *failure) Unwrap() []error {
	if f.exhausted {
		return []error{&f.Error_, ErrExhausted}
	}
	return []error{&f.Error_}
}

func fail(at Position, format string, args ...any) {
	panic(&failure{Error_: Error{at, fmt.Sprintf(format, args...)}})
}

// An output collects text with the positions that made it.
type output struct {
	text         strings.Builder
	segments     []segment
	line, column int // of the end, counted from 0
}

func (o *output) write(text string, at Position, literal bool) {
	if text == "" {
		return
	}
	o.segments = append(o.segments, segment{o.line + 1, o.column + 1, at, literal})
	o.text.WriteString(text)
	if n := strings.Count(text, "\n"); n > 0 {
		o.line += n
		o.column = 0
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	o.column += len([]rune(text))
}
