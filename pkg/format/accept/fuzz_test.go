package accept

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Whatever was found, nothing panics, the template can be read afterwards, nothing but what was found differs, and without findings no byte does.
func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"yaml/template.yaml", "json/template.json", "computed/template.yaml"} {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body), "Orders", "Tags[2]", `{"Key":"old","Value":"true"}`, "")
		f.Add(string(body), "Orders", "VisibilityTimeout", "30", "1e3")
		f.Add(string(body), "Queue", "RedrivePolicy", `{"deadLetterTargetArn":"a","maxReceiveCount":5}`, `{"deadLetterTargetArn":"a","x":[{}]}`)
	}
	f.Add("Resources: {R: {Type: A, Properties: {a: [1, 2, ], b: {c.d: x}}}}", "R", "a[2]", "", `["x"]`)
	f.Add("Resources: {R: {Type: A, Properties: {a: [1, 2, ], b: {c.d: x}}}}", "R", "b.c.d", "x", "\x00\u0085")
	f.Add("Resources:\n  R:\n    Type: A\n    Properties:\n      a: |\n        x\n      b:\n      - - 1\n        - 2\n", "R", "b[0][0]", "1", "a\nb\n")
	f.Add("Resources:\r\n  R:\r\n    Type: A\r\n    Properties: &a\r\n      a: !!str 5\r\n", "R", "a", "5", "{\"a\":null}")
	f.Fuzz(func(t *testing.T, text, resource, property, expected, actual string) {
		body := []byte(text)
		if d := Template("t.yaml", body, []Stack{{Name: "s", Compared: true}}); string(d.Body) != text {
			t.Fatalf("without findings, it is\n%s", d.Body)
		}
		root, err := document.Read("t.yaml", body)
		if len(text) > 10_000 {
			return
		}
		s := Stack{Name: "s", Compared: true, Findings: []plan.Finding{{Kind: plan.DriftModified, Resource: resource, Property: property, Expected: expected, Actual: actual}}}
		d := Template("t.yaml", body, []Stack{s})
		if n := len(d.Written) + len(d.Already) + len(d.Left); n != 1 {
			t.Fatalf("one finding became %d", n)
		}
		if len(d.Written) == 0 {
			if string(d.Body) != text {
				t.Fatalf("nothing was written, and it is\n%s", d.Body)
			}
			return
		}
		read, wrong := document.Read("t.yaml", d.Body)
		if err != nil || wrong != nil {
			t.Fatalf("%v, %v\n%s", err, wrong, d.Body)
		}
		for _, one := range []struct{ root, other bool }{{true, false}, {false, true}} { // all other resources are the same
			from, to := root, read
			if one.other {
				from, to = read, root
			}
			for _, section := range document.Pairs(from) {
				there, ok := document.Lookup(to, section.Key.Value)
				if section.Key.Value != "Resources" {
					if !ok || !same(section.Value, there) {
						t.Fatalf("section %s differs:\n%s", section.Key.Value, d.Body)
					}
					continue
				}
				for _, r := range document.Pairs(section.Value) {
					if there, ok := document.Lookup(there, r.Key.Value); r.Key.Value != resource && (!ok || !same(r.Value, there)) {
						t.Fatalf("resource %s differs:\n%s", r.Key.Value, d.Body)
					}
				}
			}
		}
		if expected == "" && actual != "" || actual == "" {
			return // what is added or removed in a list moves its other items
		}
		if again := Template("t.yaml", d.Body, []Stack{s}); len(again.Already) != 1 {
			t.Fatalf("written again: %s\n%s\n%s", report(again), text, d.Body)
		}
	})
}
