package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/run"
)

// One execution is all that there is.
type execution engine.ExecutionStatus

// ExecutionStatus is that of the execution, whatever its name.
func (e *execution) ExecutionStatus(context.Context, string) (engine.ExecutionStatus, error) {
	return engine.ExecutionStatus(*e), nil
}

// A watcher is informed that the execution of its run has ended, once, and only if
// it has still ended at the next poll.
func TestEndedExecutionIsReported(t *testing.T) {
	var out strings.Builder
	e := &execution{Started: true, Running: true}
	m := &monitor{session: &session{call: &call{Shell: Shell{Err: &out}}, to: direct{flows: e}}}
	poll := func() {
		m.checked = time.Time{}
		m.report(t.Context(), run.Run{Request: run.Request{ID: "abc"}, State: run.StateRunning, Epoch: 1})
	}
	poll()
	*e = execution{Started: true, Why: "ABORTED"}
	poll()
	if out.Len() > 0 {
		t.Errorf("too early: %s", out.String())
	}
	poll()
	poll()
	want := "run abc is not being executed: execution abc-1 has ended (ABORTED). Stackwright restarts it within five minutes\n"
	if out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
}
