package trigger

import "github.com/stackwright/stackwright/pkg/plan"

// A Pattern is what a rule of EventBridge compares events with. All rules, in AWS
// and on a laptop, have the patterns of this file: they match what the functions of
// this package read, and nothing else.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
type Pattern struct {
	Source     []string       `json:"source"`
	DetailType []string       `json:"detail-type"`
	Detail     map[string]any `json:"detail"`
}

// tokens is how the tokens of our operations begin.
const tokens = "sw-"

// Uploads matches what Request reads: configurations and requests that are put
// into a bucket.
func Uploads(bucket string) Pattern {
	return Pattern{
		Source: []string{"aws.s3"}, DetailType: []string{"Object Created"},
		Detail: map[string]any{
			"bucket": map[string]any{"name": []string{bucket}},
			"object": map[string]any{"key": []map[string]string{{"prefix": "projects/"}, {"prefix": "requests/"}}},
		},
	}
}

// Stacks matches what StackEvent reads, as far as it wakes a run: the ends of
// operations of ours.
func Stacks() Pattern {
	var ends []string
	for _, s := range plan.Ends() {
		ends = append(ends, string(s))
	}
	return Pattern{
		Source: []string{"aws.cloudformation"}, DetailType: []string{"CloudFormation Stack Status Change"},
		Detail: map[string]any{
			"client-request-token": []map[string]string{{"prefix": tokens}},
			"status-details":       map[string]any{"status": ends},
		},
	}
}

// Executions matches what Failed reads: executions of a state machine, given by
// its ARN, that went down.
func Executions(machine string) Pattern {
	return Pattern{
		Source: []string{"aws.states"}, DetailType: []string{"Step Functions Execution Status Change"},
		Detail: map[string]any{"stateMachineArn": []string{machine}, "status": dead},
	}
}
