package cloudformation

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// phase is the phase of an operation.
type phase string

const (
	creating              phase = "create"
	rollingBack           phase = "rollback" // a failed create
	updating              phase = "update"
	cleaning              phase = "cleanup"
	rollingBackUpdate     phase = "undo" // a failed update
	cleaningAfterRollback phase = "undo cleanup"
	deleting              phase = "delete"
	importingAll          phase = "import"
	rollingBackImport     phase = "import rollback"
	refactoring           phase = "refactor"
	endingRefactor        phase = "refactor end"
)

// stackOperation is the current operation of a stack. Its levels take equal parts of its time; the resources of one
// level start and end together.
type stackOperation struct {
	Phase     phase
	Token, ID string
	Started   time.Time
	Duration  time.Duration
	Watched   time.Duration // how long the rollback triggers are watched after the last level
	Timeout   time.Duration // the timeout of the creation; 0 is none
	Levels    [][]step
	Level     int // the current level

	Failure       string            // why the operation fails before it changes a resource
	Refactor      string            // the ID of the stack refactor that is executed
	EndStatus     types.StackStatus // of the stacks of a refactor that is over
	RefusedStatus types.StackStatus // the status that a stack returns to if its deletion is refused
	Outputs       []output          // the outputs after the operation
	Cleanup       []step            // what the cleanup deletes
	Failed        []string          // resources that could not be deleted
	Blocked       []string          // resources that are not deleted because of those
	Skipped       []string          // resources that a rollback does not restore
}

// timedOut is the reason of a creation that exceeded its timeout.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (TimeoutInMinutes)
const timedOut = "Stack creation time exceeded the specified timeout."

type action string

const (
	create  action = "create"
	update  action = "update"
	replace action = "replace"
	restore action = "restore"
	remove  action = "remove"
	retain  action = "retain" // removed from the stack, not deleted

	importing action = "import"
)

// step is what an operation does to one resource.
type step struct {
	Action     action
	Resource   *resource // after the step; for remove and retain before it
	Superseded bool      // the resource is the old one of a replacement
	Failure    string    // why the step fails; "" if it succeeds
}

// deadline is when the current level ends, or the operation times out.
func (f *stackOperation) deadline() time.Time {
	n := max(len(f.Levels), 1)
	span := f.Duration * time.Duration(f.Level+1) / time.Duration(n)
	if f.Level >= len(f.Levels)-1 && f.Failure == "" {
		span += f.Watched
	}
	if f.Timeout > 0 {
		span = min(span, f.Timeout)
	}
	return f.Started.Add(span)
}

// timesOut reports whether the operation times out before the current level ends.
func (f *stackOperation) timesOut() bool {
	return f.Timeout > 0 && f.Duration*time.Duration(f.Level+1) > f.Timeout*time.Duration(max(len(f.Levels), 1))
}

// start makes an operation the current one of the stack, and starts its first level.
func (s *Service) start(st *stack, f *stackOperation) {
	f.Started = time.Now()
	st.Operation = f
	if f.Failure == "" && len(f.Levels) > 0 {
		s.startLevel(st)
	}
	s.dirty[st] = true
	s.setTimer(st)
}

// advance ends the current level and starts the next.
func (s *Service) advance(st *stack) {
	f := st.Operation
	s.dirty[st] = true
	if f.timesOut() {
		s.cancelLevel(st)
		s.fail(st, timedOut)
		return
	}
	if f.Failure != "" {
		s.fail(st, f.Failure)
		return
	}
	if f.Level < len(f.Levels) {
		if why := s.endLevel(st); why != "" {
			s.fail(st, why)
			return
		}
	}
	f.Level++
	if f.Level < len(f.Levels) {
		s.startLevel(st)
		return
	}
	s.end(st)
}

func (s *Service) startLevel(st *stack) {
	f := st.Operation
	started := f.Levels[f.Level][:0:0]
	for _, one := range f.Levels[f.Level] {
		if slices.Contains(f.Blocked, one.Resource.Logical) {
			f.Blocked = append(f.Blocked, one.Resource.After...)
			continue
		}
		if (one.Action == create || one.Action == replace) && one.Failure == "" {
			one.Failure = s.nameTaken(st, one.Resource)
		}
		s.startStep(st, one)
		started = append(started, one)
	}
	f.Levels[f.Level] = started
}

