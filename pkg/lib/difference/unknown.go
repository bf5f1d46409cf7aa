package difference

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Unknown lists, as messages, the resource types and properties of a template that AWS
// does not publish. They may be newer than the table of this version. Types of others
// (custom, private, third-party types and modules) are not checked.
func Unknown(t *template.Template) []string {
	var all []string
	if t.Macros() {
		return nil // only the macro knows which types and properties it reads
	}
	e := t.In(template.Scope{})
	for _, id := range t.ResourceNames() {
		r := t.Resources[id]
		if !resource.Public(r.Type) {
			continue
		}
		typ, ok := resource.Named(r.Type)
		if !ok {
			all = append(all, fmt.Sprintf("%s: the type %s is not known%s", id, r.Type, didYouMean(r.Type, resource.Names())))
			continue
		}
		properties, _ := e.Reduce(r.Properties).(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if len(typ.Properties) > 0 && !typ.Has(name) {
				all = append(all, fmt.Sprintf("%s: %s has no property %s%s", id, r.Type, name, didYouMean(name, typ.Properties)))
			}
		}
	}
	return all
}

// didYouMean ends a message about a name that is not known.
func didYouMean(name string, names []string) string {
	if closest := suggest.Closest(name, names); closest != "" {
		return ": did you mean " + closest + "?"
	}
	return ""
}
