// Package native reads Stackwright's own project file, stackwright.yaml, into a
// declared project.
package native

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// names are those of the project file; the first is preferred.
var names = []string{"stackwright.yaml", "stackwright.yml"}

// Detect reports whether the project has a file in this format: one of names, also in a
// wrong folder, or a single YAML file of any name that is no template.
func Detect(f archive.Files) bool { return find(f) != "" || misplaced(f) != "" }

func find(f archive.Files) string {
	for _, name := range names {
		if _, ok := f[name]; ok {
			return name
		}
	}
	if len(f) == 1 {
		for name := range f {
			if archive.IsYAML(name) && !template.Detect(f[name]) {
				return name
			}
		}
	}
	return ""
}

// misplaced returns a project file that is not at the top of the project, or whose name
// is written with other letter case.
func misplaced(f archive.Files) string {
	for _, name := range f.Paths() {
		if base := path.Base(name); strings.EqualFold(base, names[0]) || strings.EqualFold(base, names[1]) {
			return name
		}
	}
	return ""
}

// Read reads the project file and adds every problem to the list. It reports false
// if the file is not a project.
func Read(f archive.Files, list *problem.List) (d declared.Project, ok bool) {
	p := &parser{List: list, files: f, file: find(f), inlined: map[*yaml.Node]*declared.Template{}}
	if p.file == "" {
		todo := "deploy that folder, or pack the files in it instead of the folder itself"
		if path.Dir(misplaced(f)) == "." {
			todo = "rename it to " + names[0]
		}
		p.Add(problem.Position{}, "there is no stackwright.yaml at the top of the project: there is %s: %s", misplaced(f), todo)
		return d, false
	}
	if _, both := f[names[1]]; both && p.file == names[0] {
		p.Add(problem.Position{File: names[1]}, "there is a %s too: remove one of them", names[0])
		return d, false
	}
	root, ok := p.read(f, p.file)
	if !ok {
		return d, false
	}
	return p.project(root)
}

// A parser reads one project file.
type parser struct {
	*problem.List
	files    archive.Files
	file     string
	approves bool                              // a stack, defaults or an environment say what has to be approved of a stack
	inlined  map[*yaml.Node]*declared.Template // templates by where they are in the file

	fileOf           map[*yaml.Node]string // of what is imported
	weight           int                   // of the files
	environmentNames []string
	dates            map[string][]project.Days // of the calendars, by name
	values           int                       // of expressions
}

func (p *parser) at(n *yaml.Node) problem.Position {
	if n = document.Resolve(n); n == nil {
		return problem.Position{File: p.file}
	}
	return problem.Position{File: cmp.Or(p.fileOf[n], p.file), Line: n.Line, Column: n.Column}
}

// unreadable adds the problems of a file that is no valid YAML, with a hint for
// the most frequent cause.
func (p *parser) unreadable(file string, body []byte, err error) {
	lines := bytes.Split(body, []byte("\n"))
	for _, e := range problem.Errors(file, err) {
		hint := ""
		if strings.HasPrefix(e.Text, "not YAML") && 0 < e.Line && e.Line <= len(lines) && (bareReference.MatchString(string(lines[e.Line-1])) || colonInside.MatchString(string(lines[e.Line-1]))) {
			hint = `: write references within { } or [ ] in quotes: "${…}"`
			if colonInside.MatchString(string(lines[e.Line-1])) {
				hint = `: write an expression with a colon and a blank in quotes: "${…}"`
			}
		}
		p.Add(problem.Position{File: e.File, Line: e.Line, Column: e.Column}, "%s%s", e.Text, hint)
	}
}

// colonInside is an expression without quotes that has the end of a key.
var colonInside = pattern.New(`: [^'"]*\$\{.*: `)

// bareReference is a reference without quotes after an opening bracket.
var bareReference = pattern.New(`[{\[].*[:,\[ ]\$\{`)
