package sim

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

func TestSuspend(t *testing.T) {
	contract.Suspend(t, func(t *testing.T, holds func(*testing.T, contract.Ground)) {
		holds(t, contractGround{t, New(nil, 1)})
	})
}

// contractGround is what the backend in memory stops and starts, as the contract controls it.
type contractGround struct {
	*testing.T
	backend *Backend
}

func (g contractGround) Services() suspend.Services {
	return g.backend.Switches()
}

func (g contractGround) Target() project.Target { return project.Target{} }

func (g contractGround) Pass(d time.Duration) {
	contractCloud{g.backend.Cloud, g.backend.Clock}.Pass(d)
}

// task is a step that sends a request about a stack.
func (g contractGround) task(stack, version string, v plan.Verb) action.Task {
	n := contractCloud{}.Node(stack, version)
	n.Template.Digest = version
	return action.Task{
		Run: stack + string(v), Attempt: 1, Project: "shop", Step: plan.Step{ID: stack + "/" + string(v), Node: stack, Verb: v}, Request: action.Named(action.All(nil, nil, nil, nil, nil)...).Of(v).Request,
		Node: n, Record: plan.Record{Node: stack, Stack: stack}, Now: g.backend.Now(), Claimed: g.backend.Now(),
	}
}

func (g contractGround) Up(stack, version string) string { return g.begin(stack, version, plan.Create) }

func (g contractGround) Down(stack string) { g.begin(stack, "", plan.Delete) }

// begin carries out a step on a stack, and returns the ID of the stack.
func (g contractGround) begin(stack, version string, v plan.Verb) string {
	g.Helper()
	receipt, err := g.backend.Cloud.Begin(g.Context(), g.task(stack, version, v))
	if err != nil {
		g.Fatal(err)
	}
	g.Pass(time.Minute)
	return receipt.StackID
}
