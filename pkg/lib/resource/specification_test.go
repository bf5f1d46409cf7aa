package resource

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// A specified type is what the table takes from a resource of @aws-cdk/aws-service-spec.
type specified struct {
	replacements map[string]Replacement
	stateful     bool
	paths        []string // all of them, sorted
}

func (s specified) names() []string {
	return slices.DeleteFunc(slices.Clone(s.paths), func(path string) bool { return strings.Contains(path, "/") })
}

// readSpecification reads a database of @aws-cdk/aws-service-spec.
// https://github.com/cdklabs/awscdk-service-spec/blob/main/packages/@aws-cdk/service-spec-types/src/types/resource.ts
func readSpecification(t *testing.T, file string) map[string]specified {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var database struct {
		Schema struct {
			Resource   struct{ Entities []entity }
			Definition struct{ Entities []entity } `json:"typeDefinition"`
		}
	}
	if err := json.NewDecoder(r).Decode(&database); err != nil {
		t.Fatal(err)
	}
	definitions := make(map[string]entity)
	for _, d := range database.Schema.Definition.Entities {
		definitions[d.ID] = d
	}
	all := make(map[string]specified)
	for _, e := range database.Schema.Resource.Entities {
		if strings.HasPrefix(e.Name, "AWS::") && e.Transform == "" {
			w := walk{definitions, make(map[string]Replacement), make(map[string]bool)}
			w.properties(nil, e.Properties, nil)
			for _, p := range e.Additional {
				w.found[strings.Join(p, "/")] = Always
			}
			all[e.Name] = specified{w.found, e.Stateful, slices.Sorted(maps.Keys(w.passed))}
		}
	}
	return all
}

// An entity is a resource type, or a type of a property.
type entity struct {
	ID         string              `json:"$id"`
	Name       string              `json:"cloudFormationType"`
	Transform  string              `json:"cloudFormationTransform"`
	Properties map[string]property `json:"properties"`
	Stateful   bool                `json:"isStateful"`
	Additional [][]string          `json:"additionalReplacementProperties"`
}

type property struct {
	Type     propertyType   `json:"type"`
	Former   []propertyType `json:"previousTypes"`
	Replaces string         `json:"causesReplacement"`
}

type propertyType struct {
	Type      string `json:"type"`
	Reference struct {
		ID string `json:"$ref"`
	} `json:"reference"`
	Element *propertyType  `json:"element"`
	Types   []propertyType `json:"types"`
}

// A walk finds the replacements of the paths of a type.
type walk struct {
	definitions map[string]entity
	found       map[string]Replacement
	passed      map[string]bool // all paths
}

// properties adds those of the properties at a path. The definitions that the path has passed through are not entered
// again.
func (w walk) properties(at []string, all map[string]property, passed []string) {
	for name, p := range all {
		here := append(slices.Clone(at), name)
		w.passed[strings.Join(here, "/")] = true
		before := len(w.found)
		for _, t := range append([]propertyType{p.Type}, p.Former...) {
			w.value(here, t, passed)
		}
		switch parts := len(w.found) > before; {
		case p.Replaces == "yes":
			w.found[strings.Join(here, "/")] = Always
		case p.Replaces == "maybe" && !parts: // otherwise the parts say when
			w.found[strings.Join(here, "/")] = Conditional
		}
	}
}

func (w walk) value(at []string, t propertyType, passed []string) {
	switch t.Type {
	case "array", "map":
		w.value(append(slices.Clone(at), "*"), *t.Element, passed)
	case "union":
		for _, one := range t.Types {
			w.value(at, one, passed)
		}
	case "ref":
		if !slices.Contains(passed, t.Reference.ID) {
			w.properties(at, w.definitions[t.Reference.ID].Properties, append(slices.Clone(passed), t.Reference.ID))
		}
	}
}
