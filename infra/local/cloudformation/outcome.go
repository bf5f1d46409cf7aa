package cloudformation

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// end continues after the last level.
func (s *Service) end(st *stack) {
	f := st.Operation
	failed := failedResources{deleted: f.Failed}.String()
	switch f.Phase {
	case creating:
		if why := s.exportConflict(st, f.Outputs); why != "" {
			s.fail(st, why)
			return
		}
		st.Now.Outputs = f.Outputs
		s.complete(st, types.StackStatusCreateComplete, "")
	case updating:
		why := s.exportInUse(st, f.Outputs)
		if why == "" {
			why = s.exportConflict(st, f.Outputs)
		}
		if why != "" {
			s.fail(st, why)
			return
		}
		st.Now.Outputs = f.Outputs
		s.setStatus(st, types.StackStatusUpdateCompleteCleanupInProgress, "")
		s.startCleanup(st, cleaning)
	case cleaning:
		// A resource that cannot be deleted in the cleanup is left behind; the update has succeeded.
		st.dropDeleted()
		s.complete(st, types.StackStatusUpdateComplete, "")
	case rollingBackUpdate:
		s.setStatus(st, types.StackStatusUpdateRollbackCompleteCleanupInProgress, "")
		s.startCleanup(st, cleaningAfterRollback)
	case cleaningAfterRollback:
		st.dropDeleted()
		s.complete(st, types.StackStatusUpdateRollbackComplete, "")
	case importingAll:
		s.complete(st, types.StackStatusImportComplete, "")
	case rollingBackImport:
		s.complete(st, types.StackStatusImportRollbackComplete, "")
	case refactoring:
		s.endRefactor(st, "")
	case endingRefactor:
		s.complete(st, f.EndStatus, "")
	case rollingBack:
		if failed != "" {
			s.stopIn(st, types.StackStatusRollbackFailed, failed)
			return
		}
		st.Now.Imports = nil // no resource is left that uses them
		s.complete(st, types.StackStatusRollbackComplete, "")
	case deleting:
		if failed != "" {
			s.stopIn(st, types.StackStatusDeleteFailed, failed)
			return
		}
		st.Deleted = time.Now()
		s.complete(st, types.StackStatusDeleteComplete, "")
	}
}

