package cloudformation

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
)

// maxPolicy is how many bytes a stack policy may have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SetStackPolicy.html
const maxPolicy = 16_384

// readPolicy reads the body of a stack policy; nil is none.
func readPolicy(body *string) (*stackpolicy.Policy, error) {
	if body == nil {
		return nil, nil
	}
	if n := len(*body); n == 0 || n > maxPolicy {
		return nil, unsatisfied("stackPolicyBody", itoa(n)+" bytes", "have length between 1 and 16384")
	}
	p, err := stackpolicy.Parse(*body)
	if err != nil || len(p.Statement) == 0 {
		return nil, invalid("Error validating stack policy: Invalid stack policy")
	}
	for _, s := range p.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" || s.Principal != "*" || s.Action == nil && s.NotAction == nil {
			return nil, invalid("Error validating stack policy: Invalid stack policy")
		}
	}
	return &p, nil
}

// obey makes the steps fail that the policy does not allow. If a resource may not be deleted, the update fails as a whole, because deletions come
// after its end.
func (b *plan) obey(p *stackpolicy.Policy) {
	if p == nil {
		return
	}
	denial := func(action string, r *resource) string { return p.Denial(action, r.Logical, r.Type) }
	for i, one := range b.steps {
		switch one.Action {
		case update:
			b.steps[i].Failure = denial("Update:Modify", one.Resource)
		case replace:
			b.steps[i].Failure = denial("Update:Replace", one.Resource)
		}
	}
	for _, one := range b.cleanup {
		if why := denial("Update:Delete", one.Resource); why != "" && !one.Superseded && b.failure == "" {
			b.failure = why
		}
	}
}

// policyOf returns the policy that counts for an update of a stack.
func (st *stack) policyOf(duringUpdate *string) (*stackpolicy.Policy, error) {
	if duringUpdate == nil && st.Policy != "" {
		duringUpdate = &st.Policy
	}
	return readPolicy(duringUpdate)
}

func (s *Service) setStackPolicy(_ context.Context, in *cfn.SetStackPolicyInput) (*cfn.SetStackPolicyOutput, error) {
	return &cfn.SetStackPolicyOutput{}, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		if in.StackPolicyBody == nil {
			return invalid("One of StackPolicyBody and StackPolicyURL must be specified")
		}
		if _, err := readPolicy(in.StackPolicyBody); err != nil {
			return err
		}
		st.Policy = *in.StackPolicyBody
		s.dirty[st] = true
		return nil
	})
}

func (s *Service) getStackPolicy(_ context.Context, in *cfn.GetStackPolicyInput) (*cfn.GetStackPolicyOutput, error) {
	out := &cfn.GetStackPolicyOutput{}
	return out, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		out.StackPolicyBody = optional(st.Policy)
		return nil
	})
}
