package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A folder of templates without a project file is planned, deployed, uploaded as an archive, and destroyed.
func TestPlainTemplates(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "templates")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/templates")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "graph", l.project), "templates@default: 2 stacks, 1 edge", "app/subscription  (import templates-topic-Arn)")
	l.has(l.must(cli.ExitOK, "render", l.project, "topic"), "stack name      templates-topic", "parameters      Text=hello")
	l.has(l.must(cli.ExitOK, "plan", l.project), "+ topic  create", "+ app/subscription  create  (after topic/create)")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "done     topic/create", "done     app/subscription/create", "2 created")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 unchanged")

	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	if err := w.AddFS(os.DirFS(l.project)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	for key, want := range map[string]string{"projects/templates/default.zip": "2 unchanged", "projects/templates/prod.zip": "environment prod: without a project file there is only the environment default"} {
		known := len(l.objects(l.must(cli.ExitOK, "runs", "-o", "json")))
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(cli.Name), Key: &key, Body: bytes.NewReader(packed.Bytes())}); err != nil {
			t.Fatal(err)
		}
		r := l.run("status", l.newRun(known), "--follow")
		l.has(r.out+r.err, want)
	}
	l.edit("parameters/topic.json", "hello", "goodbye")
	l.has(l.must(cli.ExitOK, "plan", l.project), "~ topic  update")
	l.must(cli.ExitOK, "destroy", l.project, "--yes")
}
