package reference

import "github.com/stackwright/stackwright/pkg/format/declared"

// ${var.x} is a variable of the environment, or of the top level.
var variable = Kind{
	Name: "var", Syntax: []string{"${var.x}"}, Early: true,
	match: prefix("var."),
	parse: func(name string) (declared.Reference, bool) {
		return declared.Reference{Name: name}, declared.VariableName.MatchString(name)
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		text, value, err := s.Lookup.Variable(r.Name)
		return Result{Text: text, Value: value}, err
	},
}
