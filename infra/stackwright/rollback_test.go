package main

import (
	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// Revisions are listed with the one that is deployed, two are compared, and an earlier one is deployed again after its plan was shown.
func TestRollback(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	r := l.run("rollback")
	if r.code != cli.ExitRefused {
		t.Errorf("a rollback without another revision ended with %d", r.code)
	}
	l.has(r.err, "other revisions that were deployed successfully to all stacks, and changed something, and there are 0", "rollback refused: nothing was done")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: goodbye", "text: again")
	l.must(cli.ExitOK, "deploy", l.project)
	all := l.objects(l.must(cli.ExitOK, "revisions", l.project, "-o", "json"))
	if len(all) != 3 || all[0]["current"] != true || all[1]["current"] != false || all[0]["state"] != "succeeded" || all[0]["project"] != "pair@default" {
		t.Fatalf("the revisions are %v", all)
	}
	var ids []string
	for _, v := range all {
		ids = append(ids, v["run"].(string))
	}
	r = l.run("revisions", "--limit", "1")
	l.has(r.out, ids[0])
	l.has(r.err, "2 older:", "revisions --before "+ids[0])
	if rest := l.must(cli.ExitOK, "revisions", "--before", ids[0]); strings.Contains(rest, ids[0]) || !strings.Contains(rest, ids[2]) {
		t.Errorf("older than %s are\n%s", ids[0], rest)
	}
	difference := l.must(cli.ExitOK, "diff", ids[2])
	l.has(difference, "from run "+ids[2]+" to run "+ids[0], "~ stack topic: parameter", "~ file stackwright.yaml", "stacks: 0 added, 0 removed, 1 changed; 1 file")
	if strings.Contains(difference, "goodbye") || strings.Contains(difference, "hello") {
		t.Errorf("the difference shows values: %s", difference)
	}
	l.has(l.must(cli.ExitOK, "diff", "previous", "current", "-o", "markdown"), "! ~ stack topic")
	if got := l.last(l.must(cli.ExitOK, "diff", ids[1], "-o", "json")); len(got["stacks"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	l.has(l.must(cli.ExitChanges, "rollback", "--to", ids[2], "--plan", "--exit-code"), "rollback --plan of pair@default", "the files are those of run "+ids[2])
	l.has(l.must(cli.ExitOK, "rollback", "--to", "current~2"), "rollback of pair@default succeeded", "1 updated, 2 unchanged")
	now := l.objects(l.must(cli.ExitOK, "revisions", "-o", "json"))
	if len(now) != 3 || now[0]["operation"] != "rollback-to" || now[0]["current"] != true || now[0]["version"] != all[2]["version"] {
		t.Errorf("after the rollback the revisions are %v", now)
	}
	for _, args := range [][]string{
		{"rollback", "--to", "nothing"}, {"rollback", "--exit-code"}, {"rollback", "-o", "markdown"}, {"rollback", "--to", ""}, {"revisions", "--limit", "0"}, {"diff", "nothing"},
		{"rollback", l.project, "--project", "pair"}, {"revisions", "--project", "other"},
	} {
		if r := l.run(args...); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d: %s", args, r.code, r.err)
		}
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 updated")
}

// After a deploy that has failed, rollback means the last one that has succeeded. A deploy of the same files again is marked, and is no
// revision to go back to.
func TestRollbackToSuccessful(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.edit("stackwright.yaml", "text: good morning", "text: good night")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.edit("stackwright.yaml", "project: pair", "project: pair # the same")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.edit("stackwright.yaml", "text: good night", "text: good evening")
	l.fail(h, cloudformation.Fault{Stack: "pair-prod-topic", Operation: "update", Times: 1})
	l.must(cli.ExitFailed, "deploy", l.project, "--env", "prod")
	all := l.objects(l.must(cli.ExitOK, "revisions", l.project, "--env", "prod", "-o", "json"))
	if len(all) != 4 || all[1]["unchanged"] != true || all[2]["unchanged"] != nil || all[1]["current"] != true {
		t.Fatalf("the revisions are %v", all)
	}
	l.has(l.must(cli.ExitOK, "revisions", l.project, "--env", "prod"), "succeeded, changed nothing")
	l.has(l.must(cli.ExitOK, "rollback", l.project, "--env", "prod", "--plan"), "the files are those of run "+all[1]["run"].(string))
	l.must(cli.ExitOK, "rollback", l.project, "--env", "prod", "--yes")
	l.has(l.must(cli.ExitOK, "rollback", l.project, "--env", "prod", "--plan"), "the files are those of run "+all[3]["run"].(string))
}
