package template

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/property"
)

// UnknownTypes lists the resources whose types AWS would have published, and has not, as they are written. It is empty
// if a macro may make something else of them.
func (t *Template) UnknownTypes() []Resource {
	if len(t.makers) > 0 {
		return nil
	}
	var all []Resource
	for _, name := range t.resources {
		r := t.Resources[name]
		if _, known := slices.BinarySearch(property.Names(), r.Type); !known && property.Public(r.Type) {
			all = append(all, r)
		}
	}
	return all
}

// Misfits returns what CloudFormation refuses in the properties of a resource because of the schema of its type. Only
// what the template says itself is judged: no parameters, references and results of other functions, and nothing that
// a macro may change. Of Fn::If, each value that is not known to be left out is judged.
func (e *Evaluation) Misfits(r Resource) []property.Misfit {
	if len(e.t.makers) > 0 || !e.mayBe(r.Condition) || r.included || !property.Public(r.Type) {
		return nil
	}
	typ, known := property.Named(r.Type)
	if !known {
		return nil
	}
	properties := property.Value{Kind: property.Mapping, Line: r.Line, Column: r.Column}
	if r.Properties != nil {
		properties = e.written(r.Properties)
	}
	return typ.Check(properties)
}

// written is what a template says of a value.
func (e *Evaluation) written(x *Expr) property.Value {
	v := property.Value{Line: x.Line, Column: x.Column}
	switch x.form {
	case scalar:
		v.Kind = x.kind()
		v.Text, _ = Text(x.value)
	case list, mapping:
		v.Kind, v.Keys = property.List, x.keys
		if x.form == mapping {
			v.Kind = property.Mapping
		}
		v.Items = e.allWritten(x.items)
	case call:
		switch name, _ := x.argument(0).Literal(); {
		case x.name == "Ref" && name == "AWS::NoValue":
			v.Kind = property.Absent
		case x.name == "Fn::If":
			v.Kind = property.Either
			v.Items = e.allWritten(e.branches(x))
		}
	}
	return v
}

func (e *Evaluation) allWritten(items []*Expr) []property.Value {
	all := make([]property.Value, len(items))
	for i, item := range items {
		all[i] = e.written(item)
	}
	return all
}

// kind is the kind of a scalar. Dynamic references, and what the versions of YAML read differently, are not known.
func (x *Expr) kind() property.Kind {
	switch v := x.value.(type) {
	case string:
		if x.vague || strings.Contains(v, opening) {
			return property.Unknown
		}
		return property.Text
	case bool:
		return property.Truth
	case nil:
		return property.Unknown
	}
	return property.Number
}

// argument is an argument of a call, nil if there is none.
func (x *Expr) argument(i int) *Expr {
	if i < len(x.items) {
		return x.items[i]
	}
	return nil
}

// branches are the values of Fn::If that may be taken.
func (e *Evaluation) branches(x *Expr) []*Expr {
	name, _ := x.items[0].Literal()
	switch e.conditions[name] {
	case true:
		return x.items[1:2]
	case false:
		return x.items[2:3]
	}
	return x.items[1:]
}
