// Package function has the functions of expressions: join, select and others. The same
// arguments give the same result. A function is one file and one row of the table.
package function

import (
	"errors"
	"fmt"

	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// What an evaluation may at most make.
const (
	MaxText  = 64 << 10 // bytes of one text
	MaxMade  = 1 << 20  // bytes of all results of one value, about
	MaxDepth = 50       // lists and maps within one another
)

// ErrMissing is the error of what does not exist, in whose place a default is used.
var ErrMissing = errors.New("it does not exist")

type missing struct{ error }

func (m missing) Unwrap() error      { return m.error }
func (missing) Is(target error) bool { return target == ErrMissing }

// Missing makes an error one of what does not exist. Its message is the same.
func Missing(err error) error { return missing{err} }

var errTooLong = fmt.Errorf("the result is more than %d KB", MaxText>>10)

// Default is the name of the operator ?? in calls: its value is that of the first argument
// that exists. It evaluates no argument after that, and so it is not in the table.
const Default = "??"

// A Function is one function.
type Function struct {
	Name     string
	Syntax   string // how it is called
	Takes    []Kind // its arguments
	Optional int    // how many of the last ones may be left out
	Gives    Kind
	Early    bool // its arguments must be known before any stack is deployed
	Apart    int  // how many of its first arguments only separate or choose: no secret can be in them

	apply func(e *Evaluation, args []any) (any, error)
}

// all is the table.
var all = []Function{joinItems, splitText, selectItem, sub, lower, upper, toBase64, toJSON, fromJSON, file, divide}

// Named returns the function of a name.
func Named(name string) (Function, bool) {
	for _, f := range all {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}

// All returns the functions.
func All() []Function { return append([]Function(nil), all...) }

// Names lists the functions.
func Names() []string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}

// Hint ends a message about a function that does not exist.
func Hint(name string) string { return suggest.Hint(name, Names()) }

// An Evaluation evaluates the functions of one value, and limits what they make.
type Evaluation struct {
	Files func(path string) (string, error) // of the project; nil if they are not at hand

	Made int // bytes, about
}

// Call applies a function to its arguments.
func (e *Evaluation) Call(f Function, args []any) (any, error) {
	if err := f.Count(len(args)); err != nil {
		return nil, err
	}
	converted := make([]any, len(args))
	for i, arg := range args {
		var err error
		if converted[i], err = convert(arg, f.Takes[i]); err != nil {
			return nil, fmt.Errorf("%s: argument %d: %w", f.Syntax, i+1, err)
		}
	}
	v, err := f.apply(e, converted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return v, e.Make(v)
}

// Make counts a value that was made, and refuses it if the limit is exceeded.
func (e *Evaluation) Make(v any) error {
	if err := e.Count(Size(v)); err != nil {
		return err
	}
	if text, is := v.(string); is && len(text) > MaxText {
		return errTooLong
	}
	return nil
}

// Count counts bytes that were made, and refuses them if the limit is exceeded.
func (e *Evaluation) Count(bytes int) error {
	if e.Made += bytes; e.Made > MaxMade {
		return fmt.Errorf("its functions make more than %d KB", MaxMade>>10)
	}
	return nil
}

// Count refuses a wrong number of arguments.
func (f Function) Count(n int) error {
	if least := len(f.Takes) - f.Optional; n < least || n > len(f.Takes) {
		return fmt.Errorf("%s has %s, and not %d: write %s", f.Name, arguments(least, len(f.Takes)), n, f.Syntax)
	}
	return nil
}

func arguments(least, most int) string {
	switch {
	case least != most:
		return fmt.Sprintf("%d or %d arguments", least, most)
	case most == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", most)
}
