package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// Commands that are about one project take that of the current folder, as deploy does. Elsewhere they need a name if several have had runs.
func TestProjectOfFolder(t *testing.T) {
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	t.Chdir(t.TempDir())
	l.has(l.must(cli.ExitOK, "revisions"), "pair@default", "pair@prod")
	r := l.run("snapshot", "monday")
	if r.code != cli.ExitRefused {
		t.Errorf("in a folder without a project it ended with %d", r.code)
	}
	l.has(r.err, "2 projects and environments have had runs: give --project and --env")
	t.Chdir(l.project)
	if all := l.objects(l.must(cli.ExitOK, "revisions", "--env", "prod", "-o", "json")); len(all) != 1 || all[0]["project"] != "pair@prod" {
		t.Errorf("the revisions of prod are %v", all)
	}
	l.has(l.must(cli.ExitOK, "snapshot", "monday", "--env", "prod"), "snapshot of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "restore", "monday", "--env", "prod", "--plan"), "restore --plan of pair@prod")
	l.must(cli.ExitOK, "diff", "current")
	l.edit("stackwright.yaml", "stacks:", "stakcs:\n  - {")
	r = l.run("snapshots", "--env", "prod")
	if l.has(r.err, "has errors, which stackwright validate ", "this command needs only the name of the project, and is about pair@prod"); r.code != cli.ExitOK {
		t.Errorf("with a project file that has errors, snapshots ended with %d", r.code)
	}
	l.has(r.out, "monday")
	l.has(l.must(cli.ExitOK, "restore", "monday", "--env", "prod", "--plan"), "restore --plan of pair@prod")
	l.has(l.must(cli.ExitOK, "snapshots", "delete", "monday", "--env", "prod"), "snapshots delete of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "snapshot", "tuesday"), "snapshot of pair@default succeeded")
	l.edit("stackwright.yaml", "project: ", "porject: ")
	for _, args := range [][]string{{"rollback", "--plan"}, {"snapshot", "wednesday"}, {"snapshots"}, {"snapshots", "delete", "tuesday"}, {"snapshots", "prune"}} {
		r = l.run(args...)
		if l.has(r.err, "this command needs the name of the project, and cannot read it from ", "correct the errors there, or give --project and --env instead of a folder, as in --project shop --env prod"); r.code != cli.ExitRefused {
			t.Errorf("%v: with a project file without a name it ended with %d", args, r.code)
		}
	}
	l.must(cli.ExitOK, "snapshots", "delete", "tuesday", "--project", "pair", "--env", "default")
	if all := l.objects(l.must(cli.ExitOK, "revisions", "--project", "pair", "--env", "prod", "-o", "json")); len(all) != 1 {
		t.Errorf("with --project it lists %v", all)
	}
}
