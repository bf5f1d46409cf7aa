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

// changeSet creates or updates a stack when it is executed.
type changeSet struct {
	ID, Name, Description, Token string
	Kind                         types.ChangeSetType
	Created                      time.Time
	Ready                        time.Time             // when it is complete, or has failed
	Reason                       string                // why it has failed; "" if it has not
	Execution                    types.ExecutionStatus // once it is complete
	Version                      version
	Deployment                   deployment
	Changes                      []resourceChange
	StackID                      string
	Nested                       bool   // nested stacks have change sets too
	Parent, Root                 string // the IDs of the change sets that the one of a nested stack belongs to
}

// maxChangeSets is how many change sets a stack can have until it is updated.
// https://github.com/awsdocs/aws-cloudformation-user-guide/issues/512
const maxChangeSets = 1000

// status is the status of the change set now, and whether it can be executed. Until it is ready, it has no changes.
func (c *changeSet) status() (types.ChangeSetStatus, types.ExecutionStatus) {
	switch now := time.Now(); {
	case now.Before(c.Created.Add(c.Ready.Sub(c.Created) / 2)):
		return types.ChangeSetStatusCreatePending, types.ExecutionStatusUnavailable
	case now.Before(c.Ready):
		return types.ChangeSetStatusCreateInProgress, types.ExecutionStatusUnavailable
	case c.Reason != "":
		return types.ChangeSetStatusFailed, types.ExecutionStatusUnavailable
	}
	return types.ChangeSetStatusCreateComplete, c.Execution
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
			if c.Name != *in.ChangeSetName || c.StackID != st.ID {
				continue
			}
			if c.Token != "" && c.Token == aws.ToString(in.ClientToken) {
				out.Id, out.StackId = &c.ID, &st.ID
				return nil
			}
			return refusal("AlreadyExistsException", "ChangeSet %s already exists", c.Name)
		}
		if len(st.own()) >= maxChangeSets {
			return refusal("LimitExceededException", "ChangeSet limit exceeded for stack %s", st.ID)
		}
		if aws.ToBool(in.UsePreviousTemplate) {
			body = st.Now.Template
		}
		c, nested, err := s.newChangeSet(ctx, st, in, body)
		if err != nil {
			return err
		}
		c.Deployment = mode
		if s.byID[st.ID] == nil {
			s.add(st)
			s.setStatus(st, types.StackStatusReviewInProgress, "User Initiated")
		}
		st.ChangeSets = append(append(st.ChangeSets, c), nested...)
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
		if st == nil {
			if err := checkName("stackName", in.StackName); err != nil {
				return nil, err
			}
			return s.newStack(name), nil
		}
		if st.Status != types.StackStatusReviewInProgress && !importable(st.Status) {
			return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
		}
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

// newChangeSet makes a change set, and those of the nested stacks.
func (s *Service) newChangeSet(ctx context.Context, st *stack, in *cfn.CreateChangeSetInput, body string) (c *changeSet, nested []*changeSet, err error) {
	v, t, err := s.version(desired{body: body, parameters: in.Parameters, tags: in.Tags, capabilities: in.Capabilities, types: in.ResourceTypes,
		role: in.RoleARN, notifications: in.NotificationARNs, triggers: in.RollbackConfiguration, macros: true,
		unchecked: unchecked(ctx), reverts: in.DeploymentMode == types.DeploymentModeRevertDrift}, &st.Now)
	if err != nil {
		return nil, nil, err
	}
	if v.Identified, err = identified(in, t); err != nil {
		return nil, nil, err
	}
	b, err := s.evaluate(st, v, t)
	if err != nil {
		return nil, nil, err
	}
	if v.Identified != nil {
		if err := b.checkImport(st, v, t); err != nil {
			return nil, nil, err
		}
	}
	changes, err := s.changes(st, v, t, b, aws.ToBool(in.IncludeNestedStacks))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	guid := derived(st, "change set", len(st.ChangeSets)+len(st.Operations)+int(now.Sub(st.Created)))
	c = &changeSet{
		ID:   "arn:aws:cloudformation:" + s.options.Region + ":" + s.options.Account + ":changeSet/" + *in.ChangeSetName + "/" + guid,
		Name: *in.ChangeSetName, Description: aws.ToString(in.Description), Token: aws.ToString(in.ClientToken), Kind: in.ChangeSetType,
		Created: now, Ready: now.Add(s.duration(st) / 2), Version: *v, Changes: changes, Execution: types.ExecutionStatusAvailable,
		StackID: st.ID, Nested: aws.ToBool(in.IncludeNestedStacks),
	}
	c.Reason = s.taken(v)
	if in.ChangeSetType != types.ChangeSetTypeCreate && len(changes) == 0 && !b.differs(&st.Now, v) {
		c.Reason = noChanges
	}
	if c.Nested {
		nested, err = s.nestedChangeSets(c, c, st, b.resources)
	}
	return c, nested, err
}

