package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A plan is approved and rejected through the API, which knows who answers. Each refusal says why, and changes nothing.
func TestApproveThroughTheAPI(t *testing.T) {
	l, _ := newInstallation(t)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\napprove_plan: true\nnot_by_author: true\n")
	lead, author := session("lead"), "person"
	waiting := func() string {
		t.Setenv("AWS_ACCESS_KEY_ID", author)
		l.has(l.must(cli.ExitWaiting, "deploy", l.project), "waiting", "to see and approve the plan: stackwright approve ", "to reject: stackwright reject ")
		return l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	}
	refused := func(says string, args ...string) {
		t.Helper()
		if r := l.run(args...); r.code != cli.ExitRefused || !strings.Contains(r.out+r.err, says) {
			t.Errorf("%s ended with %d: %s%s", args, r.code, r.out, r.err)
		}
	}

	id := waiting()
	refused("arn:aws:iam::000000000000:root has requested run "+id+", and so may not approve it: another person has to", "approve", "--yes")
	refused("AWS does not say who has sent this answer", "approve", id, "--yes", "--direct")
	t.Setenv("AWS_ACCESS_KEY_ID", lead)
	l.answers = "no\n"
	refused("the answer was not yes", "approve")
	l.answers = ""
	refused("give a reason with --reason TEXT", "reject")
	r := l.run("reject", "--reason", "not today")
	l.has(r.out+r.err, "reject of run "+id, "failed   approve", "declined it: not today")
	if r.code != cli.ExitOK {
		t.Errorf("reject ended with %d", r.code)
	}
	refused("run "+id+" has no plan that waits for approval: it is failed", "approve", id, "--yes")
	refused("run "+id+" has ended (failed)", "reject", id, "--reason", "again")
	l.has(l.run("approve", "--yes").err, "no run waits for approval")
	if stacks := l.must(cli.ExitOK, "stacks"); strings.Contains(stacks, "pair-") {
		t.Errorf("there are stacks: %s", stacks)
	}

	id = waiting()
	t.Setenv("AWS_ACCESS_KEY_ID", lead)
	r = l.run("approve", "--yes", "--reason", "reviewed")
	l.has(r.out+r.err, "approve of run "+id, "+ topic  create", "done     topic/create", "3 created")
	if r.code != cli.ExitOK {
		t.Errorf("approve ended with %d", r.code)
	}
	l.has(l.must(cli.ExitOK, "status", id, "-o", "json"), `"reason":"reviewed"`, "assumed-role/lead/")
}

// A stack is approved by --step through the API and directly. The other stacks go on meanwhile.
func TestApproveAStack(t *testing.T) {
	l, _ := newInstallation(t)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: {\"\": {approve: always}}\n")
	l.has(l.must(cli.ExitOK, "plan", l.project), "stack topic has to be approved: approve: always")
	l.has(l.must(cli.ExitWaiting, "deploy", l.project), "waiting", "waits for approval", "to see and approve the changes of alone, topic, queue: stackwright approve ")
	r := l.run("approve", "--yes", "--step", "nothing/approve")
	l.has(r.out+r.err, "step nothing/approve of run", "waits for no approval: the run waits for alone/approve, topic/approve, queue/approve")
	l.has(l.run("approve", "--yes", "--step", "topic/approve", "--direct").out, "done     topic/create")
	r = l.run("approve", "--yes")
	l.has(r.out+r.err, "+ topic  create", "3 created")
	if r.code != cli.ExitOK {
		t.Errorf("approve ended with %d", r.code)
	}
}
