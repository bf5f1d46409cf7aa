package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stackwright/stackwright/pkg/enginetest/workload"
)

// template is the template of all stacks. A stack gets the names of the topics that it
// depends on.
func template() string {
	var parameters, refs strings.Builder
	for i := range workload.MostNeeds {
		fmt.Fprintf(&parameters, "  From%d: { Type: String, Default: none }\n", i)
		fmt.Fprintf(&refs, ", !Ref From%d", i)
	}
	return `Parameters:
` + parameters.String() + `Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: { DisplayName: !Join [" ", [v1` + refs.String() + `]] }
Outputs:
  Name: { Value: !GetAtt Topic.TopicName }
`
}

// project writes a graph as a project of Stackwright, and returns its folder.
func (b *measurement) project(name string, g workload.Graph) (string, error) {
	var p strings.Builder
	p.WriteString("project: bench\nstacks:\n")
	for _, s := range g {
		fmt.Fprintf(&p, "  %s:\n    template: topic.yaml\n", s.Name)
		for i, need := range s.Needs {
			if i == 0 {
				p.WriteString("    parameters:\n")
			}
			fmt.Fprintf(&p, "      From%d: ${%s.Name}\n", i, need)
		}
	}
	dir := filepath.Join(b.work, name)
	return dir, files(dir, map[string]string{"stackwright.yaml": p.String(), "topic.yaml": template()})
}

// sceptreProject writes the same as a project of Sceptre.
func (b *measurement) sceptreProject(name string, g workload.Graph) (string, error) {
	all := map[string]string{
		"config/config.yaml":     "project_code: bench\nregion: us-east-1\n",
		"config/all/config.yaml": "",
		"templates/topic.yaml":   template(),
	}
	for _, s := range g {
		var c strings.Builder
		c.WriteString("template: { path: topic.yaml, type: file }\n")
		for i, need := range s.Needs {
			if i == 0 {
				c.WriteString("parameters:\n")
			}
			fmt.Fprintf(&c, "  From%d: !stack_output all/%s.yaml::Name\n", i, need)
		}
		all["config/all/"+s.Name+".yaml"] = c.String()
	}
	dir := filepath.Join(b.work, name)
	return dir, files(dir, all)
}

// files writes files into a folder.
func files(dir string, all map[string]string) error {
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
