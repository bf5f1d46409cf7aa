package stepfunctions

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A HookClient is the part of the SDK's Step Functions client that hooks use. It sends each request once.
type HookClient interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error)
}

// Machines are the state machines in all targets.
type Machines struct {
	clients func(context.Context, project.Target) (HookClient, error)
}

// NewMachines returns the state machines that the given clients reach.
func NewMachines(clients func(context.Context, project.Target) (HookClient, error)) *Machines {
	return &Machines{clients}
}

// client returns the client of a target.
func (m *Machines) client(ctx context.Context, in project.Target) (HookClient, error) {
	c, err := m.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return c, nil
}

// hookKinds are the kinds of errors of requests of hooks.
var hookKinds = awserr.Kinds{
	"ExecutionLimitExceeded": fault.Throttled,
	awserr.Other:             fault.Refused,
}

// StartExecution starts an execution, unless one of the name was started before: Step Functions remembers names for 90 days. It
// returns its ARN.
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
func (m *Machines) StartExecution(ctx context.Context, in project.Target, machine, name string, input []byte) (string, error) {
	c, err := m.client(ctx, in)
	if err != nil {
		return "", err
	}
	out, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine, Name: &name, Input: aws.String(string(input))})
	switch {
	case awserr.Is(err, "ExecutionAlreadyExists"):
		return strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + name, nil
	case err != nil:
		return "", awserr.Fault("start an execution of "+machine, machine, err, hookKinds)
	}
	return aws.ToString(out.ExecutionArn), nil
}

// ExecutionEnded reports whether an execution has ended. The error is of kind Refused if it did not succeed, or does not exist.
func (m *Machines) ExecutionEnded(ctx context.Context, in project.Target, execution string) (bool, error) {
	c, err := m.client(ctx, in)
	if err != nil {
		return false, err
	}
	out, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &execution})
	if err != nil {
		return false, awserr.Fault("describe execution "+execution, execution, err, hookKinds)
	}
	switch out.Status {
	case types.ExecutionStatusRunning, types.ExecutionStatusPendingRedrive:
		return false, nil
	case types.ExecutionStatusSucceeded:
		return true, nil
	}
	why := strings.Trim(fmt.Sprintf("%s: %.300s", aws.ToString(out.Error), aws.ToString(out.Cause)), ": ")
	return true, fault.New(fault.Refused, "execution %s is %s (%s)", execution, out.Status, why)
}

// StopExecution stops an execution. It is no error if it has ended.
func (m *Machines) StopExecution(ctx context.Context, in project.Target, execution, why string) error {
	c, err := m.client(ctx, in)
	if err != nil {
		return err
	}
	_, err = c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &execution, Cause: &why})
	if awserr.Is(err, "ExecutionDoesNotExist") {
		return nil
	}
	return awserr.Fault("stop execution "+execution, execution, err, hookKinds)
}
