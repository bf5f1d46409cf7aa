package run_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A step takes one answer, to the plan of its run, while it waits and its run is
// neither over nor being stopped.
func TestAccepts(t *testing.T) {
	waiting := run.Step{Step: plan.Step{ID: "vpc/create"}, Status: run.Waiting}
	answered, running := waiting, waiting
	answered.Answer = run.Answer{ID: "first", Who: "ann", Digest: "d"}
	running.Status = run.Running
	for want, c := range map[string]struct {
		state   run.State
		command run.Command
		step    run.Step
		digest  string
	}{
		"": {run.StateWaiting, run.Continue, waiting, "d"},
		"the answer is to plan other, and run one has plan d": {run.StateWaiting, run.Continue, waiting, "other"},
		"step vpc/create of run one was answered by ann":      {run.StateWaiting, run.Continue, answered, "d"},
		"step vpc/create of run one waits for no answer":      {run.StateRunning, run.Continue, running, "d"},
		"run one is being stopped":                            {run.StateWaiting, run.Cancel, waiting, "d"},
		"run one has ended (cancelled)":                       {run.StateCancelled, run.Cancel, waiting, "d"},
	} {
		r := run.Run{Request: run.Request{ID: "one"}, State: c.state, Command: c.command, Digest: "d"}
		err := r.Accepts(c.step, run.Answer{ID: "second", Who: "bob", Yes: true, Digest: c.digest})
		if want == "" {
			if err != nil {
				t.Errorf("a waiting step refuses an answer: %v", err)
			}
			continue
		}
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
