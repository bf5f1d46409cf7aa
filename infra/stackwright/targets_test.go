package main

import (
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"strings"
	"testing"
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
		{[]string{"add"}, "targets add: give NAME"},
	} {
		r := l.run(append([]string{"targets"}, c.args...)...)
		if l.has(r.err, c.says); r.code != cli.ExitRefused {
			t.Errorf("targets %v ended with %d", c.args, r.code)
		}
	}

	l.must(cli.ExitOK, "targets", "add", "eu", "--projects", "pair@*", "--account", "111111111111", "--region", "eu-west-1", "--role", role("111111111111", "unknown"))
	l.has(l.must(cli.ExitOK, "stacks"), "queue@eu    pair@default  pair-queue  not readable")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(strings.Join(strings.Fields(l.must(cli.ExitOK, "plan", l.project)), " "), "could not be read: target eu: role arn:aws:iam::111111111111:role/unknown of account 111111111111 cannot be assumed")
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
