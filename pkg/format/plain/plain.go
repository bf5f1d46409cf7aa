// Package plain reads a folder of templates without a project file into a declared
// project: each template is a stack.
package plain

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	templates  = "templates/"  // a folder that is no part of a stack's name
	parameters = "parameters/" // the folder of parameter files
	beside     = ".params"     // ends the name of a parameter file beside its template
)

// extensions are those of templates; parameter files have the first three.
var extensions = []string{".json", ".yaml", ".yml", ".template"}

// acknowledged are the capabilities that every stack gets. CAPABILITY_NAMED_IAM includes
// CAPABILITY_IAM. There is no file that could acknowledge them, and CloudFormation uses
// only what a template needs.
var acknowledged = []string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_NAMED_IAM"}

// Detect reports whether there is a template.
func Detect(f archive.Files) bool {
	return slices.ContainsFunc(f.Paths(), func(name string) bool { return isTemplate(f, name) })
}

// isTemplate reports whether a file is a template by its name and its content.
func isTemplate(f archive.Files, name string) bool {
	return slices.Contains(extensions, path.Ext(name)) && !isParameters(name) && template.Detect(f[name])
}

// isParameters reports whether a file has the name of a parameter file.
func isParameters(name string) bool {
	ext := path.Ext(name)
	return slices.Contains(extensions[:3], ext) && (strings.HasPrefix(name, parameters) || strings.HasSuffix(strings.TrimSuffix(name, ext), beside))
}

// Read declares a stack for each template that is not part of another. Its name is the path of the template: without
// the extension, without the folder templates/ at the top, and with hyphens for the
// characters that a name cannot have. The project has no file, and so no name and no
// environment of its own.
func Read(f archive.Files, list *problem.List) (declared.Project, bool) {
	r := &reader{List: list, files: f, byName: map[string]int{}, given: map[string]string{}, project: declared.Project{Kind: project.Templates, UncheckedIn: "stackwright.yaml"}}
	var found []string
	named := map[string]bool{}
	for _, name := range f.Paths() {
		if !isTemplate(f, name) {
			continue
		}
		found = append(found, name)
		for _, of := range packages.Named(f, name) {
			itself := of == name || (of == "" || strings.HasSuffix(of, "/")) && strings.HasPrefix(name, of)
			named[of] = named[of] || !itself
		}
	}
	for _, name := range found {
		if !isPart(named, name) {
			r.stack(name)
		}
	}
	if len(r.project.Stacks) == 0 {
		r.Add(problem.Position{}, "every template is part of another: a project has at least one stack; to delete all its stacks, use destroy")
	}
	for _, name := range f.Paths() {
		if isParameters(name) {
			r.parameterFile(name)
		}
	}
	return r.project, true
}

// isPart reports whether a template names the file, or a folder with the file, as its own
// part: such as the template of a nested stack.
func isPart(named map[string]bool, file string) bool {
	for i, r := range file {
		if r == '/' && named[file[:i+1]] {
			return true
		}
	}
	return named[file]
}

// A reader reads one folder.
type reader struct {
	*problem.List
	files   archive.Files
	project declared.Project
	byName  map[string]int    // the places of the stacks in the project
	given   map[string]string // the parameter files, by the names of the stacks
}

// stack declares the stack of a template.
func (r *reader) stack(file string) {
	at := problem.Position{File: file}
	name := stackName(file)
	other, taken := r.byName[name]
	switch {
	case !declared.StackName.MatchString(name):
		r.Add(at, "a stack is named after its template, and %q is not a valid name: use letters, digits and hyphens", problem.Short(name))
		return
	case len(name) > declared.MaxName:
		r.Add(at, "a stack is named after its template, and %q is too long for a name: use at most %d characters", problem.Short(name), declared.MaxName)
		return
	case taken:
		r.Add(at, "a stack is named after its template, and %s makes the name %s too: rename one of them", r.project.Stacks[other].At.File, name)
		return
	case len(r.project.Stacks) == declared.MaxStacks:
		r.Add(problem.Position{}, "more than %d templates: a project has at most %d stacks: divide it into several projects", declared.MaxStacks, declared.MaxStacks)
		return
	}
	r.byName[name] = len(r.project.Stacks)
	capabilities := make([]declared.Value, 0, len(acknowledged))
	for _, c := range acknowledged {
		capabilities = append(capabilities, literal(at, c))
	}
	r.project.Stacks = append(r.project.Stacks, declared.Stack{
		Name: name, At: at, Template: &declared.Template{At: at, Path: file}, ParametersIn: "in " + parameters + name + ".json",
		Settings: declared.Settings{Capabilities: &capabilities, Parameters: map[string]declared.Entry{}, Tags: map[string]declared.Entry{}},
	})
}

// stackName is the name of the stack of a template.
func stackName(file string) string {
	name := strings.TrimSuffix(file, path.Ext(file))
	name = strings.TrimSuffix(strings.TrimPrefix(name, templates), ".template")
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/') {
			return r
		}
		return '-'
	}, name)
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = strings.Trim(p, "-")
	}
	return strings.Join(parts, "/")
}

// literal is a value without references.
func literal(at problem.Position, text string) declared.Value {
	return declared.Value{At: at, Items: [][]declared.Part{{{Literal: text}}}, Kind: "text"}
}
