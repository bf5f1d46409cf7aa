package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

const (
	maxErrors = 100    // are told
	maxKept   = 1_000  // are kept, of which the first are told
	maxMore   = 10_000 // are counted; then reading ends
	maxHints  = 200    // each looks at every name there is
)

// A place is where something stands in a file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// before orders places as a reader comes to them.
func before(a, b place) int {
	return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
}

// problems gathers what is wrong. The zero value has none.
type problems struct {
	kept  []document.Error
	seen  map[document.Error]bool
	more  int
	hints int
}

func (p *problems) add(at place, format string, args ...any) {
	if len(p.kept) == maxKept {
		p.more++
		return
	}
	one := document.Error{File: at.file, Line: at.line, Column: at.column, Text: fmt.Sprintf(format, args...)}
	if p.seen[one] {
		return
	}
	if p.seen == nil {
		p.seen = map[document.Error]bool{}
	}
	p.seen[one] = true
	p.kept = append(p.kept, one)
}

// join adds what a parser found, at the places that it found it at.
func (p *problems) join(file string, err error) {
	var all document.Errors
	all.Join(file, err)
	for _, e := range all {
		p.add(place{e.File, e.Line, e.Column}, "%s", e.Text)
	}
}

// enough says whether so much is wrong that it is no use to go on.
func (p *problems) enough() bool { return p.more > maxMore }

// err is all that was found, in order, or nil.
func (p *problems) err() error {
	if len(p.kept) == 0 {
		return nil
	}
	slices.SortStableFunc(p.kept, func(a, b document.Error) int {
		return before(place{a.File, a.Line, a.Column}, place{b.File, b.Line, b.Column})
	})
	var told document.Errors
	for _, one := range p.kept[:min(len(p.kept), maxErrors)] {
		told = append(told, &one)
	}
	switch more := p.more + len(p.kept) - len(told); {
	case p.enough():
		told = append(told, &document.Error{Text: fmt.Sprintf("and more than %d more", maxMore)})
	case more > 0:
		told = append(told, &document.Error{Text: fmt.Sprintf("and %d more", more)})
	}
	return fault.As(fault.Invalid, told)
}

// hint says which of the names was probably meant, or what there is to choose from.
func (p *problems) hint(written string, names []string) string {
	closest := p.closest(written, names)
	switch {
	case closest != "" || len(names) > 12:
		return closest
	case len(names) == 0:
		return ": there is none"
	}
	return ": there is " + strings.Join(names, ", ")
}

// closest says which of the names was probably meant, if any was.
func (p *problems) closest(written string, names []string) string {
	p.hints++
	if p.hints > maxHints || len(written) > 200 {
		return ""
	}
	best, least := "", len(written)/3+1
	for _, name := range names {
		if anagram(written, name) { // two letters changed places
			return fmt.Sprintf(": did you mean %s?", name)
		}
		if d := len(name) - len(written); d >= least || -d >= least {
			continue
		}
		if d := levenshtein.Distance(strings.ToLower(written), strings.ToLower(name), nil); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", best)
}

// anagram says whether two names have the same letters.
func anagram(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func (r *reader) place(n *yaml.Node) place {
	if n = document.Resolve(n); n == nil {
		return place{file: r.file}
	}
	return place{r.file, n.Line, n.Column}
}
