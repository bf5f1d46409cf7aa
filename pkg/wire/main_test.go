package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/stackwright/stackwright/pkg/fault"
)

// The name of the error is the kind of the fault, and never a Go type.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		err               error
		wantType, message string
	}{
		{fault.New(fault.Throttled, "slow down"), "Throttled", "slow down"},
		{fmt.Errorf("poll run r: %w", fault.New(fault.Unavailable, "x")), "Unavailable", "poll run r: x"},
		{io.EOF, "Broken", "EOF"},
	} {
		h := lambda.NewHandler(report(func(context.Context, struct{}) (struct{}, error) { return struct{}{}, c.err }))
		_, err := h.Invoke(t.Context(), []byte("{}"))
		body, jsonErr := json.Marshal(err)
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		var got struct{ ErrorType, ErrorMessage string }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if got.ErrorType != c.wantType || got.ErrorMessage != c.message {
			t.Errorf("%v is reported as %s", c.err, body)
		}
	}
}

func TestReportOfSuccess(t *testing.T) {
	h := lambda.NewHandler(report(func(_ context.Context, in map[string]int) (map[string]int, error) {
		in["out"] = 2 * in["in"]
		return in, nil
	}))
	out, err := h.Invoke(t.Context(), []byte(`{"in":21}`))
	if err != nil || string(out) != `{"in":21,"out":42}` {
		t.Errorf("got %s, %v", out, err)
	}
}
