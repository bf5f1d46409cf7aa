package reference

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
var externalStack = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,127}$`)

// ${external:stack.Output@target} is an output of a stack outside the project, by its physical
// name. It is read when a plan is made.
var external = Kind{
	Name: "external", Syntax: []string{"${external:stack.Output}", "${external:stack.Output@target}"},
	match: prefix("external:"),
	parse: func(body string) (declared.Reference, bool) {
		body, target, has := strings.Cut(body, "@")
		stack, output, _ := strings.Cut(body, ".")
		return declared.Reference{Name: stack, Key: output, Target: target},
			externalStack.MatchString(stack) && declared.OutputName.MatchString(output) && (!has || project.TargetName.MatchString(target))
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		return outside(s, r, project.Source{Stack: r.Name, Output: r.Key})
	},
}
