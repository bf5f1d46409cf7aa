package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// A shape is a JSON Schema.
type shape map[string]any

// The shapes of values.
var (
	textShape      = shape{"type": "string"}
	scalarShape    = shape{"type": []string{"string", "number", "boolean"}}
	valueShape     = anyOf(scalarShape, items(scalarShape))
	truthShape     = shape{"type": "boolean"}
	referenceShape = matching(`\$\{`)
	policyText     = shape{"type": "string", "maxLength": maxPolicyText}

	// durationShape is what time.ParseDuration reads, roughly.
	durationShape  = matching(`^\+?([0-9.]+[a-zµ]+)+$`)
	durationOption = anyOf(durationShape, referenceShape)
	shareShape     = anyOf(shape{"type": "integer", "minimum": 0, "maximum": 999_999}, matching(`^(0|[1-9][0-9]?|100)%$`))
	truthOption    = anyOf(truthShape, referenceShape)

	// templateShape is a path, a URL, or a template. A path has no references and stays in the project.
	templateShape = anyOf(but(but(textShape, "minLength", 1), "not", shape{"pattern": `\$\{|^http://|^/|^\.\./`}), shape{"type": "object"})
	// policyShape is a stack policy, or the path of its file.
	policyShape = anyOf(but(textShape, "minLength", 1), shape{"type": "object"})

	// dataShape is the value of a variable, which has no references. $${ is a literal ${.
	dataShape = anyOf(but(textShape, "not", shape{"pattern": `(^|[^$])\$\{`}), shape{"type": []string{"number", "boolean"}}, items(ref("data")), mapping(ref("data")))

	stagesShape = shape{"type": "array", "minItems": 2, "maxItems": project.MaxPromotions, "items": anyOf(matching(project.EnvironmentName.String()), ref("promoted_environment"))}
	alarmsShape = shape{"type": "array", "maxItems": project.MaxPromotionAlarms, "items": anyOf(but(textShape, "minLength", 1), ref("promotion_alarm"))}

	tagName   = shape{"minLength": 1, "maxLength": 128, "not": shape{"pattern": "^([Aa][Ww][Ss]|[Ss][Tt][Aa][Cc][Kk][Ww][Rr][Ii][Gg][Hh][Tt]):"}}
	stackName = shape{"type": "string", "pattern": declared.StackName.String(), "maxLength": declared.MaxName, "not": shape{"const": "var"}}
)

func anyOf(shapes ...shape) shape   { return shape{"anyOf": shapes} }
func matching(pattern string) shape { return shape{"type": "string", "pattern": pattern} }
func ref(name string) shape         { return shape{"$ref": "#/$defs/" + name} }
func oneOf(values ...string) shape  { return shape{"enum": values} }
func number(least, most int) shape {
	return shape{"type": "integer", "minimum": least, "maximum": most}
}
func mapping(values shape) shape { return shape{"type": "object", "additionalProperties": values} }
func items(of shape) shape       { return shape{"type": "array", "items": of} }

// such are the examples of a key.
func such(values ...any) []any { return values }

// but is a shape with another keyword.
func but(s shape, keyword string, v any) shape { c := maps.Clone(s); c[keyword] = v; return c }

// distinct is a list of items that differ.
func distinct(of shape) shape { return but(optional(items(of)), "uniqueItems", true) }

// option is one of some values, or has references.
func option(values ...string) shape { return anyOf(oneOf(values...), referenceShape) }

// optional also accepts nothing.
func optional(s shape) shape { return but(s, "type", []any{s["type"], "null"}) }

// named is a mapping whose keys have a form.
func named(pattern string, values shape) shape {
	return but(optional(mapping(values)), "propertyNames", shape{"pattern": pattern})
}

// object is a mapping with the keys of a table and no others.
func object(keys []key) shape {
	properties := shape{}
	for _, k := range keys {
		properties[k.name] = k.shape()
	}
	return shape{"type": "object", "additionalProperties": false, "properties": properties}
}

// shape is the schema of the key's value.
func (k key) shape() shape {
	s := but(k.value, "description", k.what)
	if k.examples != nil {
		s["examples"] = k.examples
	}
	return s
}

// requires are the alternatives of which exactly one has to be there.
func requires(alternatives ...[]string) []shape {
	var all []shape
	for _, keys := range alternatives {
		all = append(all, shape{"required": keys})
	}
	return all
}

// Schema is the JSON Schema of a project file, for editors. It is made of the tables of keys that the reader uses.
func Schema() ([]byte, error) {
	root := object(topTable)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A Stackwright project (stackwright.yaml)"
	root["required"] = []string{"project"}
	root["anyOf"] = requires([]string{"stacks"}, []string{"imports"})
	root["patternProperties"] = shape{"^" + anchors: shape{"description": "Values with anchors. Stackwright does not read them."}}
	root["$defs"] = shape{
		"stack":                but(but(object(stackTable), "required", []string{"template"}), "not", shape{"required": []string{"only", "except"}}),
		"override":             optional(object(overrideTable)),
		"defaults":             optional(object(settingTable)),
		"environment":          optional(object(environmentTable)),
		"rollback_triggers":    optional(object(triggerTable)),
		"rollout":              optional(object(rolloutTable)),
		"promote":              but(object(promoteTable), "required", []string{"order"}),
		"promoted_environment": but(object(stageTable), "required", []string{"environment"}),
		"promotion_alarm":      but(object(alarmTable), "required", []string{"name"}),
		"group":                but(object(groupTable), "required", groupKeys),
		"snapshots":            but(object(snapshotsTable), "minProperties", 1),
		"move":                 but(object(moveTable), "required", moveKeys),
		"schedule":             but(but(object(scheduleTable), "required", []string{"operation"}), "oneOf", requires(each(whenKeys)...)),
		"policy":               but(but(object(policyTable), "required", []string{"message"}), "oneOf", requires([]string{string(project.Deny)}, []string{string(project.Warn)})),
		"hook":                 hookShape(),
		"data":                 dataShape,
		"stack_hooks":          momentsShape(project.StackMoments()),
		"project_hooks":        momentsShape(project.ProjectMoments()),
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(root); err != nil {
		return nil, fmt.Errorf("write the schema of project files: %w", err)
	}
	return b.Bytes(), nil
}

func each(names []string) [][]string {
	var all [][]string
	for _, name := range names {
		all = append(all, []string{name})
	}
	return all
}

// hookShape is the schema of a hook of any type.
func hookShape() shape {
	table := slices.Clone(hookTable)
	var types [][]string
	for _, t := range hook.All() {
		table = append(table, key{t.Name, "A hook of this type: " + t.What + ".", textShape, nil})
		needs := []string{t.Name}
		for _, k := range t.Keys {
			table = append(table, key{k.Name, "Of a hook of the type " + t.Name + ".", scalarShape, nil})
			if !k.Optional {
				needs = append(needs, k.Name)
			}
		}
		types = append(types, needs)
	}
	return but(but(object(table), "required", []string{"name"}), "oneOf", requires(types...))
}

// momentsShape is the schema of hooks by their moments.
func momentsShape(moments map[project.Moment][]project.Moment) shape {
	var table []key
	for _, m := range slices.Sorted(maps.Keys(moments)) {
		table = append(table, key{string(m), "Hooks that are called in their order.", but(optional(items(ref("hook"))), "maxItems", project.MaxHooks), nil})
	}
	return optional(object(table))
}
