package stepfn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/run"
)

// A malformed event goes to the dead-letter queue after its last attempt and changes
// nothing. Other runs are not affected.
func TestMalformedEventsBecomeDeadLetters(t *testing.T) {
	for name, c := range map[string]struct {
		send func(r *emulators)
		says string
	}{
		"an upload without a version": {func(r *emulators) {
			r.cloud.Bus.Emit("aws.s3", "Object Created", nil, map[string]any{
				"bucket": map[string]any{"name": "stackwright"}, "object": map[string]any{"key": "projects/shop/prod.zip"}})
		}, "has no version"},
		"an execution that a user started by hand": {func(r *emulators) {
			_, err := sfn.NewFromConfig(r.retrying()).StartExecution(r.Context(), &sfn.StartExecutionInput{
				StateMachineArn: &r.cloud.Machine, Name: aws.String("by-hand"), Input: aws.String(`{"run": "none", "epoch": 1}`)})
			if err != nil {
				r.Fatal(err)
			}
		}, "was not started by Stackwright"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				before := r.itemCount()
				c.send(r)
				r.Pass(5 * time.Minute)
				dead := r.cloud.Bus.DeadLetters()
				if len(dead) != 1 || !strings.HasSuffix(dead[0].Function, ":start") || !strings.Contains(dead[0].Reason, c.says) {
					t.Fatalf("the dead-letter queue holds %v, want one event for start because it %s", reasons(dead), c.says)
				}
				if after := r.itemCount(); after != before {
					t.Errorf("the table had %d items before the event and has %d after it", before, after)
				}
				id := r.Submit("deploy", parseStacks([]string{"vpc"}), "")
				if !r.WaitIdle() || r.run(id).State != run.StateSucceeded {
					t.Errorf("a deploy after the event is %s, want succeeded", r.run(id).State)
				}
			})
		})
	}
}

// A late event, about a run that no longer exists, is ignored: it does not go to the
// dead-letter queue.
func TestLateEventsAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		gone := strings.Repeat("a", 20)
		input, err := json.Marshal(map[string]any{"run": gone, "epoch": 1})
		if err != nil {
			t.Fatal(err)
		}
		r.cloud.Bus.Emit("aws.states", "Step Functions Execution Status Change", nil,
			map[string]any{"stateMachineArn": r.cloud.Machine, "name": gone + "-1", "status": "FAILED", "input": string(input)})
		r.cloud.Bus.Emit("aws.cloudformation", "CloudFormation Stack Status Change", nil,
			map[string]any{"client-request-token": "sw-" + gone + "-0-1", "status-details": map[string]any{"status": "CREATE_COMPLETE"}})
		r.Pass(5 * time.Minute)
		if dead := r.cloud.Bus.DeadLetters(); len(dead) > 0 {
			t.Errorf("the dead-letter queue holds %v, want none", reasons(dead))
		}
	})
}

// reasons lists why the events are in the dead-letter queue.
func reasons(dead []events.DeadLetter) []string {
	var all []string
	for _, d := range dead {
		all = append(all, d.Function+": "+d.Reason)
	}
	return all
}

// itemCount counts the items of the table.
func (r *emulators) itemCount() int {
	out, err := dynamodb.NewFromConfig(r.direct(r.cloud.Tables)).Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("stackwright")})
	if err != nil {
		r.Fatal(err)
	}
	return len(out.Items)
}

// An upload to a wrong key makes a refused run of the project that the user probably
// meant. Its event does not go to the dead-letter queue.
func TestWrongKeysBecomeRefusedRuns(t *testing.T) {
	for key, project := range map[string]string{"projects/shop.zip": "shop@default", "requests/now.json": "now@default", "projects/Shop!/prod.zip": trigger.Unnamed} {
		t.Run(key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				r.put(key, []byte("zip"))
				r.Pass(time.Minute)
				if dead := r.cloud.Bus.DeadLetters(); len(dead) > 0 {
					t.Errorf("the dead-letter queue holds %v, want none", reasons(dead))
				}
				runs, err := r.store.List(r.Context(), project, 0)
				if err != nil || len(runs) != 1 || runs[0].State != run.StateRefused {
					t.Fatalf("%s has the runs %+v (%v), want one that was refused", project, runs, err)
				}
				if q := r.run(runs[0].ID); len(q.Messages) != 1 || !strings.Contains(q.Messages[0], key) {
					t.Errorf("the run says %q, want the key %s", q.Messages, key)
				}
			})
		})
	}
}
