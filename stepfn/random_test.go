package stepfn_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/sim"
)

var (
	worlds = flag.Int("worlds", 10_000, "how many random worlds to play in memory")
	reals  = flag.Int("reals", defaultReals, "how many random worlds to play on the real adapters")
	seed   = flag.Uint64("seed", 0, "play the random world of this seed only, and tell what happens")
)

// Whatever the project, the operations and the faults: every run ends, nothing
// starts early, nothing is asked for twice, what succeeded is what was desired,
// and what is left behind is mended by the next deploy and gone with a destroy.
func TestAnyWorld(t *testing.T) {
	one := func(t *testing.T, n uint64) {
		p := newPure(t, n)
		defer p.Stop()
		play(t, p, n)
	}
	if *seed != 0 {
		one(t, *seed)
		return
	}
	lanes := runtime.GOMAXPROCS(0)
	for lane := range lanes {
		t.Run(fmt.Sprint("lane", lane), func(t *testing.T) {
			t.Parallel()
			for n := uint64(lane + 1); n <= uint64(*worlds) && !t.Failed(); n += uint64(lanes) {
				one(t, n)
			}
		})
	}
}

// The same through the real functions and adapters on the stand-ins for AWS, in
// virtual time.
func TestAnyWorldForReal(t *testing.T) {
	one := func(t *testing.T, n uint64) {
		synctest.Test(t, func(t *testing.T) { play(t, newReal(t), n) })
	}
	if *seed != 0 {
		one(t, *seed)
		return
	}
	lanes := runtime.GOMAXPROCS(0)
	for lane := range lanes {
		t.Run(fmt.Sprint("lane", lane), func(t *testing.T) {
			t.Parallel()
			for n := uint64(lane + 1); n <= uint64(*reals) && !t.Failed(); n += uint64(lanes) {
				one(t, n)
			}
		})
	}
}

// A game is one random world that is played on a stage.
type game struct {
	*testing.T
	stage
	seed  uint64
	rng   *rand.Rand
	last  world  // what was asked for last
	id    string // the run that was asked for last
	mixed bool   // what was asked for since is of two runs
	story []string
}

// play plays the world of a seed.
func play(t *testing.T, s stage, seed uint64) {
	t.Helper()
	g := &game{T: t, stage: s, seed: seed, rng: rand.New(rand.NewPCG(seed, 7))}
	defer func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, strings.Join(g.story, "\n"))
		}
	}()
	s.Allow(1000) // whatever a world thinks of next
	g.weather()
	for range 1 + g.rng.IntN(4) {
		g.meddle()
		g.turn()
		if t.Failed() {
			return
		}
	}
	g.calm()
	if g.rng.IntN(2) == 0 {
		g.mended()
	}
	g.emptied()
}

// oops reports what must not be, and how to see it again.
func (g *game) oops(format string, args ...any) {
	g.Helper()
	g.Errorf("seed %d: %s\nagain: go test ./stepfn -run '^%s$' -seed %d", g.seed, fmt.Sprintf(format, args...), strings.Split(g.Name(), "/")[0], g.seed)
	if g.id != "" {
		for _, st := range g.Standing(g.id).Steps {
			g.Logf("%-20s %-8s %d %s ← %v", st.ID, st.Status, st.Attempt, st.Why, st.After)
		}
	}
}

func (g *game) tell(format string, args ...any) {
	g.story = append(g.story, fmt.Sprintf(format, args...))
}

