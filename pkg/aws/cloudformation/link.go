package cloudformation

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Estimator is the part of the SDK's client that makes links to estimates.
type Estimator interface {
	EstimateTemplateCost(context.Context, *sdk.EstimateTemplateCostInput, ...func(*sdk.Options)) (*sdk.EstimateTemplateCostOutput, error)
}

// CostLink has CloudFormation make a link to its estimate of what a template costs with some parameters: to AWS's calculator, with the
// resources of the template. It needs no stack. The error is of kind Refused if CloudFormation makes none.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_EstimateTemplateCost.html
func CostLink(ctx context.Context, client Estimator, template string, parameters map[string]string) (string, error) {
	if len(template) > project.MaxInline {
		return "", fault.New(fault.Refused, "its template has %d bytes, and a request has room for %d", len(template), project.MaxInline)
	}
	in := &sdk.EstimateTemplateCostInput{TemplateBody: &template}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: &name, ParameterValue: aws.String(parameters[name])})
	}
	out, err := client.EstimateTemplateCost(ctx, in)
	if err != nil {
		return "", requestFault("have CloudFormation estimate the cost of a template", err)
	}
	if aws.ToString(out.Url) == "" {
		return "", fault.New(fault.Refused, "CloudFormation has answered without a link")
	}
	return *out.Url, nil
}
