// Package lambda invokes Lambda functions.
package lambda

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's Lambda client that is used here. It sends each request once.
type Client interface {
	Invoke(context.Context, *sdk.InvokeInput, ...func(*sdk.Options)) (*sdk.InvokeOutput, error)
}

// Functions are the functions in all targets.
type Functions struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the functions that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Functions {
	return &Functions{clients}
}

// maxReport is how many letters of a function's own error are kept.
const maxReport = 300

// Invoke calls a function with an input, and waits for its end. The error is of kind Refused if the function returns one.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func (f *Functions) Invoke(ctx context.Context, in project.Target, function string, input []byte) error {
	client, err := f.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	out, err := client.Invoke(ctx, &sdk.InvokeInput{FunctionName: &function, Payload: input})
	if err != nil {
		return awserr.Fault("invoke "+function, function, err, awserr.Kinds{
			"ResourceConflictException": fault.Throttled, "ResourceNotReadyException": fault.Throttled, // the function is being updated, or becomes active
			"EC2ThrottledException":      fault.Throttled,
			"SnapStartNotReadyException": fault.Throttled,
			awserr.Other:                 fault.Refused,
		})
	}
	if out.FunctionError == nil {
		return nil
	}
	var said struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(out.Payload, &said); err != nil {
		said.ErrorMessage = string(out.Payload)
	}
	return fault.New(fault.Refused, "function %s failed: %s: %.*s", function, said.ErrorType, maxReport, said.ErrorMessage)
}
