package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// excused lists the findings of cdk-nag that are accepted, and why. An entry without a
// finding must be removed.
var excused = []struct {
	rule, of string // patterns: of the rule, and of the resource's name
	why      string

	found bool
}{
	{rule: `AwsSolutions-IAM5\[Resource::.*`, of: `\w+Role|ChangeStacks|SuspendResources|BackUp|BackUpFiles`, why: "permissions*.go say why beside each wildcard, and TestWildcardsHaveReasons that it does; there is none in an action"},
	{rule: `Serverless-LambdaStarPermissions`, of: `\w+Role`, why: "the same, of functions: the resources of traces and of what users name"},
	{rule: `AwsSolutions-IAM4\[Policy::.*`, of: `ExecutionRole`, why: "the setting executionPolicies says what the projects' stacks may contain"},
	{rule: `AwsSolutions-IAM4`, of: `Execution`, why: "a parameter of the target says what its stacks may contain"},
	{rule: `AwsSolutions-IAM4`, of: `Orchestrator`, why: "a parameter of the target says with which policies the drift of resources is detected; there are none otherwise"},
	{rule: `AwsSolutions-IAM4\[Policy::.*`, of: `ExecuteStepRole|WaitStatusRole`, why: "the setting driftPolicies says with which policies the drift of resources is detected"},
	{rule: `AwsSolutions-IAM5\[(Action|Resource)::.*`, of: `Boundary`, why: "a boundary allows nothing by itself, and what it denies it must deny for all names"},
	{rule: `AwsSolutions-IAM5\[Resource::.*`, of: `Orchestrator|Execution`, why: "projects name their stacks, targets are in any region, and templates and the files that they name are named by their digests"},
	{rule: `AwsSolutions-S1`, of: `Bucket`, why: "the table has the requests and who made them; CloudTrail's data events record reads, and access logs would need a second bucket"},
	{rule: `AwsSolutions-SQS3`, of: `\w+Dead`, why: "they are dead-letter queues themselves"},
	{rule: `Serverless-SQSRedrivePolicy`, of: `\w+Dead`, why: "the same"},
	{rule: `AwsSolutions-APIG4`, of: `HttpApiGETF1CE5704|HttpApiGETpagefile29976F8A`, why: "the files of the page have no data, and people sign in on it; TestAPI says that no other route is open"},
	{rule: `Serverless-LambdaDLQ`, of: `\w+`, why: "functions that get events have a destination for failures, which records more; the callers of the others wait for the answer"},
	{rule: `Serverless-EventBusDLQ`, of: `Forward`, why: "nothing depends on an event from another account or region: the run polls soon after"},
}

// A finding is a message of cdk-nag about a resource.
type finding struct{ Template, Resource, Rule, Why string }

// The templates satisfy cdk-nag's rules for serverless applications and for AWS
// solutions, except for the findings in excused.
func TestNag(t *testing.T) {
	if _, err := os.Stat("node_modules/cdk-nag"); err != nil {
		t.Skip("cdk-nag is not here: npm ci in infra/aws brings it, and make check-aws does so before it tests")
	}
	var args []string
	for name, made := range map[string]func() (template, error){"plain": plain, "full": full} {
		file := filepath.Join(t.TempDir(), name+".template.json")
		if err := os.WriteFile(file, the(t, made).body, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	args = append(args, "target/account.yaml", "target/execution.yaml", "target/region.yaml")
	for _, f := range reported[finding](t, nil, "nag.mjs", args...) {
		if !f.excused() {
			t.Errorf("%s of %s: %s: %s", f.Resource, filepath.Base(f.Template), f.Rule, f.Why)
		}
	}
	for _, e := range excused {
		if !e.found {
			t.Errorf("%s is excused for %s, but cdk-nag reports no such finding: remove it from excused", e.rule, e.of)
		}
	}
}

// reported runs a program for Node, and returns what it prints: a value as JSON on each line.
func reported[T any](t *testing.T, in []byte, program string, args ...string) []T {
	t.Helper()
	node := exec.Command("node", append([]string{program}, args...)...)
	node.Stdin, node.Stderr = bytes.NewReader(in), os.Stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node %s: %v", program, err)
	}
	var all []T
	for line := range bytes.Lines(out) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// excused reports whether a finding is intended.
func (f finding) excused() bool {
	for i, e := range excused {
		if whole(e.rule).MatchString(f.Rule) && whole(e.of).MatchString(f.Resource) {
			excused[i].found = true
			return true
		}
	}
	return false
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile("^(" + pattern + ")$") }
