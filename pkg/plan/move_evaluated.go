package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// differs says in what a resource would differ after a move; empty if it is the same.
func (r relocation) differs(moved MovedResource) string {
	before, leaves := r.evaluation(r.From, r.from.Template), r.from.Template.Resources[moved.From]
	after, arrives := r.evaluation(r.To, r.to.Moved.Template), r.to.Moved.Template.Resources[moved.To]
	for _, a := range []struct {
		what     string
		old, new *template.Expr
	}{
		{"Properties", leaves.Properties, arrives.Properties}, {"Metadata", leaves.Metadata, arrives.Metadata},
		{"CreationPolicy", leaves.CreationPolicy, arrives.CreationPolicy}, {"UpdatePolicy", leaves.UpdatePolicy, arrives.UpdatePolicy},
		{"DeletionPolicy", leaves.DeletionPolicy, arrives.DeletionPolicy}, {"UpdateReplacePolicy", leaves.UpdateReplacePolicy, arrives.UpdateReplacePolicy},
	} {
		was, is := renamed(before.Reduce(a.old), r.Resources), after.Reduce(a.new)
		for _, value := range []any{was, is} {
			for _, ref := range template.References(value) {
				if moves := slices.Contains(slices.Collect(maps.Values(r.Resources)), ref.Name); ref.Export == "" && !moves {
					return fmt.Sprintf("its %s refer to %s, whose value is not known or differs between the stacks", a.what, ref.Name)
				}
			}
		}
		if !sameValue(was, is) {
			return fmt.Sprintf("its %s differ: %s in %s, %s in %s", a.what, short(was), r.From, short(is), r.To)
		}
	}
	return ""
}

// evaluation evaluates a template with the live values of a stack's parameters. Those with
// NoEcho are not known.
func (v View) evaluation(name string, t *template.Template) *template.Evaluation {
	n, live := v.Desired.Nodes[name], v.Live[name]
	in := scope(n.Stack, live.StackID, n.Target)
	in.Parameters = make(map[string]string)
	for parameter, value := range live.Parameters {
		if value != hidden {
			in.Parameters[parameter] = value
		}
	}
	return t.In(in)
}

// renamed returns a reduced value with the names that the resources to which it refers have after the move.
func renamed(value any, names map[string]string) any {
	switch value := value.(type) {
	case []any:
		all := make([]any, len(value))
		for i, item := range value {
			all[i] = renamed(item, names)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(value))
		for key, item := range value {
			all[key] = renamed(item, names)
		}
		return all
	case template.Call:
		call := template.Call{Name: value.Name, Arguments: make([]any, len(value.Arguments))}
		for i, argument := range value.Arguments {
			call.Arguments[i] = renamed(argument, names)
		}
		if (call.Name == "Ref" || call.Name == "Fn::GetAtt") && len(call.Arguments) > 0 {
			if name, ok := call.Arguments[0].(string); ok {
				call.Arguments[0] = cmp.Or(names[name], name)
			}
		}
		return call
	}
	return value
}

// sameValue reports whether two reduced values are equal.
func sameValue(a, b any) bool {
	was, first := json.Marshal(a)
	is, second := json.Marshal(b)
	return first == nil && second == nil && bytes.Equal(was, is)
}

// short returns a reduced value in at most 80 characters.
func short(value any) string {
	text := []rune(template.Compact(value))
	if len(text) > 80 {
		return string(text[:79]) + "…"
	}
	return string(text)
}
