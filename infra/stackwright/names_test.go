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

// A plan warns of a name that a stack has which it does not change, also in another environment of the same account.
func TestOneNameBesideThePlan(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.put("stackwright.yaml", "project: beside\nenvironments: { prod: {}, test: {} }\nstacks:\n"+
		"  a: { template: templates/q.yaml, parameters: { Name: jobs } }\n"+
		"  b: { template: templates/fixed.yaml, only: [test] }\n")
	l.put("templates/q.yaml", "Parameters: { Name: { Type: String } }\nResources:\n"+
		"  Queue: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref Name } }\n")
	l.put("templates/fixed.yaml", "Resources:\n  Mail: { Type: AWS::SQS::Queue, Properties: { QueueName: mail } }\n")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "test")
	l.edit("stackwright.yaml", "only: [test]", "only: [test] }\n  c: { template: templates/q.yaml, parameters: { Name: jobs }")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--env", "test", "-o", "json"),
		"Queue has the name jobs, as Queue of stack a in the same account and region: AWS refuses the second one")
	l.edit("stackwright.yaml", "{ Name: jobs } }\n  b", "{ Name: mail } }\n  b")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--env", "prod", "-o", "json"),
		"Queue has the name mail, as Mail of stack b of environment test in the same account and region")
	l.edit("stackwright.yaml", "{ Name: mail }", "{ Name: bills }")
	l.edit("stackwright.yaml", "{ Name: jobs }", "{ Name: posts }")
	if text := l.must(cli.ExitOK, "plan", l.project, "--env", "prod", "-o", "json"); strings.Contains(text, "AWS refuses") {
		t.Errorf("other names:\n%s", text)
	}
}

// A plan warns of a change that the stack policy of the stack denies; what it would lose is said all the same.
func TestPlanOfWhatAStackPolicyDenies(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.put("stackwright.yaml", "project: guarded\nstacks:\n  db:\n    template: templates/q.yaml\n    parameters: { Name: jobs }\n"+
		"    stack_policy:\n      Statement:\n        - { Effect: Allow, Action: 'Update:*', Principal: '*', Resource: '*' }\n"+
		"        - { Effect: Deny, Action: 'Update:Replace', Principal: '*', Resource: LogicalResourceId/Queue }\n")
	l.put("templates/q.yaml", "Parameters: { Name: { Type: String } }\nResources:\n"+
		"  Queue: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref Name, DelaySeconds: 1 } }\n")
	l.must(cli.ExitOK, "deploy", l.project)
	const denied = "CloudFormation will refuse the update of Queue: Action denied by stack policy: Statement [#2] does not allow"
	l.edit("templates/q.yaml", "DelaySeconds: 1", "DelaySeconds: 2")
	if text := l.must(cli.ExitOK, "plan", l.project, "-o", "json"); strings.Contains(text, "will refuse the update") {
		t.Errorf("a change in place:\n%s", text)
	}
	l.edit("stackwright.yaml", "Name: jobs", "Name: mail")
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "json"), denied, `"data_loss":true`)
	l.edit("stackwright.yaml", "    stack_policy:", "    stack_policy_during_update: { Statement: [{ Effect: Allow, Action: 'Update:*', Principal: '*', Resource: '*' }] }\n    stack_policy:")
	if text := l.must(cli.ExitOK, "plan", l.project, "-o", "json"); strings.Contains(text, "will refuse the update") {
		t.Errorf("allowed during the update:\n%s", text)
	}
}
