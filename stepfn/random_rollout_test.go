package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// The invariants of rollouts and of limits of failures.
const (
	tripped invariant = "tripped: no step starts after a function has read that more stacks have failed than a limit of its run allows"
	baked   invariant = "baked: no stack of a wave is changed before those of the waves before it are, and have baked"
)

// rollingSeeds is of how many seeds one has a rollout.
const rollingSeeds = 6

// oddRollout is the rollout of the stacks that odd reports: as if they were one stack in several targets.
const oddRollout = "odd"

// alarmOfRollout is the alarm of the rollout, in all targets.
const alarmOfRollout = "rollout"

// rollouts lets a scenario have a rollout, and a limit of failures. It draws from numbers of its own, so that other scripts stay as they
// are.
func (a *generator) rollouts(seed uint64) {
	if seed%rollingSeeds != 1 || a.emulated || a.following != nil {
		return
	}
	a.rolling = rand.New(rand.NewPCG(seed, 29))
	a.add("rollout", []string{"0", "60", "300"}[a.rolling.IntN(3)], strconv.Itoa(a.rolling.IntN(3)), strconv.Itoa(a.rolling.IntN(3)), []string{"quiet", "alarmed"}[a.rolling.IntN(2)])
	if a.rolling.IntN(2) == 0 {
		a.add("max-failures", strconv.Itoa(a.rolling.IntN(3)))
	}
}

// soundAlarm sets the state of the alarm before a request of a round.
func (a *generator) soundAlarm() {
	if a.rolling != nil {
		a.add("alarm", alarmOfRollout, []string{"OK", "OK", "INSUFFICIENT_DATA", "ALARM"}[a.rolling.IntN(4)])
	}
}

// A testRollout is the rollout of a random scenario.
type testRollout struct {
	about                project.Rollout
	failures, concurrent int
}

// rollout returns the rollout that a script has; nil if it has none.
func (s script) rollout() *testRollout {
	for _, l := range s {
		if l[0] != "rollout" {
			continue
		}
		r := testRollout{project.Rollout{Stack: oddRollout, Bake: project.Timeout(l.number(1)) * project.Timeout(time.Second)}, l.number(2), l.number(3)}
		if len(l) > 4 && l[4] == "alarmed" {
			r.about.Alarms = []string{alarmOfRollout}
		}
		return &r
	}
	return nil
}

// rollOut makes the odd stacks of a project part of the rollout. The wave of a stack is the number of stacks in the longest chain that it
// depends on, at most two, so that no stack depends on one of a later wave.
func (p *memoryBackend) rollOut(made *project.Project) {
	if p.rollout == nil {
		return
	}
	depths := make(map[string]int)
	var depth func(name string) int
	depth = func(name string) int {
		if known, ok := depths[name]; ok {
			return known
		}
		depths[name] = 0
		for _, need := range made.Nodes[name].Needs {
			depths[name] = max(depths[name], depth(need)+1)
		}
		return depths[name]
	}
	for name, n := range made.Nodes {
		if odd(name) {
			about := p.rollout.about
			about.Wave = min(depth(name), 2)
			n.Rollout = &about
			made.Nodes[name] = n
		}
	}
	made.MaxFailures = append(made.MaxFailures, project.Limit{Rollout: oddRollout, Most: p.rollout.failures})
	if p.rollout.concurrent > 0 {
		made.MaxParallel = append(made.MaxParallel, project.Limit{Rollout: oddRollout, Most: p.rollout.concurrent})
	}
}

// inSet reports whether a limit is for a step, by what the script says.
func inSet(s run.Step, l project.Limit) bool {
	return s.Node != "" && (l.Rollout == "" || s.Spec != "" && odd(s.Node))
}

// rollsOut checks a step that starts.
func (w *monitor) rollsOut(r run.Run, s run.Step) {
	if s.OnFailure {
		return
	}
	byID := make(map[string]run.Step, len(r.Steps))
	for _, o := range r.Steps {
		byID[o.ID] = o
	}
	for _, l := range r.MaxFailures {
		if !inSet(s, l) && (l.Rollout != "" || s.Node != "") {
			continue
		}
		failed := make(map[string]bool)
		for _, o := range w.lastRead(r.ID) {
			if inSet(o, l) && (o.Status == run.Failed || o.Status == run.Skipped && o.Cause.Step != "" && !inSet(byID[o.Cause.Step], l) && l.Rollout != "") {
				failed[o.Node] = true
			}
		}
		w.holds(tripped, len(failed) <= l.Most, "%s of run %s starts after %v have failed, and the limit %+v allows %d", s.ID, r.ID, failed, l, l.Most)
	}
	made, known := w.projects[r.Source]
	about := made.Nodes[s.Node].Rollout
	if !known || about == nil || s.Verb != plan.Create && s.Verb != plan.Update || w.skewed() {
		return
	}
	if o := plan.AllOperations().Of(r.Operation); o.Restores || o.Recreates || o.FromRevision && !o.Promotes { // they are about all targets at once
		return
	}
	for _, o := range r.Steps {
		before := made.Nodes[o.Node].Rollout
		if before == nil || before.Wave >= about.Wave || o.Verb != plan.Create && o.Verb != plan.Update {
			continue
		}
		w.holds(baked, o.Over(), "%s of run %s starts while %s of an earlier wave is %s", s.ID, r.ID, o.ID, o.Status)
		if o.Status == run.Done && !o.Receipt.Unchanged {
			rest := time.Duration(about.Bake) - w.p.Now().Sub(o.Ended)
			w.holds(baked, rest <= 0, "%s of run %s starts %s before %s of an earlier wave has baked", s.ID, r.ID, rest, o.ID)
		}
	}
}

// lastRead returns the steps of a run as the function has read them at least that starts a step now: it starts several at the same time,
// and one may fail meanwhile. A late process may have read the run since.
func (w *monitor) lastRead(id string) []run.Step {
	reads := w.of(id).reads
	if w.injected["late-process"] > 0 {
		return reads[0]
	}
	return reads[1]
}

// maxFailures is the line of a limit of failures, in project files from then on.
func (g *player) maxFailures(l line) {
	g.injected[fmt.Sprintf("max_failures %d", l.number(1))]++
	g.MaxFailures(l.number(1))
}
