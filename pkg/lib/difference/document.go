package difference

import (
	"encoding/json"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// Documents compares two values of a property of a resource type, both written as JSON, such as a policy. Each
// difference has its path below that of the property, and neither says what it means for the resource. There is none if
// a value is no mapping and no list, or is not complete.
func Documents(typ string, at []string, before, after string) []Property {
	a, ok := document(before)
	b, both := document(after)
	if !ok || !both {
		return nil
	}
	p := properties{comparison: &comparison{}}
	p.known, p.named = resource.Named(typ)
	p.diff(at, a, b)
	return p.found
}

// document reads a mapping or a list.
func document(text string) (v any, ok bool) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || !json.Valid([]byte(text)) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}
