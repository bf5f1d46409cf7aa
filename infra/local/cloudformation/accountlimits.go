package cloudformation

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// The quotas of an account in a region, unless they were raised.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const (
	stackLimit        = 2000 // "Stacks: Maximum number of CloudFormation stacks that you can create"
	outputLimit       = 200  // "Outputs: Maximum number of outputs that you can declare in your CloudFormation template"
	nameOfStackLimit  = "StackLimit"
	nameOfOutputLimit = "StackOutputsLimit"
)

// SetStackLimit changes how many stacks there may be, as a request to Service Quotas does.
func (s *Service) SetStackLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.StackLimit = n
}

// describeAccountLimits answers two of the quotas "ConcurrentResourcesLimit | StackLimit | StackOutputsLimit": nothing here has the first.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_AccountLimit.html
func (s *Service) describeAccountLimits(context.Context, *cfn.DescribeAccountLimitsInput) (*cfn.DescribeAccountLimitsOutput, error) {
	out := &cfn.DescribeAccountLimitsOutput{}
	return out, s.locked(func() error {
		for _, l := range []struct {
			name  string
			value int
		}{{nameOfStackLimit, s.options.StackLimit}, {nameOfOutputLimit, outputLimit}} {
			out.AccountLimits = append(out.AccountLimits, types.AccountLimit{Name: aws.String(l.name), Value: aws.Int32(int32(l.value))})
		}
		return nil
	})
}

// refuseFull refuses another stack where there are as many as there may be. "The quota for the resource has already been reached."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (LimitExceeded)
func (s *Service) refuseFull() error {
	n := 0
	for _, st := range s.stacks {
		if st.exists() {
			n++
		}
	}
	if n >= s.options.StackLimit {
		return refusal("LimitExceededException", "Limit for stack has been exceeded")
	}
	return nil
}
