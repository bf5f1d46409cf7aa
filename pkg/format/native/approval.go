package native

import (
	"path"
	"strconv"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// approval reads who has to approve plans.
func (p *parser) approval(of string, keys map[string]*yaml.Node) declared.Approval {
	a := declared.Approval{
		Plan: p.plainTruth(of+"approve_plan", keys["approve_plan"]), NotByAuthor: p.plainTruth(of+"not_by_author", keys["not_by_author"]),
		Expires: p.duration(of+"expires", keys["expires"]),
	}
	var counts []string
	for n := range project.MaxApprovals {
		counts = append(counts, strconv.Itoa(n+1))
	}
	if text := p.choice(of+"approvals", keys["approvals"], counts); text != "" {
		a.Approvals, _ = strconv.Atoi(text) // it is one of the counts
	}
	if keys["approvers"] == nil {
		return a
	}
	for _, v := range p.names(of+"approvers", keys["approvers"]) {
		text, plain := v.Literal()
		_, err := path.Match(text, "")
		switch {
		case !plain:
			p.Add(v.At, "%sapprovers: references are allowed only in parameters, tags and options of stacks: write the ARN of a role, a session or a user, in which * stands for any text without a slash", of)
		case text == "" || err != nil:
			p.Add(v.At, "%sapprovers: %q is no pattern: write the ARN of a role, a session or a user, in which * stands for any text without a slash", of, problem.Short(text))
		default:
			a.Approvers = append(a.Approvers, text)
		}
	}
	return a
}

// plainTruth reads true or false; nil if there is neither.
func (p *parser) plainTruth(what string, n *yaml.Node) *bool {
	text := p.choice(what, n, []string{"true", "false"})
	if text == "" {
		return nil
	}
	yes := text == "true"
	return &yes
}
