package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Retention is the arguments of the verb Delete. For a stack that is deleted permanently, these are the resources that stay in AWS if the deletion
// fails because of them. CloudFormation retains no resource before a deletion has failed.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html (RetainResources)
type Retention struct {
	Resources []string `json:"resources,omitempty"` // logical IDs, sorted

	Leftover    string             `json:"leftover,omitempty"`    // the ID of a stack of somebody else that was never created: it is deleted, so that the stack can be created
	Replaces    string             `json:"replaces,omitempty"`    // of a replace: the ID of the stack that is deleted, to be created again
	LastUpdated time.Time          `json:"last_updated,omitzero"` // of that stack, as the plan has seen it
	Reimport    []ImportedResource `json:"reimport,omitempty"`    // of a replace: what stays, by its DeletionPolicy, and is imported into the new stack
}

// RetentionVersion is the version of Retention.
const RetentionVersion = 1

// Retention returns the arguments of the deletion s; the zero Retention for other steps, and for a deletion without arguments.
func (s Step) Retention() (Retention, error) {
	var r Retention
	if !s.does(Delete) || s.Arguments == nil {
		return r, nil
	}
	err := s.Arguments.Read(RetentionVersion, &r)
	return r, err
}

// OfLeftover returns the ID of the stack of somebody else that the deletion s deletes; "" for all other steps.
func (s Step) OfLeftover() (string, error) {
	r, err := s.Retention()
	return r.Leftover, err
}

// leftover returns the step that deletes a stack of somebody else that was never created.
func leftover(live Live) (Step, error) {
	arguments, err := NewArguments(RetentionVersion, Retention{Leftover: live.StackID})
	return Step{Verb: Delete, Arguments: arguments}, err
}

// deletesLeftover reports whether one of the steps deletes a stack of somebody else that was never created.
func deletesLeftover(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { id, err := s.OfLeftover(); return err == nil && id != "" })
}

// leftoverMessages says which stacks of somebody else that were never created a plan deletes.
func (v View) leftoverMessages(p Plan) []string {
	var all []string
	for _, s := range p.Steps {
		if deletesLeftover([]Step{s}) {
			all = append(all, fmt.Sprintf("stack %s: %s is there, and was never created (%s): a change set was not executed. "+
				"It is deleted with its change sets first", s.Node, v.Desired.Nodes[s.Node].Stack, v.Live[s.Node].Status))
		}
	}
	return all
}

// Retains returns the logical IDs of the resources that the deletion s leaves in AWS if it fails because of them; none for other steps, and for
// a deletion after which the stack is created again.
func (s Step) Retains() ([]string, error) {
	r, err := s.Retention()
	return r.Resources, err
}

// deletion returns the step that deletes the recorded stack permanently.
func (r Record) deletion() (Step, error) {
	s := Step{Verb: Delete}
	if len(r.Retain) == 0 {
		return s, nil
	}
	var err error
	s.Arguments, err = NewArguments(RetentionVersion, Retention{Resources: r.Retain})
	return s, err
}

// retainReasons says which resources the deletions among the steps leave in AWS.
func retainReasons(steps []Step) []string {
	var all []string
	for _, s := range steps {
		if names, err := s.Retains(); err == nil && len(names) > 0 {
			all = append(all, fmt.Sprintf("retains %s if %s cannot be deleted", listed(names), map[bool]string{true: "it", false: "they"}[len(names) == 1]))
		}
	}
	return all
}

// retainChange is the change of the option retain: what a deletion of the stack will leave.
func retainChange(was, is []string) (ValueChange, bool) {
	return change("retain", strings.Join(was, ", "), len(was) > 0, strings.Join(is, ", "), len(is) > 0, ""), !slices.Equal(was, is)
}
