package trigger

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
)

// A Pattern is the event pattern of a rule of EventBridge. All rules, in AWS
// and on a laptop, have the patterns of this file: they match what the functions of
// this package and of package notify read, and nothing else.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
type Pattern struct {
	Source     []string       `json:"source"`
	DetailType []string       `json:"detail-type"`
	Detail     map[string]any `json:"detail,omitempty"` // nil matches any
}

// tokenPrefix is the beginning of the tokens of Stackwright's operations.
const tokenPrefix = "sw-"

// Uploads matches the events that Request reads: about configurations and requests
// that are uploaded to a bucket.
func Uploads(bucket string) Pattern {
	return Pattern{
		Source: []string{"aws.s3"}, DetailType: []string{"Object Created"},
		Detail: map[string]any{
			"bucket": map[string]any{"name": []string{bucket}},
			"object": map[string]any{"key": []map[string]string{{"prefix": "projects/"}, {"prefix": "requests/"}}},
		},
	}
}

// Settings matches the events that Changed reads: about the access file and the policies of an installation, which its owner
// puts into its bucket.
func Settings(bucket string) Pattern {
	var below []map[string]string
	for _, folder := range settingFolders {
		below = append(below, map[string]string{"prefix": folder})
	}
	return Pattern{
		Source: []string{"aws.s3"}, DetailType: []string{objectCreated, objectDeleted},
		Detail: map[string]any{"bucket": map[string]any{"name": []string{bucket}}, "object": map[string]any{"key": below}},
	}
}

// Stacks matches the events that StackEvent reads: the ends of our operations, which
// wake a run, and their starts, which show that events arrive.
func Stacks() Pattern {
	var statuses []string
	for _, s := range slices.Sorted(slices.Values(slices.Concat(plan.Starts(), plan.Ends()))) {
		statuses = append(statuses, string(s))
	}
	return Pattern{
		Source: []string{"aws.cloudformation"}, DetailType: []string{"CloudFormation Stack Status Change"},
		Detail: map[string]any{
			"client-request-token": []map[string]string{{"prefix": tokenPrefix}},
			"status-details":       map[string]any{"status": statuses},
		},
	}
}

// Executions matches the events that FailedExecution reads: failed executions of the state
// machine with the given ARN.
func Executions(machine string) Pattern {
	return Pattern{
		Source: []string{"aws.states"}, DetailType: []string{"Step Functions Execution Status Change"},
		Detail: map[string]any{"stateMachineArn": []string{machine}, "status": failedStatuses},
	}
}

// Runs matches the state changes of runs, which package notify delivers.
func Runs() Pattern {
	return Pattern{Source: []string{"stackwright"}, DetailType: []string{"Stackwright Run State Change"}}
}
