package reference

import (
	"errors"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
)

// ${stack.Output} is an output of another stack, which is deployed first.
var output = Kind{
	Name: "output", Syntax: []string{"${stack.Output}", "${stack@target.Output}"}, Output: true,
	match: func(body string) (string, bool) {
		return body, strings.Contains(body, ".") && !strings.Contains(body, ":")
	},
	parse: func(body string) (declared.Reference, bool) {
		dot := strings.LastIndexByte(body, '.')
		r, ok := atTarget(body[:dot])
		r.Key = body[dot+1:]
		return r, ok && declared.OutputName.MatchString(r.Key)
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		node, _, err := s.Lookup.Stack(r.Name, r.Target)
		if err == nil && node == s.Node && !s.Own {
			err = errors.New("a stack cannot use its own output, which exists only after it is deployed")
		}
		return Result{Node: node, Output: r.Key}, err
	},
}