// reason is why the change set has failed; nil if it has not, or not yet.
func (c *changeSet) reason(status types.ChangeSetStatus) *string {
	if status != types.ChangeSetStatusFailed {
		return nil
	}
	return &c.Reason
}

// own are the change sets of the stack itself, without those of nested stacks.
func (st *stack) own() []*changeSet {
	return slices.DeleteFunc(slices.Clone(st.ChangeSets), func(c *changeSet) bool { return c.StackID != st.ID })
}

// notNested refuses what has to be done with the root change set.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/change-sets-for-nested-stacks.html
func (c *changeSet) notNested() error {
	if c.Root != "" {
		return invalid("ChangeSet [%s] belongs to a nested stack: use its root change set %s", c.ID, c.Root)
	}
	return nil
}

// outdateChangeSets marks the change sets of a stack that is being updated: they can no longer be executed.
func (st *stack) outdateChangeSets() {
	for _, c := range st.ChangeSets {
		if c.Execution == types.ExecutionStatusAvailable {
			c.Execution = types.ExecutionStatusObsolete
		}
	}
}

// endChangeSets ends the execution of a change set with the operation of its stack, and deletes the change sets that
// a successful update has made obsolete: "CloudFormation retains all change sets until you update the stack".
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets-delete.html
func (st *stack) endChangeSets() {
	good := st.Status == types.StackStatusCreateComplete || st.Status == types.StackStatusImportComplete || st.Status == types.StackStatusUpdateComplete
	for _, c := range st.ChangeSets {
		switch {
		case c.Execution != types.ExecutionStatusExecuteInProgress:
		case good:
			c.Execution = types.ExecutionStatusExecuteComplete
		default:
			c.Execution = types.ExecutionStatusExecuteFailed
		}
	}
	if good {
		st.ChangeSets = slices.DeleteFunc(st.ChangeSets, func(c *changeSet) bool { return c.Execution == types.ExecutionStatusObsolete })
	}
}

