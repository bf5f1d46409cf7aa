package stepfn_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// writes are the calls with which functions change something.
var writes = []string{
	"Store.CreateRun", "Store.RaiseEpoch", "Store.Commit", "Store.Enter", "Store.End", "Store.MarkTidied", "Store.MarkWaiting", "Store.RecordCommand", "Store.Register",
	"Store.RecordAnswer", "Store.Select", "Store.Move", "Store.Postpone", "Store.MarkEvent", "Store.Rename", "Store.SetLifetime", "Schedules.SetSchedules", "Specs.SaveTemplate", "Specs.SaveSpecs", "Changes.SaveChanges", "Cloud.Begin", "Cloud.Cancel", "Machine.Start", "Machine.Answer",
}

// When a function crashes: relative to a write.
var crashPoints = []string{"before it", "after it", "after it, with the execution"}

var allPoints = flag.Bool("all-points", false, "crash in all ways at each write; otherwise at the writes that choose chooses")

// A write is one call with which a function changes something.
type write struct{ function, call string }

// A crash is at the k-th write of a scenario, counted from 1.
type crash struct {
	k     int
	point string
}

// How a write is chosen: the first in its context crashes in all ways, the next ones in one of them, and of the others
// about so many in a scenario.
const (
	inContext   = 6
	amongOthers = 8
)

// choose returns the crashes of a scenario with these writes. What a crash shows depends on which functions write what before it and
// after it, its context. Most contexts are in very many scenarios. seen counts each context in the scenarios so far.
func choose(made []write, seen map[[3]write]int) (all []crash) {
	n, step := len(made), 1
	if *allPoints || raced {
		step = max(1, n/mostCrashes)
	}
	at := func(k int) (w write) {
		if k >= 1 && k <= n {
			w = made[k-1]
		}
		return w
	}
	for k := 1; k <= n; k += step {
		context := [3]write{at(k - 1), at(k), at(k + 1)}
		switch seen[context]++; {
		case *allPoints || seen[context] == 1:
			for _, point := range crashPoints {
				all = append(all, crash{k, point})
			}
		case seen[context] <= inContext || k%max(1, n/amongOthers) == 0:
			all = append(all, crash{k, crashPoints[seen[context]%len(crashPoints)]})
		}
	}
	return all
}

// TestCrashAtEveryWrite plays each scenario again for each of its writes that choose chooses (-all-points: each). The function
// crashes before the write, after it, or after it together with the execution of the run, whose end no event reports.
// Every run must still end, and nothing may be created twice. Unless the scenario depends on time, the result must
// be the same as without the crash.
func TestCrashAtEveryWrite(t *testing.T) {
	calls, seen, crashes := make(map[string]bool), make(map[[3]write]int), 0
	for _, s := range scenarios(t) {
		lines := s.read(t)
		want, made := playCrashing(t, lines, crash{})
		for _, w := range made {
			calls[w.call] = true
		}
		chosen := choose(made, seen)
		crashes += len(chosen)
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if len(made) == 0 {
				t.Skip("the scenario writes nothing")
			}
			for _, c := range chosen {
				got, _ := playCrashing(t, lines, c)
				want := want
				if depends(s.text) {
					got, want = got.certain(), want.certain()
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("a function crashes at write %d of %d, %s: -want +got\n%s", c.k, len(made), c.point, diff)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	for _, call := range writes {
		if !calls[call] {
			t.Errorf("no scenario calls %s: no function crashes at it", call)
		}
	}
	t.Logf("%d crashes in %d contexts", crashes, len(seen))
}

// depends reports whether the result of a scenario depends on when a function crashes. A hook whose function fails once
// is called again after a crash, and then succeeds.
func depends(scenario string) bool {
	return slices.ContainsFunc([]string{"\npass ", "\noutage ", "\nfail-hook "}, func(word string) bool { return strings.Contains(scenario, word) })
}

// An outcome is the state of everything when no run can continue.
type outcome struct {
	Runs      []run.State // in the order of their requests
	Stacks    []string    // the live stacks with templates and parameters
	Records   []string    // without digests: after a crash the digest may be unknown, and the next deploy compares the stack again
	Requests  []string    // to CloudFormation, sorted
	Lock      string      // whether a run owns the lock, and how many runs are queued
	Schedules []string    // by name
	Expires   bool        // the environment does not live for ever
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

// playCrashing plays a scenario with one crash, and returns the outcome and the writes in order. With the zero crash, no
// function crashes.
func playCrashing(t *testing.T, lines []statement, c crash) (outcome, []write) {
	t.Helper()
	p := newMemory(t, 1)
	defer p.Stop()
	scenarioFault := p.Faults.Call
	var made []write
	p.Faults.Call = func(function, call, about string) sim.Fault {
		m := scenarioFault(function, call, about)
		if m != sim.None || !slices.Contains(writes, call) {
			return m
		}
		if made = append(made, write{function, call}); len(made) != c.k {
			return sim.None
		}
		if c.point == crashPoints[0] {
			return sim.KillBefore
		}
		if c.point == crashPoints[2] {
			p.AbortAll()
		}
		return sim.KillAfter
	}
	s := &scenario{TB: t, backend: p, unchecked: true}
	s.play(lines)
	if !p.WaitIdle() {
		t.Errorf("some run never ends: a function crashes at write %d %s", c.k, c.point)
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
	lives, _ := s.Lifetime()
	o.Expires = lives.Known()
	o.Twice = p.Cloud.Twice()
	return o
}
