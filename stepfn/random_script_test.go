package stepfn_test

import (
	"slices"
	"strconv"
	"strings"
)

// A script is a random scenario in writing: first a line for each fault, then
// one for each thing that somebody does, in order. It is played without its
// seed.
type script []line

// A line is a word that says what happens, and its arguments.
type line []string

// parseScript reads what String has written.
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

// stacks is the project that a line names.
func (l line) stacks() stacks {
	if end := slices.Index(l, "with"); end >= 0 {
		l = l[:end]
	}
	return parseStacks(l[1:])
}

// number is the n-th word as a number; 0 if it is none.
func (l line) number(n int) int {
	if n >= len(l) {
		return 0
	}
	k, _ := strconv.Atoi(l[n]) // the caller wants 0 for what is no number
	return k
}

// option is the number that follows an option after "with", and whether the
// line has that option.
func (l line) option(name string) (int, bool) {
	end := max(slices.Index(l, "with"), 0)
	if i := slices.Index(l[end:], name); i >= 0 {
		return l.number(end + i + 1), true
	}
	return 0, false
}
