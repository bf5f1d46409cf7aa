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

// While an exact plan is made, a watcher without a terminal sees how many change sets are read.
func TestProgressOfExactPlan(t *testing.T) {
	var out strings.Builder
	c := &call{Shell: Shell{Err: &out, Getenv: func(string) string { return "" }}}
	c.flags.output = "text"
	m := &monitor{session: &session{call: c}, checked: time.Now()}
	r := run.Run{Request: run.Request{ID: "abc", Operation: "plan", Project: "shop@prod", Options: run.Options{Exact: true}}, State: run.StateRunning}
	m.report(t.Context(), r)
	r.Steps = make([]run.Step, 2)
	for range 2 {
		m.report(t.Context(), r)
	}
	r.Steps[0].Status = run.Done
	m.report(t.Context(), r)
	c.Window = func() (width, height int) { return 80, 24 } // a terminal shows the steps
	r.Steps[1].Status = run.Failed
	m.report(t.Context(), r)
	if want := "plan of shop@prod: 0 of 2 change sets read\nplan of shop@prod: 1 of 2 change sets read\n"; out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
}
