package resource

import (
	"slices"
	"strconv"
)

// Replacement says what a change of the property at the path means for a resource of
// this type. The path has property names, and the index of a list item as a number. A
// change of a part of a create-only property is a change of that property, and so is the
// addition or removal of a mapping that contains a create-only property.
func (t Type) Replacement(path []string) Replacement {
	switch {
	case slices.ContainsFunc(t.inPlace, func(p string) bool { return within(p, path) }):
		return Never
	case slices.ContainsFunc(t.createOnly, func(p string) bool { return overlaps(p, path) }):
		return Always
	case slices.ContainsFunc(t.conditional, func(p string) bool { return overlaps(p, path) }):
		return Conditional
	}
	return Never
}

// Change says what it means for a resource of this type if the value at the path changes.
// nil is no value. If a mapping or a list is added or removed, its parts decide.
func (t Type) Change(path []string, before, after any) Replacement {
	all := Never
	if rule := t.rule(path); rule != nil {
		all = rule(path[1:], before, after)
	}
	switch {
	case before == nil:
		return Worse(all, t.parts(path, after))
	case after == nil:
		return Worse(all, t.parts(path, before))
	}
	return Worse(all, t.Replacement(path))
}

// parts is the strongest replacement that the parts of a value at the path have.
func (t Type) parts(path []string, v any) Replacement {
	below := func(key string) []string { return append(slices.Clone(path), key) }
	all := Never
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			all = Worse(all, t.parts(below(key), part))
		}
		if len(v) > 0 {
			return all
		}
	case []any:
		for i, part := range v {
			all = Worse(all, t.parts(below(strconv.Itoa(i)), part))
		}
		if len(v) > 0 {
			return all
		}
	}
	return t.Replacement(path)
}

// Worse returns the stronger replacement.
func Worse(a, b Replacement) Replacement {
	order := Replacements()
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// Under returns the type as it is for a resource with an update policy, which is nil if there is none: a property that
// the policy has changed in place does not replace the resource. A policy that is not known may do that.
func (t Type) Under(policy any) Type {
	for _, u := range upgrades[t.Name] {
		on, known := enables(policy, u.policy)
		if known && !on {
			continue
		}
		below := func(p string) bool { return under(u.path, p) }
		t.createOnly = slices.DeleteFunc(slices.Clone(t.createOnly), below)
		t.conditional = slices.DeleteFunc(slices.Clone(t.conditional), below)
		if !known {
			t.conditional = append(t.conditional, u.path)
		}
	}
	return t
}

// enables reports whether an update policy has the key with the value true, and whether that is known.
func enables(policy any, key string) (on, known bool) {
	given, ok := policy.(map[string]any)
	switch value := given[key].(type) {
	case nil:
		return false, ok || policy == nil
	case bool:
		return value, true
	case string:
		return value == "true", true
	}
	return false, false
}

// Aligned returns both lists at the path with items of the same name at the same place.
// nil is an item that one of them does not have. Items without names keep their places.
func (t Type) Aligned(path []string, before, after []any) (a, b []any) {
	key := ""
	if len(path) == 1 {
		key = names[t.Name][path[0]]
	}
	name := func(item any) string {
		m, _ := item.(map[string]any)
		text, _ := m[key].(string)
		return text
	}
	b = slices.Clone(after)
	if key == "" {
		missing := len(before) - len(b)
		return slices.Concat(before, make([]any, max(0, -missing))), slices.Concat(b, make([]any, max(0, missing)))
	}
	a = make([]any, len(b))
	for _, item := range before {
		i := slices.IndexFunc(b, func(other any) bool { return name(item) != "" && name(other) == name(item) })
		if i < 0 || a[i] != nil {
			i, a, b = len(a), append(a, nil), append(b, nil)
		}
		a[i] = item
	}
	return a, b
}
