// Package pattern has regular expressions that are compiled when they are first used. A
// function starts sooner if it compiles only those that it needs.
package pattern

import (
	"regexp"
	"sync"
)

// A Pattern is a regular expression. Goroutines may use it at the same time.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of an expression, whose syntax is that of package regexp. The
// pattern panics when it is first used if the expression is malformed.
func New(expr string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString reports whether s contains a match of the pattern.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindStringSubmatch returns the first match in s and those of its groups, nil if there is none.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// ReplaceAllStringFunc returns s with each match of the pattern replaced by what replace returns for it.
func (p Pattern) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, replace)
}

// String returns the expression.
func (p Pattern) String() string { return p.compiled().String() }
