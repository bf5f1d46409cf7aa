package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/policy"
)

// The policies of the starter set pass their own tests, and each of them is violated in one.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/policies/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := read(t, filepath.Base(file), string(body))
		set, err := policy.Compile(all)
		if err != nil {
			t.Error(err)
			continue
		}
		cases, err := policy.ReadCases(filepath.Base(file), body, all)
		if err != nil {
			t.Error(err)
		}
		violated := make(map[string]bool)
		for _, c := range cases {
			r, err := set.Test(t.Context(), c)
			if err != nil || !r.OK {
				t.Errorf("%s: %s: %+v, %v", r.At, r.Name, r, err)
			}
			for _, e := range c.Expect {
				violated[e.Policy] = true
			}
		}
		for _, p := range all {
			if !violated[p.Name] {
				t.Errorf("%s: no test violates %s", file, p.Name)
			}
		}
	}
}
