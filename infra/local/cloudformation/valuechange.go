package cloudformation

import (
	"encoding/json"
	"maps"
	"strconv"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// valueChange is a part of the properties of a resource that differs between two versions.
type valueChange struct {
	path          []string
	before, after any // nil if there is no value
}

// propertyChanges are the parts of the properties of a resource that differ, sorted by their paths. Both are JSON.
func propertyChanges(t schema.Type, before, after string) []valueChange {
	a, b := properties(before), properties(after)
	var all []valueChange
	for _, name := range union(a, b) {
		all = append(all, valueChanges(t, []string{name}, a[name], b[name])...)
	}
	return all
}

func properties(text string) map[string]any {
	var all map[string]any
	if json.Unmarshal([]byte(text), &all) != nil { // "" is no properties at all
		return nil
	}
	return all
}

func union(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return sorted(all)
}

// valueChanges are the parts of a value that differ. CloudFormation reports a policy document, which its schemas do not
// describe, as a whole.
func valueChanges(t schema.Type, path []string, a, b any) []valueChange {
	below := func(key string, a, b any) []valueChange {
		return valueChanges(t, append(path[:len(path):len(path)], key), a, b)
	}
	var all []valueChange
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || x["Statement"] != nil || y["Statement"] != nil {
			break
		}
		for _, key := range union(x, y) {
			all = append(all, below(key, x[key], y[key])...)
		}
		return all
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		x, y = t.Aligned(path, x, y)
		for i := range x {
			all = append(all, below(strconv.Itoa(i), x[i], y[i])...)
		}
		return all
	}
	if template.Compact(a) == template.Compact(b) {
		return nil
	}
	return []valueChange{{path, a, b}}
}

func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// at is the part of a value at a path, or the call of a function on the way to it.
func at(v any, path []string) any {
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil {
				return nil
			}
			v = item(x, i)
		case template.Call:
			return x
		default:
			return nil
		}
	}
	return v
}
