package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A project file names the installation of each environment: commands use it unless a flag or a variable says where.
// Then a command that changes something elsewhere is confirmed, and one that only reads says so.
func TestProjectFileNamesItsInstallation(t *testing.T) {
	l, h := newInstallation(t)
	delete(l.env, "STACKWRIGHT_INSTALLATION")
	delete(l.env, "STACKWRIGHT_SECONDS")
	l.env["STACKWRIGHT_CONSOLE"] = "off"
	t.Chdir(l.project)
	l.edit("stackwright.yaml", "  prod: {", "  prod: { installation: sw,")
	const there = "in 000000000000 us-east-1 (installation sw)"
	l.env["CI"] = "true"
	l.has(l.must(cli.ExitOK, "deploy", "--env", "prod"), there+"\n", "deploy of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "runs", "--env", "prod"), "pair@prod")
	l.has(l.must(cli.ExitOK, "status", "--env", "prod"), "deploy of pair@prod succeeded")
	l.has(l.run("deploy").err, "deploy: CI is set, and nothing says where to deploy") // of default, the file names none
	l.edit("stackwright.yaml", "  default: {}\n", "")
	l.has(l.must(cli.ExitOK, "runs"), "pair@prod") // all environments have one installation

	const says = "the project file says that this is about installation sw, and a flag or a variable says: "
	elsewhere := []string{"deploy", "--env", "prod", "--data", l.data + "-other", "--seconds", "0.05"}
	r := l.run(elsewhere...)
	l.has(r.err, says+"on this laptop (emulators, "+l.data+"-other): leave that flag or variable out, or confirm it with --yes")
	if r.code != cli.ExitRefused {
		t.Errorf("a deploy elsewhere ended with %d", r.code)
	}
	l.answers = "no\n"
	r = l.run(elsewhere...)
	if l.has(r.err, says, "type yes to continue"); r.code != cli.ExitRefused {
		t.Errorf("a deploy elsewhere, answered with no, ended with %d", r.code)
	}
	l.answers = "yes\n"
	l.has(l.must(cli.ExitOK, elsewhere...), "deploy of pair@prod succeeded")
	l.answers = ""
	r = l.run("stacks", "--env", "prod", "--data", l.data+"-other")
	if l.has(r.err, says); r.code != cli.ExitOK {
		t.Errorf("a list of stacks elsewhere ended with %d", r.code)
	}
	l.has(l.run(append(elsewhere, "--yes")...).err, says)
	l.env["STACKWRIGHT_API"] = h.URL()
	// The API says its name.
	l.has(l.run("deploy", "--env", "prod").err, says+"in 000000000000 us-east-1 (installation stackwright)")
	delete(l.env, "STACKWRIGHT_API")

	for _, wrong := range []string{"installation: a/b", "installation: [sw]"} {
		l.edit("stackwright.yaml", "installation: sw", wrong)
		if r := l.run("rollback", "--env", "prod"); r.code != cli.ExitRefused {
			t.Errorf("%s: a rollback ended with %d", wrong, r.code)
		}
		l.has(l.run("validate").out, "stackwright.yaml:15:", "environment prod: installation: ")
		l.edit("stackwright.yaml", wrong, "installation: sw")
	}
	l.edit("stackwright.yaml", "  prod: { installation: sw,", "  test: { installation: other }\n  prod: { installation: sw,")
	l.has(l.run("runs").err, "the environments have different installations", "--env (test, prod)")
	l.has(l.run("promote", "--from", "test", "--to", "prod").err, "test and prod have different installations")
}
