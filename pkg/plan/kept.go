package plan

import (
	"fmt"
	"maps"
	"slices"
)

// keptMessages says which parameters of the selected stacks, nil for all, keep another value than that of the project's files. Values are
// not shown, and those of parameters with NoEcho are not known.
func (v View) keptMessages(about map[string]bool) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		n, live := v.Desired.Nodes[name], v.Live[name]
		if about != nil && !about[name] || v.Desired.Ignores(name) || live.Status.Gone() {
			continue
		}
		var kept []string
		for _, parameter := range n.Keeps(live.Parameters) {
			text, given := n.Parameters[parameter]
			value, err := text.Resolve(v.output)
			if given && err == nil && live.Parameters[parameter] != hidden && live.Parameters[parameter] != value {
				kept = append(kept, parameter)
			}
		}
		if len(kept) > 0 {
			all = append(all, fmt.Sprintf("stack %s: parameters keep the values that the stack has, because the project's files say ignore_changes: %s", name, listed(kept)))
		}
	}
	return all
}
