// Package secretsmanager reads secrets of Secrets Manager.
package secretsmanager

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's Secrets Manager client that is used here. It sends each request once.
type Client interface {
	GetSecretValue(context.Context, *sdk.GetSecretValueInput, ...func(*sdk.Options)) (*sdk.GetSecretValueOutput, error)
}

// Secrets are the secrets in all targets.
type Secrets struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the secrets that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Secrets {
	return &Secrets{clients}
}

// SecretValue returns the current value of a secret.
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
func (s *Secrets) SecretValue(ctx context.Context, in project.Target, arn string) ([]byte, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return Value(ctx, client, arn)
}

// Value returns the current value of the secret that a client finds, which is text or bytes.
func Value(ctx context.Context, client Client, arn string) ([]byte, error) {
	out, err := client.GetSecretValue(ctx, &sdk.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return nil, awserr.Fault("read secret "+arn, arn, err, awserr.Kinds{awserr.Other: fault.Refused})
	}
	if out.SecretString != nil {
		return []byte(aws.ToString(out.SecretString)), nil
	}
	return out.SecretBinary, nil
}
