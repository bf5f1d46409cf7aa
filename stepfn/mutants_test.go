package stepfn_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var mutated = flag.String("mutants", "^$", "run the tests with each mutant whose name matches this; some test must fail")

// A mutant is this code without one safeguard.
type mutant struct {
	name, sees string // the name of the safeguard, and what it does
	changes    []change
}

// A change replaces lines in one place of a file, within functions.
type change struct{ file, old, new string }

// A suite is a part of the tests.
type suite struct {
	name string
	dir  string // of the package; empty: the packages of the mutant and of the engine
	args []string
	on   string // the backend; empty if it needs none
}

// suites are tried in this order: the cheap ones first.
var suites = []suite{
	{name: "scenarios", dir: "stepfn", args: []string{"-test.run=^TestScenarios$"}, on: onMemory},
	{name: "random scenarios", dir: "stepfn", args: []string{"-test.run=^TestRandomScenarios$", "-scenarios=2000"}, on: onMemory},
	{name: "promptness", dir: "stepfn", args: []string{"-test.run=^TestPrompt$"}, on: onEmulators},
	{name: "tests of packages", args: []string{"-test.skip=^(TestModels|TestModelsReach|TestSafeguards|TestChecker)$"}},
	{name: "crashes", dir: "stepfn", args: []string{"-test.run=^TestCrashAtEveryWrite$", "-all-points"}, on: onMemory},
	{name: "scenarios on emulators", dir: "stepfn", args: []string{"-test.run=^TestScenariosOnEmulators$"}, on: onEmulators},
	{name: "random scenarios on emulators", dir: "stepfn", args: []string{"-test.run=^TestRandomScenariosOnEmulators$", "-emulated=50"}, on: onEmulators},
}

// The backends of suites. A suite in memory cannot notice a fault of an adapter, and a
// suite on the emulators cannot notice one in pkg/enginetest/sim.
const (
	onMemory    = "memory"
	onEmulators = "adapters"
)

// plays reports whether the code that m changes is used by a backend.
func (m mutant) plays(on string) bool {
	return on == "" || slices.ContainsFunc(m.changes, func(c change) bool {
		switch path.Dir(c.file) {
		case "pkg/action", "pkg/engine", "pkg/plan", "pkg/run", "pkg/unit":
			return true
		case "pkg/purge": // it is no part of a run
			return false
		case "pkg/enginetest/sim":
			return on == onMemory
		}
		return on == onEmulators
	})
}

// patience is the most time that a suite may take, with a mutant and without.
const patience = 4 * time.Minute

// TestMutants checks that every safeguard of mutants.txt is still in the code, and that all mutants compile. For each
// mutant that the flag names, it checks that some test fails.
func TestMutants(t *testing.T) {
	wanted, err := regexp.Compile(*mutated)
	if err != nil {
		t.Fatal(err)
	}
	all := mutants(t)
	l := lab{T: t, programs: t.TempDir(), overlay: overlay(t, all), sound: make(map[string]bool)}
	if !testing.Short() {
		l.compiles(all)
	}
	var table []string
	first := make(map[string]int) // how many mutants each test notices first
	for _, m := range all {
		if !wanted.MatchString(m.name) {
			continue
		}
		by, says := l.notices(m)
		if by == "" {
			t.Errorf("no test fails without %s (%s)", m.name, m.sees)
		}
		t.Logf("without %s (%s):\n%s\n%s", m.name, m.sees, by, says)
		test, _, _ := strings.Cut(by, "/")
		first[test]++
		table = append(table, fmt.Sprintf("| `%s`: %s | %s |", m.name, m.sees, cmp.Or(by, "no test")))
	}
	if len(table) > 0 {
		t.Logf("\n| without | noticed by |\n|---|---|\n%s", strings.Join(table, "\n"))
		t.Logf("%d mutants of %d, by the test that notices them first: %v", len(table), len(all), first)
	}
}

