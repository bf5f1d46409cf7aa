package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Stack is a recorded stack.
type Stack struct {
	Stack   string            `json:"stack"`        // in the project
	Name    string            `json:"name"`         // in CloudFormation
	ID      string            `json:"id,omitempty"` // empty until CloudFormation has answered
	Target  project.Target    `json:"target"`
	Needs   []string          `json:"needs"`
	Outputs map[string]string `json:"outputs,omitempty"`
	Changed time.Time         `json:"changed,omitzero"` // when CloudFormation last changed it
	Run     string            `json:"run,omitempty"`    // that recorded it last

	Changing bool `json:"changing,omitempty"` // an operation on it was started, and its outcome is not recorded yet

	Digest   string `json:"digest,omitempty"`   // of what was last deployed successfully; empty if that is unknown
	Template string `json:"template,omitempty"` // the digest of the template of the same
	Revision string `json:"revision,omitempty"` // of the files of the same
	Adopted  bool   `json:"adopted,omitempty"`  // the project has adopted it: Stackwright did not create it

	Suspended *plan.Suspension `json:"suspended,omitempty"` // what a suspend has stopped, and how it was before; missing if the stack is not suspended

	Approve project.ApprovalLevel `json:"approve,omitempty"` // which of its changes have to be approved; empty is none
	Retain  []string              `json:"retain,omitempty"`  // logical IDs of resources that stay when the stack is deleted and they cannot be
	Policy  string                `json:"policy,omitempty"`  // the digest of the stack policy that it was last given
}

// StackOf reports a record.
func StackOf(r plan.Record) Stack {
	return Stack{
		Stack: r.Node, Name: r.Stack, ID: r.StackID, Target: r.Target, Needs: append([]string{}, r.Needs...), Outputs: r.Outputs, Changed: r.LastUpdated, Run: r.Run,
		Changing: r.Intent,
		Digest:   r.Digest, Template: r.Template, Revision: r.Revision, Adopted: r.IsAdopted(), Approve: r.Approve, Suspended: r.Suspended, Retain: r.Retain, Policy: r.Policy,
	}
}

// RecordOf returns the record that a report shows, with all that is shown of it.
func RecordOf(s Stack) plan.Record {
	r := plan.Record{
		Node: s.Stack, Stack: s.Name, StackID: s.ID, Target: s.Target, Needs: s.Needs, Outputs: s.Outputs, LastUpdated: s.Changed, Run: s.Run,
		Intent: s.Changing,
		Digest: s.Digest, Template: s.Template, Revision: s.Revision, Approve: s.Approve, Suspended: s.Suspended, Retain: s.Retain, Policy: s.Policy,
	}
	if s.Adopted {
		r.Adopted = s.ID
	}
	return r
}
