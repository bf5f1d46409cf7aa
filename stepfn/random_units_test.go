package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// After each deploy that has succeeded, every active account of the unit has the stacks, and no other account was changed but those that have left
// the unit, whose stacks are deleted. Accounts join, leave, close, reopen and vanish in any order, functions crash, and Organizations fails.
func TestRandomUnits(t *testing.T) {
	for seed := range uint64(max(20, *scenarioCount/20)) {
		p := newMemory(t, seed)
		followRandomly(t, p, seed)
		p.Stop()
		if t.Failed() {
			return
		}
	}
}

// The same through the real functions and adapters on the emulators.
func TestRandomUnitsOnEmulators(t *testing.T) {
	for seed := range uint64(max(2, *emulatedCount/4)) {
		synctest.Test(t, func(t *testing.T) { followRandomly(t, newEmulators(t), seed) })
		if t.Failed() {
			return
		}
	}
}

// A unitAccount is one of a random scenario.
type unitAccount struct {
	id                   string
	joined, closed, gone bool
	version              string // of its stacks; "" if there are none
}

// active reports whether stacks are deployed to the account.
func (f unitAccount) active() bool {
	return f.joined && !f.closed && !f.gone && !slices.Contains(unitAccess.Except, f.id)
}

// change draws what happens to the account.
func (f *unitAccount) change(r *rand.Rand) string {
	may := f.may()
	what := may[r.IntN(len(may))]
	f.become(what)
	return what
}

// may lists what can happen to the account. What is likely is in it twice.
func (f *unitAccount) may() []string {
	switch {
	case f.gone:
		return []string{"joins"}
	case f.closed:
		return []string{"reopens", "vanishes", "leaves"}
	case f.joined:
		return []string{"leaves", "leaves", "closes", "suspended", "vanishes", "joins-deep"}
	}
	return []string{"joins", "joins-deep", "leaves"}
}

// become is what happens to the account.
func (f *unitAccount) become(what string) {
	switch what {
	case "joins", "joins-deep":
		f.joined, f.gone = true, false
	case "leaves":
		f.joined = false
	case "closes", "suspended":
		f.closed = true
	case "reopens":
		f.closed = false
	case "vanishes":
		f.joined, f.closed, f.gone = false, false, true
	}
}

// A unitPlayer plays a random scenario of a unit.
type unitPlayer struct {
	testing.TB
	backend
	*rand.Rand
	seed     uint64
	accounts []*unitAccount
	log      []string
}

func followRandomly(t testing.TB, b backend, seed uint64) {
	f := &unitPlayer{TB: t, backend: b, Rand: rand.New(rand.NewPCG(seed, 37)), seed: seed}
	f.MaxDeletions(1000)
	for _, id := range []string{"111111111111", "222222222222", "333333333333", "444444444444", unitAccess.Except[0]} {
		f.accounts = append(f.accounts, &unitAccount{id: id})
		f.Account(id, "leaves") // it is elsewhere in the organization
	}
	for round := range 3 + f.IntN(4) {
		f.round(fmt.Sprint("v", round+1))
		if t.Failed() {
			return
		}
	}
	f.end()
}

func (f *unitPlayer) say(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *unitPlayer) fail(format string, args ...any) {
	f.Helper()
	f.Errorf("seed %d: %s\nafter: %s", f.seed, fmt.Sprintf(format, args...), strings.Join(f.log, "; "))
}

