package resource

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readSchemas reads the schemas of the types that AWS publishes in any region. Of several regions' schemas of a type,
// that of the first region counts: they have the same replacements.
func readSchemas(t *testing.T, folder string) map[string]schema {
	t.Helper()
	regions, err := filepath.Glob(filepath.Join(folder, "providers", "*.json"))
	if err != nil || len(regions) == 0 {
		t.Fatal("there are no schemas in", folder, err)
	}
	first := filepath.Join(folder, "providers", "us-east-1.json")
	all := make(map[string]schema)
	for _, region := range append([]string{first}, regions...) {
		var files map[string]string
		read(t, region, &files)
		for name, file := range files {
			// A macro's types are none of CloudFormation's, AWS's own are not public.
			other := strings.HasPrefix(name, "AWS::Serverless::") || strings.HasPrefix(name, "AMZN::")
			if _, known := all[name]; known || other {
				continue
			}
			var s schema
			read(t, filepath.Join(folder, "resources", file+".json"), &s)
			all[name] = s
		}
	}
	return all
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(file, err)
	}
}

// A schema is what the table takes from the schema of a resource type.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
type schema struct {
	Properties  map[string]node `json:"properties"`
	Definitions map[string]node `json:"definitions"`
	CreateOnly  []string        `json:"createOnlyProperties"`
	Conditional []string        `json:"conditionalCreateOnlyProperties"`
	Identifier  []string        `json:"primaryIdentifier"`
	Required    []string        `json:"required"`
	Handlers    map[string]any  `json:"handlers"`
	Tagging     struct {
		Property  string `json:"tagProperty"`
		Updatable bool   `json:"tagUpdatable"`
	} `json:"tagging"`
}

// A node is the schema of a value.
type node struct {
	Reference      string          `json:"$ref"`
	Properties     map[string]node `json:"properties"`
	Items          *node           `json:"items"`
	InsertionOrder *bool           `json:"insertionOrder"`
}

// path is the path of the table that a JSON pointer names.
func path(pointer string) string {
	p := strings.TrimPrefix(pointer, "/properties/")
	p = strings.ReplaceAll(strings.ReplaceAll(p, "/items/", "/"), "/properties/", "/")
	return strings.TrimSuffix(p, "/items")
}

// replacements are those of the paths that the schema names.
func (s schema) replacements() map[string]Replacement {
	all := make(map[string]Replacement)
	for _, p := range s.Conditional {
		all[path(p)] = Conditional
	}
	for _, p := range s.CreateOnly {
		all[path(p)] = Always
	}
	return all
}

// tags is the path of the tags that can be updated, or "".
func (s schema) tags() string {
	if _, fixed := s.replacements()[path(s.Tagging.Property)]; s.Tagging.Updatable && !fixed {
		return path(s.Tagging.Property)
	}
	return ""
}

// marks are the marks of the paths beside those of replacements, and all properties.
func (s schema) marks() map[string]string {
	marks := make(map[string]string)
	for name := range s.Properties {
		marks[name] = ""
	}
	// CloudFormation reads a resource to import it.
	if _, readable := s.Handlers["read"]; readable {
		for _, p := range s.Identifier {
			marks[path(p)] += string(identifierMark)
		}
	}
	s.unordered(nil, node{Properties: s.Properties}, nil, marks)
	return marks
}

// unordered adds the mark of the lists without order in n. The definitions that the path
// has passed through are not entered again.
func (s schema) unordered(path []string, n node, passed []string, marks map[string]string) {
	if name, ok := strings.CutPrefix(n.Reference, "#/definitions/"); ok {
		if slices.Contains(passed, name) {
			return
		}
		passed = append(slices.Clone(passed), name)
		n = s.Definitions[name]
	}
	if n.InsertionOrder != nil && !*n.InsertionOrder && len(path) > 0 {
		marks[strings.Join(path, "/")] += string(unorderedMark)
	}
	if n.Items != nil {
		s.unordered(append(slices.Clone(path), "*"), *n.Items, passed, marks)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		s.unordered(append(slices.Clone(path), name), n.Properties[name], passed, marks)
	}
}
