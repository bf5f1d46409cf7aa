package stepfn_test

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var (
	scenarioCount = flag.Int("scenarios", defaultScenarios, "how many random worlds to play in memory")
	emulatedCount = flag.Int("emulated", defaultEmulated, "how many random worlds to play on the real adapters")
	seed          = flag.Uint64("seed", 0, "play the random world of this seed only")
	replay        = flag.String("replay", "", "play this random world only")
	shrinkFailing = flag.Bool("shrink", true, "look for the shortest world that still fails")
)

// Whatever the project, the operations and the faults: the invariants hold.
func TestRandomScenarios(t *testing.T) { playAll(t, randomInMemory, *scenarioCount) }

// The same through the real functions and adapters on the stand-ins for AWS, in
// virtual time.
func TestRandomScenariosOnEmulators(t *testing.T) { playAll(t, randomOnEmulators, *emulatedCount) }

// A tier is one of the ways to play a world.
type randomTest struct {
	test     string // that plays it
	emulated bool
	play     func(t *testing.T, s script, seen func(*player)) // the game is seen while its world stands
}

var randomInMemory = randomTest{"TestRandomScenarios", false, func(t *testing.T, s script, seen func(*player)) {
	g := newPlayer(t)
	p := newMemory(g.recorder, uint64(s.setting("latency")))
	defer p.Stop()
	g.backend = p
	g.monitor(p)
	g.play(s)
	seen(g)
}}

var randomOnEmulators = randomTest{"TestRandomScenariosOnEmulators", true, func(t *testing.T, s script, seen func(*player)) {
	synctest.Test(t, func(t *testing.T) {
		g := newPlayer(t)
		g.backend = newEmulators(g.recorder)
		g.play(s)
		seen(g)
	})
}}

// setting is the number that a line of the script gives; 0 if there is none.
func (s script) setting(what string) int {
	for _, l := range s {
		if l[0] == what {
			return l.number(1)
		}
	}
	return 0
}

// playAll plays the worlds of the seeds 1 to n, or the one that is asked for.
func playAll(t *testing.T, on randomTest, n int) {
	switch {
	case *replay != "":
		on.judge(t, parseScript(*replay), "")
		return
	case *seed != 0:
		on.judge(t, writeScript(*seed, on.emulated), fmt.Sprint("seed ", *seed))
		return
	}
	lanes := runtime.GOMAXPROCS(0)
	for lane := range lanes {
		t.Run(fmt.Sprint("lane", lane), func(t *testing.T) {
			t.Parallel()
			for n0 := lane + 1; n0 <= n && !t.Failed(); n0 += lanes {
				on.judge(t, writeScript(uint64(n0), on.emulated), fmt.Sprint("seed ", n0))
			}
		})
	}
}

// judge plays a world. If something is wrong in it, it looks for the shortest
// world in which the same is wrong, and tells how to see that again. It returns
// what was checked, and what went wrong by itself.
func (on randomTest) judge(t *testing.T, s script, name string) (checked, struck map[string]int) {
	t.Helper()
	wrong, checked, struck := on.problems(t, s)
	if wrong == nil {
		return checked, struck
	}
	if *shrinkFailing && *replay == "" {
		s = shrink(s, time.Now().Add(shrinking), func(s script) bool {
			again, _, _ := on.problems(t, s)
			return again != nil && cause(again) == cause(wrong)
		})
		if again, _, _ := on.problems(t, s); again != nil {
			wrong = again
		}
	}
	t.Errorf("%s: %s\nthe world:\n    %s\nagain: go test ./stepfn -run '^%s$' -replay '%s'",
		name, strings.Join(wrong, "\n"), strings.ReplaceAll(s.String(), "; ", "\n    "), on.test, s)
	return checked, struck
}

// shrinking is how long it is looked for a shorter world.
const shrinking = time.Minute

// cause is the invariant that does not hold, or the like.
func cause(wrong []string) string {
	name, _, _ := strings.Cut(wrong[0], ":")
	return name
}

