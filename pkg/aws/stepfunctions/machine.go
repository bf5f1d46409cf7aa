// Package stepfunctions starts and wakes Step Functions executions.
package stepfunctions

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
)

var _ engine.Machine = (*Machine)(nil)

// client is the part of the SDK's Step Functions client that is used here.
type client interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	SendTaskSuccess(context.Context, *sfn.SendTaskSuccessInput, ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error)
}

// A Machine is an existing state machine.
type Machine struct {
	client client
	arn    string
}

// New returns the state machine of an ARN. It sends no request.
func New(c client, arn string) *Machine { return &Machine{client: c, arn: arn} }

// Start implements engine.Machine. If an execution of that name exists, Start has
// been called before: Step Functions remembers names for 90 days.
func (m *Machine) Start(ctx context.Context, name string, in engine.ExecutionInput) error {
	input, err := json.Marshal(in)
	if err != nil {
		return fault.New(fault.Broken, "start execution %s: %w", name, err)
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &m.arn, Name: &name, Input: aws.String(string(input))})
	if awserr.Is(err, "ExecutionAlreadyExists") {
		return nil
	}
	return m.fault("start execution "+name, err)
}

// ExecutionStatus implements engine.Machine.
func (m *Machine) ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error) {
	arn := strings.Replace(m.arn, ":stateMachine:", ":execution:", 1) + ":" + name
	out, err := m.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if awserr.Is(err, "ExecutionDoesNotExist") {
		return engine.ExecutionStatus{}, nil
	}
	if err != nil {
		return engine.ExecutionStatus{}, m.fault("describe execution "+name, err)
	}
	why := []string{string(out.Status), aws.ToString(out.Error), aws.ToString(out.Cause)}
	return engine.ExecutionStatus{
		Started: true,
		Running: out.Status == types.ExecutionStatusRunning,
		Why:     strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), ": "),
	}, nil
}

// Answer implements engine.Machine. An answer to a token that has expired or was
// answered before has no effect.
func (m *Machine) Answer(ctx context.Context, token string, t engine.LoopState) error {
	output, err := json.Marshal(t)
	if err != nil {
		return fault.New(fault.Broken, "answer run %s: %w", t.Run, err)
	}
	_, err = m.client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(string(output))})
	if awserr.Is(err, "TaskTimedOut", "TaskDoesNotExist", "InvalidToken") {
		return nil
	}
	return m.fault("answer the execution of run "+t.Run, err)
}

// fault returns the fault of a request to Step Functions.
func (m *Machine) fault(do string, err error) error {
	if awserr.Is(err, "StateMachineDoesNotExist", "StateMachineDeleting") {
		return fault.New(fault.Broken, "%s: state machine %s does not exist: deploy Stackwright, or set STACKWRIGHT_STATE_MACHINE", do, m.arn)
	}
	return awserr.Fault(do, m.arn, err, awserr.Kinds{
		"ExecutionLimitExceeded": fault.Throttled,
		"InvalidToken":           fault.Broken, // a task token, not one of the credentials
	})
}
