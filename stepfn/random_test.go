package stepfn_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	scenarioCount = flag.Int("scenarios", defaultScenarios, "how many random scenarios to play in memory")
	emulatedCount = flag.Int("emulated", defaultEmulated, "how many random scenarios to play on the emulators")
	seed          = flag.Uint64("seed", 0, "play only the random scenario of this seed")
	replay        = flag.String("replay", "", "play only this script")
	shrinkFailing = flag.Bool("shrink", true, "look for the shortest script that still fails")
)

// Whatever the project, the requests and the faults: the invariants hold.
func TestRandomScenarios(t *testing.T) { playAll(t, randomInMemory, *scenarioCount) }

// The same through the real functions and adapters on the emulators, in
// virtual time.
func TestRandomScenariosOnEmulators(t *testing.T) { playAll(t, randomOnEmulators, *emulatedCount) }

// A randomTest plays random scenarios on one backend.
type randomTest struct {
	test     string // its name
	emulated bool
	play     func(t *testing.T, s script, seen func(*player)) // seen may read the backend, which is closed afterwards
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

// playAll plays the random scenarios of the seeds 1 to n, or the one that a
// flag names.
func playAll(t *testing.T, on randomTest, n int) {
	switch {
	case *replay != "":
		on.judge(t, parseScript(*replay), "")
		return
	case *seed != 0:
		on.judge(t, writeScript(*seed, on.emulated), fmt.Sprint("seed ", *seed))
		return
	}
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		t.Run(fmt.Sprint("worker", worker), func(t *testing.T) {
			t.Parallel()
			for n0 := worker + 1; n0 <= n && !t.Failed(); n0 += workers {
				on.judge(t, writeScript(uint64(n0), on.emulated), fmt.Sprint("seed ", n0))
			}
		})
	}
}

// judge plays a random scenario. If an invariant fails, it searches for the
// shortest script with the same failure and prints how to play it again. It
// returns how often each invariant was checked and each kind of fault
// injected.
func (on randomTest) judge(t *testing.T, s script, name string) (checked, injected map[string]int) {
	t.Helper()
	failed, checked, injected := on.problems(t, s)
	if failed == nil {
		return checked, injected
	}
	if *shrinkFailing && *replay == "" {
		s = shrink(s, time.Now().Add(shrinking), func(s script) bool {
			again, _, _ := on.problems(t, s)
			return again != nil && cause(again) == cause(failed)
		})
		if again, _, _ := on.problems(t, s); again != nil {
			failed = again
		}
	}
	t.Errorf("%s: %s\nthe script:\n    %s\nto play it again: go test ./stepfn -run '^%s$' -replay '%s'",
		name, strings.Join(failed, "\n"), strings.ReplaceAll(s.String(), "; ", "\n    "), on.test, s)
	return checked, injected
}

// shrinking is how long it searches for a shorter script.
const shrinking = time.Minute

// cause is the name of the invariant that failed, or the start of another
// message.
func cause(failed []string) string {
	name, _, _ := strings.Cut(failed[0], ":")
	return name
}

// problems plays a random scenario and returns what failed; nil if nothing
// did.
func (on randomTest) problems(t *testing.T, s script) (failed []string, checked, injected map[string]int) {
	var snapshots []string
	on.play(t, s, func(g *player) { failed, checked, injected, snapshots = g.failed, g.checked, g.injected, g.snapshots })
	if len(failed) == 0 && s.plain() {
		other := slices.Concat(script{{"latency", "77"}}, s)
		on.play(t, other, func(g *player) {
			checked[certain.name()]++
			if !slices.Equal(snapshots, g.snapshots) {
				failed = []string{fmt.Sprintf("%s\n    %v\n    %v", certain, snapshots, g.snapshots)}
			}
		})
	}
	return failed, checked, injected
}

// plain reports whether a script has no faults and nothing happens while a run
// is executed, so that there is only one way for it to end.
func (s script) plain() bool {
	return !slices.ContainsFunc(s, func(l line) bool { return slices.Contains([]string{"events", "fault", "pass"}, l[0]) })
}

// A recorder records failures instead of failing a test: most scripts are
// played to be made shorter.
type recorder struct {
	testing.TB
	failed []string
}

// stop ends a random scenario that cannot go on.
type stop struct{}

func (v *recorder) Errorf(format string, args ...any) {
	v.failed = append(v.failed, fmt.Sprintf(format, args...))
}
func (v *recorder) Error(args ...any) { v.failed = append(v.failed, fmt.Sprintln(args...)) }
func (v *recorder) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	panic(stop{})
}
func (v *recorder) Fatal(args ...any) {
	v.Error(args...)
	panic(stop{})
}
func (v *recorder) Failed() bool { return len(v.failed) > 0 }
