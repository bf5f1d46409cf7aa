package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// smokes names the installation that make smoke uses. Without it, the test uses a
// laptop.
var smokes = flag.String("smoke", "", "the `installation` on AWS at which TestSmoke makes, changes and deletes three stacks that cost nothing")

// A smoke deploys, changes and destroys the project in examples/smoke at an
// installation, under a unique name.
type smoke struct {
	project string // "smoke-k3jd8a"
	folder  string // a copy of the project's files, deleted if all goes well
	shell   cli.Shell
	at      string    // the installation
	printed io.Writer // what happens
}

// newSmoke copies the project into a new folder within the given one.
func newSmoke(under string, s cli.Shell, installation string) (*smoke, error) {
	m := &smoke{project: "smoke-" + strings.ToLower(rand.Text()[:6]), shell: s, at: installation, printed: os.Stdout}
	m.folder = filepath.Join(under, m.project)
	if err := os.CopyFS(m.folder, os.DirFS("../../examples/smoke")); err != nil {
		return nil, err
	}
	return m, m.edit("project: smoke\n", "project: "+m.project+"\n")
}

// edit changes the project file.
func (m *smoke) edit(from, to string) error {
	path := filepath.Join(m.folder, "stackwright.yaml")
	text, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(text, []byte(from)) {
		err = fmt.Errorf("%s has no %q", path, from)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o644)
}

// play plays the smoke to its end, or to the first failure.
func (m *smoke) play(ctx context.Context) error {
	acts := []struct {
		what string
		do   func(context.Context) error
	}{
		{"deploy three stacks, each after another", m.deploys},
		{"see that outputs were passed on", m.comparesOutputs},
		{"see that there is a schedule", m.schedules},
		{"deploy the same again: no step", m.repeats},
		{"change one of them", m.changes},
		{"destroy them", m.destroys},
		{"see what is left", m.leaves},
	}
	for n, act := range acts {
		fmt.Fprintf(m.printed, "%d. %s\n", n+1, act.what)
		if err := act.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.what, err)
		}
	}
	return nil
}

func (m *smoke) deploys(ctx context.Context) error {
	return m.steps(ctx, []string{"topic/create done", "message/create done", "last/create done"}, "deploy", m.folder)
}

func (m *smoke) repeats(ctx context.Context) error { return m.steps(ctx, nil, "deploy", m.folder) }

func (m *smoke) changes(ctx context.Context) error {
	if err := m.edit("text: first", "text: second"); err != nil {
		return err
	}
	return m.steps(ctx, []string{"message/update done", "last/update done unchanged"}, "deploy", m.folder)
}

func (m *smoke) destroys(ctx context.Context) error {
	return m.steps(ctx, []string{"last/delete done", "message/delete done", "topic/delete done"}, "destroy", m.folder, "--yes")
}

// comparesOutputs compares the parameters of a stack with the outputs that it got them
// from.
func (m *smoke) comparesOutputs(ctx context.Context) error {
	lines, err := m.ask(ctx, "outputs", "--project", m.project)
	if err != nil {
		return err
	}
	outputs := make(map[string]map[string]any)
	for _, l := range lines {
		outputs[fmt.Sprint(l["stack"])], _ = l["outputs"].(map[string]any)
	}
	arn, name := outputs["topic"]["Arn"], outputs["message"]["Name"]
	if arn == nil || name == nil || outputs["message"]["Text"] != fmt.Sprintf("first: %v", arn) || outputs["last"]["Message"] != name {
		return fmt.Errorf("these outputs do not fit together: %v", outputs)
	}
	return nil
}

// schedules checks the project's schedule.
func (m *smoke) schedules(ctx context.Context) error {
	left, err := m.left(ctx)
	if err == nil && !slices.Equal(left.times, []string{"never"}) {
		err = fmt.Errorf("the schedules are %v", left.times)
	}
	return err
}

