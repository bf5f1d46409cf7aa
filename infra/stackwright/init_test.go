package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// What init writes from nothing is valid, is rendered, is deployed, and stays as it is when init runs again.
func TestInit(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "My shop", "infrastructure")
	r := l.run("init", l.project, "--project", "shop")
	l.has(r.out, filepath.Join(l.project, "stackwright.yaml"), filepath.Join(l.project, "templates", "queue.yaml"))
	l.has(r.err, "project shop has 2 stacks; see what a deploy would do: stackwright plan")
	l.has(l.must(cli.ExitOK, "render", l.project), "stack name      shop-queue", "parameters      QueueArn=${queue.QueueArn}")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 created")
	written, err := os.ReadFile(filepath.Join(l.project, "stackwright.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l.elsewhere = true
	l.has(l.must(cli.ExitOK, "validate", l.project), "shop@default is valid: 2 stacks")
	for _, args := range [][]string{{"init", l.project}, {"init", filepath.Dir(l.project)}} {
		if r := l.run(args...); r.code != cli.ExitRefused || !strings.Contains(r.err, "stackwright.yaml exists: init replaces no project file") {
			t.Errorf("%v ended with %d: %s", args, r.code, r.err)
		}
	}
	if again, err := os.ReadFile(filepath.Join(l.project, "stackwright.yaml")); err != nil || string(again) != string(written) {
		t.Errorf("the project file has changed: %v\n%s", err, again)
	}
}

// On a terminal init asks for the name of the project. An empty answer is the name of the folder.
func TestInitAsksForTheName(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.elsewhere = true
	for answer, want := range map[string]string{"orders\n": "project: orders\n", "\n": "project: my-shop\n", "-\n": "", "": "project: my-shop\n"} {
		dir := filepath.Join(t.TempDir(), "my shop")
		l.answers = answer
		r := l.run("init", dir)
		written, err := os.ReadFile(filepath.Join(dir, "stackwright.yaml"))
		if want == "" {
			if l.has(r.err, "- is not the name of a project"); r.code != cli.ExitRefused || err == nil {
				t.Errorf("%q: ended with %d", answer, r.code)
			}
			continue
		}
		if r.code != cli.ExitOK || !strings.Contains(string(written), want) || strings.Contains(r.err, "name of the project [my-shop]: ") != (answer != "") {
			t.Errorf("%q: ended with %d: %s\n%s", answer, r.code, r.err, written)
		}
	}
}

// A folder of templates that was deployed without a project file gets one: a deploy then changes nothing, and the folder is
// not deployed without the file any more.
func TestInitOfTemplates(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "templates") // the templates name its exports
	if err := os.CopyFS(l.project, os.DirFS("../../examples/templates")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "init", l.project)
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 2 unchanged")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 unchanged")
	l.edit("stackwright.yaml", "    parameters:", "    protect: true\n    parameters:")
	l.must(cli.ExitOK, "deploy", l.project)
	if err := os.Remove(filepath.Join(l.project, "stackwright.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"plan", "deploy"} {
		if r := l.run(command, l.project); r.code != cli.ExitRefused || !strings.Contains(r.out+r.err, "templates@default was deployed from files with a project file, and these are templates without a project file") {
			t.Errorf("%s ended with %d: %s%s", command, r.code, r.out, r.err)
		}
	}
}

// The project of live stacks has their templates, values and names: a deploy of it changes nothing.
func TestInitFromLive(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "template: templates/topic.yaml\n", "template: templates/topic.yaml\n    protect: true\n    tags: { team: orders }\n")
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	dir := filepath.Join(t.TempDir(), "live")
	r := l.run("init", dir, "--from-live", "pair-")
	if r.code != cli.ExitOK {
		t.Fatal(r.err)
	}
	l.has(r.out, filepath.Join(dir, "templates", "topic.yaml"))
	l.has(r.err, "project pair has 3 stacks; see whether the live stacks are as it says, and take them over: stackwright adopt "+dir+" --plan")
	for _, name := range []string{"topic", "queue"} {
		was, err := os.ReadFile(filepath.Join(l.project, "templates", name+".yaml"))
		if is, lost := os.ReadFile(filepath.Join(dir, "templates", name+".yaml")); err != nil || lost != nil || string(is) != string(was) {
			t.Errorf("%s: %v %v\n%s", name, err, lost, is)
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, "stackwright.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l.has(string(file), "    parameters:\n      Text: hello\n    tags:\n      team: orders\n    protect: true\n")
	l.has(l.must(cli.ExitOK, "deploy", dir), "done     queue/update  (unchanged)", "3 unchanged") // the file has the ARN instead of a reference
	l.has(l.must(cli.ExitOK, "plan", dir), "3 unchanged")

	// Stacks that no project owns are taken over without a change.
	l.must(cli.ExitOK, "forget", "queue", "topic", "alone", "--project", "pair")
	l.has(l.must(cli.ExitOK, "adopt", dir, "--plan"), "it is as the project says: nothing in AWS is changed", "3 to adopt")
	l.must(cli.ExitOK, "adopt", dir)
	l.has(l.must(cli.ExitOK, "plan", dir), "3 unchanged")

	if r := l.run("init", filepath.Join(t.TempDir(), "none"), "--from-live", "nothing-"); r.code != cli.ExitRefused || !strings.Contains(r.err, "has a name that begins with nothing-") {
		t.Errorf("ended with %d: %s", r.code, r.err)
	}
	taken := t.TempDir()
	if err := os.MkdirAll(filepath.Join(taken, "templates"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, "templates", "topic.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := l.run("init", taken, "--from-live", "pair-"); r.code != cli.ExitRefused || !strings.Contains(r.err, "topic.yaml exists: init, export and convert replace no file") {
		t.Errorf("ended with %d: %s", r.code, r.err)
	}
	if all, err := filepath.Glob(filepath.Join(taken, "*", "*")); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}
