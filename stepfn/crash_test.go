package stepfn_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// writes are the calls with which functions change something.
var writes = []string{
	"Store.CreateRun", "Store.RaiseEpoch", "Store.Commit", "Store.Enter", "Store.End", "Store.MarkWaiting", "Store.RecordCommand", "Store.Register",
	"Store.RecordAnswer", "Store.Select", "Store.Move", "Store.Postpone", "Store.MarkEvent", "Store.Rename", "Schedules.SetSchedules", "Specs.SaveTemplate", "Specs.SaveSpecs", "Changes.SaveChanges", "Cloud.Begin", "Cloud.Cancel", "Machine.Start", "Machine.Answer",
}

// When a function crashes: relative to a write.
var crashPoints = []string{"before it", "after it", "after it, with the execution"}

var allPoints = flag.Bool("all-points", false, "crash in all ways at each write; otherwise at every second write, in one of them")

// pointsOf returns when a function crashes at the k-th write. What is known before a write is nearly what is known after the
// write before it.
func pointsOf(k int) []string {
	if *allPoints {
		return crashPoints
	}
	return crashPoints[k%len(crashPoints):][:1]
}

// stride is from one write at which a function crashes to the next, and firstOf the first of them in a scenario: the odd writes of some
// scenarios, and the even ones of the others.
func stride() int {
	if *allPoints {
		return 1
	}
	return 2
}

func firstOf(scenario string) int {
	return 1 + len(scenario)%stride()
}

// TestCrashAtEveryWrite plays each scenario again for every second write in it (-all-points: each). The function
// crashes before the write, after it, or after it together with the execution of the run, whose end no event reports
// (in turn; -all-points: all three). Every run must still end, and
// nothing may be created twice. Unless the scenario depends on time, the result must
// be the same as without the crash.
func TestCrashAtEveryWrite(t *testing.T) {
	played := everyWrite(t, len(scenarios(t)))
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lines := s.read(t)
			want, made := playCrashing(t, lines, 0, "")
			played(made)
			n := len(made)
			if n == 0 {
				t.Skip("the scenario writes nothing")
			}
			for k := min(firstOf(s.name), n); k <= n; k += max(stride(), n/mostCrashes) {
				for _, point := range pointsOf(k) {
					got, _ := playCrashing(t, lines, k, point)
					if depends(s.text) {
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

// depends reports whether the result of a scenario depends on when a function crashes. A hook whose function fails once
// is called again after a crash, and then succeeds.
func depends(scenario string) bool {
	return slices.ContainsFunc([]string{"\npass ", "\noutage ", "\nfail-hook "}, func(word string) bool { return strings.Contains(scenario, word) })
}

// everyWrite returns a function to call with the writes of each scenario. If all
// scenarios have run and a kind of write was in none of them, the test fails: no
// function has crashed at such a write.
func everyWrite(t *testing.T, scenarios int) (played func(made []string)) {
	var mu sync.Mutex
	count, made := 0, make(map[string]bool)
	t.Cleanup(func() {
		for _, call := range writes {
			if count == scenarios && !made[call] {
				t.Errorf("no scenario calls %s", call)
			}
		}
	})
	return func(all []string) {
		mu.Lock()
		defer mu.Unlock()
		count++
		for _, call := range all {
			made[call] = true
		}
	}
}

// An outcome is the state of everything when no run can continue.
type outcome struct {
	Runs      []run.State // in the order of their requests
	Stacks    []string    // the live stacks with templates and parameters
	Records   []string    // without digests: after a crash the digest may be unknown, and the next deploy compares the stack again
	Requests  []string    // to CloudFormation, sorted
	Lock      string      // whether a run owns the lock, and how many runs are queued
	Schedules []string    // by name
	Twice     []string    // stacks that one step created more than once
}

// certain returns the part of an outcome that does not depend on time.
func (o outcome) certain() outcome {
	rests := func(s run.State) bool {
		return s.Over() || s == run.StateWaiting || s == run.StateQueued || s == "" // a rollback that no run demands
	}
	if i := slices.IndexFunc(o.Runs, func(s run.State) bool { return !rests(s) }); i >= 0 {
		return outcome{Runs: o.Runs[i : i+1]}
	}
	return outcome{Twice: o.Twice}
}

// playCrashing plays a scenario in which a function crashes at the k-th write, and
// returns the outcome and the writes in order. With k = 0 no function crashes.
func playCrashing(t *testing.T, lines []statement, k int, point string) (outcome, []string) {
	t.Helper()
	p := newMemory(t, 1)
	defer p.Stop()
	scenarioFault := p.Faults.Call
	var made []string
	p.Faults.Call = func(function, call, about string) sim.Fault {
		m := scenarioFault(function, call, about)
		if m != sim.None || !slices.Contains(writes, call) {
			return m
		}
		if made = append(made, call); len(made) != k {
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
	return s.result(p), made
}

// result returns the outcome of a scenario that has been played.
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
	o.Lock = fmt.Sprint(len(l.Waiting), " queued, owned: ", l.Owner != run.Writer{})
	o.Schedules = s.Scheduled()
	o.Twice = p.Cloud.Twice()
	return o
}
