package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A snapshot is made, listed, restored after its plan was shown, and deleted.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, "snapshot", "monday", "--reason", "before the change"), "snapshot of pair@default succeeded", "snapshot monday names the files of run")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "snapshot", "tuesday")
	all := l.objects(l.must(cli.ExitOK, "snapshots", l.project, "-o", "json"))
	if len(all) != 2 || all[0]["snapshot"] != "tuesday" || all[1]["reason"] != "before the change" || all[1]["project"] != "pair@default" || all[1]["revision"].(map[string]any)["current"] != false {
		t.Fatalf("the snapshots are %v", all)
	}
	l.has(l.must(cli.ExitOK, "snapshots"), "SNAPSHOT", "monday", "before the change")
	l.must(cli.ExitOK, "snapshot", "files", "--no-backups")
	const only = "files: no data is backed up, as requested: the snapshot has only the files"
	l.has(l.must(cli.ExitOK, "snapshots"), "\n"+only+"\n")
	l.has(l.must(cli.ExitOK, "restore", "files", "--plan"), "snapshot files: no data is backed up, as requested")
	l.has(l.must(cli.ExitOK, "snapshots", "delete", "files", "--plan"), "no data is backed up, as requested")
	l.must(cli.ExitOK, "snapshots", "delete", "files", "--yes")
	l.has(l.must(cli.ExitChanges, "restore", "monday", "--plan", "--exit-code"), "restore --plan of pair@default", "snapshot monday was made by")
	l.has(l.must(cli.ExitOK, "restore", "monday"), "restore of pair@default succeeded", "1 updated, 2 unchanged")
	l.has(l.must(cli.ExitChanges, "snapshots", "delete", "tuesday", "--plan", "--exit-code"), "snapshots delete --plan of pair@default", "- snapshot tuesday  delete, made at", "1 snapshot to delete, 0 backups to delete")
	l.has(l.must(cli.ExitOK, "snapshots", "delete", "tuesday", "--plan", "-o", "markdown"), "### `snapshots delete --plan` of pair@default", "- - snapshot tuesday  delete")
	l.answers = "y\n"
	r := l.run("snapshots", "delete", "tuesday")
	if l.has(r.err, "- snapshot tuesday  delete", "snapshots delete does this to pair@default"); r.code != cli.ExitRefused {
		t.Errorf("a deletion whose question was answered with y ended with %d", r.code)
	}
	l.answers = "yes\n"
	l.must(cli.ExitOK, "snapshots", "delete", "tuesday")
	l.answers = ""
	for _, args := range [][]string{
		{"snapshot"}, {"snapshot", "a/b"}, {"restore", "mondey"}, {"restore", "monday", "--exit-code"}, {"restore", "monday", "-o", "markdown"}, {"snapshots", "delete", "tuesday"}, {"snapshots", "delete", "tuesday", "--plan"}, {"snapshots", "delete", "monday", "--exit-code"}, {"snapshots", "prune", "-o", "markdown"}, {"snapshots", "prune", "--plan"}, {"snapshot", "x", "--project", "other"},
	} {
		if r := l.run(args...); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d: %s", args, r.code, r.err)
		}
	}
	r = l.run("snapshot", "monday")
	l.has(r.out+r.err, "there is a snapshot monday already")
	if rest := l.objects(l.must(cli.ExitOK, "snapshots", "-o", "json")); len(rest) != 1 || rest[0]["revision"].(map[string]any)["current"] != true {
		t.Errorf("the snapshots are %v", rest)
	}
}
