package cloudformation

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Exports implements engine.Clouds. It reads pages until it has found all names.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListExports.html
func (c *Cloud) Exports(ctx context.Context, t project.Target, names []string, count func()) (map[string]plan.Export, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return nil, err
	}
	found := make(map[string]plan.Export)
	pages := sdk.NewListExportsPaginator(client, &sdk.ListExportsInput{})
	for pages.HasMorePages() && len(found) < len(names) {
		count()
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, requestFault("list the exports", err)
		}
		for _, x := range page.Exports {
			if name := aws.ToString(x.Name); slices.Contains(names, name) {
				found[name] = plan.Export{Stack: nameIn(aws.ToString(x.ExportingStackId)), Value: aws.ToString(x.Value)}
			}
		}
	}
	return found, nil
}

// nameIn returns the name of a stack in its ID, arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UNIQUE.
func nameIn(id string) string {
	_, rest, _ := strings.Cut(id, ":stack/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}
