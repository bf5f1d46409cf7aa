package stepfn_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var mutated = flag.String("mutants", "^$", "make the mutants whose names match this, and look whether anything notices")

// A mutant is this code without one safeguard.
type mutant struct {
	name, sees string // what the safeguard is called, and what it sees to
	changes    []change
}

// A change is made in one place of a file.
type change struct{ file, old, new string }

// A suite is a part of the tests, and how long it may take at most.
type suite struct {
	name     string
	args     []string // of the tests of this package; none stands for those of all other packages
	adapters bool     // what it tests has the real adapters in it
}

// suites are tried one after another: what tells stories first, and of these the
// cheapest.
var suites = []suite{
	{name: "stories", args: []string{"-test.run=^TestStories$"}},
	{name: "worlds", args: []string{"-test.run=^TestAnyWorld$", "-worlds=2000"}},
	{name: "real stories", args: []string{"-test.run=^TestStoriesForReal$"}, adapters: true},
	{name: "real worlds", args: []string{"-test.run=^TestAnyWorldForReal$", "-reals=100"}, adapters: true},
	{name: "tests of packages", adapters: true},
	{name: "time", args: []string{"-test.run=^TestPrompt$"}, adapters: true},
	{name: "deaths", args: []string{"-test.run=^TestDeathAtEveryWrite$"}},
}

// longest is what a suite takes at most, with a mutant and without.
const longest = 4 * time.Minute

// The safeguards of mutants.txt are still there, and if mutants are asked for,
// none of them goes unnoticed.
func TestMutants(t *testing.T) {
	wanted, err := regexp.Compile(*mutated)
	if err != nil {
		t.Fatal(err)
	}
	var table []string
	sound := make(map[string]bool)
	for _, m := range mutants(t) {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			overlay := m.overlay(t)
			if !wanted.MatchString(m.name) {
				return
			}
			by, says, where := m.caught(t, overlay)
			t.Logf("without %s: %s\n%s\n%s", m.name, m.sees, by, says)
			table = append(table, fmt.Sprintf("| `%s`: %s | %s |", m.name, m.sees, by))
			switch {
			case by == "":
				t.Error("nobody notices")
			case !sound[where.name]:
				if by, says := where.fails(t, t.TempDir(), ""); by != "" {
					t.Fatalf("that was no proof, for without any mutant %s fails too:\n%s", by, says)
				}
				sound[where.name] = true
			}
		})
	}
	if len(table) > 0 {
		t.Logf("\n| without | noticed by |\n|---|---|\n%s", strings.Join(table, "\n"))
	}
}

// mutants reads mutants.txt.
func mutants(t *testing.T) []mutant {
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	for told := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSuffix(told, "\n"), "\n")
		name, sees, ok := strings.Cut(lines[0], ": ")
		if !ok {
			continue // the head of the file
		}
		m := mutant{name: name, sees: sees}
		for _, line := range lines[1:] {
			if !strings.ContainsAny(line[:1], "-+ ") {
				m.changes = append(m.changes, change{file: line})
				continue
			}
			c := &m.changes[len(m.changes)-1]
			if line[0] != '+' {
				c.old += line[1:] + "\n"
			}
			if line[0] != '-' {
				c.new += line[1:] + "\n"
			}
		}
		all = append(all, m)
	}
	return all
}

// overlay writes the files of m, and what tells the compiler to take them instead
// of those that are there. It returns where that is.
func (m mutant) overlay(t *testing.T) string {
	dir := t.TempDir()
	replace := make(map[string]string)
	for _, c := range m.changes {
		file, err := filepath.Abs(filepath.Join("..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		from := file
		if replace[file] != "" {
			from = replace[file]
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count("\n"+string(text), "\n"+c.old); n != 1 {
			t.Fatalf("mutants.txt: %s: this stands in %d places of %s, and not in one:\n%s", m.name, n, c.file, c.old)
		}
		replace[file] = filepath.Join(dir, filepath.Base(file))
		write(t, replace[file], strings.Replace("\n"+string(text), "\n"+c.old, "\n"+c.new, 1)[1:])
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(body))
	return filepath.Join(dir, "overlay.json")
}

func write(t *testing.T, file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// caught returns which test is the first to notice m, what it says, and of which
// suite it is. None is if nobody notices.
func (m mutant) caught(t *testing.T, overlay string) (by, says string, where suite) {
	adapter := slices.ContainsFunc(m.changes, func(c change) bool {
		return !slices.Contains([]string{"action", "engine", "plan", "run", "sim"}, strings.Split(c.file, "/")[1])
	})
	dir := t.TempDir()
	for _, s := range suites {
		if adapter && !s.adapters {
			continue // it has no adapters in it
		}
		if by, says = s.fails(t, dir, overlay); by != "" {
			return by, says, s
		}
	}
	return "", "", suite{}
}

// fails runs a suite, of the code as the overlay has it. It returns the first
// test that fails, if one does, and what it says. What it builds is kept in dir.
func (s suite) fails(t *testing.T, dir, overlay string) (by, says string) {
	test := exec.Command("go", "test", "-vet=off", "-failfast", "-overlay="+overlay, "-timeout="+longest.String(), "./pkg/...")
	test.Dir = ".."
	if s.args != nil {
		test = exec.Command(built(t, dir, overlay), append(s.args, "-test.failfast", "-test.timeout="+longest.String())...)
		if flag.Lookup("shrink") != nil {
			test.Args = append(test.Args, "-shrink=false")
		}
	}
	out, err := test.CombinedOutput()
	if err == nil {
		return "", ""
	}
	return culprit(t, string(out))
}

// built is the tests of this package as a program, which is made in dir unless it
// is there.
func built(t *testing.T, dir, overlay string) string {
	program := filepath.Join(dir, "stepfn.test")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-vet=off", "-overlay="+overlay, "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("it cannot be built: %v\n%s", err, out)
	}
	return program
}

var (
	failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+) \(.*\n((?: +.*\n)*)`)
	said   = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: (.*)$`)
	stuck  = regexp.MustCompile(`(?m)^panic: test timed out after (\S+)\n\s+running tests:\n\s+(\S+)`)
)

// culprit finds the first test that failed, the innermost, and what it says.
func culprit(t *testing.T, out string) (by, says string) {
	if m := stuck.FindStringSubmatch(out); m != nil {
		return m[2], "it never ends: it was given up after " + m[1]
	}
	m := failed.FindStringSubmatch(out)
	for m != nil {
		by = m[1]
		inner := failed.FindStringSubmatch(m[2])
		if inner == nil {
			break
		}
		m = inner
	}
	if m == nil {
		t.Fatalf("nothing fails by name:\n%s", out)
	}
	if says := said.FindStringSubmatch(m[2]); says != nil {
		return by, says[1]
	}
	return by, out
}
