package stepfn_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/pkg/run"
)

// If a user stops an execution by hand, its run continues in another one. The event of
// Step Functions restarts it, or the sweep if that event is lost.
func TestStoppedExecutionIsRestarted(t *testing.T) {
	for _, c := range []struct {
		name  string
		sweep time.Duration
		lost  bool
	}{{"by the event", -1, false}, {"by the sweep", 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t, func(o *cloud.Options) {
					o.Sweep = c.sweep
					disturb := o.Disturb
					o.Disturb = func(e events.Event, function string) []time.Duration {
						if c.lost && e.Source == "aws.states" {
							return nil
						}
						return disturb(e, function)
					}
				})
				id := r.Submit("deploy", shopOf("v1"), "")
				r.Pass(15 * time.Second)
				if got := r.ExecutionStatus(id); got.State != run.StateRunning || got.Epoch != 1 {
					t.Fatalf("the run is %s in epoch %d before the execution is stopped", got.State, got.Epoch)
				}
				flows := sfn.NewFromConfig(r.cloud.Config())
				execution := fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:stackwright:%s-1", id)
				if _, err := flows.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: aws.String(execution)}); err != nil {
					t.Fatal(err)
				}
				if !r.WaitIdle() {
					t.Fatal("the run never ends")
				}
				got := r.ExecutionStatus(id)
				if got.State != run.StateSucceeded || got.Epoch != 2 {
					t.Errorf("the run is %s %v in epoch %d, want succeeded in epoch 2", got.State, got.Messages, got.Epoch)
				}
				if requests := r.Requests(); len(requests) != len(shopOf("")) {
					t.Errorf("requested %v, want each stack once", requests)
				}
			})
		})
	}
}
