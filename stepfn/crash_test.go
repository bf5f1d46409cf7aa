package stepfn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// writes are the calls that change something, wherever that is kept.
var writes = []string{
	"Store.Ask", "Store.Raise", "Store.Commit", "Store.Enter", "Store.End", "Store.Park", "Store.Wish", "Store.Register",
	"Store.Move", "Store.Later", "Store.Mark", "Store.Displace", "Schedules.Arrange", "Specs.Keep", "Cloud.Begin", "Cloud.Cancel", "Machine.Start", "Machine.Answer",
}

// The ways to die at a write.
var crashPoints = []string{"before it", "after it", "after it, with the execution"}

// Every story is told again for every write in it, at which the function dies
// that makes it, before it or after it, alone or with the execution that drives
// the run and without anybody being told of that. Whatever was asked comes to
// its end all the same, nothing is made twice, and where no time was of the
// essence all is in the end as it would have been.
func TestCrashAtEveryWrite(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lines := s.read(t)
			want, n := playCrashing(t, lines, 0, "")
			if n == 0 {
				t.Skip("nothing is written in it")
			}
			for k := 1; k <= n; k += max(1, n/mostCrashes) {
				for _, death := range crashPoints {
					got, _ := playCrashing(t, lines, k, death)
					if strings.Contains(s.text, "\npass ") || strings.Contains(s.text, "\noutage ") { // time decides what comes of it
						got, want = got.certain(), want.certain()
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("a function dies at write %d of %d, %s: -want +got\n%s", k, n, death, diff)
					}
					if t.Failed() {
						return
					}
				}
			}
		})
	}
}

// An outcome is how things stand when all is quiet.
type outcome struct {
	Runs      []run.State // in the order in which they were asked for
	Stacks    []string    // that are live, each with what it is made of
	Records   []string    // without the digest: who dies may no longer know it, and then it is asked for anew
	Requests  []string    // of CloudFormation, sorted
	Lock      string      // who holds it, and who waits
	Schedules []string    // the schedules that are there
	Twice     []string    // made more than once by one step
}

// certain is what time has no part in.
func (o outcome) certain() outcome {
	rests := func(s run.State) bool { return s.Over() || s == run.StateWaiting || s == run.StateQueued }
	if i := slices.IndexFunc(o.Runs, func(s run.State) bool { return !rests(s) }); i >= 0 {
		return outcome{Runs: o.Runs[i : i+1]}
	}
	return outcome{Twice: o.Twice}
}

// ended tells a story in which a function dies at the k-th write, and returns
// how it ends, and how many writes there were. Nobody dies at write 0.
func playCrashing(t *testing.T, lines []statement, k int, death string) (outcome, int) {
	t.Helper()
	p := newMemory(t, 1)
	defer p.Stop()
	told := p.Faults.Call
	n := 0
	p.Faults.Call = func(function, call, about string) sim.Fault {
		m := told(function, call, about)
		if m != sim.None || !slices.Contains(writes, call) {
			return m
		}
		if n++; n != k {
			return sim.None
		}
		if death == crashPoints[0] {
			return sim.KillBefore
		}
		if death == crashPoints[2] {
			p.AbortAll()
		}
		return sim.KillAfter
	}
	s := &scenario{TB: t, backend: p, unchecked: true}
	s.play(lines)
	if !p.WaitIdle() {
		t.Errorf("it never ends: a function dies at write %d %s", k, death)
	}
	return s.result(p), n
}

// outcome is how things stand.
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
