package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/format/archive"
)

// What a project's files contain controls neither the terminal nor the pipeline of who renders them. A file gets them as they are.
func TestFilesControlNothing(t *testing.T) {
	t.Parallel()
	const command = "::error file=x::injected"
	l := newLaptop(t)
	for name, text := range map[string]string{
		"queue.yaml": "Description: |\n  one\n  " + command + "\nResources:\n  Q: {Type: AWS::SQS::Queue}\n",
		"topic.yaml": "Parameters: {Text: {Type: String}}\nResources:\n  T: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref Text}}\n",
		"stackwright.yaml": "project: evil\nstacks:\n  queue: {template: queue.yaml}\n" +
			"  topic: {template: topic.yaml, parameters: {Text: \"\\e]52;c;ZXZpbA==\\a\\e[2J\"}}\n",
	} {
		if err := os.WriteFile(filepath.Join(l.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	window := func() (int, int) { return 80, 24 }
	for name, c := range map[string]struct {
		window  func() (int, int)
		kept    bool
		actions string
		args    []string
		harms   bool
	}{
		"a terminal":         {window: window},
		"a pipeline":         {actions: "true"},
		"a pipeline, YAML":   {actions: "true", args: []string{"-o", "yaml"}},
		"a file":             {kept: true, actions: "true", harms: true},
		"a pipe of a laptop": {harms: true},
	} {
		var out bytes.Buffer
		s := cli.Shell{
			Laptop: host.Laptop{}, In: strings.NewReader(""), Out: &out, Err: &out, Self: "stackwright", Window: c.window, Kept: c.kept,
			Getenv: func(k string) string {
				if k == "GITHUB_ACTIONS" {
					return c.actions
				}
				return l.env[k]
			},
		}
		if code := cli.Execute(context.Background(), s, append([]string{"render", l.project, "--data", l.data}, c.args...)); code != cli.ExitOK {
			t.Fatalf("%s: render ended with %d:\n%s", name, code, &out)
		}
		raw := strings.Contains(out.String(), "\x1b]52") || c.window == nil && hasCommand(out.String())
		if raw != c.harms {
			t.Errorf("%s: it has what controls: %v, want %v:\n%q", name, raw, c.harms, out.String())
		}
		if !strings.Contains(out.String(), "injected") {
			t.Errorf("%s: the text is not shown:\n%s", name, out.String())
		}
	}
}

// hasCommand reports whether a line begins with a workflow command, as the runner of GitHub Actions reads them.
func hasCommand(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return true
		}
	}
	return false
}

// A key in the folder of a project stays there, and the command says so.
func TestSecretsAreNotUploaded(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	if err := os.WriteFile(filepath.Join(l.project, "id_rsa"), []byte("the key"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := l.run("deploy", l.project)
	if l.has(r.err, "not part of the project, and not uploaded: id_rsa (a private key)"); r.code != cli.ExitOK {
		t.Fatalf("deploy ended with %d: %s", r.code, r.err)
	}
	body, err := l.object(h, "projects/pair/default.zip")
	if err != nil {
		t.Fatal(err)
	}
	uploaded, err := archive.Unpack("default.zip", body)
	if err != nil || len(uploaded) == 0 || uploaded["id_rsa"] != nil {
		t.Errorf("uploaded are %q, %v", uploaded.Paths(), err)
	}
}
