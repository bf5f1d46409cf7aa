package plain

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// Read never panics, takes a bounded amount of memory, and makes a stack with a valid name, once. If the
// parameters of a stack are not complete, there is a problem.
func FuzzRead(f *testing.F) {
	for _, seed := range []struct{ name, parameters string }{
		{"a.yaml", `[{"ParameterKey": "A", "ParameterValue": "1"}]`}, {"templates/a.template.json", `["A=1", "B=a=b"]`},
		{"a/b_c.yml", `{"Parameters": {"A": ["x", "y"], "B": 1.5}, "Tags": {"T": true}}`}, {"é.template", `[{"ParameterKey": "A", "UsePreviousValue": true}]`},
		{"parameters/x.yaml", "- A=1\n- !Ref B\n"}, {"a.params.yaml", "Parameters: &x {A: *x}"}, {"a//b.yaml", "{"},
	} {
		f.Add(seed.name, "Resources: {T: {Type: AWS::SNS::Topic}}", seed.parameters)
	}
	f.Fuzz(func(t *testing.T, name, template, parameters string) {
		files := archive.Files{"x.yaml": []byte("Resources: {}"), "parameters/x.json": []byte(parameters)}
		if archive.Inadmissible(name) == "" {
			files[name] = []byte(template)
		}
		var list problem.List
		var p declared.Project
		contract.Memory(t, len(template)+len(parameters), 16<<20, 4000, func() {
			list = problem.List{}
			p, _ = Read(files, &list)
		})
		seen := make(map[string]bool)
		for _, s := range p.Stacks {
			if seen[s.Name] || !declared.StackName.MatchString(s.Name) || len(s.Name) > declared.MaxName {
				t.Errorf("stack %q, twice: %t", s.Name, seen[s.Name])
			}
			seen[s.Name] = true
			if s.Settings.Incomplete && list.Err() == nil {
				t.Errorf("%s: its parameters are not complete, and there is no problem", s.Name)
			}
			for _, e := range s.Settings.Parameters {
				if _, ok := e.Value.Literal(); !ok || e.At.File == "" || e.At.Line == 0 {
					t.Errorf("%+v", e)
				}
			}
		}
		if err := list.Err(); err != nil && !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
	})
}
