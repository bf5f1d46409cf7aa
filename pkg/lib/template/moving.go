package template

import (
	"bytes"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// Moving returns the templates with which CloudFormation moves resources from one stack into another, and changes
// nothing else: the deployed template from without the resources and the outputs that refer to them, and the deployed
// template to with the resources as they are in the template desired. The resources are IDs in desired by their IDs in from.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
func Moving(from, to, desired []byte, resources map[string]string) (without, with []byte, err error) {
	source, _, err := document.ReadRepeating("the template that is deployed", from)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := Parse("the template that is deployed", from)
	if err != nil {
		return nil, nil, err
	}
	target, _, err := document.ReadRepeating("the template that is deployed", to)
	if err != nil {
		return nil, nil, err
	}
	wanted, _, err := document.ReadRepeating("the template", desired)
	if err != nil {
		return nil, nil, err
	}
	ids := slices.Sorted(maps.Keys(resources))
	removeEntries(source, "Resources", ids)
	removeEntries(source, "Outputs", parsed.ReferringOutputs(ids))
	arriving := slices.Collect(maps.Values(resources))
	copyEntries(target, wanted, "Resources", func(name string) bool { return slices.Contains(arriving, name) })
	if without, err = encode(source); err != nil {
		return nil, nil, err
	}
	with, err = encode(target)
	return without, with, err
}

// ReferringOutputs lists the outputs that refer to one of the resources, as written.
func (t *Template) ReferringOutputs(resources []string) []string {
	var all []string
	for _, output := range t.outputs {
		o, refers := t.Outputs[output], false
		for _, x := range []*Expr{o.Value, o.Export} {
			x.walk(func(x *Expr) {
				refers = refers || slices.ContainsFunc(x.names(), func(n name) bool { return slices.Contains(resources, n.of) })
			})
		}
		if refers {
			all = append(all, output)
		}
	}
	return all
}

// removeEntries removes entries of a section, and the section if none is left.
func removeEntries(root *yaml.Node, section string, names []string) {
	entries, ok := document.Lookup(root, section)
	if !ok {
		return
	}
	for _, name := range names {
		unset(entries, name)
	}
	if len(entries.Content) == 0 {
		unset(root, section)
	}
}

// unset removes an entry of a mapping.
func unset(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// encode writes a template as YAML.
func encode(n *yaml.Node) ([]byte, error) {
	block(n)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}
