package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A kind is found however deep it is wrapped; the one nearest to the surface
// counts.
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
		{"given anew", fault.As(fault.Refused, busy), fault.Refused},
		{"given anew, wrapped", fmt.Errorf("run: %w", fault.As(fault.Refused, busy)), fault.Refused},
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
		t.Error("nothing is of a kind, or something is of none of no kinds")
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

// The state machine sees the kind as the error's name, and never Go's type.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		err               error
		wantType, message string
	}{
		{fault.New(fault.Throttled, "slow down"), "Throttled", "slow down"},
		{fmt.Errorf("look at run r: %w", fault.New(fault.Unavailable, "x")), "Unavailable", "look at run r: x"},
		{io.EOF, "Broken", "EOF"},
	} {
		h := lambda.NewHandler(fault.Report(func(context.Context, struct{}) (struct{}, error) { return struct{}{}, c.err }))
		_, err := h.Invoke(t.Context(), []byte("{}"))
		body, jsonErr := json.Marshal(err)
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		var seen struct{ ErrorType, ErrorMessage string }
		if err := json.Unmarshal(body, &seen); err != nil {
			t.Fatal(err)
		}
		if seen.ErrorType != c.wantType || seen.ErrorMessage != c.message {
			t.Errorf("%v is seen as %s", c.err, body)
		}
	}
}

func TestReportOfSuccess(t *testing.T) {
	h := lambda.NewHandler(fault.Report(func(_ context.Context, in map[string]int) (map[string]int, error) {
		in["out"] = 2 * in["in"]
		return in, nil
	}))
	out, err := h.Invoke(t.Context(), []byte(`{"in":21}`))
	if err != nil || string(out) != `{"in":21,"out":42}` {
		t.Errorf("got %s, %v", out, err)
	}
}
