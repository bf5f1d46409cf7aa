package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A stack that is forgotten stays, and the project no longer deploys, deletes or shows it.
func TestForget(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.has(l.run("forget", "queue").err, "there is no stack queue")
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.run("forget").err, "forget: give STACK...")
	l.has(l.run("forget", "quue").err, "there is no stack quue: did you mean queue?")
	l.has(l.run("forget", "queue", "-o", "markdown").err, "-o markdown shows a plan: add --plan")

	r := l.run("forget", "topic", "queues")
	if r.code != cli.ExitRefused {
		t.Errorf("forget ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack topic: other stacks depend on it (queue): forget these too", "only: there is no stack queues")

	l.has(l.must(cli.ExitOK, "forget", "queue", "--plan"), "forget --plan of pair@default", "queue", "only its record is deleted: the stack stays as it is", "1 to forget")
	l.has(l.must(cli.ExitOK, "stacks"), "pair-queue")
	r = l.run("forget", "queue", "--reason", "it moves")
	if r.code != cli.ExitOK {
		t.Errorf("forget ended with %d", r.code)
	}
	l.has(r.out+r.err, "done     queue/forget", "1 forgotten", "these stacks stay in AWS as they are, with all their tags: queue (pair-queue)")
	l.has(l.must(cli.ExitOK, "status", "-o", "json"), `"reason":"it moves"`, `"claim":"ann@`)
	l.has(l.must(cli.ExitOK, "stacks"), "pair-alone", "pair-topic")

	r = l.run("deploy", l.project)
	if r.code != cli.ExitRefused {
		t.Errorf("deploy ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack queue: pair-queue exists (CREATE_COMPLETE) and is not managed by Stackwright")
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--yes"), "2 deleted")
}
