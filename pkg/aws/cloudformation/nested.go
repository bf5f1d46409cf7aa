package cloudformation

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// nestedType is the type of stacks that are nested in others. The physical ID of such a resource is the ID of a stack, which is in the account and
// region of its parent.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-nested-stacks.html
const nestedType = "AWS::CloudFormation::Stack"

// maxNested is how many nested stacks of a stack are read, at any depth. Each costs a request.
const maxNested = 50

// tooMany is what to do about a stack with more of them.
const tooMany = "at most %d nested stacks of a stack are read: let some of them be stacks of the project"

// ResourcesWithNested returns the resources that a stack of the target has now, and those of the stacks that are nested in it, at any depth. Their
// logical IDs have those of the nested stacks before them, as Network/Subnet. None if the stack does not exist; the error is of kind Refused if there
// are more than maxNested nested stacks.
func (r Reader) ResourcesWithNested(ctx context.Context, in project.Target, stack string) ([]plan.StackResource, error) {
	all, err := r.ResourcesInStack(ctx, in, stack)
	if err != nil {
		return nil, err
	}
	count := 0
	for i := 0; i < len(all); i++ { // all grows by what each nested stack has
		one := all[i]
		if one.Type != nestedType {
			continue
		}
		if count++; count > maxNested {
			return nil, fault.New(fault.Refused, "list the resources of stack %s: "+tooMany, stack, maxNested)
		}
		inside, err := r.ResourcesInStack(ctx, in, one.PhysicalID)
		if err != nil {
			return nil, fmt.Errorf("nested stack %s: %w", one.ID, err)
		}
		for _, each := range inside {
			each.ID = one.ID + "/" + each.ID
			all = append(all, each)
		}
	}
	return all, nil
}
