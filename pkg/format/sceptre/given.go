package sceptre

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// Given is what a command line says beside the files, as that of Sceptre does.
type Given struct {
	Files     []VariableFile // --var-file
	Variables []string       // --var, such as stage=beta or network.cidr=10.0.0.0/16
	Targets   []string       // --map, such as prod=ireland: a profile of the AWS CLI, and the target for it
}

// A VariableFile is a YAML file of variables.
type VariableFile struct {
	Name string // for messages
	Body []byte
}

// Into returns the files of a project with what is given in their side file, so that a run and everything that repeats it
// reads the same. As in Sceptre, a file replaces the variables that those before it have, and a variable those of all files.
// Targets come before those that are there. The error is of kind Invalid and joins everything that is wrong.
func (g Given) Into(f archive.Files) (archive.Files, error) {
	if len(g.Files)+len(g.Variables)+len(g.Targets) == 0 {
		return f, nil
	}
	var list problem.List
	if !hasGroup(f) {
		list.Add(problem.Position{}, "--var, --var-file and --map are for projects of Sceptre, and there is no %s%s", configs, group)
		return nil, list.Err()
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	if body, ok := f[sideFile]; ok {
		read, err := document.Read(sideFile, body)
		if err != nil || read.Kind != yaml.MappingNode {
			return f, nil // Read says what is wrong with it
		}
		root = read
	}
	variables, targets := child(root, "variables", yaml.MappingNode), child(root, "targets", yaml.SequenceNode)
	if variables == nil || targets == nil {
		return f, nil // Read says what is wrong with it
	}
	for _, file := range g.Files {
		file.into(variables, &list)
	}
	used, named := usedVariables(f), namedProfiles(f)
	for _, v := range g.Variables {
		setVariable(variables, v, &list)
		name, _, _ := strings.Cut(v, "=")
		name, _, _ = strings.Cut(name, ".")
		if hint, lacks := used.lacks(name); lacks && name != "" {
			list.Add(problem.Position{}, "--var %s: no configuration below %s uses the variable %s%s", problem.Short(v), configs, problem.Short(name), hint)
		}
	}
	var mapped []*yaml.Node
	for _, m := range g.Targets {
		profile, target, ok := strings.Cut(m, "=")
		if !ok || profile == "" || target == "" {
			list.Add(problem.Position{}, "--map %s: write PROFILE=TARGET, a profile of the configurations and a registered target", problem.Short(m))
		} else if hint, lacks := named.lacks(profile); lacks {
			list.Add(problem.Position{}, "--map %s: no configuration below %s has the profile %s%s", problem.Short(m), configs, problem.Short(profile), hint)
		}
		one := &yaml.Node{Kind: yaml.MappingNode}
		set(one, quoted("profile"), quoted(profile))
		set(one, quoted("target"), quoted(target))
		mapped = append(mapped, one)
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	targets.Content = append(mapped, targets.Content...)
	body, err := yaml.Marshal(root)
	if err != nil {
		return nil, err
	}
	f = maps.Clone(f)
	f[sideFile] = body
	return f, nil
}

// into sets the variables of a file.
func (v VariableFile) into(variables *yaml.Node, list *problem.List) {
	if len(bytes.TrimSpace(v.Body)) == 0 { // Sceptre reads no variables of it
		return
	}
	root, err := document.Read(v.Name, v.Body)
	switch {
	case err != nil:
		list.Join(v.Name, err)
		return
	case root.Kind != yaml.MappingNode:
		list.Add(problem.Position{File: v.Name}, "expected a mapping of variables, found %s", document.Kind(root))
	case aliased(root):
		list.Add(problem.Position{File: v.Name}, "anchors and aliases are not supported in files of variables: write the values out")
	}
	for _, p := range document.Pairs(root) {
		set(variables, p.Key, p.Value)
	}
}

// setVariable sets a variable such as network.cidr=10.0.0.0/16. A dot leads into a mapping. The value is text.
func setVariable(variables *yaml.Node, v string, list *problem.List) {
	name, value, ok := strings.Cut(v, "=")
	keys := strings.Split(name, ".")
	if !ok || slices.Contains(keys, "") {
		list.Add(problem.Position{}, "--var %s: write NAME=VALUE, or NAME.KEY=VALUE for a key of a mapping", problem.Short(v))
		return
	}
	at := variables
	for _, key := range keys[:len(keys)-1] {
		if at = child(at, key, yaml.MappingNode); at == nil {
			list.Add(problem.Position{}, "--var %s: %s is no mapping", problem.Short(v), problem.Short(key))
			return
		}
	}
	set(at, quoted(keys[len(keys)-1]), quoted(value))
}

// child returns the value of a key of a mapping, and creates it if there is none. It is nil if the value is of another kind.
func child(of *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	n, ok := document.Lookup(of, key)
	if !ok || document.Null(n) {
		n = &yaml.Node{Kind: kind}
		set(of, quoted(key), n)
	}
	if n = document.Resolve(n); n.Kind != kind {
		return nil
	}
	return n
}

// set sets the value of a key of a mapping.
func set(of, key, value *yaml.Node) {
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key.Value {
			of.Content[i+1] = value
			return
		}
	}
	of.Content = append(of.Content, key, value)
}

// quoted is a text, which YAML 1.1 takes for nothing else.
func quoted(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle}
}

// aliased reports whether a node has an anchor or an alias.
func aliased(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, aliased)
}
