package reference

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html
var exportName = pattern.New(`^[A-Za-z0-9:-]{1,255}$`)

// ${export:name} is an export of CloudFormation in the target of the stack. If a stack of the project makes
// it, package resolve puts the output of that stack in its place; otherwise it is read when a plan is made.
var export = Kind{
	Name: "export", Syntax: []string{"${export:name}", "${export:name@target}"},
	match: prefix("export:"),
	parse: func(body string) (declared.Reference, bool) {
		name, target, has := strings.Cut(body, "@")
		return declared.Reference{Name: name, Target: target}, exportName.MatchString(name) && (!has || project.TargetName.MatchString(target))
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		return outside(s, r, project.Source{Export: r.Name})
	},
}

// outside is a value outside the project, in the target that the reference names, or that of the stack.
func outside(s Scope, r declared.Reference, source project.Source) (Result, error) {
	var err error
	if source.Target = s.Target; r.Target != "" {
		source.Target, err = s.Lookup.Target(r.Target)
	}
	return Result{Parts: project.Text{{Source: &source}}}, err
}
