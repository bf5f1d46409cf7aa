package reference

// ${export:name} will be an export of a stack outside the project.
var export = Kind{
	Name: "export", Syntax: []string{"${export:name}"},
	match: prefix("export:"), parse: named,
	instead: "import it in the template with Fn::ImportValue",
}
