package reference

import (
	"errors"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
var logicalID = pattern.New(`^[A-Za-z0-9]{1,255}$`)

// ${restored:Resource} names the backup from which a resource of the stack itself was restored. A restore makes it that of its snapshot; every other plan keeps
// the value that the stack has, or had before it was deleted to be created again, and a new stack has an empty one.
var restored = Kind{
	Name: "restored", Syntax: []string{"${restored:Resource}"},
	match: prefix("restored:"),
	parse: func(body string) (declared.Reference, bool) {
		return declared.Reference{Name: body}, logicalID.MatchString(body)
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		switch {
		case s.Tag:
			return Result{}, errors.New("only a parameter of the stack can have this value, because a deploy keeps the value that the parameter has")
		case s.Parameter.NoEcho:
			return Result{}, errors.New("the template says NoEcho, so CloudFormation does not show what the parameter is: remove NoEcho, because the name of a backup is no secret")
		}
		return outside(s, r, project.Source{Restored: r.Name})
	},
}
