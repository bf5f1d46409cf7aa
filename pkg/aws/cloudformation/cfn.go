// Package cloudformation speaks CloudFormation, for one target at a time.
package cloudformation

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's CloudFormation client that is used here:
// *cloudformation.Client is one.
type Client interface {
	DescribeStacks(context.Context, *sdk.DescribeStacksInput, ...func(*sdk.Options)) (*sdk.DescribeStacksOutput, error)
	ListStackResources(context.Context, *sdk.ListStackResourcesInput, ...func(*sdk.Options)) (*sdk.ListStackResourcesOutput, error)
	DescribeStackEvents(context.Context, *sdk.DescribeStackEventsInput, ...func(*sdk.Options)) (*sdk.DescribeStackEventsOutput, error)

	CreateStack(context.Context, *sdk.CreateStackInput, ...func(*sdk.Options)) (*sdk.CreateStackOutput, error)
	UpdateStack(context.Context, *sdk.UpdateStackInput, ...func(*sdk.Options)) (*sdk.UpdateStackOutput, error)
	DeleteStack(context.Context, *sdk.DeleteStackInput, ...func(*sdk.Options)) (*sdk.DeleteStackOutput, error)
	CancelUpdateStack(context.Context, *sdk.CancelUpdateStackInput, ...func(*sdk.Options)) (*sdk.CancelUpdateStackOutput, error)
	ContinueUpdateRollback(context.Context, *sdk.ContinueUpdateRollbackInput, ...func(*sdk.Options)) (*sdk.ContinueUpdateRollbackOutput, error)
	UpdateTerminationProtection(context.Context, *sdk.UpdateTerminationProtectionInput, ...func(*sdk.Options)) (*sdk.UpdateTerminationProtectionOutput, error)
}

// A Door is the way to CloudFormation in a target.
type TargetClient struct {
	Client
	Role string // ARN of the role that CloudFormation is to work with; empty for that of whoever asks
}

// role is the door's, as CloudFormation is told it.
func (d TargetClient) role() *string {
	if d.Role == "" {
		return nil
	}
	return &d.Role
}

// Doors returns the door to a target, or an error that says why there is none:
// of kind Denied if nobody may go there. It is asked at every call.
type TargetClients func(context.Context, project.Target) (TargetClient, error)

// Everywhere is the Doors of an installation that has one target only.
func Everywhere(c Client) TargetClients {
	return func(context.Context, project.Target) (TargetClient, error) { return TargetClient{Client: c}, nil }
}

// Templates keeps templates by their digest.
type Templates interface {
	// Template returns the bytes of a template.
	Template(ctx context.Context, digest string) ([]byte, error)

	// URL says where in S3 CloudFormation finds a template that is too large
	// to be sent along.
	URL(digest string) string
}

// A Cloud is CloudFormation as the engine sees it: it is an action.Cloud and an
// engine.Clouds.
type Cloud struct {
	doors     TargetClients
	templates Templates
}

var _ action.Cloud = (*Cloud)(nil)

// New returns a Cloud that speaks through the given doors.
func New(doors TargetClients, templates Templates) *Cloud {
	return &Cloud{doors: doors, templates: templates}
}

// door returns the door to a target.
func (c *Cloud) client(ctx context.Context, t project.Target) (TargetClient, error) {
	got, err := c.doors(ctx, t)
	if err != nil {
		return TargetClient{}, fmt.Errorf("target %s: %w", t.Name, err)
	}
	return got, nil
}

// once is the option of every call that changes something: it is sent a single
// time, so that one that was throttled was certainly not carried out.
func once(o *sdk.Options) { o.Retryer, o.RetryMaxAttempts = aws.NopRetryer{}, 1 }
