// Package ssm sets parameters of the parameter store of Systems Manager.
package ssm

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's SSM client that is used here. It sends each request once.
type Client interface {
	PutParameter(context.Context, *sdk.PutParameterInput, ...func(*sdk.Options)) (*sdk.PutParameterOutput, error)
}

// Parameters are the parameters in all targets.
type Parameters struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the parameters that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Parameters {
	return &Parameters{clients}
}

// PutParameter sets the value of a parameter of the type String. It creates the parameter if there is none. The type is always
// sent: the parameter store refuses to change the type of a parameter, so no secret is overwritten with plain text.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
func (p *Parameters) PutParameter(ctx context.Context, in project.Target, name, value string) error {
	client, err := p.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.PutParameter(ctx, &sdk.PutParameterInput{Name: &name, Value: &value, Type: types.ParameterTypeString, Overwrite: aws.Bool(true)})
	return awserr.Fault("set parameter "+name, name, err, awserr.Kinds{
		"TooManyUpdates": fault.Throttled, // another update of the parameter is in progress
		awserr.Other:     fault.Refused,
	})
}