// fail continues after an operation has failed.
func (s *Service) fail(st *stack, why string) {
	switch f := st.Operation; f.Phase {
	case creating:
		s.failCreate(st, why)
	case updating:
		if st.Deployment.DisableRollback {
			s.stopIn(st, types.StackStatusUpdateFailed, why)
			return
		}
		s.rollBackUpdate(st, why, nil)
	case rollingBackUpdate:
		s.stopIn(st, types.StackStatusUpdateRollbackFailed, why)
	case importingAll:
		s.rollBackImport(st, why)
	case refactoring:
		s.endRefactor(st, why)
	case rollingBackImport:
		s.stopIn(st, types.StackStatusImportRollbackFailed, why)
	case rollingBack:
		s.stopIn(st, types.StackStatusRollbackFailed, why)
	case deleting:
		if f.RefusedStatus == "" {
			f.RefusedStatus = types.StackStatusDeleteFailed
		}
		s.stopIn(st, f.RefusedStatus, why)
	}
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (OnFailure)
func (s *Service) failCreate(st *stack, why string) {
	if _, sentence := cutDot(why); !sentence {
		why += "."
	}
	switch {
	case st.Deployment.DisableRollback || st.OnFailure == types.OnFailureDoNothing:
		s.stopIn(st, types.StackStatusCreateFailed, why)
	case st.OnFailure == types.OnFailureDelete:
		s.delete(st, origin{token: st.Operation.Token, reason: why + " Delete requested by user."}, nil)
	default:
		s.rollBackCreate(st, origin{token: st.Operation.Token, reason: why + " Rollback requested by user."})
	}
}

func cutDot(text string) (string, bool) {
	if n := len(text); n > 0 && text[n-1] == '.' {
		return text[:n-1], true
	}
	return text, false
}

// complete ends an operation in a stable status.
func (s *Service) complete(st *stack, status types.StackStatus, reason string) {
	st.Before, st.Rollback, st.Holds = nil, nil, nil
	s.stopIn(st, status, reason)
}

// stopIn ends an operation in a status from which it may be rolled back.
func (s *Service) stopIn(st *stack, status types.StackStatus, reason string) {
	s.setStatus(st, status, reason)
	st.Operation = nil
	st.endChangeSets()
}

// dropDeleted removes the resources that no longer belong to the stack.
func (st *stack) dropDeleted() {
	here := st.existing()
	for name := range st.Resources {
		if _, ok := here[name]; !ok {
			delete(st.Resources, name)
		}
	}
}

// startCleanup starts the cleanup, which takes the last quarter of an update.
func (s *Service) startCleanup(st *stack, c phase) {
	f := st.Operation
	next := &stackOperation{Phase: c, Token: f.Token, ID: f.ID, Duration: s.duration(st) / 4}
	if len(f.Cleanup) > 0 {
		next.Levels = [][]step{f.Cleanup}
	}
	s.start(st, next)
}

// origin is the token of the request for an operation, and the reason of its first event.
type origin struct{ token, reason string }

// newOperation adds an operation to the stack and returns its ID.
func (st *stack) newOperation(kind types.OperationType) string {
	id := derived(st, "operation", len(st.Operations))
	st.Operations = append(st.Operations, operationEntry{ID: id, Type: kind})
	return id
}

// rollBackCreate deletes what a failed creation has created.
func (s *Service) rollBackCreate(st *stack, who origin) {
	f := &stackOperation{Phase: rollingBack, Token: who.token, ID: st.newOperation(types.OperationTypeRollback), Duration: s.duration(st)}
	f.Levels = s.removal(st, nil, true)
	st.Operation = f
	s.setStatus(st, types.StackStatusRollbackInProgress, who.reason)
	s.applyFault(st, "rollback", f)
	s.start(st, f)
}

// rollBackUpdate returns a stack to its last stable version, without the resources to skip.
func (s *Service) rollBackUpdate(st *stack, why string, skip []string) {
	token := ""
	if st.Operation != nil {
		token = st.Operation.Token
	}
	s.startUpdateRollback(st, origin{token: token, reason: why}, types.OperationTypeRollback, skip)
}

func (s *Service) startUpdateRollback(st *stack, who origin, kind types.OperationType, skip []string) {
	f := &stackOperation{Phase: rollingBackUpdate, Token: who.token, ID: st.newOperation(kind), Duration: s.duration(st) * 3 / 4}
	f.Skipped = skip
	st.Operation = f
	s.setStatus(st, types.StackStatusUpdateRollbackInProgress, who.reason)
	if st.Before != nil {
		st.Now, st.Before, st.Holds = *st.Before, nil, st.Now.Imports
	}
	back := map[string]*resource{}
	for _, name := range sorted(st.Rollback) {
		was, is := st.Rollback[name], st.Resources[name]
		switch {
		case is == nil, was != nil && is.Status == types.ResourceStatusUpdateComplete && was.same(is):
		case slices.Contains(skip, name):
			s.setResourceStatus(st, is, types.ResourceStatusUpdateComplete, "Resource update skipped")
		case was == nil:
			f.Cleanup = append(f.Cleanup, step{Action: remove, Resource: is})
		default:
			again := *was
			back[name] = &again
			if was.Physical != is.Physical {
				f.Cleanup = append(f.Cleanup, step{Action: remove, Resource: is, Superseded: true})
			}
		}
	}
	f.Levels = levels(back, back, func(r *resource) step { return step{Action: restore, Resource: r} })
	s.applyFault(st, "rollback", f)
	s.start(st, f)
}
