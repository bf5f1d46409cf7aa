package plan

import (
	"fmt"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// readings says of each output that the template of n reads with Fn::GetStackOutput why its value may change, or may
// have changed since the stack read it. CloudFormation does not update a stack when an output that it reads changes.
func (d describer) readings(c StackChange, n project.Node) map[template.StackOutput]string {
	all := make(map[template.StackOutput]string)
	for _, r := range n.Reads {
		why, of := d.reading(r), d.Desired.Nodes[r.Node]
		if why == "" && c.stale {
			why = fmt.Sprintf("output %s of %s may have changed", r.Output, r.Node)
		}
		if why != "" {
			all[template.StackOutput{Stack: of.Stack, Output: r.Output, Account: of.Target.Account,
				Region: of.Target.Region}] = why
		}
	}
	return all
}

// reading says why the value of a read may change; it is empty if it does not.
func (d describer) reading(r project.Read) string {
	if uncertain, changes := d.uncertain[r.Node]; changes && uncertain(r.Output) != "" {
		return fmt.Sprintf("output %s of %s may change", r.Output, r.Node)
	}
	return ""
}

// anyReading says why a value that the template of n reads may change; it is empty if none may.
func (d describer) anyReading(n project.Node) string {
	for _, r := range n.Reads {
		if why := d.reading(r); why != "" {
			return why
		}
	}
	return ""
}
