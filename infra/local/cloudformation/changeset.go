package cloudformation

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// changeSet creates or updates a stack when it is executed. It is complete as soon as it is created.
type changeSet struct {
	ID, Name, Description, Token string
	Kind                         types.ChangeSetType
	Created                      time.Time
	Status                       types.ChangeSetStatus
	Execution                    types.ExecutionStatus
	Reason                       string
	Version                      version
	Deployment                   deployment
	Given                        []parameter // as the execution gives them
	Changes                      []resourceChange
}

const noChanges = "The submitted information didn't contain changes. Submit different information to create a change set."

func (s *Service) createChangeSet(ctx context.Context, in *cfn.CreateChangeSetInput) (*cfn.CreateChangeSetOutput, error) {
	if err := checkName("changeSetName", in.ChangeSetName); err != nil {
		return nil, err
	}
	mode, err := deploymentOf(in.DeploymentConfig, nil)
	if err != nil {
		return nil, err
	}
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	out := &cfn.CreateChangeSetOutput{}
	return out, s.locked(func() error {
		st, err := s.stackForChangeSet(in)
		if err != nil {
			return err
		}
		for _, c := range st.ChangeSets {
			if c.Name != *in.ChangeSetName {
				continue
			}
			if c.Token != "" && c.Token == aws.ToString(in.ClientToken) {
				out.Id, out.StackId = &c.ID, &st.ID
				return nil
			}
			return refusal("AlreadyExistsException", "ChangeSet %s already exists", c.Name)
		}
		if aws.ToBool(in.UsePreviousTemplate) {
			body = st.Now.Template
		}
		c, err := s.newChangeSet(st, in, body)
		if err != nil {
			return err
		}
		c.Deployment = mode
		if s.byID[st.ID] == nil {
			s.add(st)
			s.setStatus(st, types.StackStatusReviewInProgress, "User Initiated")
		}
		st.ChangeSets = append(st.ChangeSets, c)
		s.dirty[st] = true
		out.Id, out.StackId = &c.ID, &st.ID
		return nil
	})
}

// stackForChangeSet is the stack that a change set is for. For the type CREATE it is a new stack.
func (s *Service) stackForChangeSet(in *cfn.CreateChangeSetInput) (*stack, error) {
	name := aws.ToString(in.StackName)
	st := s.find(name)
	if st != nil && !st.exists() {
		st = nil
	}
	switch in.ChangeSetType {
	case types.ChangeSetTypeCreate:
		if st == nil {
			if err := checkName("stackName", in.StackName); err != nil {
				return nil, err
			}
			return s.newStack(name), nil
		}
		if st.Status != types.StackStatusReviewInProgress {
			return nil, invalid("Stack [%s] already exists and cannot be created again with the changeSet [%s].", st.Name, *in.ChangeSetName)
		}
	case types.ChangeSetTypeImport:
		return nil, invalid("the local emulator of CloudFormation has no change sets of type IMPORT")
	default:
		if st == nil {
			return nil, invalid("Stack [%s] does not exist", name)
		}
		if !updatable(st.Status) {
			return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
		}
	}
	return st, nil
}

func (s *Service) newChangeSet(st *stack, in *cfn.CreateChangeSetInput, body string) (*changeSet, error) {
	v, t, err := s.version(desired{body: body, parameters: in.Parameters, tags: in.Tags, capabilities: in.Capabilities,
		role: in.RoleARN, notifications: in.NotificationARNs, macros: true}, &st.Now)
	if err != nil {
		return nil, err
	}
	b, err := s.evaluate(st, v, t)
	if err != nil {
		return nil, err
	}
	guid := derived(st, "change set", len(st.ChangeSets)+len(st.Operations)+int(time.Since(st.Created)))
	c := &changeSet{
		ID:   "arn:aws:cloudformation:" + s.options.Region + ":" + s.options.Account + ":changeSet/" + *in.ChangeSetName + "/" + guid,
		Name: *in.ChangeSetName, Description: aws.ToString(in.Description), Token: aws.ToString(in.ClientToken), Kind: in.ChangeSetType,
		Created: time.Now(), Version: *v, Changes: b.resourceChanges(st),
		Status: types.ChangeSetStatusCreateComplete, Execution: types.ExecutionStatusAvailable,
	}
	if in.ChangeSetType != types.ChangeSetTypeCreate && !b.differs(&st.Now, v) {
		c.Status, c.Execution, c.Reason = types.ChangeSetStatusFailed, types.ExecutionStatusUnavailable, noChanges
	}
	return c, nil
}

// findChangeSet finds a change set by its ID, or by its name and its stack.
func (s *Service) findChangeSet(name, stackName *string) (*stack, *changeSet, error) {
	if !strings.HasPrefix(aws.ToString(name), "arn:") {
		st := s.find(aws.ToString(stackName))
		if st == nil {
			return nil, nil, invalid("Stack [%s] does not exist", aws.ToString(stackName))
		}
		for _, c := range st.ChangeSets {
			if c.Name == aws.ToString(name) {
				return st, c, nil
			}
		}
	} else {
		for _, st := range s.stacks {
			for _, c := range st.ChangeSets {
				if c.ID == *name {
					return st, c, nil
				}
			}
		}
	}
	return nil, nil, &problem{status: 404, code: "ChangeSetNotFound", message: "ChangeSet [" + aws.ToString(name) + "] does not exist"}
}

