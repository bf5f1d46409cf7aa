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

// An event that makes no sense is among the dead letters after its attempts, and
// nothing is done about it; what makes sense goes on meanwhile.
func TestMalformedEventsBecomeDeadLetters(t *testing.T) {
	for name, c := range map[string]struct {
		poison func(r *emulators)
		says   string
	}{
		"an upload without a version": {func(r *emulators) {
			r.cloud.Bus.Emit("aws.s3", "Object Created", nil, map[string]any{
				"bucket": map[string]any{"name": "stackwright"}, "object": map[string]any{"key": "projects/shop/prod.zip"}})
		}, "has no version"},
		"an execution that somebody started by hand": {func(r *emulators) {
			_, err := sfn.NewFromConfig(r.retrying()).StartExecution(r.Context(), &sfn.StartExecutionInput{
				StateMachineArn: &r.cloud.Machine, Name: aws.String("by-hand"), Input: aws.String(`{"run": "none", "epoch": 1}`)})
			if err != nil {
				r.Fatal(err)
			}
		}, "is none of ours"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				before := r.itemCount()
				c.poison(r)
				r.Pass(5 * time.Minute)
				letters := r.cloud.Bus.DeadLetters()
				if len(letters) != 1 || !strings.HasSuffix(letters[0].Function, ":start") || !strings.Contains(letters[0].Reason, c.says) {
					t.Fatalf("the dead letters are %v", reasons(letters))
				}
				if after := r.itemCount(); after != before {
					t.Errorf("there were %d items, and are %d", before, after)
				}
				id := r.Submit("deploy", parseStacks([]string{"vpc"}), "")
				if !r.WaitIdle() || r.run(id).State != run.StateSucceeded {
					t.Errorf("a run after it is %s", r.run(id).State)
				}
			})
		})
	}
}

// An event about a run that is not there any more is no poison: it came late.
func TestLateEventsAreNoDeadLetters(t *testing.T) {
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
		if letters := r.cloud.Bus.DeadLetters(); len(letters) > 0 {
			t.Errorf("the dead letters are %v", reasons(letters))
		}
	})
}

// said is why letters were given up.
func reasons(letters []events.DeadLetter) []string {
	var all []string
	for _, l := range letters {
		all = append(all, l.Function+": "+l.Reason)
	}
	return all
}

// rows is how many items the table holds.
func (r *emulators) itemCount() int {
	out, err := dynamodb.NewFromConfig(r.direct(r.cloud.Tables)).Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("stackwright")})
	if err != nil {
		r.Fatal(err)
	}
	return len(out.Items)
}

// An object with a wrong key makes a refused run, under the project that the key was
// probably meant for, and no dead letter.
func TestWrongKeysBecomeRefusedRuns(t *testing.T) {
	for key, project := range map[string]string{"projects/shop.zip": "shop@default", "requests/now.json": "now@default", "projects/Shop!/prod.zip": trigger.Unnamed} {
		t.Run(key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				r.put(key, []byte("zip"))
				r.Pass(time.Minute)
				if letters := r.cloud.Bus.DeadLetters(); len(letters) > 0 {
					t.Errorf("the dead letters are %v", reasons(letters))
				}
				runs, err := r.store.List(r.Context(), project, 0)
				if err != nil || len(runs) != 1 || runs[0].State != run.StateRefused {
					t.Fatalf("%s has the runs %+v, %v", project, runs, err)
				}
				if q := r.run(runs[0].ID); len(q.Messages) != 1 || !strings.Contains(q.Messages[0], key) {
					t.Errorf("it says %q", q.Messages)
				}
			})
		})
	}
}
