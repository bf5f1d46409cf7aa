package cloudformation

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

func (s *Service) deleteStack(_ context.Context, in *cfn.DeleteStackInput) (*cfn.DeleteStackOutput, error) {
	mode, err := deploymentOf(in.DeploymentConfig, nil)
	if err != nil {
		return nil, err
	}
	out := &cfn.DeleteStackOutput{}
	return out, s.locked(func() error {
		name := aws.ToString(in.StackName)
		if name == "" {
			return tooShort("stackName")
		}
		if st, _, err := s.repeated(name, "DeleteStack", in); err != nil || st != nil {
			return err
		}
		st := s.find(name)
		if st == nil || !st.exists() {
			return nil
		}
		if err := deletable(st, in); err != nil {
			return err
		}
		if st.Status == types.StackStatusDeleteInProgress {
			return nil
		}
		for _, c := range st.own() {
			s.endReview(st, c.ID)
		}
		st.Deployment = mode
		operation := s.delete(st, origin{token: aws.ToString(in.ClientRequestToken), reason: "User Initiated"}, in.RetainResources)
		return s.rememberRequest(st, "DeleteStack", operation, in)
	})
}

// deletable refuses a deletion that the stack does not allow.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html
func deletable(st *stack, in *cfn.DeleteStackInput) error {
	failed := st.Status == types.StackStatusDeleteFailed
	switch st.Status {
	case types.StackStatusUpdateInProgress, types.StackStatusUpdateCompleteCleanupInProgress,
		types.StackStatusImportInProgress, types.StackStatusImportRollbackInProgress,
		types.StackStatusUpdateRollbackInProgress, types.StackStatusUpdateRollbackCompleteCleanupInProgress:
		return invalid("Stack [%s] cannot be deleted while in status %s", st.Name, st.Status)
	}
	switch {
	case st.Protected:
		return invalid("Stack [%s] cannot be deleted while TerminationProtection is enabled", st.Name)
	case len(in.RetainResources) > 0 && !failed:
		return invalid("Invalid operation on stack [%s]. RetainResources can be specified only when the stack is in the DELETE_FAILED state.", st.ID)
	case in.DeletionMode == types.DeletionModeForceDeleteStack && !failed:
		return invalid("Invalid operation on stack [%s]. You can activate DeletionMode FORCE_DELETE_STACK in a delete stack operation only when the stack is in the DELETE_FAILED state.", st.ID)
	}
	here := st.existing()
	for _, name := range in.RetainResources {
		if here[name] == nil {
			return invalid("The specified resources to retain must be in a valid state. Do not specify resources that are in the DELETE_COMPLETE state.")
		}
	}
	if in.DeletionMode == types.DeletionModeForceDeleteStack {
		for name, r := range here {
			if r.Status == types.ResourceStatusDeleteFailed {
				in.RetainResources = append(in.RetainResources, name)
			}
		}
		slices.Sort(in.RetainResources)
	}
	return nil
}

// delete starts the deletion of a stack. If an export of the stack is in use, the deletion is cancelled: the stack
// returns to its previous status, with the reason.
// (Seen in https://github.com/boto/botocore/issues/2590.)
func (s *Service) delete(st *stack, who origin, keep []string) (operation string) {
	f := &stackOperation{Phase: deleting, Token: who.token, ID: st.newOperation(types.OperationTypeDeleteStack), Duration: s.duration(st)}
	if why := s.exportInUse(st, nil); why != "" {
		f.Failure, f.RefusedStatus = why, st.Status
		if strings.HasSuffix(string(st.Status), "_IN_PROGRESS") {
			f.RefusedStatus = types.StackStatusDeleteFailed
		}
	} else {
		f.Levels = s.removal(st, keep, false)
	}
	st.Operation = f
	s.setStatus(st, types.StackStatusDeleteInProgress, who.reason)
	if f.Failure == "" {
		s.applyFault(st, "delete", f)
	}
	s.start(st, f)
	return f.ID
}
