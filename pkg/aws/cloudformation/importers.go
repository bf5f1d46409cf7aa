package cloudformation

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
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
func (c *Cloud) Importers(ctx context.Context, t project.Target, exports []string, count func()) (map[string][]string, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return nil, err
	}
	users := make(map[string][]string)
	for _, name := range exports {
		pages := sdk.NewListImportsPaginator(client, &sdk.ListImportsInput{ExportName: aws.String(name)})
		for pages.HasMorePages() {
			count()
			page, err := pages.NextPage(ctx)
			if err = requestFault("list the imports of "+name, err); fault.Is(err, fault.Missing) {
				break // no stack imports it
			}
			if err != nil {
				return nil, err
			}
			users[name] = append(users[name], page.Imports...)
		}
		slices.Sort(users[name])
	}
	return users, nil
}