// weather decides what goes wrong by itself.
func (g *game) weather() {
	rng := rand.New(rand.NewPCG(g.seed, 9))
	if r, ok := g.stage.(*real); ok {
		g.storm(r, rng)
		return
	}
	p := g.stage.(*pure)
	risk := []float64{0, 0, 0.003, 0.02}[g.rng.IntN(4)]
	p.Faults.Call = func(function, call, about string) sim.Mishap {
		if rng.Float64() >= risk {
			return sim.None
		}
		m := []sim.Mishap{sim.KillBefore, sim.KillAfter, sim.Lose, sim.Throttle}[rng.IntN(4)]
		if m >= sim.Lose && !strings.HasPrefix(call, "Cloud") {
			m = sim.KillBefore // the store's and the machine's adapters see to the rest
		}
		g.tell("    %s: %s %s: mishap %d", function, call, about, m)
		return m
	}
	late := g.rng.IntN(4)
	p.Faults.Event = func() []time.Duration { return lateness(late, rng) }
}

// storm decides what goes wrong by itself on the real adapters.
func (g *game) storm(r *real, rng *rand.Rand) {
	var mu sync.Mutex // functions run side by side
	late, risk := g.rng.IntN(4), []float64{0, 0, 0.01, 0.04}[g.rng.IntN(4)]
	r.kill = func(function string) sim.Mishap {
		mu.Lock()
		defer mu.Unlock()
		if rng.Float64() >= risk {
			return sim.None
		}
		return []sim.Mishap{sim.KillBefore, sim.KillAfter}[rng.IntN(2)]
	}
	r.events = func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return lateness(late, rng)
	}
	if risk > 0 {
		r.inject(local.Fault{Throttle: risk})
		for _, action := range actions {
			for range 1 + rng.IntN(2) {
				r.inject(local.Fault{Stack: physicalName(fmt.Sprintf("s%d", rng.IntN(10))), Times: 1,
					Error: &local.FaultError{Action: action, Code: "InternalFailure", Status: 500, After: rng.IntN(2) == 0}})
			}
		}
	}
}

// lateness is how late an event comes, how often.
func lateness(kind int, rng *rand.Rand) []time.Duration {
	switch {
	case kind == 0:
		return nil
	case kind == 1 && rng.IntN(2) == 0:
		return []time.Duration{time.Duration(rng.IntN(60)) * time.Second, time.Duration(rng.IntN(4000)) * time.Millisecond}
	}
	return []time.Duration{time.Duration(rng.IntN(1500)) * time.Millisecond}
}

// calm lets nothing go wrong any more.
func (g *game) calm() {
	switch s := g.stage.(type) {
	case *pure:
		s.Faults = sim.Faults{}
		clear(s.Cloud.Fail)
	case *real:
		s.kill = nil
		if err := s.cloud.Stacks.Mend(); err != nil {
			g.Fatal(err)
		}
	}
	for _, st := range g.last {
		g.Slow(st.name, 10*time.Second)
	}
	g.tell("all is calm")
}

// dream makes up a project: sometimes a variation of the last one.
func (g *game) dream() world {
	var w world
	version := func() string { return fmt.Sprintf("v%d", 1+g.rng.IntN(3)) }
	if len(g.last) > 0 && g.rng.IntN(2) == 0 {
		w = slices.Clone(g.last)
		w[g.rng.IntN(len(w))].version = version()
		return w
	}
	for _, k := range g.rng.Perm(2 + g.rng.IntN(8)) {
		s := stack{name: fmt.Sprintf("s%d", k), version: version()}
		s.physical = physicalName(s.name)
		for _, on := range w {
			if g.rng.IntN(3) == 0 {
				s.needs = append(s.needs, need{name: on.name, output: []string{"Value", "Value", "Name"}[g.rng.IntN(3)], bare: g.rng.IntN(4) == 0})
			}
		}
		w = append(w, s)
	}
	return w
}

// meddle lets somebody else have a hand in it.
func (g *game) meddle() {
	for _, st := range g.last {
		s := g.Status(st.name)
		if g.rng.IntN(12) > 0 || s.Busy() || s.Cleaning() {
			continue
		}
		if s.Gone() || s.Dead() {
			continue
		}
		becomes := []plan.Status{"UPDATE_ROLLBACK_FAILED", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "DELETE_COMPLETE"}[g.rng.IntN(4)]
		if becomes.Gone() && g.inUse(st.name) {
			continue // CloudFormation keeps what is in use from people too
		}
		g.tell("somebody makes %s %s", st.name, becomes)
		g.Live(st.name, becomes)
	}
}

