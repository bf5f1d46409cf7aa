package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// convert converts a deployed project: a deploy of the result would change nothing.
func (l *laptop) convert(dir, id string, stacks int) {
	l.Helper()
	converted := filepath.Join(l.TempDir(), "converted")
	l.elsewhere = true // convert needs no installation
	r := l.run("convert", dir, "--out", converted)
	for _, again := range [][]string{{"convert", dir, "--out", converted}, {"convert", converted, "--out", converted + "2"}, {"convert", dir}} {
		if r := l.run(again...); r.code != cli.ExitRefused {
			l.Errorf("%v: ended with %d: %s", again, r.code, r.err)
		}
	}
	l.elsewhere = false
	l.has(r.err, fmt.Sprintf("%s has the same %d stacks as before", id, stacks))
	l.has(l.must(cli.ExitOK, "plan", converted, "--exit-code"), fmt.Sprintf("no changes, %d unchanged", stacks))
}

// A project of Sceptre is checked, planned, deployed, uploaded as an archive, changed and destroyed. One change
// updates only the stack that it is about. Its templates alone do not replace it.
func TestSceptreProject(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "any")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/sceptre")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "graph", l.project), "letters@default: 2 stacks, 1 edge", "messages/queues  (output Arn)")
	l.has(l.must(cli.ExitOK, "render", l.project, "messages/topic"), "stack name      letters-beta-messages-topic", "DisplayName=letters orders", "Team=messages")
	// What the command line gives is uploaded with the project.
	l.has(l.must(cli.ExitOK, "render", l.project, "messages/topic", "--var", "stage=gamma"), "stack name      letters-gamma-messages-topic")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--var", "stage=gamma", "-o", "json"), `"letters-gamma-messages-topic"`, `"letters-gamma-messages-queues"`)
	for _, wrong := range [][]string{{"--var", "stage"}, {"--var", "stge=gamma"}, {"--map", "prod=default"}, {"--var-file", filepath.Join(l.project, "none.yaml")}} {
		if r := l.run(append([]string{"plan", l.project}, wrong...)...); r.code != cli.ExitRefused {
			t.Errorf("%v: plan ended with %d: %s", wrong, r.code, r.err)
		}
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 created")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 unchanged")
	l.convert(l.project, "letters@default", 2)

	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	upload := func(folder, want string) {
		t.Helper()
		var packed bytes.Buffer
		w := zip.NewWriter(&packed)
		if err := w.AddFS(os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		known := len(l.objects(l.must(cli.ExitOK, "runs", "-o", "json")))
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(cli.Name), Key: aws.String("projects/letters/default.zip"), Body: bytes.NewReader(packed.Bytes())}); err != nil {
			t.Fatal(err)
		}
		r := l.run("status", l.newRun(known), "--follow")
		l.has(r.out+r.err, want)
	}
	upload(l.project, "2 unchanged")
	if err := os.Remove(filepath.Join(l.project, "templates", "queues.j2")); err != nil {
		t.Fatal(err)
	}
	upload(filepath.Join(l.project, "templates"), "letters@default was deployed from a Sceptre project, and these are templates without a project file")
	if err := os.CopyFS(filepath.Join(l.project, "again"), os.DirFS("../../examples/sceptre")); err != nil {
		t.Fatal(err)
	}
	l.project = filepath.Join(l.project, "again")
	l.edit("config/config.yaml", "[orders, invoices]", "[orders, receipts]")
	r := l.must(cli.ExitOK, "plan", l.project)
	l.has(r, "~ messages/queues  update", "1 unchanged")
	l.must(cli.ExitOK, "destroy", l.project, "--yes")
}

// A tree of Sceptre in another region than the laptop's needs no registered target there. The first deploy or plan registers
// one, in the mapped name if there is one.
func TestTreeOfAnotherRegion(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "any")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/sceptre")); err != nil {
		t.Fatal(err)
	}
	config, side := filepath.Join(l.project, "config", "config.yaml"), filepath.Join(l.project, "sceptre.yaml")
	edit := func(file, old, text string) {
		t.Helper()
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(body), old, text, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit(config, "region: us-east-1", "region: eu-west-1")
	l.serve(0.05)
	l.has(l.must(cli.ExitOK, "graph", l.project), "letters@default: 2 stacks, 1 edge")
	if text := l.must(cli.ExitOK, "targets"); strings.Contains(text, "eu-west-1") {
		t.Errorf("reading registered a target: %s", text)
	}
	r := l.run("deploy", l.project)
	l.has(r.out, "2 created")
	l.has(r.err, "target aws-000000000000-eu-west-1 is account 000000000000, region eu-west-1: registered on this laptop")
	if r := l.run("deploy", l.project); strings.Contains(r.err, "registered") {
		t.Errorf("it was registered again: %s", r.err)
	}
	l.has(l.must(cli.ExitOK, "targets"), "eu-west-1")
	edit(side, "project:", "targets: [{region: eu-west-1, target: ireland}]\nproject:")
	l.has(l.run("plan", l.project).err, "target ireland is account 000000000000, region eu-west-1: registered on this laptop")
}
