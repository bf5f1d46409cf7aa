package plan_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// folders have the source of the types of text whose constants are all their values.
var folders = map[reflect.Type]string{
	reflect.TypeFor[plan.StackAction]():     ".",
	reflect.TypeFor[plan.Certainty]():       ".",
	reflect.TypeFor[project.Deployment]():   "../project",
	reflect.TypeFor[difference.Action]():    "../lib/difference",
	reflect.TypeFor[resource.Replacement](): "../lib/resource",
	reflect.TypeFor[project.PolicyLevel]():  "../project",
}

// constants lists the values of the constants of a type, as the source has them.
func constants(t reflect.Type) []string {
	files, err := filepath.Glob(folders[t] + "/*.go")
	if err != nil {
		panic(err)
	}
	var all []string
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			panic(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if c, ok := n.(*ast.ValueSpec); ok {
				if typ, ok := c.Type.(*ast.Ident); ok && typ.Name == t.Name() && len(c.Values) == 1 {
					if value, ok := c.Values[0].(*ast.BasicLit); ok {
						all = append(all, strings.Trim(value.Value, `"`))
					}
				}
			}
			return true
		})
	}
	return all
}

// schemaOf is the JSON schema of a type.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.String:
		if _, ok := folders[t]; ok {
			return map[string]any{"enum": constants(t)}
		}
		return map[string]any{"type": "string"}
	case reflect.Struct:
		properties, required := make(map[string]any), []string{}
		for i := range t.NumField() {
			if !t.Field(i).IsExported() || t.Field(i).Tag.Get("json") == "-" {
				continue
			}
			name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			properties[name] = schemaOf(t.Field(i).Type)
			if options == "" {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	}
	panic("the schema has no word for " + t.String())
}

// The schema of the document is that of the code.
func TestSchemaOfChanges(t *testing.T) {
	const file = "../../docs/changes.schema.json"
	schema := schemaOf(reflect.TypeFor[plan.Changes]())
	schema["$schema"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", "What a Stackwright plan would change"
	schema["properties"].(map[string]any)["format"] = map[string]any{"const": plan.ChangesFormat}
	want, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, file, string(want)+"\n")
}
