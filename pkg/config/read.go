package config

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// A reader reads one project, step by step, and goes on as long as anything can
// be told of what it has read.
type reader struct {
	problems
	files   Files
	paths   []string // of files, sorted
	options Options
	file    string // the project file

	project, environment string
	environments         map[string]*environment
	environmentNames     []string
	variables            map[string]entry
	deletions            *int                        // at the top
	failure              string                      // at the top: of onFailure, or "" if nothing is said
	timeout              project.Timeout             // at the top
	recurring            map[string]project.Schedule // at the top
	layers               map[string]*layer
	stacks               []*stack // as written; then one for each target of each
	stackNames           []string
	byName               map[string][]*stack // in their targets
	byNode               map[string]*stack
	sources              map[string]*source     // templates by path
	inlined              map[*yaml.Node]*source // templates by where they stand in the project file
	edges                map[Edge]place
	size                 int  // of all texts together
	weight               int  // of all templates together, in keys and values
	full                 bool // one of these is more than it may be; told once
	values               *template.Room
	foreign              []string // targets that are named and not registered
}

// A stack is a stack of the file, in one of its targets, and what was made of it.
type stack struct {
	name       string
	at         place
	settings   settings // defaults merged in
	template   *yaml.Node
	stackName  *value
	source     *source // nil if there is no usable template
	node       project.Node
	astray     bool                 // its targets cannot be told, which has been said
	known      map[string]string    // parameters that are known, with the template's defaults
	evaluation *template.Evaluation // nil until it is asked for
}

func read(files Files, o Options) (Loaded, error) {
	r := &reader{
		files: files, paths: slices.Sorted(maps.Keys(files)), options: o,
		environment:  cmp.Or(o.Environment, project.DefaultEnvironment),
		environments: map[string]*environment{}, layers: map[string]*layer{},
		byName: map[string][]*stack{}, byNode: map[string]*stack{}, sources: map[string]*source{}, inlined: map[*yaml.Node]*source{}, edges: map[Edge]place{},
		values: template.NewRoom(maxValues),
	}
	if r.find(); r.file != "" {
		if root, err := document.Read(r.file, files[r.file]); err != nil {
			r.unreadable(err)
		} else {
			r.format(root)
			r.resolve()
		}
	}
	if err := r.err(); err != nil {
		return Loaded{Foreign: r.foreign}, err
	}
	return r.loaded(), nil
}

// unreadable tells of a project file that is no document, with the reason that
// is met most.
func (r *reader) unreadable(err error) {
	var all document.Errors
	all.Join(r.file, err)
	lines := bytes.Split(r.files[r.file], []byte("\n"))
	for _, e := range all {
		hint := ""
		if strings.HasPrefix(e.Text, "not YAML") && 0 < e.Line && e.Line <= len(lines) && bareReference.Match(lines[e.Line-1]) {
			hint = `: write references that stand within { } or [ ] in quotes: "${…}"`
		}
		r.add(place{e.File, e.Line, e.Column}, "%s%s", e.Text, hint)
	}
}

// bareReference is a reference without quotes after a bracket is opened.
var bareReference = regexp.MustCompile(`[{\[].*[:,\[ ]\$\{`)

// find finds the project file.
func (r *reader) find() {
	_, long := r.files["stackwright.yaml"]
	_, short := r.files["stackwright.yml"]
	switch {
	case long && short:
		r.add(place{file: "stackwright.yml"}, "there is a stackwright.yaml too: remove one of them")
	case long:
		r.file = "stackwright.yaml"
	case short:
		r.file = "stackwright.yml"
	case len(r.paths) == 1 && isYAML(r.paths[0]):
		r.file = r.paths[0]
	default:
		why := "write one, with project: and stacks:"
		for _, name := range r.paths {
			if base := path.Base(name); base == "stackwright.yaml" || base == "stackwright.yml" {
				why = fmt.Sprintf("there is %s: deploy that folder, or pack what is in it and not the folder itself", name)
				break
			}
		}
		r.add(place{}, "there is no stackwright.yaml at the top of the project: %s", why)
	}
}

// loaded is what was read, sorted.
func (r *reader) loaded() Loaded {
	l := Loaded{
		Project: project.Project{
			Name: r.project, Environment: r.environment, Nodes: map[string]project.Node{}, MaxDeletions: r.deletions,
		},
		Templates: map[string][]byte{},
		Sources:   map[string]string{},
	}
	failure, timeout := r.failure, r.timeout
	if env := r.environments[r.environment]; env != nil {
		if env.deletions != nil {
			l.Project.MaxDeletions = env.deletions
		}
		failure, timeout = cmp.Or(env.failure, failure), cmp.Or(env.timeout, timeout)
	}
	l.Project.Timeout = timeout
	l.Project.Schedules = r.schedules(r.environments[r.environment])
	l.Project.Rollback = failure == backOnFailure
	needs := map[string][]string{}
	for e, at := range r.edges {
		e.Place = at.String()
		l.Edges = append(l.Edges, e)
		needs[e.Node] = append(needs[e.Node], e.Needs)
	}
	slices.SortFunc(l.Edges, compareEdges)
	for _, s := range r.stacks {
		n := s.node
		n.Needs = needs[n.Name]
		slices.Sort(n.Needs)
		n.Needs = slices.Compact(n.Needs)
		l.Project.Nodes[n.Name] = n
		l.Templates[n.Template.Digest] = s.source.body
		l.Sources[n.Name] = s.source.at.String()
	}
	return l
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Needs, b.Needs), cmp.Compare(a.Cause, b.Cause),
		cmp.Compare(a.What, b.What), cmp.Compare(a.For, b.For), cmp.Compare(a.Place, b.Place))
}
