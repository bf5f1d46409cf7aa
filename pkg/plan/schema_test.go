package plan_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/schema"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The schema of the document is that of the code.
func TestSchemaOfChanges(t *testing.T) {
	m, err := schema.New("github.com/stackwright/stackwright/pkg/plan", []string{".", "../project", "../lib/difference", "../lib/resource"},
		reflect.TypeFor[plan.StackAction](), reflect.TypeFor[plan.Certainty](), reflect.TypeFor[project.Deployment](), reflect.TypeFor[difference.Action](),
		reflect.TypeFor[resource.Replacement](), reflect.TypeFor[project.PolicyLevel]())
	if err != nil {
		t.Fatal(err)
	}
	name, err := m.Add(reflect.TypeFor[plan.Changes]())
	if err != nil {
		t.Fatal(err)
	}
	schemas := m.Schemas("#/$defs/")
	root := schemas[name].(map[string]any)
	delete(schemas, name)
	root["$schema"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", "What a Stackwright plan would change", schemas
	root["properties"].(map[string]any)["format"] = map[string]any{"const": plan.ChangesFormat}
	want, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "../../docs/changes.schema.json", string(want)+"\n")
}
