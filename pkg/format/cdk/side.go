package cdk

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
)

// sideFile has what the assembly does not say. It is optional, and so are its keys.
const sideFile = "cdk.yaml"

var (
	sideKeys    = []string{"project", "targets", "unchecked"}
	mappingKeys = []string{"environment", "target"}
)

// A side is the side file.
type side struct {
	project   string
	targets   []mapping
	unchecked []string
}

// A mapping maps an environment to a registered target.
type mapping struct {
	environment, target string
	at                  problem.Position
}

// target is the target of an environment, or "".
func (s side) target(environment string) string {
	for _, m := range s.targets {
		if m.environment == environment {
			return m.target
		}
	}
	return ""
}

// readSide reads the side file, if there is one.
func (r *reader) readSide() side {
	var s side
	if _, ok := r.files[sideFile]; !ok {
		return s
	}
	root, ok := r.document(sideFile)
	if !ok {
		return s
	}
	for _, p := range document.Pairs(root) {
		switch p.Key.Value {
		case "project":
			s.project, _ = r.scalar(sideFile, "project", p.Value)
			if s.project != "" && !project.Name.MatchString(s.project) {
				r.Add(r.at(sideFile, p.Value), "project: %q is not a name: use letters, digits and hyphens", problem.Short(s.project))
				s.project = ""
			}
		case "targets":
			if n := document.Resolve(p.Value); n.Kind != yaml.SequenceNode {
				r.Add(r.at(sideFile, n), "targets: expected a list, found %s", document.Kind(n))
			}
			for _, item := range document.Items(p.Value) {
				s.targets = append(s.targets, r.mapping(document.Resolve(item)))
			}
		case "unchecked":
			s.unchecked = r.unchecked(p.Value)
		default:
			r.Add(r.at(sideFile, p.Key), "unknown key %q%s", problem.Short(p.Key.Value), r.Hint(p.Key.Value, sideKeys))
		}
	}
	return s
}

// unchecked reads what is not compared with the schemas of AWS.
func (r *reader) unchecked(n *yaml.Node) []string {
	var all []string
	if n = document.Resolve(n); n.Kind != yaml.SequenceNode {
		r.Add(r.at(sideFile, n), "unchecked: expected a list, found %s", document.Kind(n))
	}
	for _, item := range document.Items(n) {
		name, ok := r.scalar(sideFile, "unchecked", item)
		switch {
		case ok && declared.UncheckedName.MatchString(name):
			all = append(all, name)
		case ok:
			r.Add(r.at(sideFile, item), "unchecked: %s", declared.NotUnchecked)
		}
	}
	return all
}

// mapping reads an item of the list of targets.
func (r *reader) mapping(n *yaml.Node) mapping {
	m := mapping{at: r.at(sideFile, n)}
	to := map[string]*string{"environment": &m.environment, "target": &m.target}
	for _, p := range r.pairs(sideFile, "targets", n) {
		if to[p.Key.Value] == nil {
			r.Add(r.at(sideFile, p.Key), "targets: unknown key %q%s", problem.Short(p.Key.Value), r.Hint(p.Key.Value, mappingKeys))
			continue
		}
		*to[p.Key.Value], _ = r.scalar(sideFile, "targets: "+p.Key.Value, p.Value)
	}
	if m.environment == "" || m.target == "" {
		r.Add(m.at, "targets: write - {environment: aws://ACCOUNT/REGION, target: NAME}, an environment of the assembly and a registered target")
	}
	return m
}

// reportUnused reports mappings of environments that no stack has.
func (r *reader) reportUnused() {
	var all []string
	used := map[string]bool{}
	for _, s := range r.stacks {
		if e := s.environment.written; !used[e] {
			used[e], all = true, append(all, e)
		}
	}
	for _, m := range r.side.targets {
		if m.environment != "" && !used[m.environment] {
			r.Add(m.at, "targets: no stack of the assembly is in %s%s", problem.Short(m.environment), r.Hint(m.environment, all))
		}
	}
}

// Map returns the files of an assembly with mappings in the side file, each as
// ENVIRONMENT=TARGET, so that a run and everything that repeats it reads the same. They come
// before those that are there. The error is of kind Invalid and joins everything that is wrong.
func Map(f archive.Files, mapped []string) (archive.Files, error) {
	if len(mapped) == 0 {
		return f, nil
	}
	root, ok := f.Mapping(sideFile)
	if !ok {
		return f, nil // Read says what is wrong with it
	}
	targets, ok := document.Lookup(root, "targets")
	if !ok {
		targets = &yaml.Node{Kind: yaml.SequenceNode}
		root.Content = append(root.Content, document.Text("targets"), targets)
	}
	if targets.Kind != yaml.SequenceNode {
		return f, nil // Read says what is wrong with it
	}
	var list problem.List
	var added []*yaml.Node
	for _, m := range mapped {
		environment, target, ok := strings.Cut(m, "=")
		if !ok || environment == "" || target == "" {
			list.Add(problem.Position{}, "--map %s: write ENVIRONMENT=TARGET, such as aws://111122223333/eu-west-1=prod: an environment of the assembly, and a registered target", problem.Short(m))
		}
		added = append(added, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			document.Text("environment"), document.Text(environment), document.Text("target"), document.Text(target),
		}})
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	targets.Content = append(added, targets.Content...)
	return f.With(sideFile, root)
}