// wrong plays a world and says what is wrong in it: nothing if it is nil.
func (on randomTest) problems(t *testing.T, s script) (wrong []string, checked, struck map[string]int) {
	var shown []string
	on.play(t, s, func(g *player) { wrong, checked, struck, shown = g.wrong, g.checked, g.injected, g.snapshots })
	if len(wrong) == 0 && s.plain() {
		other := slices.Concat(script{{"latency", "77"}}, s)
		on.play(t, other, func(g *player) {
			checked[certain.name()]++
			if !slices.Equal(shown, g.snapshots) {
				wrong = []string{fmt.Sprintf("%s\n    %v\n    %v", certain, shown, g.snapshots)}
			}
		})
	}
	return wrong, checked, struck
}

// plain reports whether nothing goes wrong in a world, and nobody changes their
// mind in it, so that there is but one way for it to end.
func (s script) plain() bool {
	return !slices.ContainsFunc(s, func(l line) bool { return slices.Contains([]string{"events", "mishap", "pass"}, l[0]) })
}

// A verdict takes down what is wrong in place of failing a test, for most worlds
// are played to be made shorter.
type recorder struct {
	testing.TB
	wrong []string
}

// over is what a world is ended with that cannot go on.
type stop struct{}

func (v *recorder) Errorf(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}
func (v *recorder) Error(args ...any) { v.wrong = append(v.wrong, fmt.Sprintln(args...)) }
func (v *recorder) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	panic(stop{})
}
func (v *recorder) Fatal(args ...any) {
	v.Error(args...)
	panic(stop{})
}
func (v *recorder) Failed() bool { return len(v.wrong) > 0 }

// A game is one random world that is played on a stage.
type player struct {
	*recorder
	backend
	requested      []string                       // runs, in order
	desired        map[string]stacks              // by run: what is desired
	sources        map[run.Source]stacks          // the same
	projects       map[run.Source]project.Project // the same
	lastJudged     string                         // the run that wrote last when all was quiet before
	last           stacks                         // what was asked for last
	changedOutside map[string]bool                // stacks that somebody else had a hand in since all was quiet
	snapshots      []string                       // how all was, whenever it was quiet
	checked        map[string]int                 // invariants
	injected       map[string]int                 // what went wrong, by kind
}

func newPlayer(t testing.TB) *player {
	return &player{
		recorder: &recorder{TB: t}, desired: make(map[string]stacks), sources: make(map[run.Source]stacks), projects: make(map[run.Source]project.Project),
		changedOutside: make(map[string]bool), checked: make(map[string]int), injected: make(map[string]int),
	}
}

// play plays a script, until something is wrong.
func (g *player) play(s script) {
	defer func() {
		if r := recover(); r != nil && r != (stop{}) {
			panic(r)
		}
	}()
	g.MaxDeletions(1000) // whatever a world thinks of next
	g.faultPlan(s)
	for _, l := range s {
		if g.execute(l); g.Failed() {
			return
		}
	}
	g.settle()
}

// does lets one line happen.
func (g *player) execute(l line) {
	switch what := l[0]; what {
	case "deploy", "plan", "destroy", "refresh", "retry":
		g.submit(l)
	case "pause", "continue", "cancel", "back", "unlock", "abort":
		g.command(l)
	case "pass":
		g.Pass(time.Duration(l.number(1)) * time.Second)
	case "quiet":
		g.settle()
	case "slow":
		g.Slow(l[1], time.Duration(l.number(2))*time.Second)
	case "fail":
		name, v, _ := strings.Cut(l[1], "/")
		g.FailNext(name, plan.Verb(v))
	case "live":
		g.changeOutside(l[1], plan.Status(l[2]))
	case "outage":
		g.injected["outage"]++
		g.outage(time.Duration(l.number(1)) * time.Second)
	case "mend":
		g.redeploy(l.stacks())
	case "empty":
		g.destroyAll()
	}
}

