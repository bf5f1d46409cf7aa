package main

import (
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// outputs prints one output alone, and all of them in the formats of other programs.
func TestOutputsForPrograms(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	if got := l.must(cli.ExitOK, "outputs", "topic", "Text", "--raw"); got != "hello\n" {
		t.Errorf("the value is %q", got)
	}
	l.has(l.must(cli.ExitOK, "outputs"), "STACK  OUTPUT  VALUE", "PROJECT  ENVIRONMENT", "topic  Text    hello", "pair     default")
	l.has(l.must(cli.ExitOK, "outputs", "topic", "-o", "env"), "export TOPIC_TEXT=hello\n", "export TOPIC_ARN=arn:aws:sns:")
	l.has(l.must(cli.ExitOK, "outputs", "topic", "-o", "dotenv"), "TOPIC_TEXT='hello'\n")
	l.has(l.must(cli.ExitOK, "outputs", "-o", "tfvars"), "topic_text = \"hello\"\n")
	l.has(l.must(cli.ExitOK, "outputs", "topic", "-o", "yaml"), "---\noutputs:\n", "  Text: hello\n", "project: pair@default\n")
	for says, args := range map[string][]string{
		"stack topic has no output Txt: did you mean Text?":             {"outputs", "topic", "Txt"},
		"there is no stack topik: did you mean topic?":                  {"outputs", "topik", "Text", "--raw"},
		"--raw prints one value: give a stack and the key of an output": {"outputs", "topic", "--raw"},
		"outputs: x is one too many: it takes [STACK [KEY]]":            {"outputs", "topic", "Text", "x"},
	} {
		r := l.run(args...)
		if l.has(r.err, says); r.code != cli.ExitRefused || r.out != "" {
			t.Errorf("%v ended with %d: %s", args, r.code, r.out)
		}
	}
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.has(l.run("outputs", "topic", "Text", "--raw").err, "2 stacks have this output: give --project and --env")
	l.has(l.run("outputs", "-o", "env").err, "have the same name ", "give a stack, or --project and --env")
	if got := l.must(cli.ExitOK, "outputs", "topic", "Text", "--raw", "--env", "prod"); got != "good morning\n" {
		t.Errorf("the value is %q", got)
	}
}

// A failed deploy and its cause stay visible behind later plans and refused retries, until a deploy succeeds. retry
// retries the failed run.
func TestStatusLeadsWithWhatFailed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "create", Reason: "no more topics", Times: 1})
	l.must(cli.ExitFailed, "deploy", l.project)
	failed := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.must(cli.ExitOK, "plan", l.project)
	planned := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.must(cli.ExitRefused, "retry", planned[:12])
	l.has(l.must(cli.ExitOK, "status"), "needs attention: deploy of pair@default failed in ", "run "+failed+", requested by ", "topic/create failed: ", "no more topics", "to retry with the same files: stackwright retry "+failed)
	for _, output := range []string{"json", "yaml"} {
		l.has(l.must(cli.ExitOK, "status", "-o", output), "attention", failed, "no more topics")
	}
	attention, _ := l.objects(l.must(cli.ExitOK, "status", "-o", "json"))[0]["attention"].([]any)
	if len(attention) != 1 || attention[0].(map[string]any)["run"] != failed {
		t.Errorf("attention holds %v, want run %s", attention, failed)
	}
	for says, args := range map[string][]string{
		"every run has ended: there is nothing to do":             {"pause"},
		"no run is paused: name the one to continue":              {"continue"},
		"there is no run zzz, and no run whose ID begins with it": {"status", "zzz"},
	} {
		if r := l.run(args...); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d", args, r.code)
		} else {
			l.has(r.err, says)
		}
	}
	r := l.run("retry")
	l.has(r.err, "retry of run "+failed+" (deploy of pair@default, failed)")
	l.has(r.out, "2 created")
	if text := l.must(cli.ExitOK, "status"); len(text) == 0 || text[:5] == "needs" {
		t.Errorf("it still needs attention:\n%s", text)
	}
}
