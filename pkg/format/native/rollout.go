package native

import (
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// rollout reads how a stack is deployed to its targets.
func (p *parser) rollout(what string, n *yaml.Node) *declared.Rollout {
	if n == nil {
		return nil
	}
	keys := p.keys(what, n, rolloutKeys, nil)
	return &declared.Rollout{
		At: p.at(n), Order: p.list(what, "order", keys), Bake: p.optional(what, "bake", keys), Alarms: p.list(what, "alarms", keys),
		MaxConcurrent: p.optional(what, "max_concurrent", keys), MaxFailures: p.optional(what, "max_failures", keys),
	}
}

// share reads a number or a percentage of stacks; nil if there is none that can be read.
func (p *parser) share(what string, n *yaml.Node) *project.Share {
	if n == nil {
		return nil
	}
	v, ok := p.scalar(what, n)
	if !ok {
		return nil
	}
	text, plain := v.Literal()
	if !plain {
		p.Add(v.At, "%s: references are allowed only in parameters, tags and options of stacks: write a number or a percentage, such as 2 or 10%%", what)
		return nil
	}
	s, err := project.ParseShare(problem.Short(text))
	if err != nil {
		p.Add(v.At, "%s: %v", what, err)
		return nil
	}
	return &s
}
