package stepfn_test

import (
	"slices"
	"strconv"
	"strings"
)

// A script is a random scenario as text: first a line for each fault, then a line for
// each request or change, in order. The seed is not needed to play it.
type script []line

// A line is a word that says what happens, and its arguments.
type line []string

// parseScript reads the text that String writes.
func parseScript(text string) script {
	var s script
	for part := range strings.SplitSeq(text, ";") {
		if words := strings.Fields(part); len(words) > 0 {
			s = append(s, words)
		}
	}
	return s
}

func (s script) String() string {
	var lines []string
	for _, l := range s {
		lines = append(lines, strings.Join(l, " "))
	}
	return strings.Join(lines, "; ")
}

// copy returns a script that shares nothing with s.
func (s script) copy() script {
	var c script
	for _, l := range s {
		c = append(c, slices.Clone(l))
	}
	return c
}

// stacks returns the project of a line.
func (l line) stacks() stacks {
	if end := slices.Index(l, "with"); end >= 0 {
		l = l[:end]
	}
	return parseStacks(l[1:])
}

// number returns the n-th word as a number; 0 if it is not a number.
func (l line) number(n int) int {
	if n >= len(l) {
		return 0
	}
	k, _ := strconv.Atoi(l[n]) // 0 if it is not a number
	return k
}

// option returns the number that follows an option after "with", and whether the line
// has the option.
func (l line) option(name string) (int, bool) {
	end := max(slices.Index(l, "with"), 0)
	if i := slices.Index(l[end:], name); i >= 0 {
		return l.number(end + i + 1), true
	}
	return 0, false
}
