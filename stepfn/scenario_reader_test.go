package stepfn_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agext/levenshtein"
)

// A statement is one line of a scenario.
type statement struct {
	at      string // file:line
	text    string
	word    *word
	args    []string
	run     string // the name of the run that it is about; empty for the current one
	with    options
	outcome string
}

// A reader reads one scenario. It refuses everything that it does not know: a misspelt
// line must not pass as if it checked something.
type reader struct {
	hooks                   map[string]bool
	stacks, runs, schedules map[string]bool // names of the scenario; of runs, those in the lines read so far
	problems                []string
}

// readScenario reads the text of a file and returns its lines, or everything
// that is wrong with it.
func readScenario(file, text string) ([]statement, []string) {
	r := &reader{hooks: make(map[string]bool), stacks: make(map[string]bool), runs: make(map[string]bool), schedules: make(map[string]bool)}
	if first, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(first, "# ") {
		r.problems = append(r.problems, file+":1: the first line is no comment: say what is tested, after \"# \"")
	}
	var all []statement
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, statement{at: fmt.Sprintf("%s:%d", file, n+1), text: strings.Join(fields, " "), args: fields[1:]})
		}
	}
	for _, st := range all {
		r.declare(st)
	}
	for i := range all {
		r.read(&all[i])
	}
	if len(r.problems) == 0 && !slices.ContainsFunc(all, func(st statement) bool { return st.word != nil && st.word.group == isCheck || ends[st.outcome] }) {
		r.problems = append(r.problems, file+": it checks nothing: end a request with an outcome, or add a line that checks something")
	}
	return all, r.problems
}

// declare collects the names of stacks and schedules that a line declares.
func (r *reader) declare(st statement) {
	switch name, _, _ := strings.Cut(st.text, " "); {
	case name == "project":
		for _, s := range parseStacks(st.args) {
			r.stacks[s.name], r.stacks[s.nameOnBackend()] = true, true
		}
	case name == "uses" && len(st.args) > 0:
		r.stacks[st.args[0]] = true
	case name == "schedules":
		for _, arg := range st.args {
			name, _, _ := strings.Cut(arg, "=")
			r.schedules[name] = true
		}
	}
}

// read finds the word of a line and matches its arguments with the word's form.
func (r *reader) read(st *statement) {
	name, _, _ := strings.Cut(st.text, " ")
	refuse := func(format string, args ...any) {
		r.problems = append(r.problems, fmt.Sprintf("%s: %s: %s", st.at, st.text, fmt.Sprintf(format, args...)))
	}
	if st.word = wordNamed(name); st.word == nil {
		var names []string
		for _, w := range words {
			names = append(names, w.name)
		}
		refuse("%q is not a word of scenarios%s", name, suggest(name, names))
		return
	}
	rest, tried := st.args, []*kind(nil)
	for _, slot := range slots(st.word.form) {
		for n := 0; n == 0 || slot.several; n++ {
			k := slot.kind.takes(r, st, rest)
			if k == 0 && n == 0 && !slot.optional {
				refuse("%s", r.misfit(st.word, append(tried, slot.kind), rest))
				return
			}
			if k == 0 {
				tried = append(tried, slot.kind)
				break
			}
			rest, tried = rest[k:], nil
		}
	}
	if len(rest) > 0 {
		refuse("%s", r.misfit(st.word, tried, rest))
	} else if name == "path" {
		if _, err := pathPattern(st.args); err != nil {
			refuse("%v", err)
		}
	}
}

// misfit says that the next argument is of no kind that the form allows there.
func (r *reader) misfit(w *word, tried []*kind, rest []string) string {
	usage := "(" + strings.TrimSpace(w.name+" "+w.form) + ")"
	if len(rest) == 0 {
		return tried[len(tried)-1].noun + " is missing " + usage
	}
	if len(tried) == 0 {
		return fmt.Sprintf("unexpected %q %s", rest[0], usage)
	}
	var nouns, names []string
	for _, k := range tried {
		nouns = append(nouns, k.noun)
		if k.names != nil {
			names = append(names, k.names(r)...)
		}
	}
	return fmt.Sprintf("%q is not %s%s %s", rest[0], strings.Join(nouns, " or "), suggest(rest[0], names), usage)
}

// A slot is a place in a form.
type slot struct {
	kind              *kind
	optional, several bool
}

// slots reads a form.
func slots(form string) []slot {
	var all []slot
	for part := range strings.FieldsSeq(form) {
		inner, optional := strings.CutPrefix(part, "[")
		inner = strings.TrimSuffix(inner, "]")
		name, several := strings.CutSuffix(inner, "...")
		k := kinds[name]
		if k == nil {
			panic("a word of scenarios has an argument of an unknown kind: " + name)
		}
		all = append(all, slot{k, optional, several})
	}
	return all
}

// suggest asks whether a similar name was meant, if there is one.
func suggest(written string, names []string) string {
	best, least := "", max(3, len(written)/3+1)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := levenshtein.Distance(written, name, nil); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// A scenarioText is the text of a scenario.
type scenarioText struct{ name, file, text string }

// scenarios returns the scenarios in testdata.
func scenarios(t *testing.T) []scenarioText {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scenarios: ", err)
	}
	var all []scenarioText
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, scenarioText{strings.TrimSuffix(filepath.Base(file), ".txt"), file, string(text)})
	}
	return all
}

// read returns the lines of a scenario, and fails the test with everything that
// is wrong with it.
func (s scenarioText) read(t testing.TB) []statement {
	t.Helper()
	lines, problems := readScenario(s.file, s.text)
	if len(problems) > 0 {
		t.Fatalf("the scenario cannot be read:\n%s", strings.Join(problems, "\n"))
	}
	return lines
}
