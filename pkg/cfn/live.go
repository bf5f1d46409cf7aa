package cfn

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Live returns what is at a place now, looked up by the stack's ID if that is
// known, else by its name. A stack that is not there is the zero Live.
func (c *Cloud) Live(ctx context.Context, p plan.Place) (plan.Live, error) {
	client, err := c.client(p.Target)
	if err != nil {
		return plan.Live{}, err
	}
	s, err := describe(ctx, client, p)
	if fault.Is(err, fault.Missing) {
		return plan.Live{}, nil
	}
	if err != nil {
		return plan.Live{}, err
	}
	return live(s), nil
}

// describe returns the stack at a place, or an error of kind Missing.
func describe(ctx context.Context, client Client, p plan.Place) (types.Stack, error) {
	asked := "look at stack " + p.Stack
	name, err := reference(p)
	if err != nil {
		return types.Stack{}, err
	}
	out, err := client.DescribeStacks(ctx, &sdk.DescribeStacksInput{StackName: &name})
	if err != nil {
		return types.Stack{}, understood(asked, err)
	}
	if len(out.Stacks) == 0 {
		return types.Stack{}, fault.New(fault.Missing, "%s: CloudFormation knows nothing of it", asked)
	}
	return out.Stacks[0], nil
}

// reference is what CloudFormation knows the stack at a place by. A request without
// one would be about all stacks.
func reference(p plan.Place) (string, error) {
	switch {
	case p.StackID != "":
		return p.StackID, nil
	case p.Stack != "":
		return p.Stack, nil
	}
	return "", fault.New(fault.Broken, "node %s has neither a stack ID nor a stack name", p.Node)
}

// live is what the engine needs to know of a stack.
func live(s types.Stack) plan.Live {
	touched := s.LastUpdatedTime
	if touched == nil {
		touched = s.CreationTime
	}
	l := plan.Live{
		StackID: aws.ToString(s.StackId), Status: plan.Status(s.StackStatus), Reason: aws.ToString(s.StackStatusReason),
		Touched: aws.ToTime(touched), Protected: aws.ToBool(s.EnableTerminationProtection),
	}
	if len(s.Outputs) > 0 {
		l.Outputs = make(map[string]string, len(s.Outputs))
	}
	for _, o := range s.Outputs {
		l.Outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return l
}
