// Package sceptre reads a project of Sceptre 4.7, with its folders config/ and templates/,
// into a declared project. https://docs.sceptre-project.org/4.7.0/
package sceptre

import (
	"path"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

const (
	configs   = "config/"
	templates = "templates/"
	group     = "config.yaml" // the configuration of a stack group
)

// Limits of rendering all configurations and templates together.
const (
	maxSteps = 20_000_000
	maxBytes = 256 << 20
)

// Detect reports whether the files are a Sceptre project: the configuration of a stack group, or the side file without
// it, which Read refuses.
func Detect(f archive.Files) bool {
	side, ok := f[sideFile]
	return hasGroup(f) || ok && !template.Detect(side)
}

// hasGroup reports whether there is config/config.yaml, or the config.yaml of a stack group directly below config/.
func hasGroup(f archive.Files) bool {
	if _, ok := f[configs+group]; ok {
		return true
	}
	for name := range f {
		if in, ok := strings.CutPrefix(name, configs); ok && path.Base(in) == group && strings.Count(in, "/") == 1 {
			return true
		}
	}
	return false
}

// A tree is a Sceptre project that is read.
type tree struct {
	*problem.List
	files  archive.Files
	remote *remote.Files
	side   side
	budget jinja.Budget
	full   bool // the budget is used up, which was reported

	onlyNames bool // of the stacks that are ignored or obsolete

	places []problem.Position
	hooked bool                          // the value that is read is under the key hooks
	groups map[string]*jinja.Dict        // the configuration of each stack group by its folder; nil if it could not be read
	envs   map[string]*jinja.Environment // of templates, by folder and options

	unrendered map[string]*declared.Template // by path
	missing    map[account]*unmapped
	order      []account // of missing
}

// Read declares a stack for each configuration of a stack. elsewhere are the files that configurations name by URLs.
func Read(f archive.Files, elsewhere *remote.Files, list *problem.List) (d declared.Project, ok bool) {
	return read(f, elsewhere, list, false)
}

// ReadWithoutIgnored is Read, but of the stacks that are ignored or obsolete it declares only the names: Sceptre does not render their templates
// or connect to their accounts, so they may have any problem.
func ReadWithoutIgnored(f archive.Files, elsewhere *remote.Files, list *problem.List) (d declared.Project, ok bool) {
	return read(f, elsewhere, list, true)
}

func read(f archive.Files, elsewhere *remote.Files, list *problem.List, onlyNames bool) (d declared.Project, ok bool) {
	if !hasGroup(f) {
		list.Add(problem.Position{File: sideFile}, "this is the file of a Sceptre project, and there is no %s%s beside it: add the folder config/, or remove %s to deploy templates without a project file", configs, group, sideFile)
		return d, false
	}
	t := &tree{
		List: list, files: f, onlyNames: onlyNames, remote: elsewhere, budget: jinja.Budget{Steps: maxSteps, Bytes: maxBytes}, places: make([]problem.Position, 1),
		groups: map[string]*jinja.Dict{}, envs: map[string]*jinja.Environment{},
		unrendered: map[string]*declared.Template{}, missing: map[account]*unmapped{},
	}
	d = declared.Project{File: configs + group, Kind: project.Sceptre, NameAt: problem.Position{File: configs + group}, ListAt: problem.Position{File: sideFile}}
	t.side = t.readSide()
	d.Unchecked, d.UncheckedIn = t.side.unchecked, sideFile
	all := t.stacks()
	t.declare(&d, all)
	t.name(&d, all)
	t.reportUnmapped()
	return d, true
}

// name finds the name of the project: that of the side file, or else project_code.
func (t *tree) name(d *declared.Project, all []*stack) {
	if t.side.project != "" {
		d.Name, d.NameAt = t.side.project, t.side.projectAt
		return
	}
	config, ok := t.group("")
	if !ok {
		return
	}
	code, ok := config.Entry("project_code")
	if !ok && len(all) > 0 && all[0].config != nil {
		code, ok = all[0].config.Entry("project_code")
	}
	written, isText := code.Value.(string)
	if !ok || !isText {
		t.Add(d.NameAt, "the project has no name: write project: and a name in %s", sideFile)
		return
	}
	name := strings.ReplaceAll(written, "_", "-")
	if !project.Name.MatchString(name) {
		t.Add(t.places[code.Place], "project_code: %q cannot be the name of a project: write project: and a name in %s", problem.Short(written), sideFile)
		return
	}
	d.Name, d.NameAt = name, t.places[code.Place]
}

// stackFiles lists the configurations of stacks, relative to config/.
func (t *tree) stackFiles() []string {
	var all []string
	for _, name := range t.files.Paths() {
		in, ok := strings.CutPrefix(name, configs)
		if ok && strings.HasSuffix(in, ".yaml") && !strings.HasPrefix(path.Base(in), "config.") {
			all = append(all, in)
		}
	}
	return all
}

// nodeName is the name of the stack of a configuration.
func nodeName(file string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '-' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(file, ".yaml"))
}

// declare declares the stacks in the environments of the side file, or else all in the
// default environment.
func (t *tree) declare(d *declared.Project, all []*stack) {
	if len(t.files) > 0 && len(all) == 0 {
		t.Add(problem.Position{File: configs + group}, "config: there is no configuration of a stack: a project has at least one stack; to delete all its stacks, use destroy")
	}
	by := map[string]string{}
	for _, s := range all {
		if other, taken := by[s.name]; taken {
			t.Add(s.at, "%s and %s would both be the stack %s: rename one of them", problem.Short(s.file), problem.Short(other), s.name)
		}
		by[s.name] = s.file
	}
	if t.side.environments == nil {
		for _, s := range all {
			t.add(&d.Layer, s, all)
		}
		return
	}
	for _, e := range t.side.environments {
		one := declared.Environment{Name: e.name, At: e.at}
		var in []*stack
		for _, s := range all {
			if e.has(s.file) {
				in = append(in, s)
			}
		}
		if len(in) == 0 {
			t.Add(e.at, "environments: %s: there are no stacks in config/%s", e.name, problem.Short(strings.Join(e.folders, ", config/")))
		}
		for _, s := range in {
			t.add(&one.Layer, s, in)
		}
		d.Environments = append(d.Environments, one)
	}
}

// add declares a stack in an environment, whose stacks are given.
func (t *tree) add(to *declared.Layer, s *stack, all []*stack) {
	if !t.has(s) {
		if s.is("obsolete") {
			to.Obsolete = append(to.Obsolete, s.name)
		} else {
			to.Ignored = append(to.Ignored, s.name)
		}
		return
	}
	one, ok := t.declared(s, all)
	if !ok {
		return
	}
	to.Stacks = append(to.Stacks, one)
}