// mutants reads mutants.txt.
func mutants(t *testing.T) []mutant {
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	for entry := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSuffix(entry, "\n"), "\n")
		name, sees, ok := strings.Cut(lines[0], ": ")
		if !ok {
			continue // the head of the file
		}
		if slices.ContainsFunc(all, func(m mutant) bool { return m.name == name }) {
			t.Fatalf("mutants.txt: two mutants are named %s", name)
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

// mutate returns the text of a file with the changes of m.
func (m mutant) mutate(t *testing.T, file, text string) string {
	for _, c := range m.changes {
		if c.file != file {
			continue
		}
		if n := strings.Count("\n"+text, "\n"+c.old); n != 1 {
			t.Fatalf("mutants.txt: %s: these lines are in %d places of %s, not in one:\n%s", m.name, n, file, c.old)
		}
		text = strings.Replace("\n"+text, "\n"+c.old, "\n"+c.new, 1)[1:]
	}
	return text
}

// overlay writes all files that mutants change, and the overlay with which the compiler
// uses them. It returns the path of the overlay. One program per package contains all
// mutants: a changed function behaves like the mutant that the variable MUTANT names.
func overlay(t *testing.T, all []mutant) string {
	dir, replace := t.TempDir(), make(map[string]string)
	put := func(file, text string) {
		written := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(written, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at, err := filepath.Abs(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		replace[at] = written
	}
	of := make(map[string][]mutant) // by file
	for _, m := range all {
		for _, c := range m.changes {
			of[c.file] = append(of[c.file], m)
		}
	}
	for file, mutants := range of {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		put(file, graft(t, file, string(text), mutants))
		folder := path.Dir(file)
		put(folder+"/out.go", "package "+path.Base(folder)+"\n\nimport \"os\"\n\nvar isOut = os.Getenv(\"MUTANT\")\n")
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	put("overlay.json", string(body))
	return filepath.Join(dir, "overlay.json")
}

// graft puts the changed bodies of functions in front of the original ones.
func graft(t *testing.T, file, text string, mutants []mutant) string {
	bodies := functions(t, text)
	before := make([]string, len(bodies))
	for _, m := range slices.CompactFunc(mutants, func(a, b mutant) bool { return a.name == b.name }) {
		other := m.mutate(t, file, text)
		others, n := functions(t, other), 0
		for i, b := range bodies {
			if theirs := others[i].in(other); theirs != b.in(text) {
				before[i] += fmt.Sprintf("\nif isOut == %q {%s\n%s\n}\n", m.name, theirs, b.leaves)
				n++
			}
		}
		if n == 0 || len(others) != len(bodies) {
			t.Fatalf("mutants.txt: %s: it changes %s outside of functions", m.name, file)
		}
	}
	for i, b := range slices.Backward(bodies) {
		text = text[:b.from] + before[i] + text[b.from:]
	}
	return text
}

// A body is the text between the braces of a function.
type body struct {
	from, to int
	leaves   string // "return", if the function has no results
}

func (b body) in(text string) string { return text[b.from:b.to] }

// functions finds the bodies of all functions of a file.
func functions(t *testing.T, text string) []body {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []body
	for _, d := range f.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			b := body{from: files.Position(f.Body.Lbrace).Offset + 1, to: files.Position(f.Body.Rbrace).Offset}
			if f.Type.Results == nil {
				b.leaves = "return"
			}
			all = append(all, b)
		}
	}
	return all
}

// A lab runs the tests with mutants.
type lab struct {
	*testing.T
	programs string // the folder of the programs that were built
	overlay  string
	sound    map[string]bool // whether suites succeed without a mutant
}

// notices returns the first test that fails with m, and its message. A suite that also
// fails without m proves nothing.
func (l lab) notices(m mutant) (by, says string) {
	for _, s := range suites {
		if !m.plays(s.on) {
			continue
		}
		dirs := []string{s.dir}
		if s.dir == "" {
			dirs = []string{l.tested(path.Dir(m.changes[0].file)), "pkg/engine"}
		}
		for _, dir := range slices.Compact(dirs) {
			by, says := l.fails(s, dir, m.name)
			if by == "" {
				continue
			}
			key := s.name + " of " + dir
			if _, known := l.sound[key]; !known {
				fails, says := l.fails(s, dir, "")
				if l.sound[key] = fails == ""; fails != "" {
					l.Errorf("the suite %s proves nothing: %s fails without a mutant:\n%s", key, fails, says)
				}
			}
			if l.sound[key] {
				return by, says
			}
		}
	}
	return "", ""
}

// tested returns the folder, or the nearest one above it, that has tests.
func (l lab) tested(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		tests, err := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
		if err != nil {
			l.Fatal(err)
		}
		if len(tests) > 0 {
			return dir
		}
	}
	l.Fatal("no folder above the mutant has tests")
	return ""
}

// fails returns the first test of a suite that fails with a mutant, and its
// message.
func (l lab) fails(s suite, dir, out string) (by, says string) {
	test := exec.Command(l.built(dir), append(s.args, "-test.failfast", "-test.timeout="+patience.String())...)
	test.Dir, test.Env = filepath.Join("..", dir), append(os.Environ(), "MUTANT="+out)
	if dir == "stepfn" {
		test.Args = append(test.Args, "-shrink=false")
	}
	printed, err := test.CombinedOutput()
	if err == nil {
		return "", ""
	}
	return culprit(s, string(printed))
}

// compiles checks that the changed packages compile with all mutants. The compiler does not optimize, to be fast.
func (l lab) compiles(all []mutant) {
	build := exec.Command("go", "build", "-gcflags=-e -N -l", "-overlay="+l.overlay)
	build.Dir = ".."
	var folders []string
	for _, m := range all {
		for _, c := range m.changes {
			folders = append(folders, "./"+path.Dir(c.file))
		}
	}
	slices.Sort(folders)
	build.Args = append(build.Args, slices.Compact(folders)...)
	if out, err := build.CombinedOutput(); err != nil {
		l.Fatalf("the mutants do not compile: %v\n%s", err, out)
	}
}

// built returns the path of the tests of a package as a program.
func (l lab) built(dir string) string {
	program := filepath.Join(l.programs, path.Base(dir)+".test")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-vet=off", "-overlay="+l.overlay, "-o", program, "./"+dir)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		l.Fatalf("the mutants cannot be built: %v\n%s", err, out)
	}
	return program
}

var (
	failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+) \(.*\n((?: +.*\n)*)`)
	says    = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: (.*)$`)
)

// culprit finds the innermost test that failed first, and its message.
func culprit(s suite, out string) (by, why string) {
	m := failure.FindStringSubmatch(out)
	if m == nil {
		return s.name, out[:min(len(out), 300)] // it ran out of time, or panicked
	}
	for m != nil {
		by, why = m[1], m[2]
		m = failure.FindStringSubmatch(why)
	}
	if said := says.FindStringSubmatch(why); said != nil {
		why = said[1]
	}
	if seed := regexp.MustCompile(`seed \d+`).FindString(why); seed != "" {
		by += " (" + seed + ")"
	}
	return by, why
}
