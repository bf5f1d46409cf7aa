package function

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// select is also what x[0], x['key'] and x.key call.
var selectItem = Function{
	Name: "select", Syntax: "select(index or key, list or map)", Takes: []Kind{Text, Any}, Gives: Any, Apart: 1,
	apply: func(_ *Evaluation, args []any) (any, error) {
		switch of := args[1].(type) {
		case []any:
			i, err := convert(args[0], Number)
			if err != nil {
				return nil, fmt.Errorf("the index of a list: %w", err)
			}
			if i := i.(int); 0 <= i && i < len(of) {
				return of[i], nil
			}
			return nil, Missing(fmt.Errorf("the list has %d items, counted from 0, and no item %d", len(of), i))
		case map[string]any:
			key := args[0].(string)
			if v, ok := of[key]; ok {
				return v, nil
			}
			return nil, Missing(fmt.Errorf("the map has no key %q%s", short(key), suggest.Hint(key, slices.Sorted(maps.Keys(of)))))
		}
		return nil, fmt.Errorf("expected a list or a map, found %s", KindOf(args[1]))
	},
}
