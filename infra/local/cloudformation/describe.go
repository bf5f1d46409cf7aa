package cloudformation

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/lib/loss"
)

const (
	stackPage = 100
	eventPage = 100
)

// page returns one page of a list. The token is the number of entries that were already returned.
func page[T any](all []T, token *string, size int) ([]T, *string, error) {
	from := 0
	if token != nil {
		n, err := strconv.Atoi(*token)
		if err != nil || n < 0 || n > len(all) {
			return nil, nil, invalid("The specified NextToken is invalid: %s", *token)
		}
		from = n
	}
	if len(all)-from <= size {
		return all[from:], nil, nil
	}
	return all[from : from+size], aws.String(strconv.Itoa(from + size)), nil
}

// describedStack finds a stack by its name or ID.
func (s *Service) describedStack(nameOrID *string) (*stack, error) {
	st := s.find(aws.ToString(nameOrID))
	if st == nil || st.Parent != "" && !st.exists() { // it is nested in another stack, maybe after a review
		if inside := s.nested(aws.ToString(nameOrID)); inside != nil {
			st = inside
		}
	}
	if st == nil {
		return nil, invalid("Stack with id %s does not exist", aws.ToString(nameOrID))
	}
	return st, nil
}

// newest returns stacks, the newest first.
func (s *Service) newest(which func(*stack) bool) []*stack {
	var all []*stack
	for _, st := range slices.Backward(s.stacks) {
		if which(st) {
			all = append(all, st)
		}
	}
	return all
}

func (s *Service) describeStacks(_ context.Context, in *cfn.DescribeStacksInput) (*cfn.DescribeStacksOutput, error) {
	out := &cfn.DescribeStacksOutput{Stacks: []types.Stack{}}
	return out, s.locked(func() error {
		if aws.ToString(in.StackName) != "" {
			st, err := s.describedStack(in.StackName)
			if err == nil {
				out.Stacks = append(out.Stacks, s.describe(st))
			}
			return err
		}
		some, next, err := page(s.newest((*stack).exists), in.NextToken, stackPage)
		for _, st := range some {
			out.Stacks = append(out.Stacks, s.describe(st))
		}
		out.NextToken = next
		return err
	})
}

// describe is the stack as DescribeStacks shows it. The list of its operations has no lag.
func (s *Service) describe(st *stack) types.Stack {
	seen := st.describedAt(time.Now().Add(-s.lag(st)))
	d := types.Stack{
		StackId: &st.ID, StackName: &st.Name, StackStatus: seen.status, StackStatusReason: optional(seen.reason),
		CreationTime: &st.Created, LastUpdatedTime: optionalTime(seen.updated), DeletionTime: optionalTime(seen.deleted),
		Description: optional(st.Now.Description), Capabilities: st.Now.Capabilities, RoleARN: optional(st.Now.Role),
		NotificationARNs: append([]string{}, st.Now.Notifications...), Tags: []types.Tag{}, ChangeSetId: optional(st.ChangeSet), ParentId: optional(st.Parent), RootId: optional(st.Root),
		DisableRollback: aws.Bool(st.Deployment.DisableRollback || st.OnFailure == types.OnFailureDoNothing), EnableTerminationProtection: aws.Bool(st.Protected),
		RollbackConfiguration: st.Now.describeTriggers(), LastOperations: st.operations(),
		DriftInformation: st.driftInformation(),
	}
	if st.Deployment.Mode != "" {
		d.DeploymentConfig = &types.DeploymentConfig{Mode: st.Deployment.Mode, DisableRollback: aws.Bool(st.Deployment.DisableRollback)}
	}
	if st.Timeout > 0 {
		d.TimeoutInMinutes = aws.Int32(st.Timeout)
	}
	for _, p := range st.Now.Parameters {
		d.Parameters = append(d.Parameters, p.describe())
	}
	for _, o := range seen.outputs {
		d.Outputs = append(d.Outputs, types.Output{OutputKey: aws.String(o.Key), OutputValue: aws.String(o.Value),
			Description: optional(o.Description), ExportName: optional(o.Export)})
	}
	d.Tags = tags(st.Now.Tags)
	lose(&d)
	return d
}

// lose takes from a description the characters that DescribeStacks does not return.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/814
func lose(d *types.Stack) {
	texts := []**string{&d.Description}
	for i := range d.Parameters {
		texts = append(texts, &d.Parameters[i].ParameterValue, &d.Parameters[i].ResolvedValue)
	}
	for i := range d.Outputs {
		texts = append(texts, &d.Outputs[i].OutputValue, &d.Outputs[i].Description, &d.Outputs[i].ExportName)
	}
	for i := range d.Tags {
		texts = append(texts, &d.Tags[i].Key, &d.Tags[i].Value)
	}
	for _, text := range texts {
		if *text != nil {
			*text = aws.String(loss.Of(**text))
		}
	}
}

