package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A plan warns of two stacks that give resources one physical name in one account and region.
func TestOneNameInTwoStacks(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.put("stackwright.yaml", "project: names\nstacks:\n  a: { template: templates/q.yaml, parameters: { Name: jobs } }\n"+
		"  b: { template: templates/q.yaml, parameters: { Name: jobs } }\n  c: { template: templates/q.yaml, parameters: { Name: mail } }\n")
	l.put("templates/q.yaml", "Parameters: { Name: { Type: String } }\nResources:\n"+
		"  Queue: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref Name } }\n  Other: { Type: AWS::SQS::Queue }\n")
	warning := "Queue has the name jobs, as Queue of stack a in the same account and region: AWS refuses the second one"
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "json"), warning)
	l.edit("stackwright.yaml", "b: { template: templates/q.yaml, parameters: { Name: jobs } }", "b: { template: templates/q.yaml, parameters: { Name: bills } }")
	if text := l.must(cli.ExitOK, "plan", l.project, "-o", "json"); strings.Contains(text, "AWS refuses the second one") {
		t.Errorf("other names:\n%s", text)
	}
}
