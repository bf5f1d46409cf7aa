package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A project is deployed, changed and destroyed by commands, each of which hosts the
// emulators itself. So the data folder must have all that the next command needs.
func TestCommandsCarryAProjectThroughItsLife(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.has(l.must(cli.ExitChanges, "plan", l.project, "--exit-code"), "plan of pair@default\n", "3 changes: 3 to create; 0 unchanged", "+ queue  create  (after topic/create)")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "deploy pair@default: run ", "done     queue/create", "3 created")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "succeeded", "3 unchanged")
	l.has(l.must(cli.ExitOK, "status"), "deploy of pair@default succeeded")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--exit-code"), "no changes, 3 unchanged")

	l.has(l.must(cli.ExitOK, "outputs"), "topic  Text    hello")
	l.has(l.must(cli.ExitOK, "outputs", "queue"), "arn:aws:sns:us-east-1:000000000000:")
	l.has(l.must(cli.ExitOK, "history", "queue"), "pair@default  queue/create  done")
	l.has(l.run("history", "topik").err, "there is no stack topik: did you mean topic?")
	l.has(l.run("outputs", "topik").err, "there is no stack topik: did you mean topic?")
	l.has(l.must(cli.ExitOK, "stacks"), "queue  pair@default  pair-queue  CREATE_COMPLETE")

	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(l.must(cli.ExitChanges, "plan", l.project, "--exit-code"), "~ topic  update")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "done     topic/update", "1 updated")
	l.has(l.must(cli.ExitOK, "refresh", l.project), "3 read")

	r := l.run("destroy", l.project)
	if r.code != cli.ExitRefused {
		t.Errorf("destroy without --yes ended with %d", r.code)
	}
	l.has(r.err, "there is no terminal on which to confirm it: confirm with --yes")
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--yes"), "3 deleted")
	if got := l.objects(l.must(cli.ExitOK, "stacks", "-o", "json")); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	runs := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))
	var operations []any
	for _, r := range runs {
		operations = append(operations, r["operation"])
	}
	want := []any{"destroy", "refresh", "deploy", "plan", "plan", "deploy", "deploy", "plan"}
	if d := cmp.Diff(want, operations); d != "" {
		t.Errorf("runs, newest first: %s", d)
	}
	l.has(runs[0]["claim"].(string), "ann@")
}

