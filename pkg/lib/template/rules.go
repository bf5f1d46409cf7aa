package template

import (
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// A Rule says which values of the parameters CloudFormation accepts together.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
type rule struct {
	name       string
	condition  *Expr // nil if there is none
	assertions []assertion
	at         *Expr
}

type assertion struct {
	assert      *Expr
	description string
}

// rule reads one rule.
func (p *parser) rule(key, n *yaml.Node) {
	r := rule{name: key.Value, at: &Expr{Line: key.Line, Column: key.Column, block: "Rules"}}
	if !p.isMapping(n, "Rules/"+r.name) {
		return
	}
	for _, pair := range document.Pairs(n) {
		value := document.Resolve(pair.Value)
		switch pair.Key.Value {
		case "RuleCondition":
			r.condition = p.express(value, "Rules")
		case "Assertions":
			if value.Kind != yaml.SequenceNode {
				p.fail(value, "Template format error: [/Rules/%s] Every Assertions member must be a list.", r.name)
			}
			for _, item := range document.Items(value) {
				p.assertion(&r, document.Resolve(item))
			}
		default:
			p.fail(pair.Key, "Template format error: Invalid rule property '%s' of %s", pair.Key.Value, r.name)
		}
	}
	if _, ok := document.Lookup(n, "Assertions"); !ok {
		p.fail(key, "Template format error: [/Rules/%s] Every Rules object must contain an Assertions member.", r.name)
	}
	p.t.rules = append(p.t.rules, r)
}

func (p *parser) assertion(r *rule, n *yaml.Node) {
	assert, ok := document.Lookup(n, "Assert")
	if !ok {
		p.fail(n, "Template format error: [/Rules/%s] Every Assertions object must contain an Assert member.", r.name)
		return
	}
	a := assertion{assert: p.express(assert, "Rules")}
	if description, ok := document.Lookup(n, "AssertDescription"); ok {
		a.description = p.text(description, "Every AssertDescription")
	}
	r.assertions = append(r.assertions, a)
}

// expressions are those of a rule.
func (r rule) expressions() []*Expr {
	all := []*Expr{r.condition}
	for _, a := range r.assertions {
		all = append(all, a.assert)
	}
	return all
}

// ruleReferences checks what a rule names: parameters and pseudo parameters. A parameter that only rules use decides
// nothing that is deployed, so that it does not count as used.
func (p *parser) ruleReferences(x *Expr) {
	for _, n := range x.names() {
		_, parameter := p.t.Parameters[n.of]
		_, pseudo := pseudos[n.of]
		if !parameter && !pseudo && !p.t.macros || n.attribute != "" {
			p.failAt(x, "Template format error: Unresolved dependencies [%s]. "+
				"Cannot reference resources in the Rules block of the template", n.of)
		}
	}
	if x.form == call && x.name == "Condition" {
		p.failAt(x, "Template error: Cannot use Condition in the Rules block of the template")
	}
}

// RulesErr says in CloudFormation's words which rules fail with values that are known (document.Errors), nil if none
// does.
func (e *Evaluation) RulesErr() error {
	var errs document.Errors
	for _, one := range e.t.rules {
		r := e.begin()
		if one.condition != nil {
			holds, err := r.truth(one.condition)
			errs.Join(e.t.File, asError(err))
			if holds != true {
				continue
			}
		}
		for _, a := range one.assertions {
			holds, err := r.truth(a.assert)
			errs.Join(e.t.File, asError(err))
			if err == nil && holds == false {
				errs.Join(e.t.File, r.fail(a.assert, "Template constraint error: %s", one.failure(a)))
			}
		}
	}
	return errs.Err()
}

func (r rule) failure(a assertion) string {
	if a.description == "" {
		return fmt.Sprintf("Rule %s failed", r.name)
	}
	return fmt.Sprintf("Rule %s failed: %s", r.name, a.description)
}

// asError is an error that may be nil.
func asError(err *document.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// ruleFunction evaluates the functions of rules. What those give that read an account is not known.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-rules.html
func (r *running) ruleFunction(x *Expr, arguments []any) (any, *document.Error) {
	switch x.name {
	case "Fn::Contains":
		return r.among(x, arguments[1], arguments[0])
	case "Fn::EachMemberEquals":
		return r.each(x, arguments[0], []any{arguments[1]})
	case "Fn::EachMemberIn":
		return r.each(x, arguments[0], arguments[1])
	}
	return Unknown{}, nil
}

// each says whether each member of a list is among others.
func (r *running) each(x *Expr, members, others any) (any, *document.Error) {
	all, ok := members.([]any)
	if !ok {
		return r.noList(x, members)
	}
	var result any = true
	for _, member := range all {
		found, err := r.among(x, member, others)
		if err != nil || found == false {
			return found, err
		}
		if found != true {
			result = Unknown{}
		}
	}
	return result, nil
}

// among says whether a value is among others.
func (r *running) among(x *Expr, v, others any) (any, *document.Error) {
	all, ok := others.([]any)
	switch {
	case !ok:
		return r.noList(x, others)
	case slices.ContainsFunc(all, func(o any) bool { return Known(o) && Known(v) && equal(o, v) }):
		return true, nil
	case !Known(v) || !Known(all):
		return Unknown{}, nil
	}
	return false, nil
}

func (r *running) noList(x *Expr, v any) (any, *document.Error) {
	if v == any(Unknown{}) {
		return v, nil
	}
	return nil, r.fail(x, "Template error: %s needs a list", x.name)
}