// startStep sets the IN_PROGRESS status of a resource.
func (s *Service) startStep(st *stack, one step) {
	r := one.Resource
	switch one.Action {
	case create, update, replace, importing:
		st.remember(r.Logical)
		st.Resources[r.Logical] = r
	case restore:
		st.Resources[r.Logical] = r
	case remove, retain:
		r = st.target(one)
	}
	switch one.Action {
	case create:
		physical := r.Physical
		r.Physical = ""
		s.setResourceStatus(st, r, types.ResourceStatusCreateInProgress, "")
		r.Physical = physical
		s.setResourceStatus(st, r, types.ResourceStatusCreateInProgress, "Resource creation Initiated")
	case importing:
		s.setResourceStatus(st, r, types.ResourceStatusImportInProgress, "Resource import started.")
	case update, restore:
		s.setResourceStatus(st, r, types.ResourceStatusUpdateInProgress, "")
	case replace:
		s.setResourceStatus(st, r, types.ResourceStatusUpdateInProgress,
			"Requested update requires the creation of a new physical resource; hence creating one.")
	case remove:
		s.setResourceStatus(st, r, types.ResourceStatusDeleteInProgress, "")
	case retain:
		s.setResourceStatus(st, r, types.ResourceStatusDeleteSkipped, "")
	}
}

// endLevel sets the final statuses of the resources of the current level. It returns why the operation cannot continue,
// or "". Deletions continue after a failure.
func (s *Service) endLevel(st *stack) string {
	f := st.Operation
	level := f.Levels[f.Level]
	broken := slices.ContainsFunc(level, func(one step) bool {
		return one.Failure != "" && one.Action != remove
	})
	var failed failedResources
	for _, one := range level {
		s.finishStep(st, one, broken, &failed)
	}
	return failed.String()
}

// finishStep ends one step. If another step of its level failed, the step is cancelled.
func (s *Service) finishStep(st *stack, one step, broken bool, failed *failedResources) {
	f, r := st.Operation, st.target(one)
	why, verb := one.Failure, "update"
	switch one.Action {
	case remove:
		if why == "" {
			s.setResourceStatus(st, r, types.ResourceStatusDeleteComplete, "")
			return
		}
		s.setResourceStatus(st, r, types.ResourceStatusDeleteFailed, why)
		f.Failed = append(f.Failed, r.Logical)
		f.Blocked = append(f.Blocked, r.After...)
		return
	case retain:
		return
	case create:
		verb = "creation"
	case importing:
		verb = "import"
	}
	if broken && why == "" {
		why = "Resource " + verb + " cancelled"
	}
	switch {
	case why == "" && one.Action == create:
		s.setResourceStatus(st, r, types.ResourceStatusCreateComplete, "")
	case why == "" && one.Action == importing:
		s.endImport(st, r)
	case why == "":
		s.setResourceStatus(st, r, types.ResourceStatusUpdateComplete, "")
	case one.Action == importing:
		s.setResourceStatus(st, r, types.ResourceStatusImportFailed, why)
		failed.imported = append(failed.imported, r.Logical)
	case one.Action == create:
		s.setResourceStatus(st, r, types.ResourceStatusCreateFailed, why)
		failed.created = append(failed.created, r.Logical)
	default:
		s.setResourceStatus(st, r, types.ResourceStatusUpdateFailed, why)
		r.Unrestored = one.Action == restore && one.Failure != ""
		failed.updated = append(failed.updated, r.Logical)
	}
}

// target is the resource of a step: the stack's own, also after the stack was read from its file.
func (st *stack) target(one step) *resource {
	if own, ok := st.Resources[one.Resource.Logical]; ok && !one.Superseded {
		return own
	}
	return one.Resource
}

// failedResources are the resources for which an operation fails.
type failedResources struct{ created, updated, deleted, imported []string }

func (f failedResources) String() string {
	var all []string
	for _, one := range []struct {
		verb  string
		names []string
	}{{"create", f.created}, {"update", f.updated}, {"delete", f.deleted}, {"import", f.imported}} {
		if len(one.names) > 0 {
			all = append(all, "The following resource(s) failed to "+one.verb+": ["+strings.Join(one.names, ", ")+"].")
		}
	}
	return strings.Join(all, " ")
}
