package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// The parts of a plan that differ from one execution of the test to the next.
var (
	varyingIDs = regexp.MustCompile(`("run":|"digest":|"revision":|"seconds":|"inputs":|"live":) ?("[^"]*"|\d+)`)
	estimates  = regexp.MustCompile(`about \d+ (s|min)`)
)

// The plan of a change of examples/shop, in every form. The README shows a part of it.
func TestPlanOfShop(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "shop")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/shop")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	first := l.must(cli.ExitOK, "plan", l.project)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "log_level: INFO", "log_level: DEBUG")
	l.edit("stackwright.yaml", "VisibilityTimeout: 60", "VisibilityTimeout: 90")
	l.edit("templates/orders.yaml", "      RetentionInDays: !Ref RetentionDays", "      LogGroupName: /shop/orders\n      RetentionInDays: !Ref RetentionDays")
	l.edit("templates/orders.yaml", "Timeout: 10", "Timeout: 20")
	l.edit("templates/uploads.yaml", "AWS::Lambda::Function", "AWS::Lambda::Function # the same")
	text := l.must(cli.ExitOK, "plan", l.project)
	document := l.must(cli.ExitOK, "plan", l.project, "-o", "json")
	markdown := l.must(cli.ExitOK, "plan", l.project, "-o", "markdown")
	destroy := l.must(cli.ExitOK, "destroy", l.project, "--plan")
	for name, got := range map[string]string{"destroy.txt": destroy, "first.txt": first, "plan.txt": text, "plan.json": indented(t, document), "plan.md": markdown} {
		golden.Same(t, filepath.Join("testdata", "plan", name), estimates.ReplaceAllString(got, "about …"))
	}
	for line := range strings.Lines(first + text + destroy) {
		if words := strings.Fields(line); utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && len(words) > 3 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
	for _, said := range []string{"DATA LOSS: app/orders Logs, replaced (logs)", "± REPLACE Logs  AWS::Logs::LogGroup"} {
		l.has(text, said)
	}
	l.has(destroy, "the resource is kept outside the stack (Retain)", "9 changes: 9 to delete; 0 unchanged; data loss in 5 resources")
	l.has(l.must(cli.ExitChanges, "destroy", l.project, "--plan", "--exit-code", "-o", "markdown"), "### `destroy --plan` of shop@default", "> DATA LOSS: data/queue Orders, deleted (messages)<br>")
	if r := l.run("destroy", l.project, "-o", "markdown", "--yes"); r.code != cli.ExitRefused || !strings.Contains(r.err, "add --plan") {
		t.Errorf("a destroy in Markdown ends with %d: %s", r.code, r.err)
	}
	shows(t, "../../README.md", "[which data it would lose](docs/plan.md):", text)
	shows(t, "../../docs/plan.md", "## The three forms", text, indented(t, document), markdown)
	l.has(l.must(cli.ExitOK, "status"), "DATA LOSS: data/queue Orders, deleted (messages)")
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "yaml"), "---\n", "data_loss: true")
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 9 unchanged")
}

// shows compares the code blocks of a section of a page, until the next heading, with what the plan prints in each form.
func shows(t *testing.T, page, section string, forms ...string) {
	t.Helper()
	all, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(all), section)
	shown, _, _ = strings.Cut(shown, "\n## ")
	blocks := strings.Split(shown, "```")
	if len(blocks) != 2*len(forms)+1 {
		t.Fatalf("%s shows the plan in %d forms, not in %d", page, len(blocks)/2, len(forms))
	}
	for n, form := range forms {
		_, block, _ := strings.Cut(blocks[2*n+1], "\n")
		for line := range strings.Lines(block) {
			if !strings.Contains(form, strings.TrimSpace(line)) {
				t.Errorf("%s shows a line that the plan has not: %s", page, line)
			}
		}
	}
}

// indented is a document with indents, without what varies.
func indented(t *testing.T, document string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(document), "", "  "); err != nil {
		t.Fatal(err)
	}
	return varyingIDs.ReplaceAllString(b.String(), `$1 "…"`)
}

// When what a plan would change was altered, status shows the run and says what to do.
func TestStatusOfAlteredPlan(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "plan", l.project)
	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	stored, err := objects.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(cli.Name), Prefix: aws.String("plans/")})
	if err != nil || len(stored.Contents) != 1 {
		t.Fatalf("%v, %v", stored, err)
	}
	if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(cli.Name), Key: stored.Contents[0].Key, Body: strings.NewReader("{}")}); err != nil {
		t.Fatal(err)
	}
	r := l.run("status")
	if r.code != cli.ExitOK {
		t.Errorf("status ends with %d", r.code)
	}
	l.has(r.err, "was overwritten", "plan again")
	l.has(r.out, "plan of pair@default", "requested by ann@")
}
