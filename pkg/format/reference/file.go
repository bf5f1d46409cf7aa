package reference

import "github.com/stackwright/stackwright/pkg/format/declared"

// ${file:path} is the text of a file of the project, without the end of its last
// line.
var file = Kind{
	Name: "file", Syntax: []string{"${file:path}"}, Early: true,
	match: prefix("file:"),
	parse: named,
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		text, err := s.Lookup.File(r.Name)
		return Result{Text: text}, err
	},
}
