package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A deploy that adds more stacks than there is room for is refused before its first step. Where the room may not be read, a message says so. A plan
// that adds none does not read it.
func TestPlanIsRefusedWithoutRoom(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "a b")
	h.setTargets("v1")
	h.backend.Cloud.StackLimit = 1
	if r := h.requestAndExecute("r", "deploy", "v1"); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, "\n"), "lets it have 1 stacks, it has 0, and the plan creates 2") || len(h.backend.Cloud.Requests) > 0 {
		t.Errorf("without room: %s, %q, requested %v", r.State, r.Messages, h.backend.Cloud.Requests)
	}
	h.cloud.roomErr = fault.New(fault.Denied, "not authorized to perform cloudformation:DescribeAccountLimits")
	h.backend.Cloud.StackLimit = 2
	if r := h.requestAndExecute("d", "deploy", "v1"); r.State != run.StateSucceeded || !strings.Contains(strings.Join(r.Messages, "\n"), "whether account 111122223333 has room for more stacks in region eu-west-1 is not known: not authorized") {
		t.Errorf("denied: %s, %q", r.State, r.Messages)
	}
	h.setVersion("v2", "a b")
	h.setTargets("v2")
	h.cloud.roomErr = fault.New(fault.Broken, "nobody reads it")
	if r := h.requestAndExecute("u", "deploy", "v2"); r.State != run.StateSucceeded {
		t.Errorf("an update: %s, %q", r.State, r.Messages)
	}
	h.setVersion("v3", "a b c")
	h.setTargets("v3")
	h.cloud.roomErr = action.RateExceeded(errors.New("rate exceeded"))
	h.request("t", "deploy", "v3")
	if _, err := h.Plan(h.Context(), engine.ExecutionInput{Run: "t", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Errorf("throttled: %v", err)
	}
}
