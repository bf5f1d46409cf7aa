package native

import (
	"slices"
	"strconv"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// unusedApproval refuses a rule about approvals in a file that nowhere says what has to be approved.
func (p *parser) unusedApproval(root *yaml.Node) {
	environments, _ := document.Lookup(root, "environments")
	levels := append([]document.Pair{{Value: root}}, document.Pairs(environments)...)
	says := func(level document.Pair) bool {
		_, given := document.Lookup(level.Value, "approve_plan")
		return given
	}
	if p.approves || slices.ContainsFunc(levels, says) {
		return
	}
	for i, level := range levels {
		of := ""
		if i > 0 {
			of = "environment " + level.Key.Value + ": "
		}
		for _, key := range []string{"approvers", "approvals", "expires", "not_by_author"} {
			if n, given := document.Lookup(level.Value, key); given {
				p.Add(p.at(n), "%s%s: nothing has to be approved: write approve_plan: true at the top level, or under the environments that need it, or approve: under the stacks", of, key)
			}
		}
	}
}

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
		if !plain {
			p.Add(v.At, "%sapprovers: references are allowed only in parameters, tags and options of stacks: write the ARN of a role, a session or a user, in which * stands for any text without a slash", of)
		} else if wrong := access.CheckARN(text); wrong != "" {
			p.Add(v.At, "%sapprovers: %s", of, wrong)
		}
		a.Approvers = append(a.Approvers, text)
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
