package cloudformation

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html
func (s *Service) continueUpdateRollback(_ context.Context, in *cfn.ContinueUpdateRollbackInput) (*cfn.ContinueUpdateRollbackOutput, error) {
	out := &cfn.ContinueUpdateRollbackOutput{}
	return out, s.locked(func() error {
		name := aws.ToString(in.StackName)
		if st, _, err := s.repeated(name, "ContinueUpdateRollback", in); err != nil || st != nil {
			return err
		}
		st := s.find(name)
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", name)
		}
		if st.Status != types.StackStatusUpdateRollbackFailed {
			return invalid("Stack:%s is in %s state and can not continue rollback.", st.ID, st.Status)
		}
		var skip []string
		for _, logical := range in.ResourcesToSkip {
			name := st.skipped(logical)
			if name == "" {
				return invalid("ResourcesToSkip must be in UPDATE_FAILED state: [%s]", logical)
			}
			skip = append(skip, name)
		}
		s.startUpdateRollback(st, origin{token: aws.ToString(in.ClientRequestToken), reason: "User Initiated"},
			types.OperationTypeContinueRollback, skip)
		return s.rememberRequest(st, "ContinueUpdateRollback", st.Operation.ID, in)
	})
}

// skipped is the logical ID of the resource that a continued rollback does not restore, or "" if it must not skip it.
// Only what has failed in a rollback is skipped. A nested stack is named by what is in it, after its own name.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html (ResourcesToSkip)
func (st *stack) skipped(name string) string {
	nested, inner, inside := strings.Cut(name, ".")
	for logical, r := range st.Resources {
		switch {
		case !r.Unrestored:
		case !inside && logical == name && r.Type != nestedType:
			return logical
		case inside && r.Nested != nil && plainName(r.Physical) == nested && r.Nested.Resources[inner] != nil:
			return logical
		}
	}
	return ""
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
func (s *Service) cancelUpdateStack(_ context.Context, in *cfn.CancelUpdateStackInput) (*cfn.CancelUpdateStackOutput, error) {
	out := &cfn.CancelUpdateStackOutput{}
	return out, s.locked(func() error {
		name := aws.ToString(in.StackName)
		if st, _, err := s.repeated(name, "CancelUpdateStack", in); err != nil || st != nil {
			return err
		}
		st := s.find(name)
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", name)
		}
		if st.Status != types.StackStatusUpdateInProgress {
			return invalid("CancelUpdateStack cannot be called from current stack status")
		}
		if token := aws.ToString(in.ClientRequestToken); token != "" {
			st.Operation.Token = token
		}
		s.cancelLevel(st)
		s.rollBackUpdate(st, "User Initiated", nil)
		return s.rememberRequest(st, "CancelUpdateStack", st.Operation.ID, in)
	})
}

// cancelLevel cancels the steps in progress of the current level.
func (s *Service) cancelLevel(st *stack) {
	f := st.Operation
	if f.Level >= len(f.Levels) {
		return
	}
	for _, one := range f.Levels[f.Level] {
		r := st.target(one)
		switch {
		case !strings.HasSuffix(string(r.Status), "_IN_PROGRESS"):
		case one.Action == create:
			s.setResourceStatus(st, r, types.ResourceStatusCreateFailed, "Resource creation cancelled")
		default:
			s.setResourceStatus(st, r, types.ResourceStatusUpdateFailed, "Resource update cancelled")
		}
	}
}

func (s *Service) updateTerminationProtection(_ context.Context, in *cfn.UpdateTerminationProtectionInput) (*cfn.UpdateTerminationProtectionOutput, error) {
	out := &cfn.UpdateTerminationProtectionOutput{}
	return out, s.locked(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		st.Protected = aws.ToBool(in.EnableTerminationProtection)
		s.dirty[st] = true
		out.StackId = &st.ID
		return nil
	})
}
