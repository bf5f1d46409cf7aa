package main

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The command why says of a stack what decides about it, through its life: before it is deployed, unchanged, with another parameter, with a
// dependency that changes, changed by somebody else, and no longer in the files. It starts no run and shows no values.
func TestWhyThroughTheLifeOfAStack(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	why := func(stack string, more ...string) string {
		t.Helper()
		return l.must(cli.ExitOK, append([]string{"why", stack, l.project}, more...)...)
	}
	l.has(why("queue"), "queue of pair@default: the next deploy creates it\n", "  new in the project\n", "depends on:\n  topic: queue uses topic.Arn for parameter", "(stackwright.yaml:")
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(why("queue"), "the next deploy leaves it as it is: nothing differs\n", "compared:\n", "  parameters: ", "  dependencies: topic\n", "queue/create  done")
	l.has(why("topic"), "is used by:\n", "  queue: queue uses topic.Arn for parameter")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	changed := why("topic")
	l.has(changed, "the next deploy updates it\n", "differs:\n  parameter Text: it has another value\n")
	l.has(why("queue"), "the next deploy probably updates it\n", "  depends on topic, which changes\n", "dependency topic (${topic.Arn}): it changes: topic/update")
	l.has(why("queue", "--only", "topic"), "the next deploy is not about it\n")
	document := why("topic", "-o", "json")
	l.has(document, `"next":{"outcome":"update","certainty":"certain"`, `"kind":"parameter","name":"Text"`, `"changes":[{"run":`)
	for _, value := range []string{"hello", "goodbye"} {
		if strings.Contains(changed+document, value) {
			t.Errorf("the value %s is shown: %s%s", value, changed, document)
		}
	}
	l.has(why("topic", "-o", "yaml"), "outcome: update\n")
	l.has(l.run("why", "topik", l.project).err, "there is no stack topik, neither in the project's files nor recorded: did you mean topic?")
	if runs := l.objects(l.must(cli.ExitOK, "runs", "-o", "json")); len(runs) != 1 {
		t.Errorf("there are %d runs", len(runs))
	}
}
