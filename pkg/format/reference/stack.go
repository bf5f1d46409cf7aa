package reference

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/project"
)

// ${stack:name} is the physical name of another stack. It makes no edge.
var stack = Kind{
	Name: "stack", Syntax: []string{"${stack:name}", "${stack:name@target}"},
	match: prefix("stack:"),
	parse: atTarget,
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		_, physicalName, err := s.Lookup.Stack(r.Name, r.Target)
		return Result{Text: physicalName}, err
	},
}

// atTarget reads the name of a stack, with or without its target.
func atTarget(written string) (r declared.Reference, ok bool) {
	name, target, has := strings.Cut(written, "@")
	return declared.Reference{Name: name, Target: target},
		declared.StackName.MatchString(name) && (!has || project.TargetName.MatchString(target))
}