// A command that would delete too much is refused. The message names a flag, and the
// command has that flag.
func TestMaxDeletions(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", `  queue:
    template: templates/queue.yaml
    parameters: { Topic: "${topic.Arn}" }
  alone:
    template: templates/queue.yaml
    parameters: { Topic: nobody }
`, "")
	for _, command := range []string{"deploy", "plan"} {
		r := l.run(command, l.project)
		if r.code != cli.ExitRefused {
			t.Errorf("%s ended with %d", command, r.code)
		}
		l.has(r.out+r.err, "2 of the 3 recorded stacks would be deleted permanently (alone, queue), and at most 1 may be", "deploy with --max-deletions 2")
	}
	l.has(l.must(cli.ExitOK, "plan", l.project, "--max-deletions", "2"), "- queue  delete")
	l.has(l.must(cli.ExitOK, "deploy", l.project, "--max-deletions", "2"), "2 deleted")
	l.has(l.run("deploy", l.project, "--max-deletions", "-1").err, "--max-deletions -1: give a whole number, 0 or more")
}

// Commands are about the stacks that their flags select, and say what is added and left out.
func TestSelections(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	first := l.objects(l.must(cli.ExitOK, "deploy", l.project, "--exclude", "al*", "-o", "json", "--quiet"))[0]["run"].(string)
	l.has(l.must(cli.ExitOK, "plan", l.project, "--only", "al*,queue"), "added: topic (queue depends on it)", "+ alone  create")
	r := l.run("plan", l.project, "--only", "queue", "--with-dependencies=maybe")
	l.has(r.err, "--with-dependencies maybe: give true or false")
	l.has(l.run("deploy", l.project, "--with-dependents").err, "--with-dependents: it adds to the stacks that only or changed_since selects")
	l.has(l.run("deploy", l.project, "--only", "q?", "--exclude", "topik").out, "only: no stack matches q?", "exclude: there is no stack topik", "did you mean topic?")
	l.has(l.run("plan", l.project, "--changed-since", "zzzz").err, "--changed-since: there is no run zzzz")
	l.edit("stackwright.yaml", "{ Topic: nobody }", "{ Topic: somebody }")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--changed-since", first[:12]), "+ alone  create", "left out: 2 stacks (the files are those of run "+first+")")
	l.must(cli.ExitOK, "deploy", l.project, "--changed-since", first)
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--only", "topic", "--with-dependents", "--exclude", "alone", "--plan"), "- queue  delete", "added: queue (it depends on topic)")
	l.answers = "yes\n"
	r = l.run("destroy", l.project, "--only", "topic", "--with-dependents", "--exclude", "alone")
	l.has(r.err, "added: queue (it depends on topic)", "- queue  delete", "- topic  delete", "destroy does this to pair@default")
	l.answers = "yes\n"
	r = l.run("replace", "topik", "--files", l.project)
	l.has(r.err, "there is no stack topik, neither in the project's files nor recorded: did you mean topic?", "replace refused: nothing was done")
	if strings.Contains(r.err, "type yes") {
		t.Errorf("it asks before it is refused: %s", r.err)
	}
	l.has(l.must(cli.ExitOK, "forget", "al*", "--plan"), "alone")
}

func TestJSONIsOneObjectALine(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	objects := l.objects(l.must(cli.ExitOK, "deploy", l.project, "-o", "json", "--env", "prod"))
	statuses := make(map[string][]string)
	for _, o := range objects[:len(objects)-1] {
		step := o["step"].(string)
		statuses[step] = append(statuses[step], o["status"].(string))
		if o["stack"].(string)+"/"+o["verb"].(string) != step {
			t.Errorf("%v", o)
		}
		for _, k := range []string{"time", "run", "why"} {
			if _, ok := o[k].(string); !ok {
				t.Errorf("no %s in %v", k, o)
			}
		}
	}
	each := []string{"pending", "running", "done"}
	want := map[string][]string{"topic/create": each, "queue/create": each, "alone/create": each}
	if d := cmp.Diff(want, statuses); d != "" {
		t.Error(d)
	}
	last := objects[len(objects)-1]
	if last["state"] != "succeeded" || last["operation"] != "deploy" || last["steps"] != 3.0 || last["run"] == "" {
		t.Errorf("last: %v", last)
	}
	l.has(l.must(cli.ExitOK, "outputs", "topic", "-o", "json"), `"Text":"good morning"`, `"project":"pair@prod"`)
}

// The errors of a project are reported before any call to AWS.
func TestRefusedProjectMakesNoCall(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	aws := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer aws.Close()
	l := newLaptop(t)
	l.env["STACKWRIGHT_YES"] = "true"
	for _, command := range []string{"deploy", "plan", "destroy", "refresh"} {
		r := l.run(command, "testdata/broken", "--endpoint", aws.URL, "-o", "json")
		if r.code != cli.ExitRefused {
			t.Errorf("%s ended with %d", command, r.code)
		}
		l.has(r.err, "stackwright.yaml:4:15: stack a: template: there is no file nowhere.yaml")
		last := l.last(r.out)
		if last["state"] != "refused" || last["operation"] != command || len(last["messages"].([]any)) == 0 {
			t.Errorf("%v", last)
		}
	}
	l.must(cli.ExitRefused, "deploy", "testdata/broken")
	l.must(cli.ExitRefused, "deploy", l.project, "--env", "nowhere")
	l.must(cli.ExitRefused, "graph", "testdata/broken")
	if calls.Load() > 0 {
		t.Errorf("%d calls", calls.Load())
	}
	if _, err := os.Stat(l.data); err == nil {
		t.Error("the data folder was made")
	}
}

func TestFailureNamesItsCauseAndRetryRepairsIt(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "create", Reason: "no more topics", Times: 1})
	out := l.must(cli.ExitFailed, "deploy", l.project)
	l.has(out, "failed   topic/create  (", "no more topics", "skipped  queue/create  (after topic/create)", "done     alone/create", "1 failed, 1 skipped")
	_, command, found := strings.Cut(strings.TrimSpace(out), "to retry with the same files: stackwright ")
	if !found {
		t.Fatalf("no word of what to do next in\n%s", out)
	}
	words := strings.Fields(command)
	l.has(l.must(cli.ExitOK, "status"), "✗ topic  create", "no more topics", "skipped because of it: queue")
	l.has(l.must(cli.ExitOK, words[:2]...), "1 deleted", "2 created", "1 unchanged")
	r := l.run("retry", "nosuchrun")
	if r.code != cli.ExitRefused {
		t.Errorf("retry of no run ended with %d", r.code)
	}
	l.has(r.err, "nosuchrun")
}

func TestSteeringObeysAndTellsSo(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(1)
	var out, err syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project) }()
	id := l.running(&out)
	l.has(l.must(cli.ExitOK, "pause", id), "is waiting after", "to continue: stackwright continue "+id)
	if code := <-done; code != cli.ExitWaiting {
		t.Errorf("deploy of a run that was paused ended with %d\n%s%s", code, out.String(), err.String())
	}
	status := l.run("status")
	l.has(status.err, "pair@default is locked by run "+id+" (deploy, waiting)")
	l.has(l.must(cli.ExitOK, "cancel", id), "is cancelled after", "skipped, cancelled: queue")
	r := l.run("pause", id)
	if r.code != cli.ExitRefused {
		t.Errorf("pause of a run that is over ended with %d", r.code)
	}
	l.has(r.out, "was refused", id)
	for range 3 { // the refusal may be recorded before or after the first poll of the run
		if printed := l.objects(l.run("pause", id, "-o", "json").out); len(printed) != 1 || printed[0]["state"] != "refused" {
			t.Errorf("a refused command prints steps of the run: %v", printed)
		}
	}
	l.has(l.must(cli.ExitOK, "retry", id), "1 created")
}

func TestQuietPrintsOnlyTheResult(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	out := l.must(cli.ExitOK, "deploy", l.project, "--quiet")
	if !strings.HasPrefix(out, "deploy of pair@default succeeded in ") || strings.Contains(out, "topic/create") {
		t.Errorf("it prints progress:\n%s", out)
	}
	if !strings.HasSuffix(out, "\non this laptop (emulators, "+l.data+")\n") {
		t.Errorf("the last line does not say where:\n%s", out)
	}
	if printed := l.objects(l.must(cli.ExitOK, "destroy", l.project, "--yes", "--quiet", "-o", "json")); len(printed) != 1 || printed[0]["state"] != "succeeded" {
		t.Errorf("it prints progress: %v", printed)
	}
}

func TestContinueFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(1)
	var out, err syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project) }()
	id := l.running(&out)
	l.must(cli.ExitOK, "pause", id)
	<-done
	l.has(l.must(cli.ExitOK, "continue", id), "done     queue/create", "succeeded")
	l.must(cli.ExitOK, "status", id, "--follow")
}

func TestDestroyAsksFirst(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.answers = "y\n"
	r := l.run("destroy", l.project)
	if r.code != cli.ExitRefused {
		t.Errorf("ended with %d", r.code)
	}
	l.has(r.err, "- alone  delete", "- queue  delete", "- topic  delete", "destroy does this to pair@default\non this laptop (emulators, ", "type yes to continue (only the whole word is accepted)", `the answer was "y" and not yes: to continue, repeat the command and type the whole word yes, or add --yes`)
	l.answers = "yes\n"
	l.must(cli.ExitOK, "destroy", l.project)
	if r := l.run("destroy", l.project); r.code != cli.ExitOK || strings.Contains(r.err, "type yes") {
		t.Errorf("nothing is left to delete, and it ended with %d: %s", r.code, r.err)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	r := l.run("runs", "--endpoint", "127.0.0.1:1")
	if r.code != cli.ExitFailed {
		t.Errorf("ended with %d", r.code)
	}
	l.has(r.err, "nothing listens at http://127.0.0.1:1: is serve running there?")
}

func TestGraphShowsEdgesAndWhy(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	want := "pair@default: 3 stacks, 1 edge\nalone\ntopic\n└─ queue  (output Arn)\n"
	if d := cmp.Diff(want, l.must(cli.ExitOK, "graph", l.project)); d != "" {
		t.Error(d)
	}
	l.has(l.must(cli.ExitOK, "graph", l.project, "-o", "json"), `"node":"queue","needs":"topic","cause":"output","what":"Arn"`)
	l.has(l.must(cli.ExitOK, "graph", l.project, "-o", "dot"), `"topic" -> "queue" [label="output Arn"];`)
	l.has(l.must(cli.ExitOK, "graph", l.project, "-o", "mermaid"), "s2 --> s1")
}
