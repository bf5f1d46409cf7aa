package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// CheckValues refuses the values of parameters that came from outside the project, and that the templates do not allow, all at
// once. It gets the project before and after they were read. What is known only when other stacks are deployed is not checked.
func CheckValues(before, after project.Project, templates Templates) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(before.Nodes)) {
		n := before.Nodes[name]
		if !n.ReadsParameters() {
			continue
		}
		t, err := templates(n.Template.Digest)
		if err != nil {
			return fmt.Errorf("stack %s: read its template: %w", name, err)
		}
		for _, key := range slices.Sorted(maps.Keys(n.Parameters)) {
			value, known := after.Nodes[name].Parameters[key].AsKnown()
			p, is := t.Parameters[key]
			if len(n.Parameters[key].Sources()) == 0 || !known || !is {
				continue
			}
			if err := p.Check(value); err != nil {
				wrong = append(wrong, fault.New(fault.Invalid, "stack %s: %w: the value is that of %s", name, err, n.Parameters[key]))
			}
		}
	}
	return errors.Join(wrong...)
}
