package eventbridge

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A HookClient is the part of the SDK's EventBridge client that hooks use. It sends each request once.
type HookClient interface {
	PutEvents(context.Context, *sdk.PutEventsInput, ...func(*sdk.Options)) (*sdk.PutEventsOutput, error)
}

// Buses are the event buses in all targets.
type Buses struct {
	clients func(context.Context, project.Target) (HookClient, error)
}

// NewBuses returns the event buses that the given clients reach.
func NewBuses(clients func(context.Context, project.Target) (HookClient, error)) *Buses {
	return &Buses{clients}
}

// PutEvent puts an event on a bus. The detail is JSON.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
func (b *Buses) PutEvent(ctx context.Context, in project.Target, bus, source, kind string, detail []byte) error {
	client, err := b.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	out, err := client.PutEvents(ctx, &sdk.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &bus, Source: &source, DetailType: &kind, Detail: aws.String(string(detail)),
	}}})
	if err != nil {
		return awserr.Fault("put an event on "+bus, bus, err, awserr.Kinds{awserr.Other: fault.Refused})
	}
	for _, e := range out.Entries {
		if code := aws.ToString(e.ErrorCode); code != "" {
			return fault.New(awserr.KindOf(code, fault.Refused), "put an event on %s: %s: %s", bus, code, aws.ToString(e.ErrorMessage))
		}
	}
	return nil
}
