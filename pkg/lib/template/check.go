package template

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// check checks all references, after everything has been read.
func (p *parser) check() {
	for _, name := range p.t.conditions {
		p.t.Conditions[name].walk(p.references)
	}
	p.conditionCircles()
	for _, name := range p.t.resources {
		r := p.t.Resources[name]
		place := &Expr{Line: r.Line, Column: r.Column, block: "Resources"}
		p.conditionExists(r.Condition, place)
		for _, other := range r.DependsOn {
			p.resourceExists(other, place)
		}
		for _, x := range r.expressions() {
			x.walk(p.references)
		}
		p.looseResource(r)
		p.snapshotPolicies(r)
	}
	for _, name := range p.t.outputs {
		o := p.t.Outputs[name]
		p.conditionExists(o.Condition, &Expr{Line: o.Line, Column: o.Column, block: "Outputs"})
		o.Value.walk(p.references)
		o.Export.walk(p.references)
		if !p.fixed(o.Export) {
			p.failAt(o.Export, "Template error: Output %s is malformed. The Name field of every Export member must not depend on any resources, imported values, or Fn::GetAZs.", o.Name)
		}
	}
	for _, r := range p.t.rules {
		for _, x := range r.expressions() {
			x.walk(p.ruleReferences)
		}
	}
	p.dependencies()
	p.looseParameters()
	slices.SortStableFunc(p.t.loose, func(a, b Loose) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}

// snapshotPolicies refuses policies that the type does not have.
func (p *parser) snapshotPolicies(r Resource) {
	for _, x := range []*Expr{r.DeletionPolicy, r.UpdateReplacePolicy} {
		if policy, _ := x.Literal(); policy == "Snapshot" && r.refusesSnapshot() && r.Type != "" && !p.t.macros {
			p.failAt(x, "%s", r.noSnapshot(x))
		}
	}
}

func (r Resource) expressions() []*Expr {
	return []*Expr{r.Properties, r.Metadata, r.CreationPolicy, r.UpdatePolicy, r.DeletionPolicy, r.UpdateReplacePolicy}
}

// references checks what one expression itself names.
func (p *parser) references(x *Expr) {
	for _, n := range x.names() {
		p.used[n.of] = true
		switch {
		case n.attribute == "":
			p.refExists(n.of, x)
		case x.block == "Conditions":
			p.failAt(x, "Template error: Cannot use Fn::GetAtt in the Conditions block of the template")
		case !p.t.has(n.of) && !p.t.macros:
			p.failAt(x, "Template error: instance of Fn::GetAtt references undefined resource %s", n.of)
		}
	}
	if x.form != call {
		return
	}
	switch x.name {
	case "Fn::If", "Condition":
		if name, ok := x.items[0].Literal(); ok {
			p.conditionExists(name, x)
		}
	case "Fn::FindInMap":
		p.findInMap(x)
	case "Fn::ImportValue":
		if x.block == "Conditions" {
			p.failAt(x, "Template error: Cannot use Fn::ImportValue in the Conditions block of the template")
		} else if !p.fixed(x.items[0]) {
			p.failAt(x, "Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs")
		}
	}
}

// refExists says in CloudFormation's words that a Ref leads nowhere.
func (p *parser) refExists(name string, x *Expr) {
	_, parameter := p.t.Parameters[name]
	_, pseudo := pseudos[name]
	switch {
	case parameter || pseudo || p.t.macros:
	case x.block == "Conditions":
		p.failAt(x, "Template format error: Unresolved dependencies [%s]. Cannot reference resources in the Conditions block of the template", name)
	default:
		p.resourceExists(name, x)
	}
}

func (p *parser) resourceExists(name string, x *Expr) {
	if !p.t.has(name) && !p.t.macros {
		p.failAt(x, "%s", unresolved(name, x.block))
	}
}

func unresolved(resource, block string) string {
	if block == "Metadata" {
		block = "Resources"
	}
	return "Template format error: Unresolved resource dependencies [" + resource + "] in the " + block + " block of the template"
}

func (p *parser) conditionExists(name string, x *Expr) {
	if _, ok := p.t.Conditions[name]; name != "" && !ok && !p.t.macros {
		p.failAt(x, "Template format error: Unresolved condition dependency %s in the %s block of the template", name, x.block)
	}
}

// findInMap checks a lookup as far as its arguments are literal.
func (p *parser) findInMap(x *Expr) {
	name, ok := x.items[0].Literal()
	if !ok || p.t.macros {
		return
	}
	m, exists := p.t.Mappings[name]
	if !exists {
		if len(x.items) < 4 {
			p.failAt(x, "Template error: Mapping named '%s' is not present in the 'Mappings' section of template.", name)
		}
		return
	}
	first, ok := literalKey(x.items[1])
	second, both := literalKey(x.items[2])
	if ok && both && len(x.items) < 4 && m.key(first).key(second) == nil {
		p.failAt(x, "Template error: Unable to get mapping for %s::%s::%s", name, first, second)
	}
}

func literalKey(x *Expr) (string, bool) {
	if x.form != scalar {
		return "", false
	}
	return Text(x.value)
}

// fixed says whether a value depends on no resource, import or zone: a name
// must be known before anything is made.
func (p *parser) fixed(x *Expr) bool {
	fixed := true
	x.walk(func(x *Expr) {
		for _, n := range x.names() {
			fixed = fixed && !p.t.has(n.of)
		}
		if x.form == call && (x.name == "Fn::ImportValue" || x.name == "Fn::GetAZs" || x.name == getStackOutput) {
			fixed = false
		}
	})
	return fixed
}

// conditionCircles refuses conditions that depend on themselves.
func (p *parser) conditionCircles() {
	needs := map[string][]string{}
	for name, x := range p.t.Conditions {
		x.walk(func(x *Expr) {
			if x.form == call && (x.name == "Condition" || x.name == "Fn::If") {
				if other, ok := x.items[0].Literal(); ok && p.t.Conditions[other] != nil {
					needs[name] = append(needs[name], other)
				}
			}
		})
	}
	if _, circle := graph.Sort(p.t.conditions, func(name string) []string { return needs[name] }); len(circle) > 0 {
		p.failAt(p.t.Conditions[circle[0]], "Template format error: Circular dependency between conditions: [%s]", strings.Join(circle, ", "))
		// Nothing may follow them in a circle later.
		for _, name := range circle {
			p.t.Conditions[name] = &Expr{form: call, name: "Fn::Transform"}
		}
	}
}

// dependencies finds what each resource depends on, and an order.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html
func (p *parser) dependencies() {
	for _, name := range p.t.resources {
		r, needs := p.t.Resources[name], map[string]bool{}
		for _, other := range r.DependsOn {
			needs[other] = p.t.has(other)
		}
		for _, x := range r.expressions() {
			x.walk(func(x *Expr) {
				for _, n := range x.names() {
					// In its Metadata a resource may speak of itself.
					if p.t.has(n.of) && (n.of != name || x.block != "Metadata") {
						needs[n.of] = true
					}
				}
			})
		}
		maps.DeleteFunc(needs, func(_ string, is bool) bool { return !is })
		p.t.needs[name] = slices.Sorted(maps.Keys(needs))
	}
	order, circle := graph.Sort(p.t.resources, p.t.Needs)
	p.t.order = order
	if len(circle) > 0 && !p.t.macros { // a macro may make something else of what is in the circle
		r := p.t.Resources[circle[0]]
		p.failAt(&Expr{Line: r.Line, Column: r.Column}, "Circular dependency between resources: [%s]", strings.Join(circle, ", "))
	}
}
