package cloudformation

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// stacksInside are the existing stacks and those nested in them, each parent before its own.
func (s *Service) stacksInside() []*stack {
	var all []*stack
	for _, st := range s.stacks {
		if st.exists() {
			all = append(append(all, st), st.inside()...)
		}
	}
	return all
}

// inside are the stacks that are nested in a stack, at any depth. Each has the resources themselves, and else a copy of what it is now.
func (st *stack) inside() []*stack {
	var all []*stack
	here := st.existing()
	maps.DeleteFunc(here, func(_ string, r *resource) bool { return r.Type != nestedType || r.Nested == nil || r.Physical == "" })
	for _, name := range sorted(here) {
		r := here[name]
		child := &stack{
			ID: r.Physical, Name: plainName(r.Physical), Status: types.StackStatus(r.Status), Created: r.At, Now: r.Nested.Now, Resources: r.Nested.Resources, Detections: r.Nested.Detections,
			Parent: st.ID, Root: st.root(), depth: st.depth + 1,
		}
		all = append(append(all, child), child.inside()...)
	}
	return all
}

// root is the ID of the stack that is nested in no other.
func (st *stack) root() string {
	if st.Root != "" {
		return st.Root
	}
	return st.ID
}

// nested finds a stack that is nested in another one, by its name or ID; nil if there is none.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-nested-stacks.html
func (s *Service) nested(nameOrID string) *stack {
	all := s.stacksInside()
	if i := slices.IndexFunc(all, func(st *stack) bool {
		return st.Parent != "" && s.byID[st.ID] == nil && (st.ID == nameOrID || st.Name == nameOrID)
	}); i >= 0 {
		return all[i]
	}
	return nil
}

// keepDetections stores the detections of a stack. Those of a nested one are in the resource of its parent.
func (s *Service) keepDetections(st *stack) {
	if s.byID[st.ID] == st {
		s.dirty[st] = true
		return
	}
	for _, root := range s.stacks {
		if root.exists() && root.ID == st.Root {
			root.keepNested(st)
			s.dirty[root] = true
		}
	}
}

// keepNested stores the detections of a stack that is nested in this one.
func (st *stack) keepNested(child *stack) {
	for _, r := range st.existing() {
		if r.Physical == child.ID && r.Nested != nil {
			r.Nested.Detections = child.Detections
		}
	}
	for _, one := range st.inside() {
		if one.Parent == st.ID {
			one.keepNested(child)
		}
	}
}
