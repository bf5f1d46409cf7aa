package archive

import (
	"maps"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// Mapping returns a YAML file as a mapping, an empty one if there is no such file. It reports false if the file is none: its reader says why.
func (f Files) Mapping(name string) (root *yaml.Node, ok bool) {
	body, exists := f[name]
	if !exists {
		return &yaml.Node{Kind: yaml.MappingNode}, true
	}
	root, err := document.Read(name, body)
	return root, err == nil && root.Kind == yaml.MappingNode
}

// With returns the files with a YAML file of a mapping, in the place of one of that name.
func (f Files) With(name string, root *yaml.Node) (Files, error) {
	body, err := yaml.Marshal(root)
	if err != nil {
		return nil, err
	}
	f = maps.Clone(f)
	f[name] = body
	return f, nil
}
