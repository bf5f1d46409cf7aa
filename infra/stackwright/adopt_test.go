package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// Stacks that a project has forgotten are adopted by the same project: unchanged ones without
// any request that changes a stack. Another project cannot adopt them then.
func TestAdopt(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	r := l.run("adopt", l.project, "--only", "topik")
	l.has(r.out+r.err, "only: there is no stack topik", "did you mean topic?")
	l.has(l.must(cli.ExitOK, "adopt", l.project), "3 unchanged")

	// A stack that its project has created and not forgotten is not for another project.
	l.edit("stackwright.yaml", "project: pair", "project: other")
	l.edit("stackwright.yaml", "  alone:\n", "  alone:\n    stack_name: pair-alone\n")
	r = l.run("adopt", l.project, "--only", "alone")
	if r.code != cli.ExitRefused {
		t.Errorf("adopt ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack alone: pair-alone cannot be adopted: project pair@default owns it: forget it there first")
	l.edit("stackwright.yaml", "    stack_name: pair-alone\n", "")
	l.edit("stackwright.yaml", "project: other", "project: pair")
	l.must(cli.ExitOK, "forget", "queue", "topic", "alone")

	l.has(l.must(cli.ExitOK, "adopt", l.project, "--plan"), "* topic  adopt", "it exists, and no project owns it", "it is as the project says: nothing in AWS is changed", "3 to adopt")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--plan"), "* topic  adopt", "goodbye", "3 to adopt")
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--plan", "-o", "json"), `"action":"adopt"`, `"adopt":3`)
	l.edit("stackwright.yaml", "text: goodbye", "text: hello")

	// Another project describes the same stack.
	l.edit("stackwright.yaml", "project: pair", "project: other")
	l.edit("stackwright.yaml", "  alone:\n", "  alone:\n    stack_name: pair-alone\n")
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--only", "alone"), "1 adopted")
	l.edit("stackwright.yaml", "project: other", "project: pair")
	r = l.run("adopt", l.project)
	if r.code != cli.ExitRefused {
		t.Errorf("adopt ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack alone: pair-alone cannot be adopted: project other@default owns it: forget it there first")
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--only", "topic,queue"), "2 adopted")
	r = l.run("deploy", l.project)
	l.has(r.out+r.err, "stack alone: pair-alone exists (CREATE_COMPLETE) and is not managed by Stackwright: to take it over, write adopt: true")
	l.must(cli.ExitOK, "forget", "alone", "--project", "other")
	l.edit("stackwright.yaml", "    stack_name: pair-alone\n", "    stack_name: pair-alone\n    adopt: true\n")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 adopted", "2 unchanged")
	text := l.must(cli.ExitOK, "deploy", l.project)
	if l.has(text, "3 unchanged"); strings.Contains(text, "updated") {
		t.Errorf("the deploy after it: %s", text)
	}
}

// A deploy with --adopt takes over stacks and updates those that differ. The plan after an
// adoption compares the template that is deployed with that of the project.
func TestDeployAdopts(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "forget", "queue", "topic", "alone")
	l.edit("templates/topic.yaml", "Resources:", "Metadata: {Owner: us}\nResources:")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--adopt", "topic,queue,alone"), "3 to adopt")
	l.has(l.must(cli.ExitOK, "adopt", l.project), "3 adopted")
	text := l.must(cli.ExitOK, "plan", l.project)
	l.has(text, "~ topic  update", "adopted, and not deployed since", "hello", "goodbye")
	if strings.Contains(text, "never finished") || strings.Contains(text, "is not compared") || strings.Contains(text, "not known") {
		t.Errorf("the plan after the adoption: %s", text)
	}
	l.must(cli.ExitOK, "forget", "queue", "topic", "alone")
	r := l.run("deploy", l.project, "--adopt", "topics")
	l.has(r.out+r.err, "adopt: there is no stack topics in the project's files: did you mean topic?")
	l.has(l.must(cli.ExitOK, "deploy", l.project, "--adopt", "topic,queue,alone"), "adopted", "updated")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 unchanged")
}
