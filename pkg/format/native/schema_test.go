package native

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/project"
)

// The schema for editors has the keys, the names and the limits of the reader.
func TestSchemaHasTheKeysAndLimits(t *testing.T) {
	type shape struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties any
		PropertyNames        struct {
			Pattern   string
			MaxLength int
		}
		MaxProperties int
		MaxItems      int
		Pattern       string
	}
	body, err := os.ReadFile("../../../docs/project.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		shape
		Defs map[string]shape `json:"$defs"`
	}
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		shape shape
		keys  []string
	}{
		"the file":       {schema.shape, topKeys},
		"a stack":        {schema.Defs["stack"], stackKeys},
		"defaults":       {schema.Defs["defaults"], defaultKeys},
		"an environment": {schema.Defs["environment"], environmentKeys},
		"a schedule":     {schema.Defs["schedule"], scheduleKeys},
		"an override":    {schema.Defs["override"], overrideKeys},
		"a move":         {schema.Defs["move"], moveKeys},
		"triggers":       {schema.Defs["rollback_triggers"], triggerKeys},
		"a policy":       {schema.Defs["policy"], policyKeys},
		"a hook":         {schema.Defs["hook"], allHookKeys()},
	} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(c.keys)), slices.Sorted(maps.Keys(c.shape.Properties))); diff != "" {
			t.Errorf("%s (- reader, + schema):\n%s", what, diff)
		}
		if c.shape.AdditionalProperties != false {
			t.Errorf("%s: unknown keys are allowed", what)
		}
	}
	inner := func(name string) (s shape) {
		if err := json.Unmarshal(schema.Properties[name], &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for what, c := range map[string][2]any{
		"project":      {inner("project").Pattern, project.Name.String()},
		"stacks":       {inner("stacks").PropertyNames.Pattern, declared.StackName.String()},
		"length":       {inner("stacks").PropertyNames.MaxLength, declared.MaxName},
		"count":        {inner("stacks").MaxProperties, declared.MaxStacks},
		"environments": {inner("environments").PropertyNames.Pattern, project.EnvironmentName.String()},
		"schedules":    {schema.Defs["schedules"].PropertyNames.Pattern, declared.ScheduleName.String()},
		"their count":  {schema.Defs["schedules"].MaxProperties, declared.MaxSchedules},
		"moves":        {inner("moved").MaxItems, declared.MaxMoved},
		"policies":     {inner("policies").MaxProperties, project.MaxPolicies},
		"their names":  {inner("policies").PropertyNames.Pattern, project.Name.String()},
		"variables":    {schema.Defs["variables"].PropertyNames.Pattern, declared.VariableName.String()},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: the schema has %v, the reader %v", what, c[0], c[1])
		}
	}
}
