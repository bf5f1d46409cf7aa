package sceptre

import (
	"bytes"
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
	root, ok := f.Mapping(sideFile)
	if !ok {
		return f, nil // Read says what is wrong with it
	}
	variables, targets := document.Child(root, "variables", yaml.MappingNode), document.Child(root, "targets", yaml.SequenceNode)
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
		document.Set(one, document.Text("profile"), document.Text(profile))
		document.Set(one, document.Text("target"), document.Text(target))
		mapped = append(mapped, one)
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	targets.Content = append(mapped, targets.Content...)
	return f.With(sideFile, root)
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
		document.Set(variables, p.Key, p.Value)
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
		if at = document.Child(at, key, yaml.MappingNode); at == nil {
			list.Add(problem.Position{}, "--var %s: %s is no mapping", problem.Short(v), problem.Short(key))
			return
		}
	}
	document.Set(at, document.Text(keys[len(keys)-1]), document.Text(value))
}

// aliased reports whether a node has an anchor or an alias.
func aliased(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, aliased)
}
