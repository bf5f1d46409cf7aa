package native

import (
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// snapshots reads which snapshots a prune keeps; nil if that is not said.
func (p *parser) snapshots(what string, n *yaml.Node) *project.SnapshotPolicy {
	if n == nil {
		return nil
	}
	keys := p.keys(what, n, snapshotsKeys, nil)
	var policy project.SnapshotPolicy
	if keys["keep"] != nil {
		policy.Keep, _ = p.countOf("snapshots", what+": keep", keys["keep"], 1, plan.MostSnapshots)
	}
	if text, ok := "", keys["for"] != nil; ok {
		if text, ok = p.literal(what+": for", keys["for"]); ok {
			var err error
			if policy.For, err = project.ParseTTL(problem.Short(text)); err != nil {
				p.Add(p.at(keys["for"]), "%s: for: %v", what, err)
			}
		}
	}
	if isMapping(n) && keys["keep"] == nil && keys["for"] == nil {
		p.Add(p.at(n), "%s: keep and for are missing: write keep: with how many of the newest snapshots are kept, or for: with how long each is kept, or both", what)
	}
	return &policy
}
