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
	refused(`the answer was "no" and not yes`, "approve")
	l.answers = ""
	refused("give a reason with --reason TEXT", "reject")
	r := l.run("reject", "--reason", "not today")
	l.has(r.out+r.err, "reject of run "+id, "failed   approve", "rejected by ", ": not today")
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

// status shows the run that waits, and not an answer that was refused since. The tree has the time that is left, and the summary
// both commands.
func TestStatusShowsTheRunThatWaits(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: {\"\": {approve: always}}\n")
	l.must(cli.ExitWaiting, "deploy", l.project)
	id := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.must(cli.ExitRefused, "reject", "--step", "nothing/approve", "--reason", "no such step")
	r := l.run("status")
	l.has(r.out, "run "+id, "? topic  approve  waits for approval, 2", "h", "m left", "to see and approve the changes of alone, topic, queue: stackwright approve "+id, "to reject: stackwright reject "+id+" --reason WHY")
	l.has(r.err, "newer than the run that waits: ")
	l.has(l.must(cli.ExitOK, "status", "-o", "json"), `"run":"`+id+`"`)
	queued, code := l.begin("deploy", l.project, "--only", "alone")
	l.until(queued, `run \w+ waits for `+id+` \(deploy, waiting, ann@[^)]+\); run (\w+) waits for the answer of a person: see stackwright status `+id)
	l.must(cli.ExitOK, "cancel", l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string))
	l.ended(queued, code, cli.ExitStopped)
	l.has(l.run("approve", "--yes", "--step", "topic/approve").err, "+ topic  create", "waits for your approval")
	l.has(l.must(cli.ExitOK, "reject", "--reason", "not today"), "failed   alone/approve", "failed   queue/approve")
}

// On a terminal, cancel asks before it ends a run that the user has not named, and forget before it deletes records.
func TestCancelAndForgetAsk(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\napprove_plan: true\n")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.answers = "no\n"
	l.has(l.run("forget", "alone").err, "forget deletes the records of alone in pair@default: the stacks stay in AWS", "type yes to continue", "nothing was done")
	l.has(l.must(cli.ExitOK, "forget", "alone", "--plan"), "forget")
	l.must(cli.ExitWaiting, "deploy", l.project)
	r := l.run("cancel")
	if r.code != cli.ExitRefused {
		t.Errorf("cancel ended with %d", r.code)
	}
	l.has(r.err, "cancel run ", "its running steps finish, and no other one starts\ntype yes to continue", "nothing was done")
	l.has(l.must(cli.ExitOK, "cancel", "--yes"), "cancelled")
	l.must(cli.ExitOK, "forget", "alone", "--yes", "--reason", "a test")
}
