package cloudformation

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// maxPolicy is how many bytes a stack policy may have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SetStackPolicy.html
const maxPolicy = 16_384

// A stackPolicy says which updates are allowed: "all resources in the stack are protected by default" once a stack has one, and a denial
// "always overrides" an Allow.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
type stackPolicy struct{ Statement []policyStatement }

type policyStatement struct {
	Effect, Principal string
	Action, NotAction texts
	Resource          texts
	NotResource       texts
	Condition         map[string]map[string]texts
}

// texts is one text or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(body []byte) error {
	var one string
	if json.Unmarshal(body, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(body, (*[]string)(t))
}

func (t texts) match(name string) bool {
	return slices.ContainsFunc(t, func(pattern string) bool {
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
		return pattern == "*" || err == nil && ok
	})
}

// about reports whether a statement is about an action on a resource.
func (s policyStatement) about(action string, r *resource) bool {
	id := "LogicalResourceId/" + r.Logical
	is := (s.Action == nil || s.Action.match(action)) && (s.NotAction == nil || !s.NotAction.match(action)) &&
		(s.Resource == nil || s.Resource.match(id)) && (s.NotResource == nil || !s.NotResource.match(id))
	for _, values := range s.Condition {
		is = is && values["ResourceType"].match(r.Type)
	}
	return is
}

// denial returns why a policy does not allow an action on a resource, or "".
func (p *stackPolicy) denial(action string, r *resource) string {
	allowed := false
	for i, s := range p.Statement {
		switch {
		case !s.about(action, r):
		case s.Effect == "Deny":
			return fmt.Sprintf("Action denied by stack policy: Statement [#%d] does not allow [%s] for resource [LogicalResourceId/%s];", i+1, action, r.Logical)
		default:
			allowed = true
		}
	}
	if allowed {
		return ""
	}
	return fmt.Sprintf("Action not allowed by stack policy: no statement allows [%s] for resource [LogicalResourceId/%s];", action, r.Logical)
}

// readPolicy reads the body of a stack policy; nil is none.
func readPolicy(body *string) (*stackPolicy, error) {
	if body == nil {
		return nil, nil
	}
	if n := len(*body); n == 0 || n > maxPolicy {
		return nil, unsatisfied("stackPolicyBody", itoa(n)+" bytes", "have length between 1 and 16384")
	}
	p := &stackPolicy{}
	if err := json.Unmarshal([]byte(*body), p); err != nil || len(p.Statement) == 0 {
		return nil, invalid("Error validating stack policy: Invalid stack policy")
	}
	for _, s := range p.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" || s.Principal != "*" || s.Action == nil && s.NotAction == nil {
			return nil, invalid("Error validating stack policy: Invalid stack policy")
		}
	}
	return p, nil
}

// obey makes the steps fail that the policy does not allow. If a resource may not be deleted, the update fails as a whole, because deletions come
// after its end.
func (b *plan) obey(p *stackPolicy) {
	if p == nil {
		return
	}
	for i, one := range b.steps {
		switch one.Action {
		case update:
			b.steps[i].Failure = p.denial("Update:Modify", one.Resource)
		case replace:
			b.steps[i].Failure = p.denial("Update:Replace", one.Resource)
		}
	}
	for _, one := range b.cleanup {
		if why := p.denial("Update:Delete", one.Resource); why != "" && !one.Superseded && b.failure == "" {
			b.failure = why
		}
	}
}

// policyOf returns the policy that counts for an update of a stack.
func (st *stack) policyOf(duringUpdate *string) (*stackPolicy, error) {
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
