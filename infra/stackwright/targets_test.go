package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A registered target can be used in projects, and is not removed while it has stacks.
func TestTargets(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	role := func(account, name string) string { return "arn:aws:iam::" + account + ":role/" + name }
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: { \"\": { targets: [eu, near] } }\n")
	l.has(l.run("graph", l.project).err, "target eu, named 3 times, is not registered: register it with stackwright targets add eu --account ACCOUNT --region REGION --projects PATTERNS")

	l.has(l.must(cli.ExitOK, "targets", "add", "eu", "--projects", "pair@*", "--account", "111111111111", "--region", "eu-west-1", "--role", role("111111111111", "stackwright/stackwright-orchestrator")),
		"target eu is account 111111111111, region eu-west-1, for the projects pair@*", "account 000000000000 to assume arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator with the external ID sw-")
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "pair@*,shop@prod", "--region", "us-west-2")
	l.has(l.must(cli.ExitOK, "targets"), "default  000000000000  us-east-1  *@*", "eu       111111111111  eu-west-1  pair@*            arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator", "sw-", "near     000000000000  us-west-2  pair@*,shop@prod")
	l.has(l.must(cli.ExitOK, "targets", "-o", "json"), `"projects":["*@*"]`, `"projects":["pair@*","shop@prod"]`)
	l.has(l.must(cli.ExitOK, "graph", l.project), "topic@eu", "queue@near")

	l.has(l.must(cli.ExitOK, "deploy", l.project), "done     queue@eu/create", "done     queue@near/create", "6 created")
	l.has(l.must(cli.ExitOK, "outputs", "queue@eu"), "arn:aws:sns:eu-west-1:111111111111:")
	l.has(l.must(cli.ExitOK, "stacks"), "queue@near  pair@default  pair-queue  CREATE_COMPLETE")

	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"remove", "eu"}, "target eu has 3 recorded stacks, such as alone@eu of pair@default: destroy them first"},
		{[]string{"remove", "mars"}, "target mars is not registered"},
		{[]string{"add", "near", "--projects", "pair@*", "--region", "us-west-1"}, "target near has 3 recorded stacks"},
		{[]string{"add", "far", "--region", "eu-wset-1"}, `there is no AWS region "eu-wset-1": did you mean eu-west-1?`},
		{[]string{"add", "us", "--account", "222222222222", "--region", "us-west-2"}, "account 222222222222 is not the installation's own: give the ARN of the role"},
		{[]string{"add", "far", "--region", "us-west-1"}, "no project may use target far: name those that may with --projects, such as 'shop@prod,team-*@*', or '*@*' for all"},
		{[]string{"add", "far", "--region", "us-west-1", "--projects", "pair,sh?p@prod"}, `projects: pair has no environment: write pair@default for that environment, or pair@* for all; "sh?p@prod" is not a pattern: write PROJECT@ENVIRONMENT`},
		{[]string{"add", "default", "--region", "us-east-1", "--projects", "pair@*"}, "the setting projects of the installation says which projects may use it"},
		{[]string{"add", "us", "--account", "222222222222", "--region", "us-west-2", "--projects", "*@*", "--role", role("222222222222", "admin")}, "the installation may assume only roles whose ARN continues with role/stackwright/stackwright-"},
		{[]string{"add", "far", "--region", "us-west-1", "--projects", "*@*", "--execution-role", role("000000000000", "admin")}, "the installation may pass only the role role/stackwright/stackwright-us-east-1-execution"},
		{[]string{"add", "far", "--region", "cn-north-1", "--projects", "*@*"}, "region cn-north-1 is in another partition of AWS"},
		{[]string{"add"}, "targets add: give NAME"},
	} {
		r := l.run(append([]string{"targets"}, c.args...)...)
		if l.has(r.err, c.says); r.code != cli.ExitRefused {
			t.Errorf("targets %v ended with %d", c.args, r.code)
		}
	}

	l.must(cli.ExitOK, "targets", "add", "eu", "--projects", "pair@*", "--account", "111111111111", "--region", "eu-west-1", "--role", role("111111111111", "stackwright/stackwright-unknown"))
	l.has(l.must(cli.ExitOK, "stacks"), "queue@eu    pair@default  pair-queue  not readable")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(strings.Join(strings.Fields(l.must(cli.ExitOK, "plan", l.project)), " "), "could not be read: target eu: role arn:aws:iam::111111111111:role/stackwright/stackwright-unknown of account 111111111111 cannot be assumed")
	l.has(l.must(cli.ExitFailed, "deploy", l.project), "failed   topic@eu/update", "skipped  queue@eu/update", "done     topic@near/update")

	l.must(cli.ExitOK, "targets", "add", "eu", "--projects", "pair@*", "--account", "111111111111", "--region", "eu-west-1", "--role", role("111111111111", "stackwright/stackwright-orchestrator"))
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "shop@prod", "--region", "us-west-2")
	l.has(l.must(cli.ExitRefused, "deploy", l.project), "target near is not for project pair@default: ask the owner of the installation to add pair@default to its projects (stackwright targets add near --projects)")
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "pair@default", "--region", "us-west-2")

	l.must(cli.ExitOK, "destroy", l.project, "--yes")
	l.must(cli.ExitOK, "targets", "remove", "eu")
	if left := l.must(cli.ExitOK, "targets"); strings.Contains(left, "eu-west-1") {
		t.Errorf("eu is still there:\n%s", left)
	}
}

