package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The folder that export writes of a project is the project: a plan of it says that nothing changes.
func TestExportAsProject(t *testing.T) {
	t.Parallel()
	for _, environment := range []string{"default", "prod"} {
		l := newLaptop(t)
		l.project = filepath.Join(t.TempDir(), "shop")
		if err := os.CopyFS(l.project, os.DirFS("../../examples/shop")); err != nil {
			t.Fatal(err)
		}
		l.serve(0.05)
		l.must(cli.ExitOK, "deploy", l.project, "--env", environment)
		dir := filepath.Join(t.TempDir(), "exported")
		r := l.run("export", "shop@"+environment, "--project", dir)
		if r.code != cli.ExitOK {
			t.Fatalf("%s%s", r.out, r.err)
		}
		l.has(r.out, filepath.Join(dir, "stackwright.yaml"), filepath.Join(dir, "templates", "app", "orders.yaml"))
		l.has(r.err, "see whether a deploy of it would change anything: stackwright plan "+dir)
		file, err := os.ReadFile(filepath.Join(dir, "stackwright.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		l.has(string(file), "${network/vpc.")
		if out := l.must(cli.ExitOK, "plan", dir, "--env", environment); !strings.Contains(out, "no changes, 9 unchanged") {
			t.Errorf("%s\n%s", out, file)
		}
		if r := l.run("export", "shop@"+environment, "--project", dir); r.code != cli.ExitRefused || !strings.Contains(r.err, "exists: init, export and convert replace no file") {
			t.Errorf("ended with %d: %s", r.code, r.err)
		}
	}
}

// The document has everything that is known, but no value of a NoEcho parameter; neither has the folder. Through the API it is the same.
func TestExport(t *testing.T) {
	l, _ := newInstallation(t)
	const secret = "hunter2hunter2"
	l.edit("templates/queue.yaml", "Parameters:\n", "Parameters:\n  Password: { Type: String, NoEcho: true, Default: none }\n  Size: { Type: String, Default: small }\n  Given: { Type: String, Default: same }\n")
	l.edit("stackwright.yaml", `{ Topic: "${topic.Arn}" }`, `{ Topic: "${topic.Arn}", Given: same, Password: "${secret:db#password}" }`)
	l.edit("templates/queue.yaml", "Default: none", "Default: "+secret)
	l.must(cli.ExitOK, "deploy", l.project)
	through, directly := l.must(cli.ExitOK, "export"), l.must(cli.ExitOK, "export", "pair", "--direct")
	if through != directly {
		t.Errorf("the documents differ:\n%s\n%s", through, directly)
	}
	var e struct {
		Format  int
		Project string
		Stacks  []struct {
			Stack  string
			Digest string
			Live   struct {
				Status     string
				Parameters []struct {
					Name, Value string
					Secret      bool
				}
			}
		}
		Runs []struct{ Operation, State string }
	}
	if err := json.Unmarshal([]byte(through), &e); err != nil {
		t.Fatal(err)
	}
	if e.Format != 1 || e.Project != "pair" || len(e.Stacks) != 3 || len(e.Runs) != 1 || e.Runs[0].State != "succeeded" {
		t.Fatalf("%+v", e)
	}
	for _, s := range e.Stacks {
		if s.Digest == "" || s.Live.Status != "CREATE_COMPLETE" {
			t.Errorf("%+v", s)
		}
		for _, p := range s.Live.Parameters {
			if p.Secret != (p.Name == "Password") || p.Secret && p.Value != "" {
				t.Errorf("%+v", p)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "exported")
	r := l.run("export", "pair@default", "--project", dir)
	l.has(r.err, "stack queue: the value of parameter Password cannot be read, because it is NoEcho: create the secret")
	file, err := os.ReadFile(filepath.Join(dir, "stackwright.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if l.has(string(file), "${topic.", "${secret:pair-queue/Password}"); strings.Contains(through+string(file), secret) || strings.Contains(string(file), "Size:") {
		t.Errorf("%s", file)
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pear"}, "there is no project pear@default: did you mean pair@default"},
		{[]string{"pair@prod"}, "there is no project pair@prod"},
		{[]string{"pair", "--project", ""}, "--project: it is empty"},
	} {
		if r := l.run(slices.Concat([]string{"export"}, c.args)...); r.code != cli.ExitRefused || !strings.Contains(r.err, c.want) {
			t.Errorf("%q ended with %d: %s", c.args, r.code, r.err)
		}
	}
}