func (p parameter) describe() types.Parameter {
	d := types.Parameter{ParameterKey: aws.String(p.Key), ParameterValue: aws.String(p.Value), ResolvedValue: optional(p.Resolved)}
	if p.Secret {
		d.ParameterValue, d.ResolvedValue = aws.String("****"), nil
	}
	return d
}

func tags(all []pair) []types.Tag {
	list := make([]types.Tag, 0, len(all))
	for _, t := range all {
		list = append(list, types.Tag{Key: aws.String(t.Key), Value: aws.String(t.Value)})
	}
	return list
}

// operations are the ten newest operations, the newest first.
func (st *stack) operations() []types.OperationEntry {
	var all []types.OperationEntry
	for _, o := range slices.Backward(st.Operations) {
		if len(all) == 10 {
			break
		}
		all = append(all, types.OperationEntry{OperationId: aws.String(o.ID), OperationType: o.Type})
	}
	return all
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *Service) listStacks(_ context.Context, in *cfn.ListStacksInput) (*cfn.ListStacksOutput, error) {
	out := &cfn.ListStacksOutput{StackSummaries: []types.StackSummary{}}
	return out, s.locked(func() error {
		all := s.newest(func(st *stack) bool {
			return len(in.StackStatusFilter) == 0 || slices.Contains(in.StackStatusFilter, st.Status)
		})
		some, next, err := page(all, in.NextToken, stackPage)
		for _, st := range some {
			out.StackSummaries = append(out.StackSummaries, types.StackSummary{
				StackId: &st.ID, StackName: &st.Name, StackStatus: st.Status, StackStatusReason: optional(st.Reason),
				CreationTime: &st.Created, LastUpdatedTime: optionalTime(st.Updated), DeletionTime: optionalTime(st.Deleted),
				TemplateDescription: optional(st.Now.Description), LastOperations: st.operations(),
				DriftInformation: &types.StackDriftInformationSummary{StackDriftStatus: types.StackDriftStatusNotChecked},
			})
		}
		out.NextToken = next
		return err
	})
}

func (s *Service) describeStackEvents(_ context.Context, in *cfn.DescribeStackEventsInput) (*cfn.DescribeStackEventsOutput, error) {
	out := &cfn.DescribeStackEventsOutput{StackEvents: []types.StackEvent{}}
	return out, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil {
			if st, events := s.eventsInside(aws.ToString(in.StackName)); st != nil {
				for _, e := range slices.Backward(events) {
					out.StackEvents = append(out.StackEvents, e.describe(st))
				}
				return nil
			}
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		// The token counts from the oldest event, so that events between two requests do not shift the pages.
		till := len(st.Events)
		if in.NextToken != nil {
			n, err := strconv.Atoi(*in.NextToken)
			if err != nil || n < 0 || n > till {
				return invalid("The specified NextToken is invalid: %s", *in.NextToken)
			}
			till = n
		}
		from := max(till-eventPage, 0)
		if from > 0 {
			out.NextToken = aws.String(strconv.Itoa(from))
		}
		for i := till - 1; i >= from; i-- {
			out.StackEvents = append(out.StackEvents, st.Events[i].describe(st))
		}
		return nil
	})
}

func (e event) describe(st *stack) types.StackEvent {
	return types.StackEvent{
		EventId: aws.String(e.ID), StackId: &st.ID, StackName: &st.Name, Timestamp: aws.Time(e.At),
		LogicalResourceId: aws.String(e.Logical), PhysicalResourceId: aws.String(e.Physical), ResourceType: aws.String(e.Type),
		ResourceStatus: types.ResourceStatus(e.Status), ResourceStatusReason: optional(e.Reason),
		ResourceProperties: optional(e.Properties), ClientRequestToken: optional(e.Token), OperationId: optional(e.Operation),
	}
}

// mask replaces the values of NoEcho parameters in properties.
func mask(parameters []parameter, properties string) string {
	for _, p := range parameters {
		if !p.Secret || p.Value == "" {
			continue
		}
		quoted, err := json.Marshal(p.Value)
		if err != nil {
			continue // a string can always be marshalled
		}
		properties = strings.ReplaceAll(properties, string(quoted), `"****"`)
		if len(p.Value) >= 4 {
			properties = strings.ReplaceAll(properties, strings.Trim(string(quoted), `"`), "****")
		}
	}
	return properties
}