// Two targets in one account and region have execution roles of their own. CloudFormation uses that of the target, and a project
// uses only the targets that name it.
func TestExecutionRoleOfATarget(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	team := "arn:aws:iam::" + cli.Account + ":role/stackwright/stackwright-us-east-1-execution-team"
	l.must(cli.ExitOK, "targets", "add", "team", "--region", cli.Region, "--projects", "pair@*", "--execution-role", team)
	l.must(cli.ExitOK, "targets", "add", "bank", "--region", cli.Region, "--projects", "bank@*", "--execution-role", team[:len(team)-4]+"bank")
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: { \"\": { targets: [team] } }\n")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	out, err := client.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: aws.String("pair-queue")})
	if err != nil || aws.ToString(out.Stacks[0].RoleARN) != team {
		t.Errorf("the stack has the execution role %s (%v), want that of the target, %s", aws.ToString(out.Stacks[0].RoleARN), err, team)
	}
	l.edit("stackwright.yaml", "targets: [team]", "targets: [bank]")
	l.has(l.must(cli.ExitRefused, "deploy", l.project), "target bank is not for project pair@default")
}

// A tag makes no stack a project's own: a project does not change or delete a stack of another project, whatever its tag says, and
// the other project keeps it.
func TestForgedTag(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	shows := func() types.Stack {
		t.Helper()
		out, err := client.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: aws.String("pair-queue")})
		if err != nil {
			t.Fatal(err)
		}
		return out.Stacks[0]
	}
	forged := []types.Tag{{Key: aws.String("stackwright:project"), Value: aws.String("evil@default")}, {Key: aws.String("stackwright:stack"), Value: aws.String("queue")}}
	was := shows()
	if _, err := client.UpdateStack(t.Context(), &cloudformation.UpdateStackInput{StackName: was.StackName, UsePreviousTemplate: aws.Bool(true), Tags: forged, Parameters: was.Parameters, Capabilities: was.Capabilities}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); shows().StackStatus != types.StackStatusUpdateComplete; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the tag is not changed: ", shows().StackStatus)
		}
	}
	l.edit("stackwright.yaml", "project: pair\n", "project: evil\n")
	l.edit("stackwright.yaml", "  queue:\n", "  queue:\n    stack_name: pair-queue\n")
	l.has(l.must(cli.ExitRefused, "deploy", l.project), "pair-queue exists (UPDATE_COMPLETE) and is not managed by Stackwright")
	l.has(l.must(cli.ExitRefused, "destroy", l.project, "--yes"), "nothing is recorded for evil@default")
	if now := shows(); aws.ToString(now.StackId) != aws.ToString(was.StackId) || now.StackStatus != types.StackStatusUpdateComplete {
		t.Errorf("the stack of the other project is %s (%s)", now.StackStatus, aws.ToString(now.StackId))
	}
	l.edit("stackwright.yaml", "project: evil\n", "project: pair\n")
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--yes"), "3 deleted")
}
