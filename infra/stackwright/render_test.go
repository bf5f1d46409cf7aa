package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// What render shows is what CloudFormation gets: name, template, parameters, tags and options.
func TestRenderShowsWhatIsDeployed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "template: templates/topic.yaml\n", "template: templates/topic.yaml\n    protect: true\n    tags: { team: '${project}' }\n")
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)

	folder := filepath.Join(t.TempDir(), "out")
	var all struct {
		Stacks []struct {
			Stack, Template string
			Request         struct {
				StackName                   string
				Parameters                  []struct{ ParameterKey, ParameterValue string }
				Tags                        []struct{ Key, Value string }
				EnableTerminationProtection bool
			}
		}
	}
	if err := json.Unmarshal([]byte(l.must(cli.ExitOK, "render", l.project, "--out", folder, "-o", "json")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Stacks) != 3 {
		t.Fatalf("%d stacks, want 3", len(all.Stacks))
	}
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	for _, r := range all.Stacks {
		out, err := client.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: &r.Request.StackName})
		if err != nil {
			t.Fatal(err)
		}
		live := out.Stacks[0]
		parameters := make(map[string]string)
		for _, p := range live.Parameters {
			parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
		}
		for _, p := range r.Request.Parameters {
			want := p.ParameterValue
			if strings.HasPrefix(want, "${topic.") {
				want = strings.TrimSpace(l.must(cli.ExitOK, "outputs", "topic", "Arn", "--raw"))
			}
			if parameters[p.ParameterKey] != want {
				t.Errorf("%s: parameter %s is %q, rendered as %q", r.Stack, p.ParameterKey, parameters[p.ParameterKey], p.ParameterValue)
			}
			delete(parameters, p.ParameterKey)
		}
		tags, rendered := make(map[string]string), make(map[string]string)
		for _, tag := range live.Tags {
			tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		for _, tag := range r.Request.Tags {
			rendered[tag.Key] = tag.Value
		}
		if d := cmp.Diff(tags, rendered); d != "" || len(parameters) > 0 {
			t.Errorf("%s: tags (- live, + rendered):\n%s\nparameters that are not rendered: %v", r.Stack, d, parameters)
		}
		if aws.ToBool(live.EnableTerminationProtection) != r.Request.EnableTerminationProtection {
			t.Errorf("%s: the termination protection is not as rendered", r.Stack)
		}
		template, err := client.GetTemplate(t.Context(), &cloudformation.GetTemplateInput{StackName: &r.Request.StackName})
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(filepath.Join(folder, r.Stack+".template.yaml"))
		if err != nil || aws.ToString(template.TemplateBody) != r.Template || string(written) != r.Template {
			t.Errorf("%s: the template is not as rendered: %v", r.Stack, err)
		}
		if _, err := os.Stat(filepath.Join(folder, r.Stack+".request.json")); err != nil {
			t.Error(err)
		}
	}
}
