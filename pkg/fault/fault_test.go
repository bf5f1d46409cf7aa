package fault_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// The outermost kind counts, however deep it is wrapped.
func TestKind(t *testing.T) {
	busy := fault.New(fault.Busy, "stack vpc: %w", io.ErrUnexpectedEOF)
	for _, c := range []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"nothing", nil, ""},
		{"unclassified", io.EOF, ""},
		{"plain", busy, fault.Busy},
		{"wrapped", fmt.Errorf("execute: %w", busy), fault.Busy},
		{"wrapped twice", fmt.Errorf("run: %w", fmt.Errorf("execute: %w", busy)), fault.Busy},
		{"changed", fault.As(fault.Refused, busy), fault.Refused},
		{"changed, wrapped", fmt.Errorf("run: %w", fault.As(fault.Refused, busy)), fault.Refused},
		{"first of many", errors.Join(io.EOF, busy, fault.As(fault.Denied, io.EOF)), fault.Busy},
		{"nothing given a kind", fault.As(fault.Broken, nil), ""},
	} {
		if got := fault.KindOf(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got, want := fault.Is(c.err, fault.Busy, fault.Refused), c.want == fault.Busy || c.want == fault.Refused; got != want {
			t.Errorf("%s: Is says %t", c.name, got)
		}
	}
	if fault.Is(nil, "") || fault.Is(busy) {
		t.Error("a nil error has a kind, or an error is one of no kinds")
	}
	if !errors.Is(busy, io.ErrUnexpectedEOF) || busy.Error() != "stack vpc: unexpected EOF" {
		t.Errorf("the cause is lost: %v", busy)
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"nothing", nil, nil},
		{"one", fault.New(fault.Invalid, "a"), []string{"a"}},
		{"wrapped", fmt.Errorf("x: %w", io.EOF), []string{"x: EOF"}},
		{"joined", errors.Join(io.EOF, fault.New(fault.Invalid, "b")), []string{"EOF", "b"}},
		{"joined twice", errors.Join(errors.Join(io.EOF, errors.New("b")), errors.New("c")), []string{"EOF", "b", "c"}},
		{"joined and given a kind", fault.As(fault.Invalid, errors.Join(io.EOF, errors.New("b"))), []string{"EOF", "b"}},
	} {
		if got := fault.Messages(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

// Only an error that may be temporary is not final.
func TestFinal(t *testing.T) {
	throttled := fault.New(fault.Throttled, "slow")
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"invalid", fault.New(fault.Invalid, "x"), true},
		{"refused, wrapped", fmt.Errorf("plan: %w", fault.New(fault.Refused, "x")), true},
		{"denied", fault.New(fault.Denied, "x"), true},
		{"unclassified", io.EOF, true},
		{"throttled", throttled, false},
		{"unavailable", fault.New(fault.Unavailable, "x"), false},
		{"stale", fault.New(fault.Stale, "x"), false},
		{"many", errors.Join(fault.New(fault.Invalid, "x"), fault.New(fault.Refused, "y")), true},
		{"many, of which one is temporary", errors.Join(fault.New(fault.Invalid, "x"), throttled), false},
	} {
		if got := fault.Final(c.err); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
