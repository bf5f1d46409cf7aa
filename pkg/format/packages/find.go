package packages

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// A use is a value of a template that names a file or folder of the project.
type use struct {
	place
	name  string // of the resource; "" if it is in none
	value *yaml.Node
}

// mayHave reports whether a template may name files, without reading it.
func mayHave(body []byte) bool {
	return bytes.Contains(body, []byte(includeName)) || slices.ContainsFunc(places, func(p place) bool {
		return bytes.Contains(body, []byte(p.of)) && bytes.Contains(body, []byte(p.property[strings.LastIndexByte(p.property, '.')+1:]))
	})
}

// find lists the uses in a template, in the order in which they are written.
func find(root *yaml.Node) []use {
	var all []use
	for _, section := range document.Pairs(root) {
		entries(section.Key.Value, document.Resolve(section.Value), &all)
	}
	includes(root, "", &all)
	slices.SortStableFunc(all, func(a, b use) int {
		if a.value.Line != b.value.Line {
			return a.value.Line - b.value.Line
		}
		return a.value.Column - b.value.Column
	})
	return all
}

// entries adds the uses in the entries of a section, and in those of its loops.
func entries(section string, n *yaml.Node, all *[]use) {
	for _, entry := range document.Pairs(n) {
		name, value := entry.Key.Value, document.Resolve(entry.Value)
		if items := document.Items(value); strings.HasPrefix(name, "Fn::ForEach::") && len(items) == 3 {
			entries(section, document.Resolve(items[2]), all)
			continue
		}
		of, properties := name, value
		if section == "Resources" {
			kind, _ := document.Lookup(value, "Type")
			properties, _ = document.Lookup(value, "Properties")
			if of = ""; kind != nil {
				of = kind.Value
			}
		}
		for _, p := range places {
			if p.section == section && p.of == of {
				add(p, name, at(properties, p.property), all)
			}
		}
	}
}

// at returns the value at a path of keys, or nil.
func at(n *yaml.Node, keys string) *yaml.Node {
	for key := range strings.SplitSeq(keys, ".") {
		n, _ = document.Lookup(n, key)
	}
	return n
}

// includes adds the files that the macro AWS::Include inserts anywhere.
func includes(n *yaml.Node, key string, all *[]use) {
	if name, _ := document.Lookup(n, "Name"); name != nil && name.Value == includeName &&
		(key == "Fn::Transform" || key == "Transform" || document.Tagged(n) == "!Transform") {
		add(include, "", at(n, "Parameters.Location"), all)
	}
	for _, p := range document.Pairs(n) {
		includes(document.Resolve(p.Value), p.Key.Value, all)
	}
	for _, item := range document.Items(n) {
		includes(document.Resolve(item), key, all)
	}
}

// add adds a use if the value is a path: a text that is no URL, and no function.
func add(p place, name string, value *yaml.Node, all *[]use) {
	if value == nil || value.Kind != yaml.ScalarNode || document.Null(value) || document.Tagged(value) != "" || strings.Contains(value.Value, "://") {
		return
	}
	*all = append(*all, use{p, name, value})
}