// inUse reports whether a recorded stack needs the one of that name.
func (g *game) inUse(name string) bool {
	for _, r := range g.Recorded() {
		if slices.Contains(r.Needs, name) {
			return true
		}
	}
	return false
}

// turn asks for something and sees it to its end.
func (g *game) turn() {
	w := g.dream()
	for _, st := range w {
		g.Slow(st.name, time.Duration(1+g.rng.IntN(90))*time.Second)
		if g.rng.IntN(6) == 0 {
			v := []plan.Verb{plan.Create, plan.Update, plan.Delete, plan.Continue, "rollback"}[g.rng.IntN(5)]
			g.tell("fail %s/%s", st.name, v)
			g.Fail(st.name, v)
		}
	}
	operation := []string{"deploy", "deploy", "deploy", "destroy", "refresh", "plan"}[g.rng.IntN(6)]
	g.Asked()
	g.tell("%s %v", operation, w)
	g.id = g.Ask(operation, w, "")
	if operation == "deploy" || operation == "destroy" {
		g.last = w
	}
	if later, ok := g.wishes(); ok {
		operation, w, g.last = "deploy", later, later
	}
	g.ended(operation, w)
	if r := g.Standing(g.id); r.State == run.Broken && operation == "deploy" && g.rng.IntN(2) == 0 && !g.Failed() {
		g.tell("retry")
		g.Asked()
		g.id = g.Ask("retry", w, g.id)
		g.ended("deploy", w)
	}
}

// wishes lets people change their mind in the middle. It returns what is carried
// out in the end, if a second deploy came.
func (g *game) wishes() (later world, ok bool) {
	first := g.id
	for !ok && g.rng.IntN(4) == 0 {
		g.Pass(time.Duration(g.rng.IntN(120)) * time.Second)
		wish := []string{"pause", "continue", "cancel", "abort", "deploy"}[g.rng.IntN(5)]
		g.tell("%s", wish)
		switch wish {
		case "deploy":
			later, ok = g.dream(), true
			g.id, g.mixed = g.Ask("deploy", later, ""), true
			g.tell("of %v", later)
		case "abort":
			g.Abort(first)
		default:
			g.Ask(wish, nil, first)
		}
	}
	g.Quiet()
	if g.Standing(first).State == run.Parked {
		g.tell("continue")
		g.Ask("continue", nil, first)
		g.Quiet()
	}
	if r := g.Standing(first); ok && !r.State.Over() {
		g.oops("the first run is %s when all is quiet", r.State)
	} else if ok {
		g.inOrder(r)
	}
	return later, ok
}

// ended sees the run to its end and checks what must hold then.
func (g *game) ended(operation string, w world) {
	if !g.Quiet() {
		g.oops("it never ends")
	}
	r := g.Standing(g.id)
	g.tell("→ %s %v", r.State, r.Messages)
	if !r.State.Over() {
		g.oops("the run is %s when all is quiet", r.State)
		if p, ok := g.stage.(*pure); ok {
			x := p.Execution(fmt.Sprintf("%s-%d", r.ID, r.Drive))
			g.Logf("its execution: %+v", x)
		}
		return
	}
	g.inOrder(r)
	g.askedOnce(r)
	g.remembered()
	if l := g.Lock(); l.Owner.Run != "" || len(l.Waiting) > 0 {
		g.oops("run %s still holds the lock, and %v wait for it", l.Owner.Run, l.Waiting)
	}
	if r.State != run.Succeeded {
		return
	}
	switch operation {
	case "deploy":
		g.asDesired(w)
	case "destroy":
		if left := g.Recorded(); len(left) > 0 {
			g.oops("after a destroy there are records: %v", left)
		}
	}
}

