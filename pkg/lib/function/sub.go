package function

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// sub puts values in the place of ${name} in a text. $${ is a literal ${.
var sub = Function{
	Name: "sub", Syntax: "sub(text with ${name}, map)", Takes: []Kind{Text, Map}, Gives: Text,
	apply: func(_ *Evaluation, args []any) (any, error) {
		rest, values := args[0].(string), args[1].(map[string]any)
		var b strings.Builder
		for {
			before, after, found := strings.Cut(rest, "${")
			if !found {
				b.WriteString(rest)
				return b.String(), nil
			}
			if literal, is := strings.CutSuffix(before, "$"); is {
				b.WriteString(literal + "${")
				rest = after
				continue
			}
			name, then, closed := strings.Cut(after, "}")
			if !closed {
				return nil, errors.New("${ is not closed in the text: write ${name}, or $${ for a literal ${")
			}
			v, ok := values[name]
			if !ok {
				return nil, fmt.Errorf("the map has no %q, which the text has as ${%s}%s", short(name), short(name), suggest.Hint(name, slices.Sorted(maps.Keys(values))))
			}
			text, err := Write(v)
			if err != nil {
				return nil, fmt.Errorf("${%s}: %w", short(name), err)
			}
			b.WriteString(before)
			if b.WriteString(text); b.Len() > MaxText {
				return nil, errTooLong
			}
			rest = then
		}
	},
}
