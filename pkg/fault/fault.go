// Package fault says what kind of failure an error is.
package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda/messages"
)

// A Kind is what callers branch on. It is given where the cause is known, and
// becomes the error name that the state machine sees.
type Kind string

// The zero Kind is that of an error that nobody has classified.
const (
	Invalid     Kind = "Invalid"     // what was asked makes no sense; asking again is no use
	Refused     Kind = "Refused"     // what was asked makes sense, but a rule or the state of things forbids it
	Missing     Kind = "Missing"     // what was named is not there
	Denied      Kind = "Denied"      // we lack the permission
	Busy        Kind = "Busy"        // somebody else's operation is under way; ask again later
	Taken       Kind = "Taken"       // the name or the token has been used already
	Unchanged   Kind = "Unchanged"   // there is nothing to change
	Throttled   Kind = "Throttled"   // it was certainly not done; ask again later
	Unavailable Kind = "Unavailable" // nobody knows whether it was done
	Stale       Kind = "Stale"       // somebody newer has taken over, or has been here before us
	Broken      Kind = "Broken"      // what was stored or sent is damaged, or we are
)

// A Fault is an error of a known kind.
type Fault struct {
	Kind Kind
	Err  error
}

// New returns a Fault of kind k that says what format and args say. A wrapped
// error stays reachable.
func New(k Kind, format string, args ...any) error {
	return &Fault{Kind: k, Err: fmt.Errorf(format, args...)}
}

// As gives err the kind k, and leaves nil alone.
func As(k Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Fault{Kind: k, Err: err}
}

// Error says what happened.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// KindOf returns the kind of err, as given closest to the surface, or the zero
// Kind.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Kind
	}
	return ""
}

// Is reports whether err is of one of the given kinds.
func Is(err error, kinds ...Kind) bool {
	got := KindOf(err)
	for _, k := range kinds {
		if err != nil && got == k {
			return true
		}
	}
	return false
}

// Messages lists what err says, a line for each of the errors that are joined
// in it.
func Messages(err error) []string {
	if err == nil {
		return nil
	}
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		var all []string
		for _, e := range many.Unwrap() {
			all = append(all, Messages(e)...)
		}
		return all
	}
	return []string{err.Error()}
}

// Report wraps a function's handler so that the kind of its error, and not the
// name of a Go type, is the error name that the state machine sees.
func Report[In, Out any](handle func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := handle(ctx, in)
		if err == nil {
			return out, nil
		}
		kind := KindOf(err)
		if kind == "" {
			kind = Broken
		}
		return out, messages.InvokeResponse_Error{Type: string(kind), Message: err.Error()}
	}
}
