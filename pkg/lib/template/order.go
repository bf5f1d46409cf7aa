package template

import "slices"

// sorted puts names after those they need, else as they stand, and gives the
// first circle in the way, beginning with the name that stands first; names on
// it are in the order all the same.
func sorted(names []string, needs map[string][]string) (order, circle []string) {
	const entered, left = 1, 2
	state := make(map[string]int, len(names))
	exists := make(map[string]bool, len(names))
	for _, name := range names {
		exists[name] = true
	}
	var path []string
	var visit func(string)
	visit = func(name string) {
		state[name] = entered
		path = append(path, name)
		for _, need := range needs[name] {
			switch {
			case !exists[need] || state[need] == left:
			case state[need] == entered:
				if circle == nil {
					circle = slices.Clone(path[slices.Index(path, need):])
				}
			default:
				visit(need)
			}
		}
		path = path[:len(path)-1]
		state[name] = left
		order = append(order, name)
	}
	for _, name := range names {
		if state[name] == 0 {
			visit(name)
		}
	}
	return order, circle
}
