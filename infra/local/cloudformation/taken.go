package cloudformation

import (
	schema "github.com/stackwright/stackwright/pkg/lib/resource"
)

// called returns the name that its properties give a resource, and what tells it from all others of its type in the
// account. It reports false if AWS makes the name.
func (r *resource) called() (name, key string, ok bool) {
	t, known := schema.Named(r.Type)
	if !known || len(t.Naming()) == 0 {
		return "", "", false
	}
	return t.Called(properties(r.Properties))
}

// keepsName says why a resource cannot be replaced by another one: both have the same name of their own. CloudFormation
// creates the new resource before it deletes the old one.
// https://github.com/awsdocs/aws-cloudformation-user-guide/issues/927
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func (r *resource) keepsName(will *resource) string {
	name, was, ok := r.called()
	if _, is, _ := will.called(); !ok || is != was {
		return ""
	}
	return "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename " + name + " and update the stack again."
}

// nameTaken says why a resource cannot be created: another one has its name.
// https://github.com/aws-samples/eb-php-wordpress/issues/25
func (s *Service) nameTaken(st *stack, r *resource) string {
	name, key, ok := r.called()
	if !ok {
		return ""
	}
	s.indexNames()
	for other := range s.owners[key] {
		if other.owns(key, st, r) {
			return name + " already exists in stack " + other.ID
		}
	}
	s.own(st, key)
	return ""
}

// indexNames makes the index of the stacks by the names of their resources, when it is first needed.
func (s *Service) indexNames() {
	if s.owners != nil {
		return
	}
	s.owners = map[string]map[*stack]bool{}
	for _, st := range s.stacks {
		for _, r := range st.existing() {
			if _, key, ok := r.called(); ok {
				s.own(st, key)
			}
		}
	}
}

func (s *Service) own(st *stack, key string) {
	if s.owners[key] == nil {
		s.owners[key] = map[*stack]bool{}
	}
	s.owners[key][st] = true
}

// owns reports whether the stack has a resource of the name, also one that its current operation has yet to delete. It is
// another one than r of stack of.
func (st *stack) owns(key string, of *stack, r *resource) bool {
	if !st.exists() {
		return false
	}
	for _, all := range []map[string]*resource{st.existing(), st.Rollback} {
		for _, is := range all {
			if is == nil || is.Missing || failedToCreate(is) || st == of && is.Logical == r.Logical {
				continue
			}
			if _, its, ok := is.called(); ok && its == key {
				return true
			}
		}
	}
	return false
}