// round changes accounts, and deploys a version.
func (f *unitPlayer) round(version string) {
	for range f.IntN(4) {
		a := f.accounts[f.IntN(len(f.accounts))]
		what := a.change(f.Rand)
		f.say("account %s %s", a.id, what)
		f.Account(a.id, what)
	}
	for range f.IntN(3) {
		a := f.accounts[f.IntN(len(f.accounts))]
		kind := []sim.Fault{sim.KillBefore, sim.KillAfter, sim.Lose, sim.Throttle}[f.IntN(4)]
		verb := []plan.Verb{plan.Create, plan.Update, plan.Delete}[f.IntN(3)]
		on := "net@" + project.MemberName(unitAccess.Name, a.id)
		if _, inMemory := f.backend.(*memoryBackend); inMemory {
			on = "net" // in any account
		}
		f.say("fault %v of %s/%s", kind, on, verb)
		f.Fault(on, verb, kind)
	}
	w := parseStacks(strings.Fields(strings.ReplaceAll("zone!V net@org!V app@org<net!V", "V", version)))
	does := []string{"answer", "answer", "answer", "answer", "throttle", "deny", "list-nothing"}[f.IntN(7)]
	if does == "list-nothing" && !slices.ContainsFunc(f.accounts, func(a *unitAccount) bool { return a.version != "" && a.joined && !a.gone }) {
		does = "answer" // nobody can know that there are accounts
	}
	f.say("organizations %s; deploy %s", does, version)
	f.Organization(does)
	id := f.Submit("deploy", w, "")
	if does == "throttle" || does == "list-nothing" {
		f.Pass(20 * time.Second)
		f.check(w, version, false)
		f.Organization("answer")
	}
	if !f.WaitIdle() {
		f.fail("the run never ends")
		return
	}
	f.Organization("answer")
	got := f.ExecutionStatus(id)
	if does == "deny" {
		if got.State != run.StateRefused {
			f.fail("Organizations denies, and the run is %s: %v", got.State, got.Messages)
		}
		f.check(w, version, false)
		return
	}
	if got.State != run.StateSucceeded {
		f.fail("the run is %s: %s %v", got.State, failedSteps(got), got.Messages)
	}
	f.check(w, version, true)
}

// check compares the stacks of all accounts with what they must be: after a deploy of a version, or unchanged.
func (f *unitPlayer) check(w stacks, version string, deployed bool) {
	f.Helper()
	records := f.Recorded()
	for _, a := range f.accounts {
		if deployed && a.active() {
			a.version = version
		} else if deployed && !a.closed && !a.gone {
			a.version = "" // it has left, or was never there
		}
		for _, name := range []string{"net", "app"} {
			node := name + "@" + project.MemberName(unitAccess.Name, a.id)
			if _, recorded := records[node]; recorded != (a.version != "") {
				f.fail("%s: recorded is %v, and the version is %q", node, recorded, a.version)
			}
			if status := f.Status(node); status.Gone() != (a.version == "") || !status.Gone() && !status.Good() {
				f.fail("%s is %q, and the version is %q", node, status, a.version)
			}
			if got, _ := f.Deployed(node); got != a.version && !(got != "" && a.version == "" && f.Status(node).Gone()) {
				f.fail("%s has the version %q, want %q", node, got, a.version)
			}
		}
	}
}

// end destroys the project. What is in accounts that nobody can use stays, and is destroyed when they are back.
func (f *unitPlayer) end() {
	id := f.Submit("destroy", nil, "")
	if !f.WaitIdle() || f.ExecutionStatus(id).State != run.StateSucceeded {
		f.fail("the destroy is %s: %v", f.ExecutionStatus(id).State, f.ExecutionStatus(id).Messages)
	}
	for _, a := range f.accounts {
		if !a.closed && !a.gone {
			a.version = ""
		}
	}
	f.say("destroy")
	f.check(nil, "", false)
	for _, a := range f.accounts {
		if a.closed {
			f.Account(a.id, "reopens")
		} else if a.gone {
			f.Account(a.id, "leaves")
		}
		a.closed, a.gone, a.version = false, false, ""
	}
	again := f.Submit("destroy", nil, "")
	if f.say("all are back; destroy"); !f.WaitIdle() || f.ExecutionStatus(again).State != run.StateSucceeded || len(f.Recorded()) > 0 {
		f.fail("the second destroy is %s, and %d stacks are recorded: %v", f.ExecutionStatus(again).State, len(f.Recorded()), f.ExecutionStatus(again).Messages)
	}
	f.check(nil, "", false)
}
