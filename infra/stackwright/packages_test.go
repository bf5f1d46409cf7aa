package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The files that templates name are in the bucket before the stacks are created, under their digests. A second deploy
// updates nothing, and a change of a file updates the stacks whose templates name it.
func TestPackages(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "packages")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/packages")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	rendered := l.must(cli.ExitOK, "render", l.project)
	l.has(rendered, `Code: {"S3Bucket": "stackwright", "S3Key": "artifacts/code/`, `TemplateURL: "https://stackwright.s3.us-east-1.amazonaws.com/artifacts/code/`, `CodeUri: "s3://stackwright/artifacts/code/`)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")

	stacks := cloudformation.NewFromConfig(h.Cloud.Config())
	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	stored := func() (all string) {
		for _, stack := range []string{"code-function", "code-nested", "code-serverless"} {
			out, err := stacks.GetTemplate(t.Context(), &cloudformation.GetTemplateInput{StackName: &stack})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(rendered, "    "+strings.ReplaceAll(strings.TrimRight(aws.ToString(out.TemplateBody), "\n"), "\n", "\n    ")) {
				t.Errorf("%s is not as rendered:\n%s", stack, aws.ToString(out.TemplateBody))
			}
			for _, digest := range regexp.MustCompile(`artifacts/code/([0-9a-f]{64})`).FindAllStringSubmatch(aws.ToString(out.TemplateBody), -1) {
				object, err := objects.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(cli.Name), Key: &digest[0]})
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(object.Body)
				if sum := sha256.Sum256(body); err != nil || hex.EncodeToString(sum[:]) != digest[1] {
					t.Errorf("%s of %s has another digest: %v", digest[0], stack, err)
				}
				if packed, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); err == nil && packed.File[0].Name != "main.py" {
					t.Errorf("%s has %s", digest[0], packed.File[0].Name)
				}
				all += stack + " " + digest[1] + "\n"
			}
		}
		return all
	}
	first := stored()
	versions, err := objects.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(cli.Name), Prefix: aws.String("artifacts/")})
	if err != nil || len(versions.Versions) != 2 { // the zip of two templates, and the nested template
		t.Errorf("%d objects were stored, want 2: %v", len(versions.Versions), err)
	}
	if strings.Count(first, "\n") != 3 {
		t.Errorf("the templates name these objects:\n%s", first)
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "unchanged")
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 3 unchanged")

	l.edit("src/main.py", "return 1", "return 2")
	plan := l.must(cli.ExitOK, "plan", l.project)
	l.has(plan, "~ function  update", "Code")
	l.must(cli.ExitOK, "deploy", l.project)
	rendered = l.must(cli.ExitOK, "render", l.project)
	if second := stored(); strings.Split(first, "\n")[0] == strings.Split(second, "\n")[0] || strings.Split(first, "\n")[1] != strings.Split(second, "\n")[1] {
		t.Errorf("before:\n%safter:\n%s", first, second)
	}
	l.must(cli.ExitOK, "destroy", l.project, "--yes")

	l.edit("templates/function.yaml", "../src", "../scr")
	r := l.run("deploy", l.project)
	if l.has(r.err, "templates/function.yaml:9:13: resource Function: Code: there is no file or folder ../scr"); r.code != cli.ExitRefused {
		t.Errorf("ended with %d", r.code)
	}
}
