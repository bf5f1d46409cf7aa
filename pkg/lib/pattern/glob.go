package pattern

import "strings"

// Glob reports whether a path is of a pattern in which a star stands for any text without a slash, two stars for any text, and a question mark
// for one letter but a slash.
func Glob(pattern, path string) bool {
	reached := make([]bool, len(path)+1) // whether the pattern so far is that of the first bytes of the path
	reached[0] = true
	for i := 0; i < len(pattern); i++ {
		next := make([]bool, len(path)+1)
		across := strings.HasPrefix(pattern[i:], "**")
		switch pattern[i] {
		case '*':
			for n := range next {
				next[n] = reached[n] || n > 0 && next[n-1] && (across || path[n-1] != '/')
			}
		default:
			for n := range len(path) {
				next[n+1] = reached[n] && (path[n] == pattern[i] || pattern[i] == '?' && path[n] != '/')
			}
		}
		if across {
			i++
		}
		reached = next
	}
	return reached[len(path)]
}

// IsGlob reports whether a text has signs that are special to Glob.
func IsGlob(text string) bool { return strings.ContainsAny(text, "*?") }
