// Package unified writes the difference of two texts, line by line.
package unified

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many equal lines are written before and after a difference.
const around = 3

// mostEdits is how many lines may differ before the difference is written as one: all lines before, and all lines after. It bounds time
// and memory, which grow with the square.
const mostEdits = 1000

// An edit is a line, and what becomes of it: ' ' stays, '-' is removed, '+' is added.
type edit struct {
	kind byte
	line string
}

// Of returns the difference of two texts in the unified format, without the names of files: empty if they are equal.
// https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
func Of(before, after string) string {
	if before == after {
		return ""
	}
	all := edits(lines(before), lines(after))
	var b strings.Builder
	for from := 0; from < len(all); {
		first := slices.IndexFunc(all[from:], changes)
		if first < 0 {
			break
		}
		begin := max(from, from+first-around)
		end := from + first
		for end < len(all) { // another difference is near, so it is part of this one
			next := slices.IndexFunc(all[end:min(len(all), end+2*around+1)], changes)
			if next < 0 {
				break
			}
			end += next + 1
		}
		end = min(len(all), end+around)
		write(&b, all, begin, end)
		from = end
	}
	return b.String()
}

func changes(e edit) bool { return e.kind != ' ' }

// lines are those of a text, each with its end.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// write writes the edits from begin to end, with the numbers of their lines in both texts.
func write(b *strings.Builder, all []edit, begin, end int) {
	at := func(n int, other byte) (lines int) {
		for _, e := range all[:n] {
			if e.kind != other {
				lines++
			}
		}
		return lines
	}
	place := func(other byte) string {
		from, count := at(begin, other), at(end, other)-at(begin, other)
		if count > 0 {
			from++ // lines are counted from one
		}
		return fmt.Sprintf("%d,%d", from, count)
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", place('+'), place('-'))
	for _, e := range all[begin:end] {
		b.WriteByte(e.kind)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// edits makes the lines after of the lines before, with as few as possible that are removed or added.
func edits(before, after []string) []edit {
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var all []edit
	add := func(kind byte, of []string) {
		for _, l := range of {
			all = append(all, edit{kind, l})
		}
	}
	add(' ', before[:head])
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	if path, ok := shortest(a, b); ok {
		all = append(all, path...)
	} else {
		add('-', a)
		add('+', b)
	}
	add(' ', before[len(before)-tail:])
	return all
}

// shortest is the shortest list of edits. It reports false if it has more than mostEdits.
// Eugene W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1986.
func shortest(a, b []string) ([]edit, bool) {
	limit := min(len(a)+len(b), mostEdits)
	reached := make([]int, 2*limit+3) // by diagonal: how far in a
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(reached[limit+1-d:limit+2+d])) // what d-1 edits reach, with a place for each diagonal of d
		for k := -d; k <= d; k += 2 {
			x := step(reached, limit+1, k, d)
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			if reached[limit+1+k] = x; x >= len(a) && x-k >= len(b) {
				return back(trace, a, b), true
			}
		}
	}
	return nil, false
}

// step is how far in a the next edit leads to diagonal k: down from the diagonal above, which adds a line, or right from the one below, which
// removes one. middle is the place of diagonal 0.
func step(reached []int, middle, k, d int) int {
	if adds(reached, middle, k, d) {
		return reached[middle+k+1]
	}
	return reached[middle+k-1] + 1
}

func adds(reached []int, middle, k, d int) bool {
	return k == -d || k != d && reached[middle+k-1] < reached[middle+k+1]
}

// back follows the trace from the end to the beginning.
func back(trace [][]int, a, b []string) []edit {
	var all []edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d > 0; d-- {
		before, k := trace[d], x-y
		from, add := k-1, adds(before, d, k, d)
		if add {
			from = k + 1
		}
		start := before[d+from] // in a, behind the edit
		if !add {
			start++
		}
		for x > start {
			x, y = x-1, y-1
			all = append(all, edit{' ', a[x]})
		}
		if add {
			y--
			all = append(all, edit{'+', b[y]})
		} else {
			x--
			all = append(all, edit{'-', a[x]})
		}
	}
	for x > 0 {
		x--
		all = append(all, edit{' ', a[x]})
	}
	slices.Reverse(all)
	return all
}