func (s *Service) describeChangeSet(_ context.Context, in *cfn.DescribeChangeSetInput) (*cfn.DescribeChangeSetOutput, error) {
	out := &cfn.DescribeChangeSetOutput{}
	return out, s.locked(func() error {
		st, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
		if err != nil {
			return err
		}
		some, next, err := page(c.Changes, in.NextToken, 100)
		if err != nil {
			return err
		}
		*out = cfn.DescribeChangeSetOutput{
			ChangeSetId: &c.ID, ChangeSetName: &c.Name, StackId: &st.ID, StackName: &st.Name, Description: optional(c.Description),
			CreationTime: &c.Created, Status: c.Status, StatusReason: optional(c.Reason), ExecutionStatus: c.Execution,
			Capabilities: c.Version.Capabilities, NotificationARNs: c.Version.Notifications, Tags: tags(c.Version.Tags),
			Changes: []types.Change{}, NextToken: next,
		}
		for _, p := range c.Version.Parameters {
			out.Parameters = append(out.Parameters, p.describe())
		}
		for _, one := range some {
			out.Changes = append(out.Changes, one.describe())
		}
		return nil
	})
}

func (s *Service) listChangeSets(_ context.Context, in *cfn.ListChangeSetsInput) (*cfn.ListChangeSetsOutput, error) {
	out := &cfn.ListChangeSetsOutput{Summaries: []types.ChangeSetSummary{}}
	return out, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil {
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		some, next, err := page(st.ChangeSets, in.NextToken, 100)
		for _, c := range some {
			out.Summaries = append(out.Summaries, types.ChangeSetSummary{
				ChangeSetId: &c.ID, ChangeSetName: &c.Name, StackId: &st.ID, StackName: &st.Name, Description: optional(c.Description),
				CreationTime: &c.Created, Status: c.Status, StatusReason: optional(c.Reason), ExecutionStatus: c.Execution,
			})
		}
		out.NextToken = next
		return err
	})
}

func (s *Service) deleteChangeSet(_ context.Context, in *cfn.DeleteChangeSetInput) (*cfn.DeleteChangeSetOutput, error) {
	out := &cfn.DeleteChangeSetOutput{}
	return out, s.locked(func() error {
		st, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
		if p, ok := err.(*problem); ok && p.code == "ChangeSetNotFound" {
			return nil
		}
		if err != nil {
			return err
		}
		st.ChangeSets = slices.DeleteFunc(st.ChangeSets, func(other *changeSet) bool { return other == c })
		s.dirty[st] = true
		return nil
	})
}

// executeChangeSet starts the operation of a change set, and deletes the other change sets of the stack.
func (s *Service) executeChangeSet(_ context.Context, in *cfn.ExecuteChangeSetInput) (*cfn.ExecuteChangeSetOutput, error) {
	out := &cfn.ExecuteChangeSetOutput{}
	return out, s.locked(func() error {
		st, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
		if err != nil {
			return err
		}
		if st, _, err := s.repeated(st.ID, "ExecuteChangeSet", in); err != nil || st != nil {
			return err
		}
		if c.Execution != types.ExecutionStatusAvailable {
			return refusal("InvalidChangeSetStatus", "ChangeSet [%s] cannot be executed in its current status of [%s]", c.ID, c.Status)
		}
		w, mode := c.desired(), c.Deployment
		if in.DisableRollback != nil {
			mode.DisableRollback = *in.DisableRollback
		}
		token := aws.ToString(in.ClientRequestToken)
		var operation string
		if st.Status == types.StackStatusReviewInProgress {
			st.Deployment, st.RetainNew = mode, aws.ToBool(in.RetainExceptOnCreate)
			operation, err = s.create(st, token, w)
		} else {
			operation, err = s.update(st, token, mode, w)
		}
		if err != nil {
			return err
		}
		c.Execution = types.ExecutionStatusExecuteComplete
		st.ChangeSet, st.ChangeSets = c.ID, []*changeSet{c}
		return s.rememberRequest(st, "ExecuteChangeSet", operation, in)
	})
}

// desired is what the change set asks of its stack.
func (c *changeSet) desired() desired {
	w := desired{body: c.Version.Template, tags: tags(c.Version.Tags), capabilities: c.Version.Capabilities,
		role: optional(c.Version.Role), notifications: append([]string{}, c.Version.Notifications...), macros: true}
	for _, p := range c.Version.Parameters {
		w.parameters = append(w.parameters, types.Parameter{ParameterKey: aws.String(p.Key), ParameterValue: aws.String(p.Value)})
	}
	return w
}
