package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// specs stores the spec and the template of every desired node that has a step, and
// returns the references to the specs by node.
func (e *Engine) specs(ctx context.Context, p plan.Plan, desired project.Project) (map[string]string, error) {
	var nodes []project.Node
	var templates []string
	seen := make(map[string]bool)
	for _, s := range p.Steps {
		n, ok := desired.Nodes[s.Node]
		if !ok || seen[s.Node] {
			continue
		}
		seen[s.Node] = true
		nodes, templates = append(nodes, n), append(templates, n.Template.Digest)
	}
	slices.Sort(templates)
	templates = slices.Compact(templates)
	err := e.Parallel(ctx, len(templates), func(ctx context.Context, i int) error {
		return e.Specs.SaveTemplate(ctx, templates[i])
	})
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	references, err := e.Specs.SaveSpecs(ctx, nodes)
	if err != nil {
		return nil, fmt.Errorf("store the specs: %w", err)
	}
	specs := make(map[string]string, len(nodes))
	for i, n := range nodes {
		specs[n.Name] = references[i]
	}
	return specs, nil
}
