package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A retry without RUN asks before it repeats a run that deletes stacks, and repeats no run twice.
func TestRetryWithoutRun(t *testing.T) {
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "delete", Reason: "in use", Times: 1})
	l.must(cli.ExitFailed, "destroy", l.project, "--yes")
	r := l.run("retry")
	l.has(r.out+r.err, "the newest run that failed is ", "(destroy of pair@default, failed), which deletes stacks: name it (stackwright retry ", "or add --yes")
	if r.code != cli.ExitRefused {
		t.Errorf("retry ended with %d", r.code)
	}
	l.answers = "no\n"
	r = l.run("retry")
	l.has(r.out+r.err, "retry of run ", "- topic  delete", "destroy does this to pair@default\n",
		`the answer was "no" and not yes`)
	l.answers = "yes\n"
	l.has(l.must(cli.ExitOK, "retry"), "1 deleted")
	r = l.run("retry", "--yes")
	l.has(r.out+r.err, "no run has failed, or later ones have repeated or superseded all that failed: name the one to retry")
}

// A failure says that a retry has the same files, and how to deploy others, with the whole command. A later success leaves nothing to retry,
// and neither does a rejection.
func TestHintsAfterFailure(t *testing.T) {
	l := newLaptop(t)
	h := l.serve(0.05)
	l.fail(h, cloudformation.Fault{Stack: "pair-prod-topic", Operation: "create", Reason: "in use", Times: 1})
	failed := l.must(cli.ExitFailed, "deploy", l.project, "--env", "prod")
	l.has(failed, "to retry with the same files: stackwright retry ", " --data "+l.data)
	l.has(failed, "after a change of the files: stackwright deploy "+l.project+" --env prod --data "+l.data)
	l.edit("stackwright.yaml", "text: good morning", "text: good night")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	r := l.run("retry", "--env", "prod")
	if l.has(r.err, "later ones have repeated or superseded all that failed"); r.code != cli.ExitRefused {
		t.Errorf("retry ended with %d", r.code)
	}
	l.edit("stackwright.yaml", "  prod: {", "  prod: { approve_plan: true,")
	l.edit("stackwright.yaml", "text: good night", "text: good evening")
	l.must(cli.ExitWaiting, "deploy", l.project, "--env", "prod")
	rejected := l.must(cli.ExitOK, "reject", "--env", "prod", "--reason", "not today")
	if l.has(rejected, "after a change of the files: stackwright deploy --env prod"); strings.Contains(rejected, "retry") {
		t.Error(rejected)
	}
}

// A command without RUN changes no run if such runs of several projects are found: it lists them.
func TestWithoutRunOfSeveralProjects(t *testing.T) {
	l := newLaptop(t)
	h := l.serve(0.05)
	for _, env := range []string{"default", "prod"} {
		l.fail(h, cloudformation.Fault{Stack: "pair-*topic", Operation: "create", Reason: "in use", Times: 1})
		l.must(cli.ExitFailed, "deploy", l.project, "--env", env)
	}
	r := l.run("retry")
	if r.code != cli.ExitRefused {
		t.Errorf("retry ended with %d", r.code)
	}
	l.has(r.err, "2 projects have a run that retry could mean: name the run, or give --project and --env: ", "(deploy of pair@prod, failed), ", "(deploy of pair@default, failed)")
	l.has(l.must(cli.ExitOK, "retry", "--env", "prod"), "deploy of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "retry"), "deploy of pair@default succeeded")
}
