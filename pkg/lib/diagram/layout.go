package diagram

import "slices"

// A layout says where the nodes of a graph stand. A place is a node, by its number, or the bend of an edge that passes a column.
type layout struct {
	places  int
	columns [][]int // the places in each column, from the top
	routes  [][]int // the places of each edge, from its node to its node
}

// mostBends is how many bends a drawing has. In a graph with more of them, edges pass behind nodes.
const mostBends = 5000

// layout places the nodes: each in the first column that is behind those of all nodes that it comes after, and at about the height of
// those. An edge over several columns has a place in each.
func (g Graph) layout() layout {
	depth := g.depths()
	l := layout{places: len(g.Nodes)}
	for n := range g.Nodes {
		l.put(n, depth[n])
	}
	for _, e := range g.Edges {
		route := []int{e.From}
		for column := depth[e.From] + 1; column < depth[e.To] && l.places < len(g.Nodes)+mostBends; column++ {
			route = append(route, l.places)
			l.put(l.places, column)
			l.places++
		}
		l.routes = append(l.routes, append(route, e.To))
	}
	before, after := make([][]int, l.places), make([][]int, l.places)
	for _, route := range l.routes {
		for i, p := range route[1:] {
			before[p], after[route[i]] = append(before[p], route[i]), append(after[route[i]], p)
		}
	}
	row := make([]float64, l.places)
	for _, places := range l.columns {
		order(places, row, before)
	}
	for _, places := range slices.Backward(l.columns) {
		order(places, row, after)
	}
	for _, places := range l.columns {
		order(places, row, before)
	}
	return l
}

// put puts a place into a column.
func (l *layout) put(place, column int) {
	for len(l.columns) <= column {
		l.columns = append(l.columns, nil)
	}
	l.columns[column] = append(l.columns[column], place)
}

// order orders the places of a column by the mean of the rows of those beside them, and writes their rows.
func order(places []int, row []float64, beside [][]int) {
	for i, p := range places {
		if len(beside[p]) == 0 {
			row[p] = float64(i)
			continue
		}
		row[p] = 0
		for _, other := range beside[p] {
			row[p] += row[other] / float64(len(beside[p]))
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return sign(row[a] - row[b]) })
	for i, p := range places {
		row[p] = float64(i)
	}
}

// depths are the columns of the nodes. An edge that closes a cycle does not count.
func (g Graph) depths() []int {
	before := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		before[e.To] = append(before[e.To], e.From)
	}
	depth, known := make([]int, len(g.Nodes)), make([]bool, len(g.Nodes))
	var find func(n int)
	find = func(n int) {
		known[n] = true
		for _, m := range before[n] {
			if !known[m] {
				find(m)
			}
			depth[n] = max(depth[n], depth[m]+1)
		}
	}
	for n := range g.Nodes {
		if !known[n] {
			find(n)
		}
	}
	return depth
}
