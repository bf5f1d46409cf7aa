// Package stepfunctions starts and wakes Step Functions executions.
package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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

// A Machine is a state machine that is there.
type Machine struct {
	client client
	arn    string
}

// New returns the state machine of the given ARN. It asks for nothing.
func New(c client, arn string) *Machine { return &Machine{client: c, arn: arn} }

// Start is engine.Machine. An execution of that name, running or over, is one
// that was started before: names are remembered for 90 days.
func (m *Machine) Start(ctx context.Context, name string, in engine.ExecutionInput) error {
	input, err := json.Marshal(in)
	if err != nil {
		return fault.New(fault.Broken, "start execution %s: %w", name, err)
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &m.arn, Name: &name, Input: aws.String(string(input))})
	if is(err, "ExecutionAlreadyExists") {
		return nil
	}
	return classify("start execution "+name+" of "+m.arn, err)
}

// Standing is engine.Machine.
func (m *Machine) ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error) {
	arn := strings.Replace(m.arn, ":stateMachine:", ":execution:", 1) + ":" + name
	out, err := m.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if is(err, "ExecutionDoesNotExist") {
		return engine.ExecutionStatus{}, nil
	}
	if err != nil {
		return engine.ExecutionStatus{}, classify("describe execution "+name, err)
	}
	why := []string{string(out.Status), aws.ToString(out.Error), aws.ToString(out.Cause)}
	return engine.ExecutionStatus{
		Started: true,
		Running: out.Status == types.ExecutionStatusRunning,
		Why:     strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), ": "),
	}, nil
}

// Answer is engine.Machine. Whoever is too late answers nobody.
func (m *Machine) Answer(ctx context.Context, token string, t engine.LoopState) error {
	output, err := json.Marshal(t)
	if err != nil {
		return fault.New(fault.Broken, "answer run %s: %w", t.Run, err)
	}
	_, err = m.client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(string(output))})
	if is(err, "TaskTimedOut", "TaskDoesNotExist", "InvalidToken") {
		return nil
	}
	return classify("answer the execution of run "+t.Run, err)
}

// is reports whether Step Functions answered with one of the given codes.
func is(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// classify says what err means to whoever was to do something.
// https://docs.aws.amazon.com/step-functions/latest/apireference/CommonErrors.html
func classify(do string, err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	kind := fault.Unavailable // no answer, or no sound one
	switch {
	case is(err, "ThrottlingException", "Throttling", "ExecutionLimitExceeded", "RequestLimitExceeded", "TooManyRequestsException"):
		kind = fault.Throttled
	case is(err, "AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "MissingAuthenticationToken", "InvalidSignatureException", "IncompleteSignature"):
		kind = fault.Denied
	case is(err, "StateMachineDoesNotExist", "StateMachineDeleting"):
		return fault.New(fault.Broken, "%s: there is no such state machine: deploy Stackwright, or set STACKWRIGHT_STATE_MACHINE: %w", do, err)
	case ok && answer.HTTPStatusCode() == http.StatusTooManyRequests:
		kind = fault.Throttled
	case ok && answer.HTTPStatusCode() >= http.StatusBadRequest && answer.HTTPStatusCode() < http.StatusInternalServerError:
		kind = fault.Broken // it does not understand what we ask
	}
	return fault.New(kind, "%s: %w", do, err)
}
