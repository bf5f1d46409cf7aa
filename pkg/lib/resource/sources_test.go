package resource

import (
	"maps"
	"slices"
	"testing"
)

// sources are the sources of the table, by type.
type sources struct {
	schemas       map[string]schema
	specification map[string]specified
}

// readSources reads the sources, or skips the test.
func readSources(t *testing.T) sources {
	t.Helper()
	if *schemas == "" || *specification == "" {
		t.Skip("needs -schemas and -specification: make integration and make types give them")
	}
	return sources{readSchemas(t, *schemas), readSpecification(t, *specification)}
}

// names are the names of all types, sorted.
func (s sources) names() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(s.schemas)), maps.Keys(s.specification))
	slices.Sort(all)
	return slices.Compact(all)
}

// AWS's own list of types that hold data is short, but none of it is missing in ours.
func TestStatefulTypesOfTheSpecification(t *testing.T) {
	for name, is := range readSources(t).specification {
		if _, ok := Stateful(name); is.stateful && !ok && name != "AWS::CloudFormation::Stack" {
			t.Errorf("%s holds data, says the specification", name)
		}
	}
}

// replacements are the worse ones of what both sources say of the type. If the schema says that tags can be updated, it
// counts: what the specification says of tags is older.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
func (s sources) replacements(name string) map[string]Replacement {
	schema := s.schemas[name]
	all := schema.replacements()
	tags := schema.tags()
	for path, r := range s.specification[name].replacements {
		if tags == "" || !under(tags, path) {
			all[path] = Worse(r, all[path])
		}
	}
	return all
}
