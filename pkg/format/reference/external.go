package reference

// ${external:stack.Output} will be an output of a stack outside the project.
var external = Kind{
	Name: "external", Syntax: []string{"${external:stack.Output}"},
	match: prefix("external:"), parse: named,
	instead: "import it in the template with Fn::ImportValue, or write the value",
}
