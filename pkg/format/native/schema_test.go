package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// The schema that editors read is the one that is made of the tables of keys.
func TestSchema(t *testing.T) {
	made, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "../../../docs/project.schema.json", string(made))
}

// The examples of the schema are valid by it.
func TestExamplesOfTheSchema(t *testing.T) {
	s := compiled(t)
	count := 0
	for of, table := range map[string][]key{
		"": topTable, "stack": stackTable, "override": overrideTable, "defaults": settingTable, "environment": environmentTable, "schedule": scheduleTable,
		"policy": policyTable, "hook": hookTable, "move": moveTable, "group": groupTable, "snapshots": snapshotsTable, "promote": promoteTable, "promoted_environment": stageTable, "promotion_alarm": alarmTable, "rollback_triggers": triggerTable,
	} {
		within := s
		if of != "" {
			within = definition(t, of)
		}
		for _, k := range table {
			if k.what == "" || within.Properties[k.name] == nil {
				t.Errorf("%s: %s has no description, or is not in the schema", of, k.name)
				continue
			}
			for _, e := range k.examples {
				count++
				text, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				if err := within.Properties[k.name].Validate(v); err != nil {
					t.Errorf("%s: %s: the example %s: %v", of, k.name, text, err)
				}
			}
		}
	}
	if count < 30 {
		t.Errorf("there are only %d examples", count)
	}
}

// Every project that the reader accepts is valid by the schema.
func TestSchemaAcceptsProjects(t *testing.T) {
	s, count := compiled(t), 0
	for _, pattern := range []string{"../testdata/accepted/*/stackwright.yaml", "../../../examples/*/stackwright.yaml", "../draft/testdata/*.yaml", "../convert/testdata/*.yaml"} {
		all, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range all {
			v, ok := read(t, file)
			if !ok {
				t.Errorf("%s is not YAML", file)
				continue
			}
			count++
			if err := s.Validate(v); err != nil && !strings.HasSuffix(file, "incomplete.yaml") { // which says what is to be written
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if count < 30 {
		t.Errorf("there are only %d projects", count)
	}
}

// Of the projects that the reader refuses, the schema refuses those that are listed so, each where it is listed. What it cannot see in the
// others is the reader's first message: an editor does not show it.
func TestSchemaRefusesProjects(t *testing.T) {
	s := compiled(t)
	all, err := filepath.Glob("../testdata/refused/*/stackwright.yaml")
	if err != nil || len(all) < 50 {
		t.Fatalf("%d projects, %v", len(all), err)
	}
	var b strings.Builder
	for _, file := range all {
		name := filepath.Base(filepath.Dir(file))
		v, ok := read(t, file)
		if !ok {
			fmt.Fprintf(&b, "%s: no YAML\n", name)
			continue
		}
		err := s.Validate(v)
		if wrong, is := errors.AsType[*jsonschema.ValidationError](err); is {
			fmt.Fprintf(&b, "%s: refused at %s\n", name, strings.Join(places(wrong), " "))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(filepath.Dir(file), "want.txt"))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(want), "\n")
		fmt.Fprintf(&b, "%s: not seen: %s\n", name, first)
	}
	golden.Same(t, "testdata/schema.txt", b.String())
}

// places are where an error is, sorted, each once.
func places(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{"/" + strings.Join(e.InstanceLocation, "/")}
	}
	var all []string
	for _, cause := range e.Causes {
		all = append(all, places(cause)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func compiled(t *testing.T) *jsonschema.Schema { return definition(t, "") }

// definition compiles the schema, or one of its definitions.
func definition(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	made, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(made)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("project.json", v); err != nil {
		t.Fatal(err)
	}
	at := "project.json"
	if name != "" {
		at += "#/$defs/" + name
	}
	s, err := c.Compile(at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read reads a file as an editor does. It reports false if it is not YAML.
func read(t *testing.T, file string) (any, bool) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, err := document.ReadMerged(file, body)
	if err != nil {
		return nil, false
	}
	return data(root), true
}

// data is a node as JSON has it. A date is a text.
func data(n *yaml.Node) any {
	n = document.Resolve(n)
	switch {
	case n.Kind == yaml.MappingNode:
		all := map[string]any{}
		for _, pair := range document.Pairs(n) {
			all[pair.Key.Value] = data(pair.Value)
		}
		return all
	case n.Kind == yaml.SequenceNode:
		all := []any{}
		for _, item := range document.Items(n) {
			all = append(all, data(item))
		}
		return all
	case document.Null(n):
		return nil
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		return json.Number("0") // such as 0x1f, .inf or 010
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	}
	return n.Value
}
