package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A web is what web servers have, by URL.
type web struct {
	mu    sync.Mutex
	files map[string]string
	gets  int
}

// Get is remote.Web.
func (w *web) Get(_ context.Context, url string, most int, permit func(string) error) ([]byte, error) {
	if w == nil {
		return nil, errors.New("there is no network")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := permit(url); err != nil {
		return nil, err
	}
	w.gets++
	body, ok := w.files[url]
	if !ok || len(body) > most {
		return nil, errors.New("the server answers 404 Not Found")
	}
	return []byte(body), nil
}

// put changes what is at a URL.
func (w *web) put(url, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[url] = body
}

const topicURL = "https://templates.example.com/topic.yaml"

// topic is a version of the template at topicURL.
func topic(version string) string {
	return "Parameters: { Text: { Type: String } }\nResources:\n  Topic:\n    Type: AWS::SNS::Topic\n    Properties: { DisplayName: " + version + " }\nOutputs:\n  Arn: { Value: !Ref Topic }\n"
}

// withURL returns a laptop whose project has a template at topicURL.
func withURL(t *testing.T) *laptop {
	l := newLaptop(t)
	l.web = &web{files: map[string]string{topicURL: topic("one")}}
	l.edit("stackwright.yaml", "templates/topic.yaml", topicURL)
	return l
}

// deployed is the template that CloudFormation has of a stack.
func (l *laptop) deployed(h *host.Host, stack string) string {
	l.Helper()
	out, err := cloudformation.NewFromConfig(h.Cloud.Config()).GetTemplate(l.Context(), &cloudformation.GetTemplateInput{StackName: &stack})
	if err != nil {
		l.Fatal(err)
	}
	return aws.ToString(out.TemplateBody)
}

// The message about a host that is not allowed has the line that allows it, and where to write it. What was planned is deployed, retried and rolled back to,
// whatever the server answers by then; only a new upload fetches again.
func TestTemplateFromTheWeb(t *testing.T) {
	t.Parallel()
	l := withURL(t)
	r := l.run("deploy", l.project)
	file := filepath.Join(l.data, "remote-files")
	want := "stackwright.yaml:4:15: stack topic: template: " + topicURL + ": this installation does not let project pair@default use it: write the line https://templates.example.com/ into the file " + file + ", and run the command again"
	if l.has(r.out+r.err, want, topicURL+" is not in the project: the installation fetches it when it plans"); r.code != cli.ExitRefused || l.web.gets > 0 {
		t.Errorf("deploy ended with %d, after %d requests", r.code, l.web.gets)
	}
	if err := os.WriteFile(file, []byte("# ours\nhttps://templates.example.com/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	if got := l.deployed(h, "pair-topic"); got != topic("one") || l.web.gets != 1 {
		t.Errorf("deployed after %d requests:\n%s", l.web.gets, got)
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 unchanged")

	l.web.put(topicURL, topic("two"))
	l.fail(h, emulator.Fault{Stack: "pair-topic", Operation: "update", Times: 1})
	_, next, _ := strings.Cut(l.must(cli.ExitFailed, "deploy", l.project), "to retry with the same files: stackwright retry ")
	l.web.put(topicURL, topic("three"))
	l.must(cli.ExitOK, "retry", strings.Fields(next)[0])
	if got := l.deployed(h, "pair-topic"); got != topic("two") {
		t.Errorf("a retry deployed:\n%s", got)
	}
	l.fail(h, emulator.Fault{Stack: "pair-queue", Operation: "update", Times: 1})
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.edit("templates/queue.yaml", "Resources:", "Resources:\n  Other: { Type: AWS::SNS::Topic }")
	l.must(cli.ExitFailed, "deploy", l.project, "--rollback")
	if got := l.deployed(h, "pair-topic"); got != topic("two") {
		t.Errorf("a rollback deployed:\n%s", got)
	}

	// A plan that was saved is the one that is deployed, or none.
	saved := filepath.Join(t.TempDir(), "plan")
	l.must(cli.ExitOK, "plan", l.project, "--out", saved)
	l.web.put(topicURL, topic("four"))
	l.must(cli.ExitOK, "deploy", "--plan", saved)
	if got := l.deployed(h, "pair-topic"); got != topic("three") {
		t.Errorf("a saved plan deployed:\n%s", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An upload without the command line is fetched by the function plan, and so is a request that names it again.
func TestUploadWithURL(t *testing.T) {
	t.Parallel()
	l := withURL(t)
	if err := os.MkdirAll(l.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.data, "remote-files"), []byte("pair@*=https://templates.example.com/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	body := "project: shop\nstacks:\n  topic: { template: " + topicURL + ", parameters: { Text: x } }\n"
	put := func(key string) string {
		known := len(l.objects(l.must(cli.ExitOK, "runs", "-o", "json")))
		_, err := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true }).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String(cli.Name), Key: aws.String("projects/" + key + "/default.yaml"), Body: bytes.NewReader([]byte(strings.Replace(body, "shop", key, 1))),
		})
		if err != nil {
			t.Fatal(err)
		}
		r := l.run("status", l.newRun(known), "--follow")
		return r.out + r.err
	}
	l.has(put("pair"), "1 created")
	if got := l.deployed(h, "pair-topic"); got != topic("one") {
		t.Errorf("deployed:\n%s", got)
	}
	l.has(put("shop"), "this installation does not let project shop@default use it")
}

// Commands that only read fetch nothing unless they are to, and say what they have not read.
func TestReadingWithoutFetching(t *testing.T) {
	t.Parallel()
	l := withURL(t)
	for _, name := range []string{"validate", "render", "graph"} {
		args := []string{name, l.project}
		l.elsewhere = name == "validate"
		if r := l.run(args...); r.code != cli.ExitOK || !strings.Contains(r.err, "not read, because it is not in the project: "+topicURL+": --fetch fetches it") || l.web.gets > 0 {
			t.Errorf("%s ended with %d after %d requests: %s", name, r.code, l.web.gets, r.err)
		}
		if r := l.run(append(args, "--fetch")...); r.code != cli.ExitOK || strings.Contains(r.err, "not read") || l.web.gets != 1 {
			t.Errorf("%s --fetch ended with %d after %d requests: %s", name, r.code, l.web.gets, r.err)
		}
		l.web.gets = 0
	}
	l.elsewhere = true
	l.has(l.must(cli.ExitOK, "validate", l.project, "--env", "default"), "pair@default is valid: 2 stacks; not read: 1 file elsewhere")
	l.elsewhere = false
	l.has(l.must(cli.ExitOK, "render", l.project, "topic", "--fetch"), "DisplayName: one", "template        "+topicURL)
	l.web.put(topicURL, "<html>")
	l.elsewhere = true
	if r := l.run("validate", l.project, "--fetch"); r.code != cli.ExitRefused || !strings.Contains(r.out, topicURL+":1:1: ") {
		t.Errorf("validate --fetch ended with %d: %s", r.code, r.out)
	}
}
