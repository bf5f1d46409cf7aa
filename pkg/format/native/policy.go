package native

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// policyFileKeys are the keys of a file of policies.
var policyFileKeys = []string{"policies", "tests"}

// Policies reads a file of policies, or the policies of a project file.
func Policies(file string, body []byte, list *problem.List) []project.Policy {
	p := &parser{List: list, file: file}
	root, err := document.Read(file, body)
	if err != nil {
		p.unreadable(p.file, body, err)
		return nil
	}
	n, ok := document.Lookup(root, "policies")
	if _, project := document.Lookup(root, "project"); !project {
		keys := p.keys("the file of policies", root, policyFileKeys, nil)
		n = keys["policies"]
		if !ok && root.Kind == yaml.MappingNode && keys["tests"] == nil { // else it has the tests of another file
			p.Add(p.at(root), "policies is missing: write policies: and a mapping of their names")
		}
	}
	return p.policies(n)
}

// policies reads a mapping of policies.
func (p *parser) policies(n *yaml.Node) []project.Policy {
	var all []project.Policy
	pairs := p.mapping("policies", n)
	if len(pairs) > project.MaxPolicies {
		p.Add(p.at(n), "policies: %d policies: a file has at most %d", len(pairs), project.MaxPolicies)
		return nil
	}
	for _, pair := range pairs {
		name := pair.Key.Value
		if !project.Name.MatchString(name) {
			p.Add(p.at(pair.Key), "policies: %q is not a valid name: use letters, digits and hyphens, at most 64, beginning with a letter", problem.Short(name))
			continue
		}
		if one, ok := p.policy(name, pair); ok {
			all = append(all, one)
		}
	}
	return all
}

func (p *parser) policy(name string, pair document.Pair) (one project.Policy, ok bool) {
	what := "policy " + name
	keys := p.keys(what, pair.Value, policyKeys, nil)
	if !isMapping(pair.Value) {
		return one, false
	}
	deny, warn := keys[string(project.Deny)], keys[string(project.Warn)]
	one = project.Policy{Name: name, Level: project.Deny, File: p.file}
	when := deny
	switch {
	case deny != nil && warn != nil:
		p.Add(p.at(warn), "%s: deny and warn exclude each other: write one of them", what)
		return one, false
	case deny == nil && warn == nil:
		p.Add(p.at(pair.Key), "%s: it has no condition: write deny: or warn: and an expression that is true if a plan violates the policy", what)
		return one, false
	case warn != nil:
		one.Level, when = project.Warn, warn
	}
	var whenOK, messageOK bool
	one.When, whenOK = p.text(what+": "+string(one.Level), when)
	if n := document.Resolve(when); n != nil {
		one.Line, one.Column = n.Line, n.Column
		one.Exact = n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n")
		if one.Exact && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			one.Column++
		}
	}
	if keys["message"] == nil {
		p.Add(p.at(pair.Key), "%s: message is missing: say why, and what to do", what)
		return one, false
	}
	one.Message, messageOK = p.text(what+": message", keys["message"])
	return one, whenOK && messageOK
}

// text reads a text in which ${…} is no reference.
func (p *parser) text(what string, n *yaml.Node) (string, bool) {
	n = document.Resolve(n)
	switch {
	case !p.plain(what, n):
		return "", false
	case n.Kind != yaml.ScalarNode:
		p.Add(p.at(n), "%s: expected text, found %s", what, document.Kind(n))
		return "", false
	case strings.TrimSpace(n.Value) == "":
		p.Add(p.at(n), "%s: expected text, found nothing", what)
		return "", false
	case len(n.Value) > maxPolicyText:
		p.Add(p.at(n), "%s: %d bytes: at most %d are allowed", what, len(n.Value), maxPolicyText)
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// maxPolicyText is how many bytes an expression or a message may have.
const maxPolicyText = 4096
