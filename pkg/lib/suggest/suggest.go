// Package suggest finds the name that a misspelt one was probably meant to be.
package suggest

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Closest returns the name that is most like what was written, or "" if none is
// like it: at most a third of its letters differ, or two of them are swapped.
func Closest(written string, names []string) string {
	if len(written) > 200 {
		return ""
	}
	best, least := "", len(written)/3+1
	for _, name := range names {
		if anagram(written, name) {
			return name
		}
		if d := len(name) - len(written); d >= least || -d >= least {
			continue
		}
		if d := levenshtein.Distance(strings.ToLower(written), strings.ToLower(name), nil); d < least {
			best, least = name, d
		}
	}
	return best
}

// most is how many names a hint lists.
const most = 32

// Hint ends a message about a name that is not known: ": did you mean vpc?", or
// the names to choose from if there are few: enough for the keys of a stack.
func Hint(written string, names []string) string {
	switch closest := Closest(written, names); {
	case closest != "":
		return ": did you mean " + closest + "?"
	case len(names) > most:
		return ""
	case len(names) == 0:
		return ": none is defined"
	}
	return ": available: " + strings.Join(names, ", ")
}

// anagram reports whether two names have the same letters.
func anagram(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
