package template

import (
	"bytes"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

var (
	marks  = [][]byte{[]byte("AWSTemplateFormatVersion"), []byte("Resources")}
	marked = pattern.New(`(?m)^\s{0,4}["']?(AWSTemplateFormatVersion|Resources)["']?[ \t]*:`)
)

// Detect reports whether a file is meant to be a template: it has the section Resources or
// AWSTemplateFormatVersion. In a file that is neither YAML nor JSON, a line that begins
// with one of them is enough, so that its errors are reported.
func Detect(body []byte) bool {
	has := false
	for _, m := range marks {
		has = has || bytes.Contains(body, m)
	}
	if !has {
		return false
	}
	root, _, err := document.ReadRepeating("", body)
	if err != nil {
		return marked.MatchString(string(body))
	}
	for _, m := range marks {
		if _, ok := document.Lookup(root, string(m)); ok {
			return true
		}
	}
	return false
}