// steps carries out a command that makes a run. The run must succeed with these steps,
// in the order of their ends.
func (m *smoke) steps(ctx context.Context, want []string, args ...string) error {
	lines, err := m.ask(ctx, args...)
	if err != nil {
		return err
	}
	var got []string
	for _, l := range lines {
		if slices.Contains([]string{"done", "failed", "skipped"}, fmt.Sprint(l["status"])) {
			got = append(got, strings.TrimSpace(fmt.Sprint(l["step"], " ", l["status"], " ", l["why"])))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("the steps are not those that should be (-want +got):\n%s", diff)
	}
	return nil
}

// ask carries out a command that must succeed, and returns its output.
func (m *smoke) ask(ctx context.Context, args ...string) ([]map[string]any, error) {
	var out, said bytes.Buffer
	s := m.shell
	s.Out, s.Err = io.MultiWriter(&out, m.printed), io.MultiWriter(&said, m.printed)
	code := cli.Execute(ctx, s, append(args, "--installation", m.at, "-o", "json"))
	var lines []map[string]any
	for d := json.NewDecoder(&out); ; {
		var l map[string]any
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
		if l["status"] == "failed" {
			fmt.Fprintf(&said, "%v: %v", l["step"], l["why"])
		}
	}
	if code != cli.ExitOK {
		return nil, fmt.Errorf("stackwright %s ended with %d: %s", strings.Join(args, " "), code, strings.TrimSpace(said.String()))
	}
	return lines, nil
}

// leaves checks that nothing is left.
func (m *smoke) leaves(ctx context.Context) error {
	left, err := m.left(ctx)
	if err == nil && !left.none() {
		err = fmt.Errorf("something is left:\n%s", left)
	}
	return err
}

// A smoke leaves nothing of its project, even while a second smoke is running. With
// -smoke, the test runs on AWS.
func TestSmoke(t *testing.T) {
	s := cli.Shell{Laptop: host.Laptop{}, In: strings.NewReader(""), Getenv: os.Getenv, Self: "build/stackwright"}
	under, installation := t.TempDir(), *smokes
	others := make(chan error, 1)
	if installation == "" {
		newInstallation(t)
		installation = "sw"
		go func() { others <- secondUser(t.Context(), under) }()
	} else {
		others <- nil
		var err error
		if under, err = failureFolder(); err != nil {
			t.Fatal(err)
		}
	}
	m, err := newSmoke(under, s, installation)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.tryOut(t.Context()), <-others); err != nil {
		t.Fatal(err)
	}
}

// secondUser runs another smoke at the same time, which must not affect the first.
func secondUser(ctx context.Context, under string) error {
	m, err := newSmoke(under, cli.Shell{Laptop: host.Laptop{}, In: strings.NewReader(""), Getenv: os.Getenv, Self: "build/stackwright"}, "sw")
	if err != nil {
		return err
	}
	m.printed = io.Discard
	return m.tryOut(ctx)
}

// failureFolder is the folder for the files of smokes that fail.
func failureFolder() (string, error) {
	folder, err := filepath.Abs("../../build/smoke")
	if err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o755)
}

// tryOut plays a smoke and says whether it succeeded. If not, it says what is left and
// which commands delete that.
func (m *smoke) tryOut(ctx context.Context) error {
	fmt.Fprintf(m.printed, "project %s, files in %s\nif it is broken off: %s\n", m.project, m.folder, m.remedy())
	if err := m.play(ctx); err != nil {
		return fmt.Errorf("%w\n\n%s", err, m.debris(context.WithoutCancel(ctx)))
	}
	fmt.Fprintf(m.printed, "nothing is left of %s: no stack, no record, no lock, no open run, no schedule.\n"+
		"What stays is its history: its runs for 90 days, and what was uploaded, a few kB, as long as the bucket keeps it.\n", m.project)
	return os.RemoveAll(m.folder)
}

// A smoke that fails says what is left, and names the command that deletes it.
func TestSmokeThatFails(t *testing.T) {
	l, h := newInstallation(t)
	m, err := newSmoke(t.TempDir(), cli.Shell{Laptop: host.Laptop{}, In: strings.NewReader(""), Getenv: os.Getenv, Self: "stackwright"}, "sw")
	if err != nil {
		t.Fatal(err)
	}
	var reported bytes.Buffer
	m.printed = &reported
	l.fail(h, emulator.Fault{Stack: m.project + "-last", Operation: "delete", Reason: "out of luck", Times: 1})
	err = m.tryOut(t.Context())
	if err == nil {
		t.Fatal("it went well")
	}
	l.has(err.Error(), "destroy them: ", "out of luck", "record last", "record topic", "stack "+m.project+"-last (DELETE_FAILED)", "to remove it:\n  "+m.remedy())
	words := strings.Fields(m.remedy())
	if i := slices.Index(words, "destroy"); i != 1 {
		t.Fatalf("remedy: %v", words)
	}
	l.has(l.must(cli.ExitOK, words[1:]...), "succeeded")
	if err := m.leaves(t.Context()); err != nil {
		t.Error(err)
	}
}

// debris says what a failed smoke has left.
func (m *smoke) debris(ctx context.Context) string {
	left, err := m.left(ctx)
	if err != nil {
		return fmt.Sprintf("what is left cannot be seen: %v\nto remove it:\n  %s", err, m.remedy())
	}
	if left.none() {
		return "nothing is left of " + m.project
	}
	return fmt.Sprintf("left of %s:\n%sto remove it:\n%s", m.project, left, left.remedies(m))
}

// remedy returns the command that deletes everything.
func (m *smoke) remedy() string {
	return fmt.Sprintf("%s destroy %s --yes --installation %s", m.shell.Self, m.folder, m.at)
}

// Without consent to use AWS, make smoke says how to give it.
func TestMakeSmokeAsksFirst(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make on this machine")
	}
	for _, env := range [][]string{nil, {"STACKWRIGHT_INSTALLATION" + "=sw"}, {"STACKWRIGHT_SMOKE=1"}} {
		cmd := exec.Command("make", "-C", "../..", "smoke")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "STACKWRIGHT_SMOKE=1 STACKWRIGHT_INSTALLATION=stackwright make smoke") {
			t.Errorf("with %v: %v\n%s", env, err, out)
		}
	}
}
