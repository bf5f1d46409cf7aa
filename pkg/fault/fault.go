// Package fault gives errors a kind that callers decide on.
package fault

import (
	"errors"
	"fmt"
	"slices"
)

// A Kind is what callers decide on. An error gets its kind where the cause is
// known. In the state machine it is the name of the error.
type Kind string

// The kinds. An error without a Kind has the zero Kind.
const (
	Invalid     Kind = "Invalid"     // the request makes no sense; trying again does not help
	Refused     Kind = "Refused"     // the request makes sense, but a rule or the present state forbids it
	Missing     Kind = "Missing"     // what the request names does not exist
	Denied      Kind = "Denied"      // the permission is missing
	Busy        Kind = "Busy"        // another operation is under way; try again later
	Taken       Kind = "Taken"       // the name or the token has been used already
	Unchanged   Kind = "Unchanged"   // there is nothing to change
	Throttled   Kind = "Throttled"   // it was certainly not done; try again later
	Unavailable Kind = "Unavailable" // it is unknown whether it was done
	Stale       Kind = "Stale"       // a newer execution has taken over, or has done it already
	Broken      Kind = "Broken"      // stored or sent data is damaged, or this is a bug
)

// A Fault is an error of a known kind.
type Fault struct {
	Kind Kind
	Err  error
}

// New returns a Fault of kind k whose message is made of format and args, as by
// fmt.Errorf.
func New(k Kind, format string, args ...any) error {
	return &Fault{Kind: k, Err: fmt.Errorf(format, args...)}
}

// As gives err the kind k. It returns nil if err is nil.
func As(k Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Fault{Kind: k, Err: err}
}

// Error returns the message.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// KindOf returns the outermost kind of err, or the zero Kind.
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

// Final reports whether err means that a request cannot be carried out, however often it is tried. Of joined errors, all have to.
func Final(err error) bool {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(many.Unwrap(), func(e error) bool { return !Final(e) })
	}
	return err != nil && !Is(err, Throttled, Unavailable, Stale)
}

// Messages returns the message of err, or of each error that is joined in it.
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
