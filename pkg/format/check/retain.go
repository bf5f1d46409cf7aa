package check

import (
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// retain refuses retain for resources that hold data and that CloudFormation deletes with it: their deletion does not fail.
func (c *checker) retain(s *resolve.Stack) {
	if s.Template == nil || s.Template.Template == nil || len(s.RetainAt) == 0 {
		return
	}
	e := c.Evaluation(s)
	for _, id := range s.Node.Retain {
		r, ok := s.Template.Resources[id]
		lost, stateful := resource.Stateful(r.Type)
		if !ok || !stateful {
			continue
		}
		policy, known := e.Policy(r.DeletionPolicy)
		properties, _ := e.Reduce(r.Properties).(map[string]any)
		if !known || policy == "Retain" || policy == "RetainExceptOnCreate" || resource.KeepsData(r.Type, properties) {
			continue
		}
		c.Add(s.RetainAt[id], "stack %s: retain: CloudFormation deletes %s (%s) with its data: %s. retain is for resources that cannot be deleted, such as a bucket with objects: write DeletionPolicy: Retain under the resource in the template, which always keeps it, and remove it here",
			s.Name, problem.Short(id), r.Type, lost)
	}
}
