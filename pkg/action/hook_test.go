package action_test

import (
	"context"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// noHooks calls nothing.
type noHooks struct{}

func (noHooks) Call(context.Context, hook.Call) (string, error) { return "", nil }
func (noHooks) Ended(context.Context, hook.Call) (bool, error)  { return true, nil }
func (noHooks) Stop(context.Context, hook.Call) error           { return nil }
func (noHooks) InAlarm(context.Context, string, project.Target, []string) ([]string, error) {
	return nil, nil
}

// A call of which nobody knows whether it was made is repeated only when the function that has the claim cannot call any
// more: a poll that repeated it before could see the step end while that function is about to call.
func TestCallIsRepeatedAfterItsClaim(t *testing.T) {
	verb := action.Named(action.All(nil, nil, noHooks{}, nil, nil)...).Of(plan.Hook)
	for age, want := range map[time.Duration]action.Progress{
		0: {}, action.MaxStartTime - time.Millisecond: {}, action.MaxStartTime: {Repeat: true},
	} {
		step := plan.Step{Verb: plan.Hook, Timeout: project.Timeout(time.Hour)}
		got, err := verb.Poll(t.Context(), action.Task{Step: step, Attempt: 1, Claimed: now.Add(-age), Now: now})
		if err != nil || got.Repeat != want.Repeat || got.Over {
			t.Errorf("%s after the claim: %+v, %v", age, got, err)
		}
	}
}
