package plan

import (
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Relocated reports whether the change moves a resource between stacks.
func (r ResourceChange) Relocated() bool { return r.Action == difference.Move }

// moved returns what the steps of a stack move, for people, and the rows of the resources.
func moved(name string, steps []Step) (reason string, rows []ResourceChange) {
	for _, s := range steps {
		a, moves := movementOf(s)
		if !moves {
			continue
		}
		var what []string
		for _, r := range a.Resources {
			row := ResourceChange{ID: r.To, Type: r.Type, Action: difference.Move, Replacement: resource.Never, MovedFrom: a.Source.Node + "." + r.From}
			if a.Leaving {
				row = ResourceChange{ID: r.From, Type: r.Type, Action: difference.Move, Replacement: resource.Never, MovedTo: a.Target.Node + "." + r.To}
			}
			what, rows = append(what, row.ID), append(rows, row)
		}
		if reason = "takes " + listed(what) + " from " + a.Source.Node; a.Leaving {
			reason = "gives " + listed(what) + " to " + a.Target.Node
		}
	}
	return reason, rows
}

// leavingOutputs lists the outputs that go away with the resources that they refer to.
func (d describer) leavingOutputs(name string, relocated []ResourceChange, after *template.Template) []OutputChange {
	var all []OutputChange
	if len(relocated) == 0 || after == nil {
		return nil
	}
	for _, output := range d.Found[name].Template.OutputNames() {
		_, kept := d.Found[name].Moved.Template.Outputs[output]
		if _, stays := after.Outputs[output]; !kept && !stays {
			all = append(all, OutputChange{Name: output, Action: difference.Remove, Users: d.dependentsOf(name)})
		}
	}
	return all
}
