// Package cloudformation starts and observes operations on CloudFormation stacks.
package cloudformation

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's *cloudformation.Client that is used here.
type Client interface {
	DescribeStacks(context.Context, *sdk.DescribeStacksInput, ...func(*sdk.Options)) (*sdk.DescribeStacksOutput, error)
	ListStackResources(context.Context, *sdk.ListStackResourcesInput, ...func(*sdk.Options)) (*sdk.ListStackResourcesOutput, error)
	GetTemplate(context.Context, *sdk.GetTemplateInput, ...func(*sdk.Options)) (*sdk.GetTemplateOutput, error)
	DescribeStackResources(context.Context, *sdk.DescribeStackResourcesInput, ...func(*sdk.Options)) (*sdk.DescribeStackResourcesOutput, error)
	ValidateTemplate(context.Context, *sdk.ValidateTemplateInput, ...func(*sdk.Options)) (*sdk.ValidateTemplateOutput, error)
	DescribeAccountLimits(context.Context, *sdk.DescribeAccountLimitsInput, ...func(*sdk.Options)) (*sdk.DescribeAccountLimitsOutput, error)
	ListStacks(context.Context, *sdk.ListStacksInput, ...func(*sdk.Options)) (*sdk.ListStacksOutput, error)
	ListExports(context.Context, *sdk.ListExportsInput, ...func(*sdk.Options)) (*sdk.ListExportsOutput, error)
	ListImports(context.Context, *sdk.ListImportsInput, ...func(*sdk.Options)) (*sdk.ListImportsOutput, error)
	DescribeStackEvents(context.Context, *sdk.DescribeStackEventsInput, ...func(*sdk.Options)) (*sdk.DescribeStackEventsOutput, error)
	GetStackPolicy(context.Context, *sdk.GetStackPolicyInput, ...func(*sdk.Options)) (*sdk.GetStackPolicyOutput, error)
	DescribeChangeSet(context.Context, *sdk.DescribeChangeSetInput, ...func(*sdk.Options)) (*sdk.DescribeChangeSetOutput, error)
	DescribeStackDriftDetectionStatus(context.Context, *sdk.DescribeStackDriftDetectionStatusInput, ...func(*sdk.Options)) (*sdk.DescribeStackDriftDetectionStatusOutput, error)
	DescribeStackResourceDrifts(context.Context, *sdk.DescribeStackResourceDriftsInput, ...func(*sdk.Options)) (*sdk.DescribeStackResourceDriftsOutput, error)

	DetectStackDrift(context.Context, *sdk.DetectStackDriftInput, ...func(*sdk.Options)) (*sdk.DetectStackDriftOutput, error)
	CreateChangeSet(context.Context, *sdk.CreateChangeSetInput, ...func(*sdk.Options)) (*sdk.CreateChangeSetOutput, error)
	ExecuteChangeSet(context.Context, *sdk.ExecuteChangeSetInput, ...func(*sdk.Options)) (*sdk.ExecuteChangeSetOutput, error)
	DeleteChangeSet(context.Context, *sdk.DeleteChangeSetInput, ...func(*sdk.Options)) (*sdk.DeleteChangeSetOutput, error)
	CreateStack(context.Context, *sdk.CreateStackInput, ...func(*sdk.Options)) (*sdk.CreateStackOutput, error)
	UpdateStack(context.Context, *sdk.UpdateStackInput, ...func(*sdk.Options)) (*sdk.UpdateStackOutput, error)
	DeleteStack(context.Context, *sdk.DeleteStackInput, ...func(*sdk.Options)) (*sdk.DeleteStackOutput, error)
	CancelUpdateStack(context.Context, *sdk.CancelUpdateStackInput, ...func(*sdk.Options)) (*sdk.CancelUpdateStackOutput, error)
	ContinueUpdateRollback(context.Context, *sdk.ContinueUpdateRollbackInput, ...func(*sdk.Options)) (*sdk.ContinueUpdateRollbackOutput, error)
	CreateStackRefactor(context.Context, *sdk.CreateStackRefactorInput, ...func(*sdk.Options)) (*sdk.CreateStackRefactorOutput, error)
	DescribeStackRefactor(context.Context, *sdk.DescribeStackRefactorInput, ...func(*sdk.Options)) (*sdk.DescribeStackRefactorOutput, error)
	ListStackRefactorActions(context.Context, *sdk.ListStackRefactorActionsInput, ...func(*sdk.Options)) (*sdk.ListStackRefactorActionsOutput, error)
	ListStackRefactors(context.Context, *sdk.ListStackRefactorsInput, ...func(*sdk.Options)) (*sdk.ListStackRefactorsOutput, error)
	ExecuteStackRefactor(context.Context, *sdk.ExecuteStackRefactorInput, ...func(*sdk.Options)) (*sdk.ExecuteStackRefactorOutput, error)
	SetStackPolicy(context.Context, *sdk.SetStackPolicyInput, ...func(*sdk.Options)) (*sdk.SetStackPolicyOutput, error)
	UpdateTerminationProtection(context.Context, *sdk.UpdateTerminationProtectionInput, ...func(*sdk.Options)) (*sdk.UpdateTerminationProtectionOutput, error)
}

// A TargetClient is the client of one target.
type TargetClient struct {
	Client
	Role string // ARN of the role that CloudFormation assumes; if empty, it uses the caller's permissions
}

// role returns the role as a parameter of a request.
func (c TargetClient) role() *string {
	if c.Role == "" {
		return nil
	}
	return &c.Role
}

// TargetClients returns the client of a target. The error is of kind Denied if the
// target may not be used. It is called for every request.
type TargetClients func(context.Context, project.Target) (TargetClient, error)

// Templates reads stored templates by their digest.
type Templates interface {
	// Template returns the bytes of a template.
	Template(ctx context.Context, digest string) ([]byte, error)

	// URL returns the S3 address of a template. CloudFormation reads templates
	// from there that are too large for a request.
	URL(digest string) string
}

// A Cloud is CloudFormation in all targets. It implements action.Cloud and
// engine.Clouds.
type Cloud struct {
	clients   TargetClients
	templates Templates

	mu     sync.Mutex
	limits map[project.Target]stackLimit
}

var _ action.Cloud = (*Cloud)(nil)

// New returns a Cloud that sends its requests through the given clients.
func New(clients TargetClients, templates Templates) *Cloud {
	return &Cloud{clients: clients, templates: templates, limits: make(map[project.Target]stackLimit)}
}

// client returns the client of a target.
func (c *Cloud) client(ctx context.Context, t project.Target) (TargetClient, error) {
	got, err := c.clients(ctx, t)
	if err != nil {
		return TargetClient{}, fmt.Errorf("target %s: %w", t.Name, err)
	}
	return got, nil
}

// once is the option of every request that changes a stack. Such a request is sent
// a single time, so that a throttled one was certainly not carried out.
func once(o *sdk.Options) { o.Retryer, o.RetryMaxAttempts = aws.NopRetryer{}, 1 }

// unchecked is the option of a request with the template of a task. Its header says what the project allows although the
// schemas of AWS do not have it: the emulator on a laptop needs it. AWS does not get it.
func unchecked(t action.Task) func(*sdk.Options) {
	return func(o *sdk.Options) {
		if len(t.Node.Unchecked) > 0 && o.BaseEndpoint != nil {
			o.APIOptions = append(o.APIOptions,
				smithyhttp.SetHeaderValue("X-Stackwright-Unchecked", strings.Join(t.Node.Unchecked, ",")))
		}
	}
}
