package template

import "slices"

// Expr is a value as written in a template: a literal, a list, a mapping, or a
// call of an intrinsic function, with its place. Evaluation.Value evaluates it.
type Expr struct {
	Line, Column int

	form  form
	value any      // of a scalar: string, bool, json.Number, or nil
	vague bool     // of a scalar: the versions of YAML differ about its value
	name  string   // of a call: "Ref", "Condition" or the full name such as "Fn::Sub"
	block string   // of a call: the section in which it stands
	keys  []string // of a mapping, as written
	parts []part   // of Fn::Sub
	items []*Expr  // a list's items, a mapping's values, a call's arguments
}

type form int

const (
	scalar form = iota + 1
	list
	mapping
	call
)

// Literal returns the value when it is a literal string, and whether it is.
func (x *Expr) Literal() (string, bool) {
	if x == nil || x.form != scalar {
		return "", false
	}
	s, ok := x.value.(string)
	return s, ok
}

// walk visits an expression and all within it, each before its parts.
func (x *Expr) walk(visit func(*Expr)) {
	if x == nil {
		return
	}
	visit(x)
	for _, item := range x.items {
		item.walk(visit)
	}
}

// plain says whether a value is a scalar or a list of scalars.
func (x *Expr) plain() bool {
	if x.form == scalar {
		return true
	}
	for _, item := range x.items {
		if item.form != scalar {
			return false
		}
	}
	return x.form == list
}

// key returns a value of a mapping, nil when there is none.
func (x *Expr) key(name string) *Expr {
	if x == nil || x.form != mapping {
		return nil
	}
	for i, key := range x.keys {
		if key == name {
			return x.items[i]
		}
	}
	return nil
}

// Property returns a property of the resource as it is written. It is nil if
// there is none, or if a function makes all properties together.
func (r Resource) Property(name string) *Expr { return r.Properties.key(name) }

// Construct returns the path of the construct that made the resource, which the CDK writes into
// templates. It is empty if there is none.
func (r Resource) Construct() string {
	path, _ := r.Metadata.key("aws:cdk:path").Literal()
	return path
}

// names lists what an expression itself (not what is within it) refers to:
// parameters, pseudo parameters or resources; attribute is "" for a Ref.
func (x *Expr) names() []name {
	if x.form != call {
		return nil
	}
	switch x.name {
	case "Ref":
		if s, ok := x.items[0].Literal(); ok {
			return []name{{s, ""}}
		}
	case "Fn::GetAtt":
		if s, ok := x.items[0].Literal(); ok {
			return []name{{s, "*"}}
		}
	case "Fn::Sub":
		var names []name
		for _, p := range x.parts {
			if p.reference && x.variable(p.text) == nil {
				names = append(names, splitName(p.text))
			}
		}
		return names
	}
	return nil
}

// variable returns what Fn::Sub's own mapping gives for a name, nil for none.
func (x *Expr) variable(name string) *Expr {
	if len(x.items) == 0 {
		return nil
	}
	return x.items[0].key(name)
}

// name is what a reference names: a whole thing, or an attribute of a resource.
type name struct{ of, attribute string }

// Keys returns the values of a mapping by their keys. It is not known what the keys are if a function makes the
// mapping. A nil expression has none.
func (x *Expr) Keys() (values map[string]*Expr, known bool) {
	values = map[string]*Expr{}
	if x == nil {
		return values, true
	}
	for i, key := range x.keys {
		values[key] = x.items[i]
	}
	return values, x.form == mapping
}

// An Attribute is a reference to an attribute of a resource.
type Attribute struct {
	Name         string
	Line, Column int
}

// Attributes lists the references to attributes of a resource, in resources and outputs, as they are written.
func (t *Template) Attributes(resource string) []Attribute {
	var all []Attribute
	t.walk(func(x *Expr) {
		for _, n := range x.names() {
			if n.of != resource || n.attribute == "" {
				continue
			}
			attribute := n.attribute
			if x.name == "Fn::GetAtt" {
				attribute, _ = x.items[1].Literal()
			}
			all = append(all, Attribute{attribute, x.Line, x.Column})
		}
	})
	return all
}

// Uses says whether anything in the template refers to one of the names.
func (t *Template) Uses(names ...string) bool {
	uses := false
	t.walk(func(x *Expr) {
		for _, n := range x.names() {
			uses = uses || slices.Contains(names, n.of)
		}
	})
	return uses
}

// walk visits all expressions of resources, outputs, conditions and rules.
func (t *Template) walk(visit func(*Expr)) {
	for _, name := range t.conditions {
		t.Conditions[name].walk(visit)
	}
	for _, name := range t.resources {
		for _, x := range t.Resources[name].expressions() {
			x.walk(visit)
		}
	}
	for _, name := range t.outputs {
		t.Outputs[name].Value.walk(visit)
		t.Outputs[name].Export.walk(visit)
	}
	for _, r := range t.rules {
		for _, x := range r.expressions() {
			x.walk(visit)
		}
	}
}
