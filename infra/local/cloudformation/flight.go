package cloudformation

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// course is what an operation is at.
type course string

const (
	creating    course = "create"
	rollingBack course = "rollback" // a failed create
	updating    course = "update"
	cleaning    course = "cleanup"
	undoing     course = "undo" // a failed update
	undone      course = "undo cleanup"
	deleting    course = "delete"
)

// flight is an operation in hand. Its levels take equal parts of its time; the
// resources of one level begin and end together.
type flight struct {
	Course           course
	Token, Operation string
	Began            time.Time
	Span             time.Duration
	Limit            time.Duration // after which it is given up; 0 is none
	Levels           [][]step
	At               int // the level in hand

	Why     string            // it fails for this before a resource is touched
	Back    types.StackStatus // the status of a stack whose delete is refused
	Outputs []output          // what comes out of it
	Gone    []step            // what the cleanup removes
	Failed  []string          // resources that could not be deleted
	Blocked []string          // resources that stay because of those
}

// tooSlow is why a stack does not come up that took longer than it may.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (TimeoutInMinutes)
const tooSlow = "Stack creation time exceeded the specified timeout."

type act string

const (
	create  act = "create"
	update  act = "update"
	replace act = "replace"
	restore act = "restore"
	remove  act = "remove"
	retain  act = "retain" // given up, not deleted
)

// step is what is done to one resource.
type step struct {
	Act      act
	Resource *resource // as it will be; for remove and retain as it is
	Aside    bool      // not the stack's any more: the old one of a replacement
	Why      string    // it fails for this
}

// due is when the level in hand ends, or the operation is given up.
func (f *flight) due() time.Time {
	n := max(len(f.Levels), 1)
	span := f.Span * time.Duration(f.At+1) / time.Duration(n)
	if f.Limit > 0 {
		span = min(span, f.Limit)
	}
	return f.Began.Add(span)
}

// overdue reports whether the level in hand does not end in time.
func (f *flight) overdue() bool {
	return f.Limit > 0 && f.Span*time.Duration(f.At+1) > f.Limit*time.Duration(max(len(f.Levels), 1))
}

// take puts an operation into the stack's hands and begins its first level.
func (s *Service) take(st *stack, f *flight) {
	f.Began = time.Now()
	st.Flight = f
	if f.Why == "" && len(f.Levels) > 0 {
		s.beginLevel(st)
	}
	s.dirty[st] = true
	s.arm(st)
}

// advance ends the level in hand and begins the next.
func (s *Service) advance(st *stack) {
	f := st.Flight
	s.dirty[st] = true
	if f.overdue() {
		s.stop(st)
		s.fail(st, tooSlow)
		return
	}
	if f.Why != "" {
		s.fail(st, f.Why)
		return
	}
	if f.At < len(f.Levels) {
		if why := s.endLevel(st); why != "" {
			s.fail(st, why)
			return
		}
	}
	f.At++
	if f.At < len(f.Levels) {
		s.beginLevel(st)
		return
	}
	s.end(st)
}

func (s *Service) beginLevel(st *stack) {
	f := st.Flight
	begun := f.Levels[f.At][:0:0]
	for _, one := range f.Levels[f.At] {
		if slices.Contains(f.Blocked, one.Resource.Logical) {
			f.Blocked = append(f.Blocked, one.Resource.After...)
			continue
		}
		s.begin(st, one)
		begun = append(begun, one)
	}
	f.Levels[f.At] = begun
}

// begin says that a resource is being worked on.
func (s *Service) begin(st *stack, one step) {
	r := one.Resource
	switch one.Act {
	case create, update, replace:
		st.touch(r.Logical)
		st.Resources[r.Logical] = r
	case restore:
		st.Resources[r.Logical] = r
	case remove, retain:
		r = st.target(one)
	}
	switch one.Act {
	case create:
		physical := r.Physical
		r.Physical = ""
		s.tell(st, r, types.ResourceStatusCreateInProgress, "")
		r.Physical = physical
		s.tell(st, r, types.ResourceStatusCreateInProgress, "Resource creation Initiated")
	case update, restore:
		s.tell(st, r, types.ResourceStatusUpdateInProgress, "")
	case replace:
		s.tell(st, r, types.ResourceStatusUpdateInProgress,
			"Requested update requires the creation of a new physical resource; hence creating one.")
	case remove:
		s.tell(st, r, types.ResourceStatusDeleteInProgress, "")
	case retain:
		s.tell(st, r, types.ResourceStatusDeleteSkipped, "")
	}
}

// endLevel says how the resources of the level in hand ended, and why the
// operation cannot go on; "" if it can. Deletes go on past a failure.
func (s *Service) endLevel(st *stack) string {
	f := st.Flight
	level := f.Levels[f.At]
	broken := slices.ContainsFunc(level, func(one step) bool {
		return one.Why != "" && one.Act != remove
	})
	var failed failures
	for _, one := range level {
		s.finish(st, one, broken, &failed)
	}
	return failed.String()
}

// finish ends one step; when another of its level failed it is cancelled.
func (s *Service) finish(st *stack, one step, broken bool, failed *failures) {
	f, r := st.Flight, st.target(one)
	why, verb := one.Why, "update"
	switch one.Act {
	case remove:
		if why == "" {
			s.tell(st, r, types.ResourceStatusDeleteComplete, "")
			return
		}
		s.tell(st, r, types.ResourceStatusDeleteFailed, why)
		f.Failed = append(f.Failed, r.Logical)
		f.Blocked = append(f.Blocked, r.After...)
		return
	case retain:
		return
	case create:
		verb = "creation"
	}
	if broken && why == "" {
		why = "Resource " + verb + " cancelled"
	}
	switch {
	case why == "" && one.Act == create:
		s.tell(st, r, types.ResourceStatusCreateComplete, "")
	case why == "":
		s.tell(st, r, types.ResourceStatusUpdateComplete, "")
	case one.Act == create:
		s.tell(st, r, types.ResourceStatusCreateFailed, why)
		failed.created = append(failed.created, r.Logical)
	default:
		s.tell(st, r, types.ResourceStatusUpdateFailed, why)
		failed.updated = append(failed.updated, r.Logical)
	}
}

// target is the resource that a step under way is about: the stack's own, also
// after the stack was read from its file.
func (st *stack) target(one step) *resource {
	if own, ok := st.Resources[one.Resource.Logical]; ok && !one.Aside {
		return own
	}
	return one.Resource
}

// failures are the resources for which an operation fails.
type failures struct{ created, updated, deleted []string }

func (f failures) String() string {
	var all []string
	for _, one := range []struct {
		verb  string
		names []string
	}{{"create", f.created}, {"update", f.updated}, {"delete", f.deleted}} {
		if len(one.names) > 0 {
			all = append(all, "The following resource(s) failed to "+one.verb+": ["+strings.Join(one.names, ", ")+"].")
		}
	}
	return strings.Join(all, " ")
}
