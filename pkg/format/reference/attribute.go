package reference

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

var attributeKey = pattern.New(`^[A-Za-z0-9_.:/=+@-]{1,200}$`)

// ${attr:stack.key} is something of another stack besides its outputs. Package resolve has the
// keys. Only its ID makes an edge.
var attribute = Kind{
	Name: "attr", Syntax: []string{"${attr:stack.key}", "${attr:stack@target.key}"},
	match: prefix("attr:"),
	parse: func(body string) (declared.Reference, bool) {
		name, key, has := strings.Cut(body, ".")
		r, ok := atTarget(name)
		r.Key = key
		return r, ok && has && attributeKey.MatchString(key)
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		text, err := s.Lookup.Attribute(r.Name, r.Target, r.Key)
		return Result{Parts: text}, err
	},
}
