package stepfn_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// Each testdata/*.txt is a scenario: what is requested of Stackwright, what
// happens outside of it, and what must be true then. It runs on the state machine
// that is deployed, here with the store and CloudFormation in memory.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newMemory(t, 1)
			defer p.Stop()
			(&scenario{TB: t, backend: p}).play(s.read(t))
			for _, fault := range p.unused() {
				t.Errorf("%s: %s never happened", s.file, fault)
			}
		})
	}
}

// The same scenarios through the real functions and adapters, on the emulators,
// in virtual time.
func TestScenariosOnEmulators(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lines := s.read(t)
			if needsAnswers(lines) {
				t.Skip("steps ask only in memory")
			}
			synctest.Test(t, func(t *testing.T) { (&scenario{TB: t, backend: newEmulators(t)}).play(lines) })
		})
	}
}

// A scenario is one that is played on a backend.
type scenario struct {
	testing.TB
	backend
	stacks    stacks            // of the project file
	placed    map[string]string // what backends call the nodes that are not in the default target
	id        string            // of the current run: the last one requested, unless a line has named another
	submitted []string          // the IDs of all runs that were the current one, in order
	named     map[string]string // IDs by the names of the scenario
	mismatch  string            // how what is there differs from what the line says
	unchecked bool              // only play it: outcomes are waited for and not compared, checks are left out
	realTime  bool              // steps that start together start in any order, and nobody knows when it is over
}

// play plays a scenario to its end, or to the first line that fails.
func (s *scenario) play(lines []statement) {
	s.named, s.placed = make(map[string]string), make(map[string]string)
	for _, st := range lines {
		before := s.id
		switch {
		case st.word.group != isCheck:
			st.word.does(s, st)
		case !s.unchecked:
			s.check(st)
		}
		if s.id != before {
			s.submitted = append(s.submitted, s.id)
		}
		if s.Failed() {
			for _, step := range s.ExecutionStatus(s.id).Steps {
				s.Logf("%-20s %-8s %s", step.ID, step.Status, step.Why)
			}
			return
		}
	}
}

// check compares what is there with a line. In real time it may take a while
// until it is as the line says.
func (s *scenario) check(st statement) {
	try := func() bool { s.mismatch = ""; st.word.does(s, st); return s.mismatch == "" }
	if !try() && s.realTime && st.word.name != "requests" { // what it returns once it does not return again
		s.waitFor(try)
	}
	if s.mismatch != "" {
		s.Errorf("%s: %s: %s", st.at, st.text, s.mismatch)
	}
}

// waitFor waits in real time until something holds, at most twenty seconds.
func (s *scenario) waitFor(holds func() bool) {
	for started := time.Now(); !holds() && time.Since(started) < 20*time.Second; {
		time.Sleep(100 * time.Millisecond)
	}
}

// expect records how something differs from what the line says.
func (s *scenario) expect(got any, want string) {
	if fmt.Sprint(got) != want {
		s.mismatchf("got %v", got)
	}
}

func (s *scenario) mismatchf(format string, args ...any) { s.mismatch += fmt.Sprintf(format, args...) }

// about is the ID of the run that a line is about.
func (s *scenario) about(st statement) string {
	if st.run != "" {
		return s.named[st.run]
	}
	return s.id
}

// nameOf is what the scenario calls a run.
func (s *scenario) nameOf(id string) string {
	for name, named := range s.named {
		if named == id {
			return name
		}
	}
	return id
}

// at is what backends call a node, or NODE/VERB.
func (s *scenario) at(node string) string {
	name, rest, _ := strings.Cut(node, "/")
	if there, ok := s.placed[name]; ok {
		name = there
	}
	return strings.TrimSuffix(name+"/"+rest, "/")
}

// started reports whether a run has come as far as it can for now, or has started
// its first step.
func started(r run.Run) bool {
	if r.State == run.StateRunning {
		return len(r.Steps) == 0 || slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Status != run.Pending })
	}
	return r.State != "" && r.State != run.StatePending
}

// seconds reads an argument that the reader has found to be a number of seconds.
func seconds(arg string) time.Duration {
	f, err := strconv.ParseFloat(arg, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(f * float64(time.Second))
}

// number reads an argument that the reader has found to be a number.
func number(arg string) int {
	n, err := strconv.Atoi(arg)
	if err != nil {
		panic(err)
	}
	return n
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
