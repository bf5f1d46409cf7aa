package cloudformation

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

func (s *Service) describeStackResources(_ context.Context, in *cfn.DescribeStackResourcesInput) (*cfn.DescribeStackResourcesOutput, error) {
	out := &cfn.DescribeStackResourcesOutput{StackResources: []types.StackResource{}}
	return out, s.locked(func() error {
		st, err := s.stackOfResource(in.StackName, in.PhysicalResourceId)
		if err != nil {
			return err
		}
		for _, name := range st.logicalIDs() {
			r := st.Resources[name]
			if in.LogicalResourceId != nil && *in.LogicalResourceId != name {
				continue
			}
			out.StackResources = append(out.StackResources, types.StackResource{
				StackId: &st.ID, StackName: &st.Name, LogicalResourceId: aws.String(name), PhysicalResourceId: optional(r.Physical),
				ResourceType: aws.String(r.Type), ResourceStatus: r.Status, ResourceStatusReason: optional(r.Reason), Timestamp: aws.Time(r.At),
				DriftInformation: &types.StackResourceDriftInformation{StackResourceDriftStatus: types.StackResourceDriftStatusNotChecked},
			})
		}
		if in.LogicalResourceId != nil && len(out.StackResources) == 0 {
			return invalid("Resource %s does not exist for stack %s", *in.LogicalResourceId, st.Name)
		}
		return nil
	})
}

// stackOfResource is the named stack, or the one that has a resource with the physical ID.
func (s *Service) stackOfResource(name, physical *string) (*stack, error) {
	if aws.ToString(name) != "" {
		return s.describedStack(name)
	}
	if aws.ToString(physical) == "" {
		return nil, invalid("Either StackName or PhysicalResourceId must be specified.")
	}
	for _, st := range s.stacksInside() {
		for _, r := range st.existing() {
			if r.Physical == *physical {
				return st, nil
			}
		}
	}
	return nil, invalid("Stack for %s does not exist", *physical)
}

func (s *Service) describeStackResource(_ context.Context, in *cfn.DescribeStackResourceInput) (*cfn.DescribeStackResourceOutput, error) {
	out := &cfn.DescribeStackResourceOutput{}
	return out, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil {
			return invalid("Stack '%s' does not exist", aws.ToString(in.StackName))
		}
		name := aws.ToString(in.LogicalResourceId)
		r := st.Resources[name]
		if r == nil {
			return invalid("Resource %s does not exist for stack %s", name, st.Name)
		}
		out.StackResourceDetail = &types.StackResourceDetail{
			StackId: &st.ID, StackName: &st.Name, LogicalResourceId: &name, PhysicalResourceId: optional(r.Physical),
			ResourceType: aws.String(r.Type), ResourceStatus: r.Status, ResourceStatusReason: optional(r.Reason),
			LastUpdatedTimestamp: aws.Time(r.At), Metadata: optional(r.Metadata),
			DriftInformation: &types.StackResourceDriftInformation{StackResourceDriftStatus: types.StackResourceDriftStatusNotChecked},
		}
		return nil
	})
}

func (s *Service) listStackResources(_ context.Context, in *cfn.ListStackResourcesInput) (*cfn.ListStackResourcesOutput, error) {
	out := &cfn.ListStackResourcesOutput{StackResourceSummaries: []types.StackResourceSummary{}}
	return out, s.locked(func() error {
		st, err := s.describedStack(in.StackName)
		if err != nil {
			return err
		}
		names, next, err := page(st.logicalIDs(), in.NextToken, 100)
		if err != nil {
			return err
		}
		for _, name := range names {
			r := st.Resources[name]
			out.StackResourceSummaries = append(out.StackResourceSummaries, types.StackResourceSummary{
				LogicalResourceId: aws.String(name), PhysicalResourceId: optional(r.Physical), ResourceType: aws.String(r.Type),
				ResourceStatus: r.Status, ResourceStatusReason: optional(r.Reason), LastUpdatedTimestamp: aws.Time(r.At),
				DriftInformation: &types.StackResourceDriftInformationSummary{StackResourceDriftStatus: types.StackResourceDriftStatusNotChecked},
			})
		}
		out.NextToken = next
		return nil
	})
}

func (s *Service) listExports(_ context.Context, in *cfn.ListExportsInput) (*cfn.ListExportsOutput, error) {
	out := &cfn.ListExportsOutput{}
	return out, s.locked(func() error {
		all := []types.Export{}
		for _, st := range s.stacks {
			for _, o := range st.exports() {
				all = append(all, types.Export{ExportingStackId: &st.ID, Name: aws.String(o.Export), Value: aws.String(o.Value)})
			}
		}
		var err error
		out.Exports, out.NextToken, err = page(all, in.NextToken, 100)
		return err
	})
}

// listImports is refused for an export that no stack imports.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListImports.html
func (s *Service) listImports(_ context.Context, in *cfn.ListImportsInput) (*cfn.ListImportsOutput, error) {
	out := &cfn.ListImportsOutput{}
	return out, s.locked(func() error {
		name := aws.ToString(in.ExportName)
		users := s.importers(name, nil)
		if len(users) == 0 {
			return invalid("Export '%s' is not imported by any stack.", name)
		}
		var err error
		out.Imports, out.NextToken, err = page(users, in.NextToken, 100)
		return err
	})
}
