package sceptre_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
)

// Hooks that Sceptre does not call, or that always fail there, are refused.
func TestHooksThatSceptreDoesNotCall(t *testing.T) {
	for hooks, want := range map[string]string{
		"before_create: [!asg_scaling_processes 'suspend::Launch']": "!asg_scaling_processes: the stack does not exist at before_create, so Sceptre always fails there",
		"after_delete: [!asg_scaling_processes 'resume::Launch']":   "!asg_scaling_processes: the stack does not exist at after_delete, so Sceptre always fails there",
		"before_update: !asg_scaling_processes 'suspend::Launch'":   "hooks: before_update: expected a list, found a resolver (!asg_scaling_processes): Sceptre does not call it",
		"before_diff: [!asg_scaling_processes 'suspend::Launch']":   "hooks: before_diff: Stackwright calls no hook then",
	} {
		files := archive.Files{
			"config/config.yaml": []byte("{project_code: shop, region: us-east-1}"), "config/a.yaml": []byte("{template: {path: t.yaml}, hooks: {" + hooks + "}}"),
			"templates/t.yaml": []byte("Resources: {T: {Type: AWS::SNS::Topic}}"),
		}
		_, err := format.Read(files, format.Options{Targets: targets})
		if got := fault.Messages(err); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q", hooks, got)
		}
	}
}
