package resource_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// For each path of each type, two templates differ in the value at that path. Their comparison says of the resource
// what the sources of the table say.
func TestChangeOfEachPath(t *testing.T) {
	all := resource.Expectations(t)
	paths, replaced := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, path := range slices.Sorted(maps.Keys(all[name])) {
			want := all[name][path]
			if want == resource.Never && strings.Count(path, "/") > 1 { // only the table is read: these are very many
				if typ, _ := resource.Named(name); typ.Replacement(strings.Split(path, "/")) != want {
					t.Errorf("a change of %s of %s: want %s", path, name, want)
				}
				continue
			}
			d := difference.Of(side(t, name, path, "a"), side(t, name, path, "b"), difference.Uncertain{})
			if len(d.Resources) != 1 {
				t.Fatalf("%s of %s: %d resources differ", path, name, len(d.Resources))
			}
			if got := d.Resources[0].Replacement; got != want {
				t.Errorf("a change of %s of %s: replacement %s, want %s", path, name, got, want)
			}
			if paths++; want != resource.Never {
				replaced++
			}
		}
	}
	if t.Logf("%d paths, %d of them with a replacement", paths, replaced); replaced < 5000 {
		t.Errorf("only %d paths of %d with a replacement", replaced, paths)
	}
}

// side is a template with one resource, which has a value at a path.
func side(t *testing.T, name, path, text string) difference.Side {
	t.Helper()
	var value any = text
	segments := strings.Split(path, "/")
	for _, s := range slices.Backward(segments) {
		if s == "*" {
			value = []any{value}
		} else {
			value = map[string]any{s: value}
		}
	}
	r := map[string]any{"Type": name, "Properties": value}
	encoded, err := json.Marshal(map[string]any{"Resources": map[string]any{"R": r}})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := template.Parse("t.json", encoded)
	if err != nil {
		t.Fatal(err)
	}
	return difference.Side{Template: parsed}
}
