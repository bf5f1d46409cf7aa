package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// A bench is where commands are tried that need no installation.
type bench struct {
	env map[string]string
}

// A nobody is a laptop on which nothing is served, and nothing may be.
type nobody struct{ Laptop }

// Holder is Laptop.
func (nobody) Holder(string) (string, bool, error) { return "", false, nil }

// run carries out a command line, and returns its exit code and what it printed.
func (b bench) run(words ...string) (code int, out, err string) {
	var o, e bytes.Buffer
	s := Shell{In: strings.NewReader(""), Out: &o, Err: &e, Self: program, Laptop: nobody{}, Getenv: func(k string) string { return b.env[k] }}
	code = Execute(context.Background(), s, words)
	return code, o.String(), e.String()
}

// The command lines of testdata/usage.txt print what stands there, and end with the code that stands there. A line may
// begin with environment variables.
func TestUsage(t *testing.T) {
	text, err := os.ReadFile("testdata/usage.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(line, "$ ")
		if !is {
			continue
		}
		b := bench{env: make(map[string]string)}
		words := typed(command)
		for strings.Contains(words[0], "=") {
			name, value, _ := strings.Cut(words[0], "=")
			b.env[name], words = value, words[1:]
		}
		code, out, err := b.run(words[1:]...)
		fmt.Fprintf(&got, "$ %s%s%sexit %d\n\n", command, out, err, code)
	}
	golden.Same(t, "testdata/usage.txt", got.String())
}

// Every command has help with an example of its own.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		code, out, err := bench{}.run(append(strings.Fields(c.path()), "--help")...)
		if code != ExitOK || err != "" {
			t.Errorf("%s --help ended with %d: %s", c.path(), code, err)
		}
		for _, want := range []string{"Usage:\n  stackwright " + c.path(), "Examples:\n  stackwright " + c.path()} {
			if !strings.Contains(out, want) {
				t.Errorf("%s --help has no %q", c.path(), want)
			}
		}
	}
}

// The examples of the help can be typed.
func TestExamples(t *testing.T) {
	for _, c := range commands() {
		for _, example := range c.examples {
			if err := understood(typed(example)); err != nil {
				t.Errorf("%s: %v", example, err)
			}
		}
	}
}

// understood reports what is wrong with a command that a person types.
func understood(words []string) error {
	code := 0
	root := Shell{Getenv: func(string) string { return "" }}.tree(&code)
	cmd, args, err := root.Find(words)
	if err != nil || cmd == root {
		return fmt.Errorf("there is no command %s", words[0])
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	for _, c := range commands() {
		if c.path() != strings.TrimPrefix(cmd.CommandPath(), program+" ") {
			continue
		}
		if n := len(cmd.Flags().Args()); n < c.least || n > c.most {
			return fmt.Errorf("it has %d arguments", n)
		}
		if f := cmd.Flags().Lookup("output"); f != nil && !slices.Contains(c.formats(), f.Value.String()) {
			return fmt.Errorf("there is no -o %s", f.Value)
		}
	}
	return nil
}

// typed splits a line into words as a shell does.
func typed(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// Every flag can be set by an environment variable, and the command line comes first.
func TestVariables(t *testing.T) {
	code := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			visit(below)
		}
		cmd.Flags().VisitAll(func(one *pflag.Flag) {
			value := map[string]string{"bool": "true", "float64": "2", "int": "2"}[one.Value.Type()]
			if value == "" {
				value = "x"
			}
			if one.Name == "help" || !strings.HasPrefix(variable(one.Name), envPrefix) {
				return
			}
			f := defaults()
			if err := f.complete(cmd.Flags(), func(name string) string {
				if name == variable(one.Name) {
					return value
				}
				return ""
			}); err != nil {
				t.Errorf("%s of %s: %v", variable(one.Name), cmd.Name(), err)
			}
			if got := strings.Trim(one.Value.String(), "[]"); got != value {
				t.Errorf("%s=%s of %s has no effect: --%s is %q", variable(one.Name), value, cmd.Name(), one.Name, got)
			}
		})
	}
	for _, c := range (Shell{}).tree(&code).Commands() {
		if c.GroupID != groupOther {
			visit(c)
		}
	}
	if _, out, _ := (bench{env: map[string]string{"STACKWRIGHT_OUTPUT": "json"}}).run("version"); !strings.HasPrefix(out, "{") {
		t.Errorf("the variable is not read: %s", out)
	}
	if _, out, _ := (bench{env: map[string]string{"STACKWRIGHT_OUTPUT": "json"}}).run("version", "-o", "text"); strings.HasPrefix(out, "{") {
		t.Errorf("the command line does not come first: %s", out)
	}
}

// A pipe that nobody reads.
type brokenPipe struct{}

// Write is io.Writer.
func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestBrokenPipeIsSilent(t *testing.T) {
	var e bytes.Buffer
	s := Shell{Out: brokenPipe{}, Err: &e, Self: program, Getenv: func(string) string { return "" }}
	for _, args := range [][]string{{"version"}, {"version", "-o", "yaml"}, {"version", "-o", "json"}} {
		if code := Execute(t.Context(), s, args); code != ExitOK || e.Len() > 0 {
			t.Errorf("%v ended with %d: %s", args, code, e.String())
		}
	}
}

// Where nothing is served, completion has no words from the records, and says nothing.
func TestCompletionIsSilent(t *testing.T) {
	for _, args := range [][]string{{"status", ""}, {"outputs", ""}, {"runs", "--env", ""}, {"deploy", "--only", ""}} {
		code, out, err := bench{}.run(append([]string{"__complete"}, args...)...)
		if code != ExitOK || out != ":4\n" || !strings.HasPrefix(err, "Completion ended with directive") {
			t.Errorf("%v: %d %q %q", args, code, out, err)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, out, err := (bench{}).run("completion", shell); code != ExitOK || !strings.Contains(out, program) || err != "" {
			t.Errorf("completion %s ended with %d: %s", shell, code, err)
		}
	}
	if _, out, _ := (bench{}).run("__complete", "graph", "-o", ""); !strings.Contains(out, "mermaid\n") {
		t.Errorf("formats: %q", out)
	}
}

// The project of a command is the nearest folder, from the current one upwards, with a project file, which may be given
// for its folder.
func TestProjectIsFound(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, projectFile), []byte("project: x\nenvironments: { default: {} }\nstacks: { a: { template: { Resources: { A: { Type: AWS::SNS::Topic } } } } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	for _, args := range [][]string{{"graph"}, {"graph", top}, {"graph", filepath.Join(top, projectFile)}, {"graph", "../../stackwright.yaml"}} {
		if code, out, err := (bench{}).run(args...); code != ExitOK || !strings.HasPrefix(out, "x@default: 1 stack") {
			t.Errorf("%v ended with %d: %s%s", args, code, out, err)
		}
	}
	alone := t.TempDir()
	t.Chdir(alone)
	if code, _, err := (bench{}).run("graph"); code != ExitRefused || !strings.Contains(err, "there is no stackwright.yaml in ") || !strings.Contains(err, "or above it: name the project's folder") {
		t.Errorf("without a project it ended with %d: %s", code, err)
	}
}