// inOrder checks that no step was begun before all that it comes after ended.
func (g *game) inOrder(r run.Run) {
	for _, st := range r.Steps {
		if !st.Over() && r.Operation != "plan" {
			g.oops("%s is %s after the run", st.ID, st.Status)
		}
		for _, after := range st.After {
			a := r.Step(after)
			if st.Attempt > 0 && (a.Status != run.Done || st.Claimed.Before(a.Ended)) {
				g.oops("%s began at %s, before %s (%s) ended at %s", st.ID, st.Claimed, a.ID, a.Status, a.Ended)
			}
		}
	}
}

// askedOnce checks that CloudFormation heard of each step at most once.
func (g *game) askedOnce(r run.Run) {
	left := make(map[string]int)
	for _, st := range r.Steps {
		if st.Attempt > 1 {
			g.oops("%s was begun %d times", st.ID, st.Attempt)
		}
		left[st.ID]++
		if st.Verb == plan.Update {
			left[st.Node+"/create"]++ // of a stack that went meanwhile
		}
	}
	asked := g.Asked()
	if g.mixed { // with what the run before it asked for
		g.mixed = false
		return
	}
	for _, call := range asked {
		if left[call]--; left[call] < 0 {
			g.oops("%s was asked for, and not by a step, or twice", call)
		}
	}
}

// remembered checks that the records name every stack that we made.
func (g *game) remembered() {
	p, ok := g.stage.(*pure)
	if !ok {
		return
	}
	known := make(map[string]bool)
	for _, r := range g.Recorded() {
		known[r.Stack] = true
	}
	for _, name := range p.Cloud.Names() {
		if !known[name] && p.Cloud.Ours(name) {
			g.oops("%s is live (%s) and nobody remembers it", name, p.Cloud.Status(name))
		}
	}
}

// asDesired checks that what is live is what was asked for, made of the outputs
// of this version.
func (g *game) asDesired(w world) {
	wanted := make(map[string]bool)
	for _, st := range w {
		wanted[st.name] = true
		s := g.Status(st.name)
		version, params := g.Made(st.name)
		if !s.Good() && !s.Restored() || version != st.version {
			g.oops("%s is %s at %s after success, wanted %s", st.name, s, version, st.version)
		}
		for _, n := range st.needs {
			got, told := params["From"+n.name]
			if _, ok := g.stage.(*real); ok && !told {
				continue // CloudFormation updates nothing where only the names of parameters change
			}
			if want := g.Output(n.name, n.output); got != want {
				g.oops("%s was given %q by %s, whose output is %q", st.name, got, n.name, want)
			}
		}
	}
	for name := range g.Recorded() {
		if !wanted[name] {
			g.oops("%s is recorded after success, and nobody wants it", name)
		}
	}
}

// mended checks that without faults a deploy brings what is desired, and that
// another then costs nothing.
func (g *game) mended() {
	w := g.dream()
	g.last = w
	g.Asked()
	g.tell("deploy %v", w)
	g.id = g.Ask("deploy", w, "")
	g.ended("deploy", w)
	if r := g.Standing(g.id); r.State != run.Succeeded {
		g.oops("deploy does not mend: %s %v", r.State, r.Messages)
		return
	}
	g.Asked()
	g.tell("deploy again")
	g.id = g.Ask("deploy", w, "")
	g.ended("deploy", w)
	if asked := g.Asked(); len(asked) > 0 {
		g.oops("what is unchanged is asked for: %v", asked)
	}
}

// emptied checks that without faults a destroy leaves nothing.
func (g *game) emptied() {
	g.Asked()
	g.tell("destroy")
	g.id = g.Ask("destroy", nil, "")
	g.ended("destroy", nil)
	if r := g.Standing(g.id); r.State != run.Succeeded {
		g.oops("destroy does not empty: %s %v", r.State, r.Messages)
	}
}