// findChangeSet finds a change set by its ID, or by its name and its stack.
func (s *Service) findChangeSet(name, stackName *string) (*stack, *changeSet, error) {
	if !strings.HasPrefix(aws.ToString(name), "arn:") {
		st := s.find(aws.ToString(stackName))
		if st == nil {
			return nil, nil, invalid("Stack [%s] does not exist", aws.ToString(stackName))
		}
		for _, c := range st.ChangeSets {
			if c.Name == aws.ToString(name) && c.StackID == st.ID {
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
		_, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
		if err != nil {
			return err
		}
		status, execution := c.status()
		changes := c.Changes
		if status != types.ChangeSetStatusCreateComplete {
			changes = nil
		}
		some, next, err := page(changes, in.NextToken, 100)
		if err != nil {
			return err
		}
		*out = cfn.DescribeChangeSetOutput{
			ChangeSetId: &c.ID, ChangeSetName: &c.Name, StackId: &c.StackID, StackName: aws.String(plainName(c.StackID)), Description: optional(c.Description),
			IncludeNestedStacks: &c.Nested, ParentChangeSetId: optional(c.Parent), RootChangeSetId: optional(c.Root),
			CreationTime: &c.Created, Status: status, StatusReason: c.reason(status), ExecutionStatus: execution,
			Capabilities: c.Version.Capabilities, NotificationARNs: c.Version.Notifications, Tags: tags(c.Version.Tags),
			Changes: []types.Change{}, NextToken: next,
		}
		for _, p := range c.Version.Parameters {
			out.Parameters = append(out.Parameters, p.describe())
		}
		for _, one := range some {
			out.Changes = append(out.Changes, one.describe(aws.ToBool(in.IncludePropertyValues)))
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
		some, next, err := page(st.own(), in.NextToken, 100)
		for _, c := range some {
			status, execution := c.status()
			out.Summaries = append(out.Summaries, types.ChangeSetSummary{
				ChangeSetId: &c.ID, ChangeSetName: &c.Name, StackId: &st.ID, StackName: &st.Name, Description: optional(c.Description),
				IncludeNestedStacks: &c.Nested, CreationTime: &c.Created, Status: status, StatusReason: c.reason(status), ExecutionStatus: execution,
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
		if err := c.notNested(); err != nil {
			return err
		}
		switch status, execution := c.status(); {
		case status == types.ChangeSetStatusCreateInProgress, execution == types.ExecutionStatusExecuteInProgress:
			return refusal("InvalidChangeSetStatus", "ChangeSet [%s] cannot be deleted in its current status of [%s]", c.ID, status)
		}
		s.endReview(st, c.ID)
		st.ChangeSets = slices.DeleteFunc(st.ChangeSets, func(other *changeSet) bool { return other == c || other.Root == c.ID })
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
		if err := c.notNested(); err != nil {
			return err
		}
		if st, _, err := s.repeated(st.ID, "ExecuteChangeSet", in); err != nil || st != nil {
			return err
		}
		if status, execution := c.status(); execution != types.ExecutionStatusAvailable {
			return refusal("InvalidChangeSetStatus", "ChangeSet [%s] cannot be executed in its current status of [%s]", c.ID, status)
		}
		w, mode := c.desired(), c.Deployment
		if in.DisableRollback != nil {
			mode.DisableRollback = *in.DisableRollback
		}
		token := aws.ToString(in.ClientRequestToken)
		var operation string
		if c.Kind == types.ChangeSetTypeImport {
			operation, err = s.importInto(st, token, w)
		} else if st.Status == types.StackStatusReviewInProgress {
			st.Deployment, st.RetainNew = mode, aws.ToBool(in.RetainExceptOnCreate)
			operation, err = s.create(st, token, w)
		} else {
			operation, err = s.update(st, token, mode, w)
		}
		if err != nil {
			return err
		}
		c.Execution = types.ExecutionStatusExecuteInProgress
		s.endReview(st, c.ID)
		st.ChangeSet, st.ChangeSets = c.ID, []*changeSet{c}
		return s.rememberRequest(st, "ExecuteChangeSet", operation, in)
	})
}

// desired is what the change set asks of its stack.
func (c *changeSet) desired() desired {
	w := desired{body: c.Version.Template, tags: tags(c.Version.Tags), capabilities: c.Version.Capabilities, unchecked: c.Version.Unchecked,
		identified: c.Version.Identified, role: optional(c.Version.Role), notifications: append([]string{}, c.Version.Notifications...), triggers: c.Version.describeTriggers(), macros: true, reverts: c.Version.RevertsDrift}
	for _, p := range c.Version.Parameters {
		w.parameters = append(w.parameters, types.Parameter{ParameterKey: aws.String(p.Key), ParameterValue: aws.String(p.Value)})
	}
	return w
}
