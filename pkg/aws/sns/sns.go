// Package sns publishes messages on topics of SNS.
package sns

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's SNS client that is used here. It sends each request once.
type Client interface {
	Publish(context.Context, *sdk.PublishInput, ...func(*sdk.Options)) (*sdk.PublishOutput, error)
}

// Topics are the topics in all targets.
type Topics struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the topics that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Topics {
	return &Topics{clients}
}

// Publish publishes a message on a topic. Only FIFO topics have groups and keys, and the others refuse them.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
func (t *Topics) Publish(ctx context.Context, in project.Target, topic, group, key string, message []byte) error {
	client, err := t.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	input := &sdk.PublishInput{TopicArn: &topic, Message: aws.String(string(message))}
	if strings.HasSuffix(topic, ".fifo") {
		input.MessageGroupId, input.MessageDeduplicationId = &group, &key
	}
	_, err = client.Publish(ctx, input)
	return awserr.Fault("publish on "+topic, topic, err, awserr.Kinds{
		"Throttled": fault.Throttled, "KMSThrottling": fault.Throttled,
		"AuthorizationError": fault.Denied,
		awserr.Other:         fault.Refused,
	})
}
