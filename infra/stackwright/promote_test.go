package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// What succeeded in one environment is deployed to another one after its plan was shown, with the variables of that one. What is wrong with a promotion is said at once.
func TestPromote(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "environments:", "environments:\n  staging: { variables: { text: of staging } }")
	for _, args := range [][]string{{"promote"}, {"promote", "--from", "a/b", "--to", "prod"}, {"promote", "--from", "prod", "--to", "prod", "--exit-code", "-o", "markdown"}, {"promote", "--from", "staging", "--to", "prod", "--revision", ""}} {
		if r := l.run(args...); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d: %s", args, r.code, r.err)
		}
	}
	l.has(l.run("promote").err, "--from: missing: name the environment whose revision is deployed", "--to: missing: name the environment to which it is deployed")
	l.has(l.run("promote", "--from", "prod", "--to", "prod", "--exit-code", "-o", "markdown").err, "--from and --to are both prod: name two environments", "-o markdown shows a plan: add --plan", "--exit-code is for a plan: add --plan")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
	first := l.objects(l.must(cli.ExitOK, "revisions", "--env", "staging", "-o", "json"))[0]
	l.has(l.must(cli.ExitChanges, "promote", l.project, "--from", "staging", "--to", "prod", "--plan", "--exit-code"), "promote --plan of pair@prod", "the files are those of run "+first["run"].(string)+" of pair@staging (deploy")
	l.has(l.must(cli.ExitOK, "promote", "--from", "staging", "--to", "prod"), "promote of pair@prod succeeded", "3 created")
	is := l.objects(l.must(cli.ExitOK, "revisions", "--env", "prod", "-o", "json"))[0]
	if is["key"] != first["key"] || is["version"] != first["version"] || is["operation"] != "promote" || is["current"] != true {
		t.Errorf("prod has %v, staging %v", is, first)
	}
	said := l.must(cli.ExitOK, "export", "pair@prod")
	if strings.Contains(said, "of staging") || !strings.Contains(said, "good morning") {
		t.Errorf("prod has not its own variables: %s", said)
	}
	l.has(l.must(cli.ExitOK, "promote", "--from", "staging", "--to", "prod", "--yes"), "there is nothing to do", "3 unchanged")
	r := l.run("promote", "--from", "staging", "--to", "nowhere", "--yes", "--revision", first["run"].(string)[:8])
	if r.code != cli.ExitRefused {
		t.Errorf("a promotion to an unknown environment ended with %d", r.code)
	}
	l.has(r.out+r.err, "cannot be deployed to pair@nowhere", "nowhere is not listed")
	if r := l.run("promote", "--from", "none", "--to", "prod"); r.code != cli.ExitRefused || !strings.Contains(r.err, "there is no such project") {
		t.Errorf("a promotion from an unknown environment ended with %d: %s", r.code, r.err)
	}
}

// Files that promote by themselves: the first time a user promotes, and from then on each deploy goes on. The status says where it stands.
func TestPipeline(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "environments:", "promote: [staging, prod]\nenvironments:\n  staging: { variables: { text: of staging } }")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
	l.must(cli.ExitOK, "refresh", "--env", "staging", l.project) // the command waits until the promotion has ended
	said := l.must(cli.ExitOK, "status")
	l.has(said, "promote of pair@prod was refused", "do not say", "promote yourself once")
	l.must(cli.ExitOK, "promote", "--from", "staging", "--to", "prod", "--yes")
	if said := l.must(cli.ExitOK, "status"); strings.Contains(said, "was refused") {
		t.Errorf("after a promotion the status is %s", said)
	}
	l.edit("stackwright.yaml", "text: good morning", "text: good night")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
	l.must(cli.ExitOK, "refresh", "--env", "staging", l.project)
	if said := l.must(cli.ExitOK, "export", "pair@prod"); !strings.Contains(said, "good night") {
		t.Errorf("prod is %s", said)
	}
	l.edit("stackwright.yaml", "promote: [staging, prod]", "promote: { order: [staging, prod], soak: 10m }")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
	r := l.run("status", "--env", "staging")
	if r.code != cli.ExitOK {
		t.Error(r.err)
	}
	all := l.objects(l.must(cli.ExitOK, "runs", "--env", "prod", "-o", "json"))
	if all[0]["state"] != "pending" || all[0]["follows"] == nil || all[0]["not_before"] == nil {
		t.Fatalf("the newest run of prod is %v", all[0])
	}
	id := all[0]["run"].(string)
	l.has(l.must(cli.ExitOK, "status"), "begins at")
	l.must(cli.ExitOK, "refresh", "--env", "prod", l.project)
	l.has(l.must(cli.ExitOK, "status"), "run "+id+" promotes run", "of pair@staging to pair@prod at", "cancel "+id)
	l.must(cli.ExitOK, "cancel", id)
	if said := l.must(cli.ExitOK, "status"); strings.Contains(said, "promotes run") {
		t.Errorf("after the promotion was cancelled the status is %s", said)
	}
}

// Commands about a promoted run need no files: those of the run belong to another environment.
func TestCommandsAboutPromotedRun(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*laptop, *host.Host){
		"laptop":       func(t *testing.T) (*laptop, *host.Host) { l := newLaptop(t); return l, l.serve(0.05) },
		"installation": newInstallation,
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t)
			direct := func(args ...string) []string { return args }
			if name == "installation" {
				direct = func(args ...string) []string { return append(args, "--direct", "--installation", "sw") }
			}
			l.edit("stackwright.yaml", "  prod: {", "  staging: {}\n  prod: { approve_plan: true,")
			l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
			promote := func(code int) {
				t.Helper()
				l.must(code, direct("promote", "--project", "pair", "--from", "staging", "--to", "prod", "--yes")...)
			}
			promote(cli.ExitWaiting)
			l.must(cli.ExitOK, direct("reject", "--reason", "not now")...)
			promote(cli.ExitWaiting)
			l.must(cli.ExitOK, direct("pause")...)
			l.must(cli.ExitWaiting, direct("continue")...)
			l.must(cli.ExitOK, direct("cancel", "--yes")...)
			promote(cli.ExitWaiting)
			l.must(cli.ExitOK, direct("unlock", "--reason", "a test")...)
			promote(cli.ExitWaiting)
			l.fail(h, cloudformation.Fault{Stack: "pair-prod-topic", Operation: "create", Times: 1})
			l.must(cli.ExitFailed, direct("approve", "--yes")...)
			l.must(cli.ExitWaiting, direct("retry")...)
			l.has(l.must(cli.ExitOK, direct("approve", "--yes")...), "promote of pair@prod succeeded")
		})
	}
}
