package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// drifting is a laptop with a deployed copy of examples/shop.
func drifting(t *testing.T, environment string) (*laptop, *host.Host) {
	t.Helper()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "shop")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/shop")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project, "--env", environment)
	return l, h
}

// change changes properties of a resource as somebody does who does not use CloudFormation.
func (l *laptop) change(h *host.Host, stack, resource string, properties map[string]any) {
	l.Helper()
	l.fail(h, cloudformation.Fault{Stack: stack, Resource: resource, Drift: &cloudformation.Drift{Properties: properties}})
}

// What was changed by hand is in the copies of the templates: after they are copied back and deployed, nothing differs. The files of the
// project are not changed before.
func TestAcceptDrift(t *testing.T) {
	t.Parallel()
	l, h := drifting(t, "prod")
	l.change(h, "shop-prod-data-queue", "Orders", map[string]any{"MessageRetentionPeriod": 600, "SqsManagedSseEnabled": false})
	before, err := os.ReadFile(filepath.Join(l.project, "templates/queue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l.must(cli.ExitChanges, "drift", l.project, "--env", "prod", "--exit-code")

	out := filepath.Join(t.TempDir(), "accepted")
	r := l.run("drift", l.project, "--env", "prod", "--accept", "--out", out)
	if r.code != cli.ExitOK {
		t.Fatalf("ended with %d: %s%s", r.code, r.out, r.err)
	}
	l.has(r.out, "MessageRetentionPeriod: 345600 → 600", filepath.Join(out, "templates/queue.yaml"))
	l.has(r.err, "2 live values written into the copies of 1 template; 0 left", "cp -r "+out+"/. "+l.project)
	after, err := os.ReadFile(filepath.Join(out, "templates/queue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("MessageRetentionPeriod: 345600", "MessageRetentionPeriod: 600", "      SqsManagedSseEnabled: true\n      VisibilityTimeout", "      SqsManagedSseEnabled: false\n      VisibilityTimeout").Replace(string(before))
	if string(after) != want {
		t.Errorf("the copy is\n%s", after)
	}
	if now, err := os.ReadFile(filepath.Join(l.project, "templates/queue.yaml")); err != nil || string(now) != string(before) {
		t.Errorf("the file of the project was changed: %v", err)
	}

	if err := os.WriteFile(filepath.Join(l.project, "templates/queue.yaml"), after, 0o644); err != nil {
		t.Fatal(err)
	}
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.must(cli.ExitOK, "drift", l.project, "--env", "prod", "--exit-code")
	l.must(cli.ExitOK, "drift", l.project, "--env", "prod", "--accept", "--out", out)
}

// What cannot be written is listed, with the place where the parameter gets its value, as text and as JSON. A run can be accepted again.
func TestAcceptLeavesParameters(t *testing.T) {
	t.Parallel()
	l, h := drifting(t, "default")
	l.change(h, "shop-data-queue", "Orders", map[string]any{"VisibilityTimeout": 90, "MessageRetentionPeriod": 600})
	l.fail(h, cloudformation.Fault{Stack: "shop-data-queue", Resource: "DeadLetters", Drift: &cloudformation.Drift{Deleted: true}})
	out := filepath.Join(t.TempDir(), "accepted")
	r := l.run("drift", l.project, "--accept", "--out", out)
	if r.code != cli.ExitChanges {
		t.Fatalf("ended with %d: %s%s", r.code, r.out, r.err)
	}
	l.has(r.out, "not written:\n", "templates/queue.yaml:28:26: stack data/queue: Orders VisibilityTimeout: it is the parameter VisibilityTimeout: change the parameter at stackwright.yaml:56:26, so that its value is 90",
		"templates/queue.yaml:36:3: stack data/queue: DeadLetters: the resource does not exist any more: remove it from the template, or bring it back with drift --revert")
	l.has(r.err, "templates/queue.yaml is also the template of stacks in other environments, whose next deploy sets these values: prod", "1 live value written into the copies of 1 template; 2 left")

	run := l.objects(l.must(cli.ExitOK, "runs", "--project", "shop", "-o", "json"))[0]["run"].(string) // the newest
	for _, id := range []string{run, run[:8]} {
		var a struct {
			Run, Folder string
			Files       []string
			Written     []struct {
				File, Resource, Property, Expected, Actual string
				Line                                       int
				Stacks                                     []string
			}
			Left []struct {
				Stack, Resource, Property, Parameter, Why string
				ParameterAt                               *struct {
					File string
					Line int
				} `json:"parameter_at"`
			}
		}
		text := l.must(cli.ExitChanges, "drift", l.project, "--accept", "--run", id, "--out", out, "-o", "json")
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if a.Run != run || a.Folder != out || len(a.Files) != 1 || len(a.Written) != 1 || a.Written[0].Actual != "600" || a.Written[0].Line != 29 || len(a.Left) != 2 {
			t.Fatalf("%s", text)
		}
		if at := a.Left[0].ParameterAt; a.Left[0].Parameter != "VisibilityTimeout" || at == nil || at.File != "stackwright.yaml" || at.Line != 56 {
			t.Errorf("%s", text)
		}
	}

	deploy := l.last(l.must(cli.ExitOK, "deploy", l.project, "-o", "json"))["run"].(string)
	if err := os.WriteFile(filepath.Join(out, "templates/queue.yaml"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--accept writes copies of templates into a folder: name it", []string{"--accept"}},
		{"have an effect only with --accept", []string{"--out", out}},
		{"have an effect only with --accept", []string{"--run", run}},
		{"give one of them", []string{"--accept", "--revert", "--out", out}},
		{"--exit-code has no effect with --accept", []string{"--accept", "--out", out, "--exit-code"}},
		{"--only has no effect with --run", []string{"--accept", "--out", out, "--run", run, "--only", "data/"}},
		{"is no drift: name one that has detected drift", []string{"--accept", "--out", out, "--run", deploy}},
		{"there is no run nosuchrun", []string{"--accept", "--out", out, "--run", "nosuchrun"}},
		{"queue.yaml exists and differs: drift --accept replaces no file", []string{"--accept", "--out", out, "--run", run}},
		{"queue.yaml exists and differs: drift --accept replaces no file", []string{"--accept", "--out", l.project, "--run", run}},
	} {
		r := l.run(append([]string{"drift", l.project}, c.args...)...)
		if r.code != cli.ExitRefused {
			t.Errorf("%q ended with %d", c.args, r.code)
		}
		l.has(r.err, c.want)
	}
}

// Without a project file, copies in its folder would be templates of stacks.
func TestAcceptBesideTemplates(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "plain")
	if err := os.MkdirAll(l.project, 0o755); err != nil {
		t.Fatal(err)
	}
	const template = "Resources:\n  Topic:\n    Type: AWS::SNS::Topic\n    Properties:\n      DisplayName: shop   # short\n"
	if err := os.WriteFile(filepath.Join(l.project, "topic.yaml"), []byte(template), 0o644); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.change(h, "plain-topic", "Topic", map[string]any{"DisplayName": "The shop: new"})
	r := l.run("drift", l.project, "--accept", "--out", filepath.Join(l.project, "accepted"))
	if r.code != cli.ExitRefused {
		t.Errorf("ended with %d", r.code)
	}
	l.has(r.err, "is in the folder of the project, which has no project file")
	out := filepath.Join(t.TempDir(), "accepted")
	l.must(cli.ExitOK, "drift", l.project, "--accept", "--out", out)
	got, err := os.ReadFile(filepath.Join(out, "topic.yaml"))
	if want := strings.Replace(template, "shop   #", "'The shop: new'   #", 1); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
