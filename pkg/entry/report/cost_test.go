package report_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/schema"
	"github.com/stackwright/stackwright/pkg/plan"
)

// The schema of the document is that of the code.
func TestSchemaOfCost(t *testing.T) {
	m, err := schema.New("github.com/stackwright/stackwright/pkg/entry/report", []string{".", "../../plan", "../../lib/price"}, reflect.TypeFor[plan.StackAction](), reflect.TypeFor[plan.Certainty]())
	if err != nil {
		t.Fatal(err)
	}
	name, err := m.Add(reflect.TypeFor[report.Cost]())
	if err != nil {
		t.Fatal(err)
	}
	schemas := m.Schemas("#/$defs/")
	root := schemas[name].(map[string]any)
	delete(schemas, name)
	root["$schema"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", "What a Stackwright plan would add to what its stacks cost a month", schemas
	root["properties"].(map[string]any)["format"] = map[string]any{"const": report.CostFormat}
	want, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "../../../docs/cost.schema.json", string(want)+"\n")
}

// A plan of an installation that makes no estimates is refused: it is no plan that costs nothing.
func TestPlanWithoutEstimate(t *testing.T) {
	if c, err := report.CostOf(plan.Changes{Stacks: []plan.StackChange{{Stack: "db", Action: plan.ActionCreate}}}); err == nil || !strings.Contains(err.Error(), "update the installation") || len(c.Stacks) > 0 {
		t.Errorf("%v, %+v", err, c)
	}
}
