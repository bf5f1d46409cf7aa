package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

var sceptre = flag.String("sceptre", "", "the `command` of Sceptre 4.7, which launches the stacks that TestAdoptsWhatSceptreLaunched adopts")

// Stacks that Sceptre itself has launched are adopted from the same files: nothing differs, the next deploy sends
// no request that changes something, and a change updates only the stack that it is about.
func TestAdoptsWhatSceptreLaunched(t *testing.T) {
	if *sceptre == "" {
		t.Skip("-sceptre names no command")
	}
	for _, tree := range []string{"cascade", "files", "inheritance-merge", "jinja-configs", "names", "outputs", "resolvers", "skipped", "template_path", "yaml-1.1"} {
		t.Run(tree, func(t *testing.T) {
			t.Parallel()
			l := newLaptop(t)
			l.project = t.TempDir()
			if err := os.CopyFS(l.project, os.DirFS(filepath.Join("../../pkg/format/sceptre/testdata/trees", tree))); err != nil {
				t.Fatal(err)
			}
			if tree == "skipped" { // e uses an output of a stack that Sceptre ignores, and which nobody has launched
				l.edit("config/e.yaml", "parameters: {Cidr: !stack_output b.yaml::Arn}\n", "")
			}
			h := l.serve(0.05)
			n := l.launch(h)
			l.has(l.must(cli.ExitOK, "adopt", l.project, "--plan"), fmt.Sprintf("%d to adopt", n))
			l.has(l.must(cli.ExitOK, "adopt", l.project), fmt.Sprintf("%d adopted\n", n))
			l.has(l.must(cli.ExitOK, "plan", l.project), fmt.Sprintf("no changes, %d unchanged\n", n))
			launched := h.Cloud.Stacks.Calls()
			l.has(l.must(cli.ExitOK, "deploy", l.project), fmt.Sprintf(" %d unchanged\n", n))
			if diff := cmp.Diff(launched, h.Cloud.Stacks.Calls()); diff != "" {
				t.Errorf("the deploy after the adoption sent requests (- before, + after):\n%s", diff)
			}
			if tree != "outputs" {
				return
			}
			l.edit("config/dev/queue.yaml", "stack_tags:\n", "stack_tags:\n  Team: queues\n")
			l.has(l.must(cli.ExitOK, "plan", l.project), "~ dev/queue  update", "1 to update")
			l.has(l.must(cli.ExitOK, "deploy", l.project), "1 updated, 2 unchanged\n")
			launched["UpdateStack"]++
			if diff := cmp.Diff(launched, h.Cloud.Stacks.Calls()); diff != "" {
				t.Errorf("the deploy of one change sent other requests (- want, + sent):\n%s", diff)
			}
		})
	}
}

// launch lets Sceptre launch all stacks of the project, with the variables of sceptre.yaml, and returns how many there are.
func (l *laptop) launch(h *host.Host) int {
	l.Helper()
	golden, err := os.ReadFile(filepath.Join(l.project, "want.json"))
	if err != nil {
		l.Fatal(err)
	}
	var stacks map[string]struct{ Ignored, Obsolete bool }
	if err := json.Unmarshal(golden, &stacks); err != nil {
		l.Fatal(err)
	}
	maps.DeleteFunc(stacks, func(_ string, s struct{ Ignored, Obsolete bool }) bool { return s.Ignored || s.Obsolete })
	var side struct {
		Variables   map[string]any    `yaml:"variables"`
		Environment map[string]string `yaml:"environment_variables"`
	}
	text, err := os.ReadFile(filepath.Join(l.project, "sceptre.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &side)
	}
	if err != nil && !os.IsNotExist(err) {
		l.Fatal(err)
	}
	variables, err := yaml.Marshal(side.Variables)
	if err != nil {
		l.Fatal(err)
	}
	file := filepath.Join(l.TempDir(), "variables.yaml")
	if err := os.WriteFile(file, variables, 0o644); err != nil {
		l.Fatal(err)
	}
	c := exec.CommandContext(l.Context(), *sceptre, "--var-file", file, "launch", "--yes", "")
	c.Dir = l.project
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "AWS_ENDPOINT_URL=" + h.URL(), "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
	for k, v := range side.Environment {
		c.Env = append(c.Env, k+"="+v)
	}
	if out, err := c.CombinedOutput(); err != nil {
		l.Fatalf("sceptre launch: %v:\n%s", err, out)
	}
	return len(stacks)
}
