package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A deploy carries out the plan in a file with the files of that plan, whatever the folder has by now, and once: the second
// time the plan is out of date.
func TestSavedPlan(t *testing.T) {
	t.Parallel()
	testSavedPlan(t, newLaptop(t))
}

// A folder without an installation has no plans: the deploy says so, and makes no installation.
func TestSavedPlanOfAnotherFolder(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	file, other := filepath.Join(t.TempDir(), "shop.plan"), newLaptop(t)
	l.must(cli.ExitOK, "plan", l.project, "--out", file)
	r := other.run("deploy", "--plan", file)
	if r.code != cli.ExitRefused || !strings.Contains(r.out+r.err, "there is no installation in folder ") {
		t.Errorf("it ended with %d: %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(other.data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made (%v)", err)
	}
}

// The same through the API.
func TestSavedPlanThroughTheAPI(t *testing.T) {
	l, _ := newInstallation(t)
	testSavedPlan(t, l)
}

func testSavedPlan(t *testing.T, l *laptop) {
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	file := filepath.Join(t.TempDir(), "shop.plan")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--out", file), "goodbye")
	l.edit("stackwright.yaml", "text: goodbye", "text: never")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	saved := string(text)
	refused := func(args []string, want ...string) {
		t.Helper()
		r := l.run(append([]string{"deploy", "--plan"}, args...)...)
		if r.code != cli.ExitRefused {
			t.Errorf("deploy --plan %q ended with %d: %s%s", args, r.code, r.out, r.err)
		}
		l.has(r.out+r.err, want...)
	}
	for _, args := range [][]string{{"--var", "a=b"}, {l.project}, {"--only", "topic"}, {"--max-deletions", "3"}, {"--env", "default"}} {
		refused(append([]string{file}, args...), "the saved plan", "leave it out, or plan again", "nothing was done")
	}

	bad := filepath.Join(t.TempDir(), "bad.plan")
	if !strings.Contains(saved, `"plan": "`) {
		t.Fatalf("the file names no plan: %s", saved)
	}
	reference := saved[strings.Index(saved, `"plan": "`)+9:][:64]
	for _, c := range []struct{ text, want string }{
		{"", "no plan that plan --out has written"},
		{saved[:len(saved)/2], "no plan that plan --out has written"},
		{"project: pair\n", "no plan that plan --out has written"},
		{strings.Replace(saved, `"format": 1`, `"format": 2`, 1), "its format is 2, and this version reads format 1"},
		{strings.Replace(saved, `"format": 1`, `"format": 1, "except": ["topic"]`, 1), `unknown field "except"`},
		{`{"format":1,"project":"pair@default"}`, "it does not say which project to deploy, which files, or which plan"},
		{strings.Replace(saved, `"deploy"`, `"destroy"`, 1), "it does not say which project"},
		{strings.Replace(saved, reference, strings.Repeat("0", 64), 1), "the installation has no such plan: it was made by another installation, or is no longer stored: plan again"},
		{strings.Replace(saved, reference, "../../"+reference, 1), "it is no reference of a saved plan, which has 64 hexadecimal digits"},
		{strings.Replace(saved, `"project": "pair@default"`, `"project": "other@default"`, 1), "other@default"},
		{strings.Replace(saved, `"project": "pair@default"`, `"project": "pair@prod"`, 1), "pair@prod"},
	} {
		if err := os.WriteFile(bad, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused([]string{bad}, c.want)
	}
	refused([]string{bad + "x"}, "--plan: the file cannot be read")
	refused([]string{t.TempDir()}, "--plan: the file cannot be read")

	l.has(l.must(cli.ExitOK, "deploy", "--plan", file), "1 updated")
	l.has(l.must(cli.ExitChanges, "plan", l.project, "--exit-code"), "goodbye", "never")
	digest := saved[strings.Index(saved, `"digest": "`)+11:][:12]
	refused([]string{file}, "plan "+digest+" is out of date, so nothing was done: plan again, and review that plan", "the plan changes it, and now nothing would be done with it")

	l.must(cli.ExitOK, "plan", l.project, "--only", "topic", "--out", file)
	if out := l.must(cli.ExitOK, "deploy", "--plan", file); strings.Contains(out, "queue") {
		t.Errorf("the deploy of a plan of one stack: %s", out)
	}
}
