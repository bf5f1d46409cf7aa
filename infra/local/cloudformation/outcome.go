package cloudformation

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// end is what comes after the last level.
func (s *Service) end(st *stack) {
	f := st.Flight
	failed := failures{deleted: f.Failed}.String()
	switch f.Course {
	case creating:
		if why := s.clash(st, f.Outputs); why != "" {
			s.fail(st, why)
			return
		}
		st.Now.Outputs = f.Outputs
		s.settle(st, types.StackStatusCreateComplete, "")
	case updating:
		why := s.held(st, f.Outputs)
		if why == "" {
			why = s.clash(st, f.Outputs)
		}
		if why != "" {
			s.fail(st, why)
			return
		}
		st.Now.Outputs = f.Outputs
		s.become(st, types.StackStatusUpdateCompleteCleanupInProgress, "")
		s.clean(st, cleaning)
	case cleaning:
		// What cannot be deleted in the cleanup is left behind; the update has succeeded.
		st.forget()
		s.settle(st, types.StackStatusUpdateComplete, "")
	case undoing:
		s.become(st, types.StackStatusUpdateRollbackCompleteCleanupInProgress, "")
		s.clean(st, undone)
	case undone:
		st.forget()
		s.settle(st, types.StackStatusUpdateRollbackComplete, "")
	case rollingBack:
		if failed != "" {
			s.halt(st, types.StackStatusRollbackFailed, failed)
			return
		}
		s.settle(st, types.StackStatusRollbackComplete, "")
	case deleting:
		if failed != "" {
			s.halt(st, types.StackStatusDeleteFailed, failed)
			return
		}
		st.Deleted = time.Now()
		s.settle(st, types.StackStatusDeleteComplete, "")
	}
}

// fail is what comes of an operation that cannot go on.
func (s *Service) fail(st *stack, why string) {
	switch f := st.Flight; f.Course {
	case creating:
		s.failCreate(st, why)
	case updating:
		if st.DisableRollback {
			s.halt(st, types.StackStatusUpdateFailed, why)
			return
		}
		s.undo(st, why, nil)
	case undoing:
		s.halt(st, types.StackStatusUpdateRollbackFailed, why)
	case rollingBack:
		s.halt(st, types.StackStatusRollbackFailed, why)
	case deleting:
		if f.Back == "" {
			f.Back = types.StackStatusDeleteFailed
		}
		s.halt(st, f.Back, why)
	}
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (OnFailure)
func (s *Service) failCreate(st *stack, why string) {
	if _, sentence := cutDot(why); !sentence {
		why += "."
	}
	switch {
	case st.DisableRollback || st.OnFailure == types.OnFailureDoNothing:
		s.halt(st, types.StackStatusCreateFailed, why)
	case st.OnFailure == types.OnFailureDelete:
		s.delete(st, request{token: st.Flight.Token, why: why + " Delete requested by user."}, nil)
	default:
		s.rollBack(st, request{token: st.Flight.Token, why: why + " Rollback requested by user."})
	}
}

func cutDot(text string) (string, bool) {
	if n := len(text); n > 0 && text[n-1] == '.' {
		return text[:n-1], true
	}
	return text, false
}

// settle ends an operation in a stable status.
func (s *Service) settle(st *stack, status types.StackStatus, reason string) {
	st.Before, st.Undo, st.Holds = nil, nil, nil
	s.halt(st, status, reason)
}

// halt ends an operation where it stands: what it takes to roll back is kept.
func (s *Service) halt(st *stack, status types.StackStatus, reason string) {
	s.become(st, status, reason)
	st.Flight = nil
}

// forget drops the resources that are no longer the stack's.
func (st *stack) forget() {
	here := st.present()
	for name := range st.Resources {
		if _, ok := here[name]; !ok {
			delete(st.Resources, name)
		}
	}
}

// clean begins the cleanup: the last quarter of an update.
func (s *Service) clean(st *stack, c course) {
	f := st.Flight
	next := &flight{Course: c, Token: f.Token, Operation: f.Operation, Span: s.span(st) / 4}
	if len(f.Gone) > 0 {
		next.Levels = [][]step{f.Gone}
	}
	s.take(st, next)
}

// request is who asked for an operation, and the first status's reason.
type request struct{ token, why string }

// operate notes a new operation of the stack and returns its ID.
func (st *stack) operate(kind types.OperationType) string {
	id := derived(st, "operation", len(st.Operations))
	st.Operations = append(st.Operations, operation{ID: id, Type: kind})
	return id
}

// rollBack deletes what a failed create made.
func (s *Service) rollBack(st *stack, who request) {
	f := &flight{Course: rollingBack, Token: who.token, Operation: st.operate(types.OperationTypeRollback), Span: s.span(st)}
	f.Levels = s.removal(st, nil, true)
	st.Flight = f
	s.become(st, types.StackStatusRollbackInProgress, who.why)
	s.strike(st, "rollback", f)
	s.take(st, f)
}

// undo takes a failed update back to the last stable version, but for the resources to skip.
func (s *Service) undo(st *stack, why string, skip []string) {
	token := ""
	if st.Flight != nil {
		token = st.Flight.Token
	}
	s.undoAs(st, request{token: token, why: why}, types.OperationTypeRollback, skip)
}

func (s *Service) undoAs(st *stack, who request, kind types.OperationType, skip []string) {
	f := &flight{Course: undoing, Token: who.token, Operation: st.operate(kind), Span: s.span(st) * 3 / 4}
	st.Flight = f
	s.become(st, types.StackStatusUpdateRollbackInProgress, who.why)
	if st.Before != nil {
		st.Now, st.Before, st.Holds = *st.Before, nil, st.Now.Imports
	}
	back := map[string]*resource{}
	for _, name := range sorted(st.Undo) {
		was, is := st.Undo[name], st.Resources[name]
		switch {
		case is == nil, was != nil && is.Status == types.ResourceStatusUpdateComplete && was.same(is):
		case slices.Contains(skip, name):
			s.tell(st, is, types.ResourceStatusUpdateComplete, "Resource update skipped")
		case was == nil:
			f.Gone = append(f.Gone, step{Act: remove, Resource: is})
		default:
			again := *was
			back[name] = &again
			if was.Physical != is.Physical {
				f.Gone = append(f.Gone, step{Act: remove, Resource: is, Aside: true})
			}
		}
	}
	f.Levels = levels(back, back, func(r *resource) step { return step{Act: restore, Resource: r} })
	s.strike(st, "rollback", f)
	s.take(st, f)
}
