// Package ssm reads and sets parameters of the parameter store of Systems Manager.
package ssm

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's SSM client that is used here. It sends each request once.
type Client interface {
	GetParameters(context.Context, *sdk.GetParametersInput, ...func(*sdk.Options)) (*sdk.GetParametersOutput, error)
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

// atOnce is how many parameters one request reads at most.
const atOnce = 10

// StoredParameters implements fact.Parameters. It does not ask for secure strings to be decrypted, and drops what
// is in them.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html
func (p *Parameters) StoredParameters(ctx context.Context, in project.Target, names []string) (map[string]project.StoredParameter, error) {
	client, err := p.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	found := make(map[string]project.StoredParameter, len(names))
	for some := range slices.Chunk(names, atOnce) {
		out, err := client.GetParameters(ctx, &sdk.GetParametersInput{Names: some, WithDecryption: aws.Bool(false)})
		if err != nil {
			return nil, awserr.Fault("get parameters", "the parameter store", err, awserr.Kinds{awserr.Other: fault.Refused})
		}
		for _, one := range out.Parameters {
			stored := project.StoredParameter{Secure: one.Type == types.ParameterTypeSecureString}
			if !stored.Secure {
				stored.Value = aws.ToString(one.Value)
			}
			found[aws.ToString(one.Name)+aws.ToString(one.Selector)] = stored // the selector is a colon and the version
		}
	}
	return found, nil
}
