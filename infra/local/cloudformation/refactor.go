package cloudformation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
)

// stackRefactor moves resources between stacks when it is executed. The emulator detects no moves itself: every resource
// that moves needs a mapping; and a refactor creates no stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
type stackRefactor struct {
	ID, Description string
	Ready           time.Time
	Reason          string // why it could not be created; "" if it could
	Execution       types.StackRefactorExecutionStatus
	Why             string // why its execution has failed
	Stacks          []refactoredStack
	Moves           []resourceMove
}

// refactoredStack is a stack of a refactor.
type refactoredStack struct {
	ID, Template string
	Operations   int // how many the stack had when the refactor was created
}

// resourceMove is a resource that moves, with the IDs of the stacks.
type resourceMove struct{ From, FromID, To, ToID, Physical string }

// maxRefactored is the most stacks of a refactor: "You can move resources between at least 2 stacks, and a maximum of 5 stacks".
const maxRefactored = 5

// restShare is the share of an operation's time for which the stacks stay in progress after the refactor is complete.
// https://github.com/aws/aws-cdk-cli/issues/1804
const restShare = 4

func (s *Service) createStackRefactor(ctx context.Context, in *cfn.CreateStackRefactorInput) (*cfn.CreateStackRefactorOutput, error) {
	if n := len(in.StackDefinitions); n < 2 || n > maxRefactored {
		return nil, invalid("A stack refactor has 2 to %d stacks, and this one has %d", maxRefactored, n)
	}
	var bodies []string
	for _, d := range in.StackDefinitions {
		body, err := s.templateOf(ctx, d.TemplateBody, d.TemplateURL)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	out := &cfn.CreateStackRefactorOutput{}
	return out, s.locked(func() error {
		r := &stackRefactor{Description: aws.ToString(in.Description), Execution: types.StackRefactorExecutionStatusAvailable}
		for i, d := range in.StackDefinitions {
			st := s.find(aws.ToString(d.StackName))
			if st == nil || !st.exists() {
				return invalid("Stack [%s] does not exist", aws.ToString(d.StackName))
			}
			if st.Operation != nil {
				return invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
			}
			r.Stacks = append(r.Stacks, refactoredStack{st.ID, bodies[i], len(st.Operations)})
		}
		for _, m := range in.ResourceMappings {
			if m.Source == nil || m.Destination == nil {
				return invalid("A resource mapping needs a Source and a Destination")
			}
			from, to := s.find(aws.ToString(m.Source.StackName)), s.find(aws.ToString(m.Destination.StackName))
			if from == nil || to == nil || !r.has(from) || !r.has(to) {
				return invalid("A resource mapping names a stack that is not among the stack definitions")
			}
			move := resourceMove{From: from.ID, FromID: aws.ToString(m.Source.LogicalResourceId), To: to.ID, ToID: aws.ToString(m.Destination.LogicalResourceId)}
			if is := from.existing()[move.FromID]; is != nil {
				move.Physical = is.Physical
			}
			r.Moves = append(r.Moves, move)
		}
		last := s.byID[r.Stacks[len(r.Stacks)-1].ID]
		if _, r.Reason = s.evaluateRefactor(r); r.Reason == "" {
			f := &stackOperation{}
			s.applyFault(last, "refuse", f)
			r.Reason = f.Failure
		}
		first := s.byID[r.Stacks[0].ID]
		r.ID = derived(first, "refactor", len(first.Refactors))
		r.Ready = time.Now().Add(s.duration(last) / 4)
		first.Refactors = append(first.Refactors, r)
		s.dirty[first] = true
		out.StackRefactorId = &r.ID
		return nil
	})
}

func (r *stackRefactor) has(st *stack) bool {
	return slices.ContainsFunc(r.Stacks, func(one refactoredStack) bool { return one.ID == st.ID })
}

// refactored is a stack as a refactor leaves it.
type refactored struct {
	stack   *stack
	version *version
	plan    *plan
}

// evaluateRefactor returns the stacks as the refactor leaves them, or why it is impossible: "Refactor operations don't
// allow new resource creations, resource deletions, or changes to resource configurations", "You can't change or add new
// parameters, conditions, or mappings", "CloudFormation doesn't support empty stacks".
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
func (s *Service) evaluateRefactor(r *stackRefactor) (all []refactored, why string) {
	for _, one := range r.Stacks {
		st := s.byID[one.ID]
		if !importable(st.Status) && st.Operation == nil {
			return nil, "Stack:" + st.ID + " is in " + string(st.Status) + " state and can not be refactored."
		}
		arriving, leaving := map[string]string{}, map[string]bool{}
		for _, m := range r.Moves {
			if m.To == st.ID {
				arriving[m.ToID] = m.Physical
			}
			if m.From == st.ID {
				leaving[m.FromID] = true
			}
		}
		w := desired{body: one.Template, capabilities: st.Now.Capabilities, identified: arriving, macros: true}
		old, err := parseTemplate(st.Now.Template)
		if err != nil {
			return nil, err.Error()
		}
		for _, p := range st.Now.Parameters {
			w.parameters = append(w.parameters, types.Parameter{ParameterKey: aws.String(p.Key), UsePreviousValue: aws.Bool(true)})
		}
		v, t, err := s.version(w, &st.Now)
		if err != nil {
			return nil, err.Error()
		}
		if !slices.Equal(sorted(old.Parameters), sorted(t.Parameters)) || !slices.Equal(sorted(old.Conditions), sorted(t.Conditions)) || !slices.Equal(sorted(old.Mappings), sorted(t.Mappings)) {
			return nil, "Stack Refactor does not support changes of parameters, conditions or mappings."
		}
		b, err := s.evaluate(st, v, t)
		if err != nil {
			return nil, err.Error()
		}
		if why := cmp.Or(b.unlike(arriving, leaving), b.failure, s.exportInUse(st, b.outputs), s.exportConflict(st, b.outputs)); why != "" {
			return nil, why
		}
		v.Imports, v.Outputs, v.Identified = b.imports, b.outputs, nil
		all = append(all, refactored{st, v, b})
	}
	return all, s.alike(r, all)
}

// unlike says what a version would do besides taking and giving resources; "" if it does exactly that.
func (b *plan) unlike(arriving map[string]string, leaving map[string]bool) string {
	var modified []string
	taken := 0
	for _, one := range b.steps {
		if one.Action == importing {
			taken++
			continue
		}
		modified = append(modified, one.Resource.Logical)
	}
	for _, one := range b.cleanup {
		if !leaving[one.Resource.Logical] {
			modified = append(modified, one.Resource.Logical)
		}
	}
	switch {
	case len(modified) > 0:
		slices.Sort(modified)
		return "Stack Refactor does not support creating, modifying or deleting resources: [" + strings.Join(modified, ", ") + "]"
	case taken != len(arriving) || len(b.cleanup) != len(leaving):
		return "The templates do not move the resources of the resource mappings."
	}
	return ""
}

// alike says which resource would not be the same after the refactor; "" if all are.
func (s *Service) alike(r *stackRefactor, all []refactored) string {
	for _, m := range r.Moves {
		is := s.byID[m.From].existing()[m.FromID]
		i := slices.IndexFunc(all, func(one refactored) bool { return one.stack.ID == m.To })
		will := all[i].plan.resources[m.ToID]
		typ, _ := schema.Named(is.Type)
		switch {
		case len(typ.Identifier) == 0, is.Type == "AWS::EC2::KeyPair":
			return "Stack Refactor does not support " + is.Type + " because the resource type does not allow tag updates after creation."
		case is.Type != will.Type, is.Properties != will.Properties, is.Metadata != will.Metadata, is.Deletion != will.Deletion, is.Replaced != will.Replaced:
			return "Stack Refactor does not support modifying resources: [" + m.FromID + "]"
		}
	}
	return ""
}

// refactor returns the refactor of an ID, or the error that there is none.
func (s *Service) refactor(id *string) (*stackRefactor, error) {
	for _, st := range s.stacks {
		for _, r := range st.Refactors {
			if r.ID == aws.ToString(id) {
				return r, nil
			}
		}
	}
	return nil, &problem{status: 404, code: "StackRefactorNotFoundException", message: "Stack refactor " + aws.ToString(id) + " does not exist"}
}

// statuses are the two statuses of a refactor now. It is obsolete when a stack has had another operation.
func (s *Service) statuses(r *stackRefactor) (types.StackRefactorStatus, types.StackRefactorExecutionStatus) {
	switch {
	case time.Now().Before(r.Ready):
		return types.StackRefactorStatusCreateInProgress, types.StackRefactorExecutionStatusUnavailable
	case r.Reason != "":
		return types.StackRefactorStatusCreateFailed, types.StackRefactorExecutionStatusUnavailable
	}
	for _, one := range r.Stacks {
		if st := s.byID[one.ID]; r.Execution == types.StackRefactorExecutionStatusAvailable && (len(st.Operations) != one.Operations || !st.exists()) {
			return types.StackRefactorStatusCreateComplete, types.StackRefactorExecutionStatusObsolete
		}
	}
	return types.StackRefactorStatusCreateComplete, r.Execution
}

func (s *Service) describeStackRefactor(_ context.Context, in *cfn.DescribeStackRefactorInput) (*cfn.DescribeStackRefactorOutput, error) {
	out := &cfn.DescribeStackRefactorOutput{}
	return out, s.locked(func() error {
		r, err := s.refactor(in.StackRefactorId)
		if err != nil {
			return err
		}
		out.StackRefactorId, out.Description = &r.ID, optional(r.Description)
		out.Status, out.ExecutionStatus = s.statuses(r)
		if out.Status == types.StackRefactorStatusCreateFailed {
			out.StatusReason = optional(r.Reason)
		}
		out.ExecutionStatusReason = optional(r.Why)
		for _, one := range r.Stacks {
			out.StackIds = append(out.StackIds, one.ID)
		}
		return nil
	})
}

func (s *Service) listStackRefactors(_ context.Context, in *cfn.ListStackRefactorsInput) (*cfn.ListStackRefactorsOutput, error) {
	out := &cfn.ListStackRefactorsOutput{}
	return out, s.locked(func() error {
		for _, st := range s.stacks {
			for _, r := range st.Refactors {
				made, executed := s.statuses(r)
				if len(in.ExecutionStatusFilter) > 0 && !slices.Contains(in.ExecutionStatusFilter, executed) {
					continue
				}
				out.StackRefactorSummaries = append(out.StackRefactorSummaries, types.StackRefactorSummary{
					StackRefactorId: &r.ID, Description: optional(r.Description), Status: made, ExecutionStatus: executed, ExecutionStatusReason: optional(r.Why),
				})
			}
		}
		return nil
	})
}

func (s *Service) listStackRefactorActions(_ context.Context, in *cfn.ListStackRefactorActionsInput) (*cfn.ListStackRefactorActionsOutput, error) {
	out := &cfn.ListStackRefactorActionsOutput{}
	return out, s.locked(func() error {
		r, err := s.refactor(in.StackRefactorId)
		if err != nil {
			return err
		}
		if made, _ := s.statuses(r); made != types.StackRefactorStatusCreateComplete {
			return nil
		}
		for _, m := range r.Moves {
			out.StackRefactorActions = append(out.StackRefactorActions, types.StackRefactorAction{
				Action: types.StackRefactorActionTypeMove, Entity: types.StackRefactorActionEntityResource, Detection: types.StackRefactorDetectionManual, PhysicalResourceId: optional(m.Physical),
				ResourceMapping: &types.ResourceMapping{
					Source:      &types.ResourceLocation{StackName: aws.String(m.From), LogicalResourceId: aws.String(m.FromID)},
					Destination: &types.ResourceLocation{StackName: aws.String(m.To), LogicalResourceId: aws.String(m.ToID)},
				},
			})
		}
		return nil
	})
}

func (s *Service) executeStackRefactor(_ context.Context, in *cfn.ExecuteStackRefactorInput) (*cfn.ExecuteStackRefactorOutput, error) {
	return &cfn.ExecuteStackRefactorOutput{}, s.locked(func() error {
		r, err := s.refactor(in.StackRefactorId)
		if err != nil {
			return err
		}
		if _, executed := s.statuses(r); executed != types.StackRefactorExecutionStatusAvailable {
			return invalid("Stack refactor %s is in %s execution status and can not be executed.", r.ID, executed)
		}
		for _, one := range r.Stacks {
			if st := s.byID[one.ID]; st.Operation != nil {
				return invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
			}
		}
		r.Execution = types.StackRefactorExecutionStatusExecuteInProgress
		for i, one := range r.Stacks {
			st := s.byID[one.ID]
			f := &stackOperation{Phase: refactoring, ID: st.newOperation(types.OperationTypeUpdateStack), Refactor: r.ID, Duration: s.duration(st) / 2}
			if i < len(r.Stacks)-1 { // the last stack's operation ends that of all
				f.Duration = 24 * time.Hour
			}
			st.Operation, st.Updated = f, time.Now()
			st.outdateChangeSets()
			s.setStatus(st, types.StackStatusUpdateInProgress, "User Initiated")
			if i == len(r.Stacks)-1 {
				s.applyFault(st, "refactor", f)
			}
			s.start(st, f)
		}
		return nil
	})
}

// endRefactor moves the resources of the refactor of a stack, or leaves them where they are for a reason. The refactor is
// over then, and its stacks are soon.
func (s *Service) endRefactor(st *stack, why string) {
	r, err := s.refactor(&st.Operation.Refactor)
	if err != nil {
		s.stopIn(st, types.StackStatusUpdateRollbackFailed, err.Error())
		return
	}
	var all []refactored
	if why == "" {
		all, why = s.evaluateRefactor(r)
	}
	end := types.StackStatusUpdateComplete
	if r.Execution, r.Why = types.StackRefactorExecutionStatusExecuteComplete, why; why != "" {
		r.Execution, end = types.StackRefactorExecutionStatusRollbackComplete, types.StackStatusUpdateRollbackComplete
	} else {
		s.moveResources(r, all)
	}
	for _, one := range r.Stacks {
		st := s.byID[one.ID]
		if why != "" {
			s.setStatus(st, types.StackStatusUpdateRollbackInProgress, why)
		}
		s.start(st, &stackOperation{Phase: endingRefactor, ID: st.Operation.ID, Duration: s.duration(st) / restShare, EndStatus: end})
	}
}

// moveResources gives the stacks of a refactor their new versions and resources.
func (s *Service) moveResources(r *stackRefactor, all []refactored) {
	for _, m := range r.Moves {
		from, to := s.byID[m.From], s.byID[m.To]
		moved := *from.Resources[m.FromID]
		delete(from.Resources, m.FromID)
		i := slices.IndexFunc(all, func(one refactored) bool { return one.stack == to })
		moved.Logical, moved.After = m.ToID, all[i].plan.resources[m.ToID].After
		to.Resources[m.ToID] = &moved
		s.setResourceStatus(to, &moved, types.ResourceStatusImportInProgress, "Resource import started.")
		s.setResourceStatus(to, &moved, types.ResourceStatusImportComplete, "Resource import completed.")
	}
	for _, one := range all {
		one.stack.Now = *one.version
		s.dirty[one.stack] = true
	}
}
