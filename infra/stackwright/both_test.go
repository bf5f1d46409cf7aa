package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// Commands print the same, byte for byte, through the API and directly: of runs that succeeded, failed, were refused
// and are only planned, of stacks, outputs, schedules, targets and files.
func TestCommandsPrintTheSameThroughTheAPI(t *testing.T) {
	l, h := newInstallation(t)
	outputs := made() // as the environment of its functions says
	delete(outputs, "ExecutionRoleArn")
	outputs["TargetAccounts"], outputs["ApiUrl"], outputs["Projects"], l.env["STACKWRIGHT_INSTALLATION"] = "000000000000", h.URL(), "*@*", cli.Name
	l.install(h, cli.Name, outputs)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\nschedules: { nightly: { operation: refresh, cron: 0 3 * * ? * } }\n")
	l.must(cli.ExitOK, "deploy", l.project, "--direct")
	deployed := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "*@*", "--region", "eu-west-1", "--role", "arn:aws:iam::000000000000:role/stackwright/stackwright-orchestrator",
		"--execution-role", "arn:aws:iam::000000000000:role/stackwright/stackwright-us-east-1-execution", "--direct")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.must(cli.ExitOK, "plan", l.project)
	planned := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.fail(h, emulator.Fault{Stack: "pair-topic", Operation: "delete", Times: 1})
	l.must(cli.ExitFailed, "destroy", l.project, "--yes")
	failed := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.run("cancel", failed, "--direct") // makes a refused run

	for _, args := range [][]string{
		{"runs"}, {"runs", "-o", "json"}, {"runs", "--state", "failed", "--since", "1h", "--who", "ann"}, {"runs", "--sort", "-project", "--limit", "2"}, {"runs", "--operation", "nothing"}, {"runs", "--since", "yesterday"}, {"events", "-o", "json"}, {"events", "--stack", "topic", "--event", "step_ended"}, {"resources"}, {"resources", "--type", "AWS::SNS::*", "-o", "json"}, {"stacks", "--status", "CREATE_*", "--sort", "-name"}, {"stacks", "--sort", "nothing"}, {"runs", "--project", "pair", "--env", "default", "-o", "yaml"}, {"runs", "--project", "other"},
		{"status"}, {"status", "-o", "json"}, {"status", deployed}, {"status", deployed[:8]}, {"status", deployed, "--follow"}, {"status", deployed, "--follow", "-o", "json"},
		{"status", failed}, {"status", failed, "-o", "json"}, {"status", planned}, {"status", planned, "-o", "yaml"}, {"status", planned, "--follow", "-o", "markdown"},
		{"status", "nothing"}, {"status", "abcdefghijklmnopqrst"}, {"status", "-q"},
		{"stacks"}, {"stacks", "-o", "json"}, {"export"}, {"export", "pair@default"}, {"export", "nothing"}, {"stacks", "--project", "pair"},
		{"audit"}, {"audit", "-o", "json"}, {"history", "queue"}, {"history", "topic", "-o", "json"}, {"history", "nothing"}, {"why", "topic", l.project}, {"why", "queue", l.project, "-o", "json"}, {"why", "nothing", l.project},
		{"outputs"}, {"outputs", "-o", "json"}, {"outputs", "queue"}, {"outputs", "-o", "env"}, {"outputs", "nothing"},
		{"schedules"}, {"schedules", "-o", "json"}, {"targets"}, {"targets", "-o", "json"},
		{"targets", "add", "bad", "--projects", "*", "--region", "nowhere"}, {"targets", "add", "far", "--projects", "x@y", "--region", "eu-west-1", "--account", "999999999999"}, {"targets", "add", "near", "--projects", "x@y", "--region", "eu-west-1"}, {"targets", "add", "near", "--projects", "*@*", "--region", "eu-west-1"}, {"targets", "remove", "absent"}, {"purge", "--older-than", "90d", "--plan"}, {"purge", "--older-than", "90d", "--yes", "-o", "json"}, {"purge"},
		{"graph", l.project, "-o", "json"}, {"render", l.project}, {"render", l.project, "-o", "json"},
		{"retry", "nothing"}, {"continue"}, {"approve"}, {"approve", "nothing"}, {"reject", "--reason", "x"}, {"approve", deployed}, {"unlock", "--reason", "x"}, {"pause"}, {"unlock"}, {"cancel", "nothing"},
		{"__complete", "status", ""}, {"__complete", "outputs", ""}, {"__complete", "outputs", "queue", ""}, {"__complete", "runs", "--project", ""}, {"__complete", "runs", "--env", ""},
	} {
		direct := args
		if args[0] != "__complete" {
			direct = append(slices.Clone(args), "--direct")
		}
		through := l.run(args...)
		l.env["STACKWRIGHT_DIRECT"] = map[bool]string{true: "true"}[args[0] == "__complete"]
		directly := l.run(direct...)
		l.env["STACKWRIGHT_DIRECT"] = ""
		if d := cmp.Diff(directly, through, cmp.AllowUnexported(result{})); d != "" {
			t.Errorf("%s: %s", strings.Join(args, " "), d)
		}
	}
}

// The changes of a run are printed alike through the API while it is followed, for programs and for people.
func TestFollowingPrintsTheSameThroughTheAPI(t *testing.T) {
	follow := func(direct, output string) string {
		l, h := newInstallation(t)
		l.env["STACKWRIGHT_DIRECT"] = direct
		l.fail(h, emulator.Fault{Stack: "pair-topic", Operation: "create", Times: 1})
		r := l.run("deploy", l.project, "-o", output)
		return regexp.MustCompile(`[a-z2-7]{20}|\d\d:\d\d:\d\d|[0-9T:.-]{20,}Z|"seconds":[0-9.]+|\(?[0-9.]+m?s\)?|, requested by .*|sw-[0-9a-z-]+|retry \w+`).ReplaceAllString(strings.ReplaceAll(r.out+r.err, l.project, "*"), "*")
	}
	for _, output := range []string{"text", "json"} {
		got, want := follow("", output), follow("true", output)
		if d := cmp.Diff(sortedLines(want), sortedLines(got)); d != "" {
			t.Errorf("%s: %s", output, d)
		}
	}
}

// sortedLines are the lines of a text, sorted: steps that run at the same time end in any order.
func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }
