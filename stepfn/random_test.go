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
	shrinkFailing = flag.Bool("shrink", true, "search for a shorter script that still fails")
)

// The invariants hold for every random project, with random requests and faults.
func TestRandomScenarios(t *testing.T) { playAll(t, randomInMemory, *scenarioCount) }

// The same through the real functions and adapters on the emulators, in virtual time.
func TestRandomScenariosOnEmulators(t *testing.T) { playAll(t, randomOnEmulators, *emulatedCount) }

// Random scenarios that once failed, by what they showed. Their faults depend on the order
// of calls, so a change of the engine may move them: the mutants show what they still find.
var onceFailed = map[string]string{
	"a function whose start was throttled wrote that its step is pending, after a poll with a fast clock had decided to start the step again": "latency 1795339999478; skewed 9; fault 32 throttled; fault 34 late-process; fault 58 late-process; fault 104 late-process; slow s3 0; deploy s3 s2 s0 s1",
	"a function that ended a run by force crashed after it had skipped steps, and a poll of the next execution read them as they were before": "latency 1795351158171; events wild; skewed 1; fault 14 late-process; fault 132 answer-lost; fault 134 crash-before; fault 230 crash-before; fault 239 crash-before; deploy s3!v2 s2 s1<s3,.s2; wait-idle; deploy s1 s2!v2; pass 12; unlock 0",
	"a late process of execute-step started a step that a newer poll had not counted, so that more ran than max_parallel allows":              "latency 1795360205297; events wild; skewed 1; fault 10 throttled; fault 24 crash-after; fault 52 crash-after; fault 147 crash-before; fault 148 answer-lost; fault 185 crash-after; fault 197 late-process; fault 211 answer-lost; fault 216 late-process; fault 228 late-process; fault 243 crash-after; fault 251 crash-after; fault 257 crash-after; fault 327 crash-after; fault 335 crash-before; fault 358 late-process; fault 380 throttled; fault 395 crash-after; fault 402 answer-lost; max-parallel 2; slow s3 4; slow s0 44; slow s9 44; deploy s4 s6<s4 s3<.s4!v3 s5<s4 s0<s4!v2 s9<~s3 s1<s9 s2<~s5 s8<s4 s7<s4 with twice 3",
	"an update created the stack of an import again, which somebody had deleted after the import":                                             "latency 155; events wild; skewed 1; plan s0&t1>deletions!r1; wait-idle; deploy-planned; pass 27; live s0 DELETE_COMPLETE",
	"all change sets were deleted again whenever the deletion of one was throttled, until the run was ended by force":                         "targets 2; throttle 0 1 1; deploy s26 s6 s5 s8!v2 s33 s7 s30 s0<~s8 s28<^s7 s34 s31<~s33; wait-idle; plan s0 s8 s5!v2 s28 s34!v3 s26!v2 s6!v2 s33!v2 s31 with exactly",
	"an unlock found no run, which was created before the unlock read the lock, and released the lock but ended no step":                      "latency 1795367330218; fault 5 crash-before; fault 12 answer-lost; fault 20 late-process; refresh; deploy s2 with late 6; pass 1; unlock 0",
	"the ID of a stack that was left behind depended on which of two stacks was created first":                                                "fail s2/delete; deploy s1 s2 s0<s1; deploy s2=shop-xs2 with late 1",
	"a run that the policies denied when it was continued was continued again and again, and never cancelled":                                 "policy updates; deploy s0&t2!v3; pass 1; pause 0",
	"a saved plan was taken for out of date, although a rollback had deleted what was created since":                                          "fail s1/create; plan s2; deploy s1 s2 with rolling-back; wait-idle; deploy-planned",
	"the change set of an exact plan was expected to be deleted, although its stack was":                                                      "plan s0; deploy s12!v2 s3 s15 s0 s17 s4 s16 s9 s10 s1 s13 s7 s6; policy updates; plan s12!v2 s1<.s12 with exactly; pass 1; destroy",
	"a stack with another physical name that could not be created waited for the deletion of a stack that was still in use":                   "deploy s7 s5<s7 s4<s5; wait-idle; fail xs7/create; deploy s7=shop-xs7; pass 1; deploy s7=shop-xs7 s5<s7=shop-xs5 s4<s5",
	"so did one whose creation was in progress": "deploy s7 s5<s7 s4<s5; wait-idle; slow xs7 30; deploy s7=shop-xs7; pass 1; unlock 0; deploy s7=shop-xs7 s5<s7=shop-xs5 s4<s5",
	"a rollback kept a stack that the failed run had created under another physical name, because its deletion had to be approved": "fail s11/delete; deploy s11; deploy s11>deletions=shop-xs11 with rolling-back",
	"a rollback did not move a table back into a stack whose updates have to be approved, and deleted it from the other one":       "deploy s1 s0$m0~:s1>always!r1; wait-idle; fail s0/propose; deploy s1$m0~:s0!v3 s0 with rolling-back",
	"a user created a stack that imports from one without exports, as CloudFormation does not do":                                  "fail s0/create; deploy s0; pass 1; by-hand s0 s1<s0; redeploy s0 s1",
	"an update replaced a table by the one that the stack was to import":                                                           "table t0; table t1; deploy s1&t0; wait-idle; deploy s1&t1",
	"a stack that an import had created was taken for that of somebody else, after its run was ended by force":                     "plan s1&t1; wait-idle; deploy-planned; pass 6; unlock 0; redeploy s1",
	"a rollback to files that were never deployed was to keep a table that they do not move":                                       "approve-plans; deploy s1 s0$m0~:s1!v3; pass 1; cancel 0; pass 1; deploy s1$m0~:s0; rollback-to 1",
	"the table of a stack whose deletion had failed was not imported again, because that stack had it":                             "fail s2/delete; deploy s2&t2; wait-idle; destroy; redeploy s2&t2",

	"a retry was expected to have no files, and so a deploy of what has changed since it to leave a stack": "deploy s3; " +
		"pass 11; retry; replace s3; plan s0; wait-idle; deploy s0 with changed-since 2",
	"an account was expected to have stacks of a list whose function crashed before it stored a plan": "fault 8 crash-before; " +
		"fault 28 crash-before; account 333333333333 joins-deep; deploy s6!v3 u1@org; pass 1; account 333333333333 leaves",
	"the first update of a stack that was created empty was taken for a change of what it was restored from": "hook s2 " +
		"before_deploy h4 starting; deploy s2$!w2; wait-idle; fail-hook h4; deploy s2&t2!w2; wait-idle; snapshot 2; " +
		"wait-idle; restore 2; redeploy s2&t1!w2; replaced s2&t1!w2 with only s2 retaining Table",
	"the drift of a stack was not detected after its update was ended by force, so that one that was over was reverted": "deploy " +
		"s1!v3; wait-idle; drifts s1; drift; pass 7; deploy s1; unlock 0 with twice 1; redeploy s1",
	"a hook before a change set that changes nothing was expected to wait for the approval of its own": "hook s2 " +
		"before_update h3 opening; deploy s6 s1<~s6!v3 s2<.s1!r2; wait-idle; live s6 UPDATE_COMPLETE; " +
		"redeploy s6 s1<~s6!v3 s2>always<.s1!r2",
}

// The same on the emulators.
var onceFailedOnEmulators = map[string]string{
	"a limit of max_parallel took the place of max_deletions in the project file, so that the guard refused a deploy": "max-parallel 2; deploy s5 s6; redeploy s2",
}

// Random scenarios that once failed hold.
func TestRandomScenariosThatFailed(t *testing.T) {
	for name, script := range onceFailed {
		t.Run(name, func(t *testing.T) { randomInMemory.check(t, parseScript(script), name) })
	}
	for name, script := range onceFailedOnEmulators {
		t.Run(name, func(t *testing.T) { randomOnEmulators.check(t, parseScript(script), name) })
	}
}

// A randomTest plays random scenarios on one backend.
type randomTest struct {
	test     string // the name of the test
	emulated bool
	play     func(t *testing.T, s script, read func(*player)) // read gets the player before its backend is closed
}

var randomInMemory = randomTest{"TestRandomScenarios", false, func(t *testing.T, s script, read func(*player)) {
	g := newPlayer(t)
	p := newMemory(g.recorder, uint64(s.setting("latency")))
	defer p.Stop()
	g.backend = p
	g.monitor(p)
	g.play(s)
	read(g)
}}

var randomOnEmulators = randomTest{"TestRandomScenariosOnEmulators", true, func(t *testing.T, s script, read func(*player)) {
	synctest.Test(t, func(t *testing.T) {
		g := newPlayer(t)
		g.backend = newEmulators(g.recorder)
		g.play(s)
		read(g)
	})
}}

// setting returns the number in the line of the script that begins with a word; 0 if
// there is no such line.
func (s script) setting(what string) int {
	for _, l := range s {
		if l[0] == what {
			return l.number(1)
		}
	}
	return 0
}

// playAll plays the random scenarios of the seeds 1 to n, or the one that a flag names.
func playAll(t *testing.T, on randomTest, n int) {
	switch {
	case *replay != "":
		on.check(t, parseScript(*replay), "")
		return
	case *seed != 0:
		on.check(t, writeScript(*seed, on.emulated), fmt.Sprint("seed ", *seed))
		return
	}
	all := total{count: newCount()}
	t.Run("workers", func(t *testing.T) {
		workers := runtime.GOMAXPROCS(0)
		for worker := range workers {
			t.Run(fmt.Sprint("worker", worker), func(t *testing.T) {
				t.Parallel()
				for seed := worker + 1; seed <= n && !t.Failed(); seed += workers {
					all.add(on.check(t, writeScript(uint64(seed), on.emulated), fmt.Sprint("seed ", seed)))
				}
			})
		}
	})
	if n >= enough && !t.Failed() {
		all.have(t)
	}
}

// check plays a random scenario. If an invariant fails, it searches for a shorter script
// with the same failure, and prints how to play that again.
func (on randomTest) check(t *testing.T, s script, name string) count {
	t.Helper()
	failed, counted := on.problems(t, s)
	if failed == nil {
		return counted
	}
	if *shrinkFailing && *replay == "" {
		s = shrink(s, time.Now().Add(shrinking), func(s script) bool {
			again, _ := on.problems(t, s)
			return again != nil && cause(again) == cause(failed)
		})
		if again, _ := on.problems(t, s); again != nil {
			failed = again
		}
	}
	t.Errorf("%s: %s\nthe script:\n    %s\nto play it again: go test ./stepfn -run '^%s$' -replay '%s'",
		name, strings.Join(failed, "\n"), strings.ReplaceAll(s.String(), "; ", "\n    "), on.test, s)
	return counted
}

// shrinking is how long check searches for a shorter script.
const shrinking = time.Minute

// cause returns the name of the invariant that failed, or the start of another message.
func cause(failed []string) string {
	name, _, _ := strings.Cut(failed[0], ":")
	return name
}

// problems plays a random scenario and returns what failed, or nil.
func (on randomTest) problems(t *testing.T, s script) (failed []string, counted count) {
	var snapshots []string
	on.play(t, s, func(g *player) { failed, counted, snapshots = g.failed, g.count, g.snapshots })
	if len(failed) == 0 && s.plain() {
		other := slices.Concat(script{{"latency", "77"}}, s)
		on.play(t, other, func(g *player) {
			counted.checked[certain.name()]++
			if !slices.Equal(snapshots, g.snapshots) {
				failed = []string{fmt.Sprintf("%s\n    %v\n    %v", certain, snapshots, g.snapshots)}
			}
		})
	}
	return failed, counted
}

// plain reports whether a script has no faults and nothing happens while a run is
// executed. Then only one result is possible, except after a restore: the names of backups are random.
func (s script) plain() bool {
	for i, l := range s {
		// a promotion reads what the other environment has at that moment
		beside := l[0] == "promote" && (s.at(i-1) != "wait-idle" || s.at(i+1) != "wait-idle")
		if beside || slices.Contains([]string{"events", "fault", "pass", "restore"}, l[0]) {
			return false
		}
	}
	return true
}

// at is the word that begins a line; "wait-idle" beside the first and the last one.
func (s script) at(i int) string {
	if i < 0 || i >= len(s) {
		return "wait-idle"
	}
	return s[i][0]
}

// A recorder records failures and does not fail the test: most scripts are played only
// to find a shorter one.
type recorder struct {
	testing.TB
	failed []string
}

// stop is the panic that ends a random scenario after a fatal failure.
type stop struct{}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.failed = append(r.failed, fmt.Sprintln(args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stop{})
}
func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	panic(stop{})
}
func (r *recorder) Failed() bool { return len(r.failed) > 0 }
