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

// TestScenarios plays the scenarios of testdata/*.txt with the store and CloudFormation
// in memory. A scenario says what is requested of Stackwright, what happens outside
// Stackwright, and what must be true then. It runs on the state machine that is
// deployed.
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

// TestScenariosOnEmulators plays the same scenarios through the real functions and
// adapters on the emulators, in virtual time.
func TestScenariosOnEmulators(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lines := s.read(t)
			if needsMemory(lines) {
				t.Skip("it is played only in memory")
			}
			synctest.Test(t, func(t *testing.T) { (&scenario{TB: t, backend: newEmulators(t)}).play(lines) })
		})
	}
}

// A scenario is being played on a backend.
type scenario struct {
	testing.TB
	backend
	stacks    stacks            // of the project file
	placed    map[string]string // the names of nodes in calls of backends
	id        string            // of the current run: the last one requested, unless a line names another
	submitted []string          // the IDs of all runs that were the current run, in order
	planned   run.Run           // the last run whose plan is only shown
	pipeline  pipeline          // of the project file
	named     map[string]string // the IDs of runs by their names in the scenario
	mismatch  string            // what differs from the line
	unchecked bool              // play only: wait for outcomes and do not compare them; skip checks
	realTime  bool              // steps that are ready together start in any order, and results may be late
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
	if p, inMemory := s.backend.(*memoryBackend); inMemory && len(p.Cloud.Others) > 0 {
		s.Errorf("another request was sent under the tokens %v", p.Cloud.Others)
	}
}

// check compares a line with the facts. In real time, it waits until they agree.
func (s *scenario) check(st statement) {
	try := func() bool { s.mismatch = ""; st.word.does(s, st); return s.mismatch == "" }
	if !try() && s.realTime && st.word.name != "requests" { // a second call does not return the same requests again
		s.waitFor(try)
	}
	if s.mismatch != "" {
		s.Errorf("%s: %s: %s", st.at, st.text, s.mismatch)
	}
}

// waitFor waits in real time until a condition holds, at most five minutes.
func (s *scenario) waitFor(holds func() bool) {
	for started := time.Now(); !holds() && time.Since(started) < 5*time.Minute; {
		time.Sleep(100 * time.Millisecond)
	}
}

// expect records a value that differs from the line.
func (s *scenario) expect(got any, want string) {
	if fmt.Sprint(got) != want {
		s.mismatchf("got %v", got)
	}
}

func (s *scenario) mismatchf(format string, args ...any) { s.mismatch += fmt.Sprintf(format, args...) }

// about returns the ID of the run that a line is about.
func (s *scenario) about(st statement) string {
	if st.run != "" {
		return s.named[st.run]
	}
	return s.id
}

// nameOf returns the name of a run in the scenario.
func (s *scenario) nameOf(id string) string {
	for name, named := range s.named {
		if named == id {
			return name
		}
	}
	return id
}

// at returns the name of a node, or NODE/VERB, in calls of backends.
func (s *scenario) at(node string) string {
	name, rest, _ := strings.Cut(node, "/")
	if placed, ok := s.placed[name]; ok {
		name = placed
	}
	return strings.TrimSuffix(name+"/"+rest, "/")
}

// started reports whether a run has started its first step, has nothing to start, or has
// left the state pending for another.
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
