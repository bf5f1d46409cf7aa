package policy_test

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/project"
)

// read reads policies as package format does, without its checks.
func read(t *testing.T, file, text string) []project.Policy {
	t.Helper()
	var f struct {
		Policies yaml.Node
	}
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	var all []project.Policy
	for i := 0; i+1 < len(f.Policies.Content); i += 2 {
		p := project.Policy{Name: f.Policies.Content[i].Value, File: file}
		body := f.Policies.Content[i+1].Content
		for j := 0; j+1 < len(body); j += 2 {
			switch key, value := body[j].Value, body[j+1]; key {
			case "message":
				p.Message = value.Value
			default:
				p.Level, p.When, p.Line, p.Column = project.PolicyLevel(key), value.Value, value.Line, value.Column
				p.Exact = value.Style == 0
			}
		}
		all = append(all, p)
	}
	return all
}
