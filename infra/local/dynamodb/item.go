package dynamodb

import (
	"encoding/json"

	"github.com/truora/minidyn/server"
)

// attributes are an item's, or a key's, by name.
type attributes = map[string]*server.AttributeValue

// item is what a table holds under a key. Nobody changes it: a write puts another in its place.
type item struct {
	attributes attributes
	wire       json.RawMessage // the attributes in DynamoDB's JSON; its length is what limits count
}

func newItem(a attributes) item { return item{attributes: a, wire: wire(a)} }

// wire is the attributes in DynamoDB's JSON; nil for none.
func wire(a attributes) json.RawMessage {
	if len(a) == 0 {
		return nil
	}
	text, _ := json.Marshal(plainMap(a)) // strings, bytes and booleans always marshal
	return text
}

func plainMap(a attributes) map[string]any {
	out := make(map[string]any, len(a))
	for name, value := range a {
		out[name] = plainValue(value)
	}
	return out
}

// plainValue keeps what minidyn's own encoding drops: that a list, a map or bytes are empty.
func plainValue(v *server.AttributeValue) any {
	switch {
	case v == nil:
		return nil
	case v.B != nil:
		return map[string][]byte{"B": v.B}
	case v.L != nil:
		list := make([]any, len(v.L))
		for i, element := range v.L {
			list[i] = plainValue(element)
		}
		return map[string][]any{"L": list}
	case v.M != nil:
		return map[string]map[string]any{"M": plainMap(v.M)}
	default:
		return v
	}
}
