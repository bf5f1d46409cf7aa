package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A deploy leaves an obsolete stack alone and says so, a plan of a prune shows what is lost, and a prune deletes the stack.
func TestPrune(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, "prune", l.project, "--yes"), "prune of pair@default succeeded")
	l.edit("stackwright.yaml", "  alone:\n", "  alone:\n    obsolete: true\n")
	r := l.run("deploy", l.project)
	l.has(r.out+r.err, "left alone, because the project's files say obsolete: true: alone", "stackwright prune")
	if r = l.run("render", l.project, "alone"); strings.Contains(r.out, "enabled") {
		t.Errorf("an obsolete stack is rendered as one that is not enabled: %s", r.out)
	}
	l.has(r.out, "obsolete", "stackwright prune deletes it")
	l.has(l.must(cli.ExitChanges, "prune", l.project, "--plan", "--exit-code"), "prune --plan of pair@default", "alone", "1 to delete", "obsolete: true in the project's files")
	if r = l.run("prune", l.project); r.code != cli.ExitRefused {
		t.Errorf("prune without a terminal and without --yes ended with %d", r.code)
	}
	l.has(r.err, "prune deletes the obsolete stacks of the project, and there is no terminal on which to confirm it: confirm with --yes")
	l.answers = "no\n"
	if r = l.run("prune", l.project); r.code != cli.ExitRefused {
		t.Errorf("prune whose question was answered with no ended with %d", r.code)
	}
	l.has(r.err, "- alone  delete", "prune does this to pair@default\non this laptop (emulators, ")
	l.answers = "yes\n"
	l.has(l.must(cli.ExitOK, "prune", l.project), "1 deleted")
	l.has(l.must(cli.ExitOK, "stacks"), "pair-queue", "pair-topic")
}