// asks asks for a run.
func (g *player) submit(l line) {
	var o []options
	if _, ok := l.option("rolling-back"); ok {
		o = []options{{rollback: true}}
	}
	if _, ok := l.option("refusing"); ok {
		o = []options{{refuse: true}}
	}
	var w stacks
	if l[0] == "deploy" || l[0] == "plan" {
		w = l.stacks()
	}
	if l[0] == "deploy" {
		g.last = w
	}
	of := ""
	if l[0] == "retry" {
		if of = g.of(0); of == "" {
			return
		}
	}
	id := g.deliver(l, w, of, o)
	g.requested = append(g.requested, id)
	if w != nil {
		g.desired[id] = w
	}
}

// steers wishes something of the last run, or of the one so many before it.
func (g *player) command(l line) {
	id := g.of(l.number(1))
	switch {
	case id == "":
	case l[0] == "abort":
		g.Abort(id)
	case l[0] == "back":
		g.deliver(append(line{"cancel"}, l[1:]...), nil, id, []options{{rollback: true}})
	default:
		g.deliver(l, nil, id, nil)
	}
}

// of returns the run that was asked for so many before the last.
func (g *player) of(before int) string {
	if before >= len(g.requested) {
		return ""
	}
	return g.requested[len(g.requested)-1-before]
}

// meddles lets a person do something to a stack of ours that allows it.
func (g *player) changeOutside(name string, becomes plan.Status) {
	s := g.Status(name)
	if s.Busy() || s.Cleaning() || s.Gone() || s.Dead() || s == becomes || becomes.Gone() && g.inUse(name) {
		return
	}
	g.injected["meddling"]++
	g.changedOutside[physicalName(name)] = true
	g.Live(name, becomes)
}

// inUse reports whether a recorded stack needs the one of that name:
// CloudFormation keeps what is in use from people too.
func (g *player) inUse(name string) bool {
	records := g.Recorded()
	for node, r := range records {
		if r.Stack != physicalName(name) {
			continue
		}
		for _, u := range records {
			if slices.Contains(u.Needs, node) {
				return true
			}
		}
	}
	return false
}

