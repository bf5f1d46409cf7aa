package asl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// A host answers tasks from a script and records the calls. It sleeps without waiting.
type host struct {
	answer func(asl.Call) (string, error) // nil: the payload comes back

	mu    sync.Mutex
	calls []asl.Call
	slept []time.Duration
}

func (h *host) Task(ctx context.Context, call asl.Call) (json.RawMessage, error) {
	h.mu.Lock()
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if h.answer == nil {
		return call.Payload, nil
	}
	out, err := h.answer(call)
	return json.RawMessage(out), err
}

func (h *host) Sleep(_ context.Context, d time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.slept = append(h.slept, d)
	return nil
}

func (h *host) NewToken() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("token-%d", len(h.calls)+1)
}

func (h *host) inputs() string {
	var out []string
	for _, c := range h.calls {
		out = append(out, strings.TrimSpace(c.Function+" "+string(c.Payload)))
	}
	return strings.Join(out, "; ")
}

func parse(t testing.TB, text string) *asl.Machine {
	t.Helper()
	m, err := asl.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// single is a machine of one state S that ends it, and of E, where S's catchers may lead.
func single(state string) string {
	return `{"StartAt":"S","States":{"S":` + strings.TrimSuffix(state, "}") + `,"End":true}` + `}}`
}

// fails answers each call with the next of some errors, then with the payload.
func fails(names ...string) func(asl.Call) (string, error) {
	var mu sync.Mutex
	n := 0
	return func(c asl.Call) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n <= len(names) {
			return "", &asl.Error{Name: names[n-1], Cause: "because"}
		}
		return string(c.Payload), nil
	}
}

// gives answers each call with the same text.
func gives(text string) func(asl.Call) (string, error) {
	return func(asl.Call) (string, error) { return text, nil }
}

// outcome is an output, or how the execution failed.
func outcome(out json.RawMessage, err error) string {
	var e *asl.Error
	switch {
	case errors.As(err, &e):
		return "fails " + e.Name
	case err != nil:
		return "breaks " + err.Error()
	}
	return string(out)
}
