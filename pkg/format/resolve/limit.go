package resolve

import (
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Limits of all stacks together. Each of thousands of stacks may be within the
// limits of one stack.
const (
	maxTexts  = 128 << 20 // bytes of parameters, tags and needs, in memory
	maxWeight = 2_000_000 // keys and values of templates
	maxValues = 512 << 20 // bytes that evaluating templates makes
	maxMade   = 256 << 20 // bytes that the functions in values make
)

// limits counts the size of a project. It adds one problem if a limit is exceeded.
type limits struct {
	*problem.List
	file   string
	texts  int
	made   int
	weight int
	values *template.Room
	full   bool
}

func (l *limits) exceeded(at problem.Position, format string, args ...any) {
	if !l.full {
		l.full = true
		l.Add(at, format+": divide it into several projects", args...)
	}
}

// text counts bytes of parameters, tags and needs, and reports whether they may
// be kept.
func (l *limits) text(size int) bool {
	if l.texts += size; l.texts > maxTexts {
		l.exceeded(problem.Position{File: l.file}, "the parameters, tags and needs of all stacks are more than %d MB", maxTexts>>20)
	}
	return !l.full
}

// template counts a template, and reports whether it may be read.
func (l *limits) template(body []byte) bool {
	if l.weight += document.Weight(body); l.weight > maxWeight {
		l.exceeded(problem.Position{File: l.file}, "the templates of all stacks have more than %d keys and values", maxWeight)
	}
	return !l.full
}

// reached reports whether to read no further. If evaluating templates exceeds its
// limit, the results are not used.
func (l *limits) reached() bool {
	if l.values.Full() {
		l.exceeded(problem.Position{File: l.file}, "the values of the templates of all stacks take more than %d MB", maxValues>>20)
	}
	return l.full || l.TooMany()
}
