package native

import (
	"path"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
	"go.yaml.in/yaml/v4"
)

// stackPolicy reads a stack policy, or the path of a file that has it. none is no policy.
func (p *parser) stackPolicy(what string, n *yaml.Node) *declared.StackPolicy {
	if n == nil {
		return nil
	}
	policy := &declared.StackPolicy{At: p.at(n)}
	text := document.Resolve(n)
	if text.Kind != yaml.ScalarNode || document.Null(text) || document.Tagged(text) != "" {
		policy.Body = stackpolicy.Read(n, func(at *yaml.Node, format string, args ...any) { p.Add(p.at(at), what+": "+format, args...) })
		return policy
	}
	if text.Value == "none" {
		return policy
	}
	name := path.Clean(text.Value)
	body, ok := p.files[name]
	if !ok {
		p.Add(policy.At, "%s: there is no file %s: write a policy, its path from the top of the project, or none%s", what, problem.Short(text.Value), p.Closest(name, p.files.Paths()))
		return policy
	}
	root, err := document.Read(name, body)
	if err != nil {
		p.Join(name, err)
		return policy
	}
	policy.Body = stackpolicy.Read(root, func(at *yaml.Node, format string, args ...any) {
		where := problem.Position{File: name}
		if at != nil {
			where.Line, where.Column = at.Line, at.Column
		}
		p.Add(where, format, args...)
	})
	return policy
}
