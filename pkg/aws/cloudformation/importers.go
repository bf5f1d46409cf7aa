package cloudformation

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Resources implements engine.Clouds.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
func (c *Cloud) Resources(ctx context.Context, p plan.Location, count func()) (map[string]string, error) {
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	pages := sdk.NewListStackResourcesPaginator(client, &sdk.ListStackResourcesInput{StackName: aws.String(p.StackID)})
	for pages.HasMorePages() {
		count()
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, requestFault("list the resources of stack "+p.Stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			gone := r.ResourceStatus == types.ResourceStatusDeleteComplete || r.ResourceStatus == types.ResourceStatusDeleteSkipped
			if id := aws.ToString(r.PhysicalResourceId); id != "" && !gone {
				all[aws.ToString(r.LogicalResourceId)] = id
			}
		}
	}
	return all, nil
}

// Importers implements engine.Clouds. CloudFormation answers about an export that no stack imports with an error.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListImports.html
func (c *Cloud) Importers(ctx context.Context, p plan.Location, count func()) ([]string, error) {
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return nil, err
	}
	count()
	described, err := client.DescribeStacks(ctx, &sdk.DescribeStacksInput{StackName: aws.String(p.StackID)})
	if err != nil {
		return nil, requestFault("read stack "+p.Stack, err)
	}
	var users []string
	for _, s := range described.Stacks {
		for _, o := range s.Outputs {
			if o.ExportName == nil {
				continue
			}
			pages := sdk.NewListImportsPaginator(client, &sdk.ListImportsInput{ExportName: o.ExportName})
			for pages.HasMorePages() {
				count()
				page, err := pages.NextPage(ctx)
				if err != nil {
					if err = requestFault("list the imports of "+*o.ExportName, err); fault.Is(err, fault.Missing) {
						break // no stack imports it
					}
					return nil, err
				}
				users = append(users, page.Imports...)
			}
		}
	}
	slices.Sort(users)
	return slices.Compact(users), nil
}
