package stepfn_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// writes are the calls of functions that change something.
var writes = []string{
	"Store.CreateRun", "Store.RaiseEpoch", "Store.Commit", "Store.Enter", "Store.End", "Store.MarkWaiting", "Store.RecordCommand", "Store.Register",
	"Store.RecordAnswer", "Store.Move", "Store.Postpone", "Store.MarkEvent", "Store.Rename", "Schedules.SetSchedules", "Specs.SaveSpec", "Cloud.Begin", "Cloud.Cancel", "Machine.Start", "Machine.Answer",
}

// The points of a write at which a function crashes.
var crashPoints = []string{"before it", "after it", "after it, with the execution"}

// Every scenario is played again for each write in it. The function that makes
// the write crashes before or after it, alone or together with the execution
// that has the run, whose end no event reports. Every run ends all the same,
// nothing is made twice, and unless the scenario depends on time the result is
// the same.
func TestCrashAtEveryWrite(t *testing.T) {
	note := everyWrite(t, len(scenarios(t)))
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lines := s.read(t)
			want, made := playCrashing(t, lines, 0, "")
			note(made)
			n := len(made)
			if n == 0 {
				t.Skip("it writes nothing")
			}
			for k := 1; k <= n; k += max(1, n/mostCrashes) {
				for _, point := range crashPoints {
					got, _ := playCrashing(t, lines, k, point)
					if strings.Contains(s.text, "\npass ") || strings.Contains(s.text, "\noutage ") { // the result depends on when the crash happens
						got, want = got.certain(), want.certain()
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("a function crashes at write %d of %d, %s: -want +got\n%s", k, n, point, diff)
					}
					if t.Failed() {
						return
					}
				}
			}
		})
	}
}

// everyWrite returns a function that notes the writes of a scenario. The test
// fails if all scenarios have run and some write was in none of them: then no
// function has crashed there.
func everyWrite(t *testing.T, scenarios int) (note func(made []string)) {
	var mu sync.Mutex
	played, made := 0, make(map[string]bool)
	t.Cleanup(func() {
		for _, call := range writes {
			if played == scenarios && !made[call] {
				t.Errorf("no scenario calls %s", call)
			}
		}
	})
	return func(all []string) {
		mu.Lock()
		defer mu.Unlock()
		played++
		for _, call := range all {
			made[call] = true
		}
	}
}

// An outcome is what there is when no run can go on.
type outcome struct {
	Runs      []run.State // in the order of their requests
	Stacks    []string    // the live ones, with templates and parameters
	Records   []string    // without digests: a function that crashed may not have known one, and then the stack is compared again
	Requests  []string    // to CloudFormation, sorted
	Lock      string      // whether a run owns it, and how many wait
	Schedules []string    // by name
	Twice     []string    // created more than once by one step
}

// certain is the part of an outcome that does not depend on time.
func (o outcome) certain() outcome {
	rests := func(s run.State) bool { return s.Over() || s == run.StateWaiting || s == run.StateQueued }
	if i := slices.IndexFunc(o.Runs, func(s run.State) bool { return !rests(s) }); i >= 0 {
		return outcome{Runs: o.Runs[i : i+1]}
	}
	return outcome{Twice: o.Twice}
}

// playCrashing plays a scenario in which a function crashes at the k-th write,
// and returns the outcome and the writes in order. No function crashes at
// write 0.
func playCrashing(t *testing.T, lines []statement, k int, point string) (outcome, []string) {
	t.Helper()
	p := newMemory(t, 1)
	defer p.Stop()
	scenarioFault := p.Faults.Call
	var seen []string
	p.Faults.Call = func(function, call, about string) sim.Fault {
		m := scenarioFault(function, call, about)
		if m != sim.None || !slices.Contains(writes, call) {
			return m
		}
		if seen = append(seen, call); len(seen) != k {
			return sim.None
		}
		if point == crashPoints[0] {
			return sim.KillBefore
		}
		if point == crashPoints[2] {
			p.AbortAll()
		}
		return sim.KillAfter
	}
	s := &scenario{TB: t, backend: p, unchecked: true}
	s.play(lines)
	if !p.WaitIdle() {
		t.Errorf("some run never ends: a function crashes at write %d %s", k, point)
	}
	return s.result(p), seen
}

// result is what there is at the end of a scenario.
func (s *scenario) result(p *memoryBackend) outcome {
	var o outcome
	for _, id := range s.submitted {
		o.Runs = append(o.Runs, s.ExecutionStatus(id).State)
	}
	for _, name := range p.Cloud.Names() {
		template, params := p.Cloud.Template(name)
		o.Stacks = append(o.Stacks, fmt.Sprint(name, " ", p.Cloud.Status(name), " ", template, params))
	}
	for node, r := range s.Recorded() {
		o.Records = append(o.Records, fmt.Sprintf("%s: %s %v %v", node, r.Stack, r.Needs, r.Outputs))
	}
	slices.Sort(o.Records)
	o.Requests = slices.Sorted(slices.Values(s.Requests()))
	l := s.Lock()
	o.Lock = fmt.Sprint(len(l.Waiting), " wait, owned: ", l.Owner != run.Writer{})
	o.Schedules = s.Scheduled()
	o.Twice = p.Cloud.Twice()
	return o
}
