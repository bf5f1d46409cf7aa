package project

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A SourceValue is what a plan has read of a source: its value, or why it did not exist.
type SourceValue struct {
	Source  Source `json:"source"`
	Value   string `json:"value,omitempty"`
	Missing string `json:"missing,omitempty"` // why it did not exist
}

// Read returns the value. The error is of kind Missing if it did not exist.
func (v SourceValue) Read() (string, error) {
	if v.Missing != "" {
		return "", fault.New(fault.Missing, "%s", v.Missing)
	}
	return v.Value, nil
}

// SourceValues are what a plan has read.
type SourceValues map[Source]SourceValue

// Keep adds what was read of s: a value, or an error. An error that is not of kind Missing says nothing about s.
func (all SourceValues) Keep(s Source, value string, err error) {
	switch {
	case err == nil:
		all[s] = SourceValue{Source: s, Value: value}
	case fault.Is(err, fault.Missing):
		all[s] = SourceValue{Source: s, Missing: err.Error()}
	}
}

// Sorted lists them, in the order of Project.Sources.
func (all SourceValues) Sorted() []SourceValue {
	return slices.SortedFunc(maps.Values(all), func(a, b SourceValue) int { return a.Source.compare(b.Source) })
}

// ReadsParameters reports whether a parameter of the node gets a value from outside the project.
func (n Node) ReadsParameters() bool {
	for _, t := range n.Parameters {
		if len(t.Sources()) > 0 {
			return true
		}
	}
	return false
}

// AsKnown returns the text and true if it is known before any stack is deployed: also that of expressions of which all arguments
// are known.
func (t Text) AsKnown() (string, bool) {
	text, err := t.Resolve(func(string, string) (string, error) { return "", ErrUnknown })
	return text, err == nil
}

// compare orders sources as the user writes them.
func (s Source) compare(other Source) int {
	return cmp.Or(cmp.Compare(s.String(), other.String()), cmp.Compare(s.Target.Where(), other.Target.Where()))
}
