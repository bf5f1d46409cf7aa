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
	return out, s.under(func() error {
		name := aws.ToString(in.StackName)
		if st, _, err := s.again(name, "ContinueUpdateRollback", in); err != nil || st != nil {
			return err
		}
		st := s.find(name)
		if st == nil || !st.live() {
			return invalid("Stack [%s] does not exist", name)
		}
		if st.Status != types.StackStatusUpdateRollbackFailed {
			return invalid("Stack:%s is in %s state and can not continue rollback.", st.ID, st.Status)
		}
		for _, logical := range in.ResourcesToSkip {
			if r := st.Resources[logical]; r == nil || r.Status != types.ResourceStatusUpdateFailed {
				return invalid("ResourcesToSkip must be in UPDATE_FAILED state: [%s]", logical)
			}
		}
		s.undoAs(st, request{token: aws.ToString(in.ClientRequestToken), why: "User Initiated"},
			types.OperationTypeContinueRollback, in.ResourcesToSkip)
		return s.hear(st, "ContinueUpdateRollback", st.Flight.Operation, in)
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
func (s *Service) cancelUpdateStack(_ context.Context, in *cfn.CancelUpdateStackInput) (*cfn.CancelUpdateStackOutput, error) {
	out := &cfn.CancelUpdateStackOutput{}
	return out, s.under(func() error {
		name := aws.ToString(in.StackName)
		if st, _, err := s.again(name, "CancelUpdateStack", in); err != nil || st != nil {
			return err
		}
		st := s.find(name)
		if st == nil || !st.live() {
			return invalid("Stack [%s] does not exist", name)
		}
		if st.Status != types.StackStatusUpdateInProgress {
			return invalid("CancelUpdateStack cannot be called from current stack status")
		}
		if token := aws.ToString(in.ClientRequestToken); token != "" {
			st.Flight.Token = token
		}
		s.stop(st)
		s.undo(st, "User Initiated", nil)
		return s.hear(st, "CancelUpdateStack", st.Flight.Operation, in)
	})
}

// stop ends what is under way in the level in hand.
func (s *Service) stop(st *stack) {
	f := st.Flight
	if f.At >= len(f.Levels) {
		return
	}
	for _, one := range f.Levels[f.At] {
		r := st.target(one)
		switch {
		case !strings.HasSuffix(string(r.Status), "_IN_PROGRESS"):
		case one.Act == create:
			s.tell(st, r, types.ResourceStatusCreateFailed, "Resource creation cancelled")
		default:
			s.tell(st, r, types.ResourceStatusUpdateFailed, "Resource update cancelled")
		}
	}
}

func (s *Service) updateTerminationProtection(_ context.Context, in *cfn.UpdateTerminationProtectionInput) (*cfn.UpdateTerminationProtectionOutput, error) {
	out := &cfn.UpdateTerminationProtectionOutput{}
	return out, s.under(func() error {
		st := s.find(aws.ToString(in.StackName))
		if st == nil || !st.live() {
			return invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		st.Protected = aws.ToBool(in.EnableTerminationProtection)
		s.dirty[st] = true
		out.StackId = &st.ID
		return nil
	})
}