// runs lists the runs that were asked for, and the rollbacks that followed.
func (g *player) runs() []run.Run {
	var all []run.Run
	for _, id := range g.requested {
		for _, id := range []string{id, rollbackOf(id)} {
			if r := g.ExecutionStatus(id); r.State != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// rest waits until all is quiet, lets what is parked go on, and checks what must
// hold then.
func (g *player) settle() {
	var runs []run.Run
	for range 6 {
		if !g.WaitIdle() {
			g.holds(terminates, false, "there is something going on for ever: %s", g.queue())
			return
		}
		runs = g.runs()
		parked := false
		for _, r := range runs {
			if r.State == run.StateWaiting {
				parked = true
				g.Submit("continue", nil, r.ID)
			}
		}
		if !parked {
			break
		}
	}
	for _, r := range runs {
		if w, ok := g.desired[r.ID]; ok {
			g.sources[r.Source] = w
		}
	}
	for _, r := range runs {
		g.holds(terminates, r.State.Over(), "run %s is %s when all is quiet: %s", r.ID, r.State, g.queue())
		if p, pure := g.backend.(*memoryBackend); pure {
			g.holds(measured, p.Ends[r.ID] <= 1, "the end of run %s is measured %d times", r.ID, p.Ends[r.ID])
		}
		g.checkSteps(r)
	}
	l := g.Lock()
	g.holds(freed, l.Owner.Run == "" && len(l.Waiting) == 0, "run %s holds the lock, and %v wait", l.Owner.Run, l.Waiting)
	g.checkLastRun()
	g.snapshots = append(g.snapshots, g.snapshot())
	clear(g.changedOutside)
}

// line says who owns the lock, and how that stands.
func (g *player) queue() string {
	l := g.Lock()
	r := g.ExecutionStatus(l.Owner.Run)
	var b strings.Builder
	fmt.Fprintf(&b, "the lock is held by run %s, which is %s in epoch %d and wishes to %s; %v wait", r.ID, r.State, r.Epoch, r.Command, l.Waiting)
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "\n    %-20s %-8s %d %s", s.ID, s.Status, s.Attempt, s.Why)
	}
	return b.String()
}

// settles checks the steps of a run that is over.
func (g *player) checkSteps(r run.Run) {
	by := make(map[string]run.Step)
	for _, st := range r.Steps {
		by[st.ID] = st
		g.holds(settled, st.Over() || r.Operation == "plan", "%s is %s after run %s", st.ID, st.Status, r.ID)
		g.holds(settled, st.Attempt <= 1, "%s was begun %d times", st.ID, st.Attempt)
		for _, after := range st.After {
			a := by[after]
			late := !g.skewed() && st.Claimed.Before(a.Ended)
			g.holds(settled, st.Attempt == 0 || a.Status == run.Done && !late, "%s began at %s, before %s (%s) ended at %s", st.ID, st.Claimed, a.ID, a.Status, a.Ended)
		}
	}
}

// lastly checks on the real adapters what the run has brought that wrote last,
// be it one of which nobody was told: who puts an object again, because the answer
// was lost, has asked twice.
func (g *player) checkLastRun() {
	stage, ok := g.backend.(*emulators)
	if !ok {
		return // it was checked when each ended
	}
	var last run.Run
	for _, r := range stage.all() {
		if plan.AllOperations().Of(r.Operation).Writes && !r.Started.IsZero() && len(r.Steps) > 0 && r.Ended.After(last.Ended) {
			last = r
		}
	}
	if last.ID == g.lastJudged {
		return // somebody may have had a hand in it since
	}
	g.lastJudged = last.ID
	if w, ok := g.sources[last.Source]; ok && last.State == run.StateSucceeded && last.Operation != "destroy" {
		g.asDesired(last, w)
	}
}

// picture is what is live and recorded, but for when it came to be.
func (g *player) snapshot() string {
	p, ok := g.backend.(*memoryBackend)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, name := range p.Cloud.Names() {
		template, params := p.Cloud.Template(name)
		fmt.Fprintf(&b, "%s %s %s %v\n", name, p.Cloud.Status(name), template, params)
	}
	records := g.Recorded()
	for _, name := range slices.Sorted(maps.Keys(records)) {
		r := records[name]
		fmt.Fprintf(&b, "%s %s %s %v %v\n", name, r.Stack, r.Digest, r.Needs, r.Outputs)
	}
	return b.String()
}

// mends checks that without faults a deploy brings what is desired, and that
// another then costs nothing.
func (g *player) redeploy(w stacks) {
	g.settle()
	g.stopFaults()
	for range 2 {
		g.submit(append(line{"deploy"}, w.words()...))
		g.settle()
		r := g.ExecutionStatus(g.of(0))
		g.holds(converges, r.State == run.StateSucceeded, "the run is %s: %s%v", r.State, failures(r), r.Messages)
		if g.Failed() {
			return
		}
	}
	r := g.ExecutionStatus(g.of(0))
	g.holds(unchanged, len(r.Steps) == 0 && r.Unchanged == len(w), "%d stacks of %d are unchanged, and there are %d steps", r.Unchanged, len(w), len(r.Steps))
}

// failures lists the steps of a run that failed, and why.
func failures(r run.Run) string {
	var all []string
	for _, s := range r.Steps {
		if s.Status == run.Failed {
			all = append(all, s.ID+": "+s.Why)
		}
	}
	return strings.Join(all, "; ")
}

// empties checks that without faults a destroy leaves nothing.
func (g *player) destroyAll() {
	g.settle()
	g.stopFaults()
	g.submit(line{"destroy"})
	g.settle()
	r := g.ExecutionStatus(g.of(0))
	g.holds(emptied, r.State == run.StateSucceeded, "the run is %s: %s%v", r.State, failures(r), r.Messages)
	g.holds(emptied, len(g.Recorded()) == 0, "there are records: %v", g.Recorded())
}
