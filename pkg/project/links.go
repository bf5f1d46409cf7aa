package project

import "slices"

// Links are what a stack exports and imports, as far as its files say before anything is deployed.
type Links struct {
	Exports map[string]string // the names, by output; "" for a name that only a deploy can say
	Maybe   []string          `json:",omitempty"` // those of these outputs that a condition decides which only a deploy can say, sorted
	Imports []string          // the names, sorted; "" for a name that only a deploy can say
	Hidden  bool              // a macro may make further exports and imports
}

// MayExport reports whether the stack exports the name from the output, or may do so.
func (l Links) MayExport(output, name string) bool {
	exported, has := l.Exports[output]
	if l.Hidden || has && exported == "" {
		return true
	}
	for _, other := range l.Exports {
		if other == name {
			return true
		}
	}
	return false
}

// CertainExports lists the names that the stack certainly exports, sorted.
func (l Links) CertainExports() []string {
	var all []string
	for output, name := range l.Exports {
		if name != "" && !slices.Contains(l.Maybe, output) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// MayImport reports whether the stack imports the name, or may do so.
func (l Links) MayImport(name string) bool {
	return l.Hidden || slices.Contains(l.Imports, name) || slices.Contains(l.Imports, "")
}

// Imported reports whether the stack certainly imports the name.
func (l Links) Imported(name string) bool { return slices.Contains(l.Imports, name) }
