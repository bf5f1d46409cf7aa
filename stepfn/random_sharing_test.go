package stepfn_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which runs share what is short: the places of max_parallel, and the
// requests that CloudFormation allows in an account.

// The invariants of what runs share.
const (
	capped invariant = "capped: no more steps of a group are in flight than its max_parallel"
	apart  invariant = "apart: only the budget of an account that throttles is lowered"
	fed    invariant = "fed: a run that needs requests is granted some within a minute, however many runs share the account"
)

// hubSize is how many dependents the hub of a large random scenario has, and largeSeeds
// tells which seeds are large: one of so many.
const (
	hubSize    = 2000
	largeSeeds = 2000
)

// hubScript adds what happens to a hub with many dependents. Half of the time it fails,
// and all of them are skipped.
func (a *generator) hubScript() {
	a.add("slow", "s0000", strconv.Itoa(1+a.IntN(90)))
	if a.IntN(2) == 0 {
		a.add("fail", "s0000/create")
	}
	a.add("deploy-hub", strconv.Itoa(hubSize))
	a.add("pass", a.number(300))
	a.meanwhile()
	a.add("wait-idle")
	a.add("destroy-all")
}

// sharing adds limits, and the runs of other projects in the same accounts.
func (a *generator) sharing() {
	for range a.IntN(3) {
		most := strconv.Itoa(1 + a.IntN(4))
		switch {
		case a.IntN(2) == 0:
			a.add("max-parallel", most)
		case !a.emulated:
			a.add("max-parallel", most, a.one("s", "s1", "s2", "s3", oddGroup))
		}
	}
	if a.plain || a.emulated {
		return
	}
	if n := a.script.setting("targets"); n > 0 && a.IntN(2) == 0 {
		a.add("throttle", a.number(n), a.one("0.3", "1", "2"), a.one("3", "10"))
	}
	if a.crowded = a.IntN(50) == 0; a.crowded {
		for range 2 {
			a.add("beside", strconv.Itoa(20+a.IntN(30)))
		}
	}
}

// limits returns the limits that the lines of a script set, sorted by prefix.
func (s script) limits() []project.Limit {
	var all []project.Limit
	for _, l := range s {
		if l[0] != "max-parallel" {
			continue
		}
		made := project.Limit{Most: max(l.number(1), 1)}
		switch {
		case len(l) > 2 && l[2] == oddGroup:
			made.Group = oddGroup
		case len(l) > 2:
			made.Prefix = l[2]
		}
		if !slices.ContainsFunc(all, func(o project.Limit) bool { return o.Compare(made) == 0 }) {
			all = append(all, made)
		}
	}
	slices.SortFunc(all, project.Limit.Compare)
	return all
}

// throttle lets CloudFormation accept fewer requests in one account.
func (g *player) throttle(l line) {
	p := g.backend.(*memoryBackend)
	rate, err := strconv.ParseFloat(l[2], 64)
	if err != nil {
		g.Fatal(err)
	}
	g.injected["account throttled"]++
	if p.Cloud.Limits == nil {
		p.Cloud.Limits = make(map[string]*sim.Limit)
	}
	p.Cloud.Limits[p.targetIn(l.number(1)).Where()] = &sim.Limit{Reads: 2 * rate, Writes: rate, Burst: float64(l.number(3))}
}

// besides starts the deploy of another project in the same accounts.
func (g *player) besides(l line) {
	g.injected["run of another project"]++
	p := g.backend.(*memoryBackend)
	g.beside = append(g.beside, p.deployBeside(fmt.Sprintf("beside%d", len(g.beside)), l.number(1)))
}

// projectsOf lists the projects that have had a run.
func (g *player) projectsOf() []string {
	all := []string{"shop@default", "shop@" + upper}
	for _, id := range g.beside {
		if name := g.backend.(*memoryBackend).Store.Lend(id).Project; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// finishBeside checks the runs of other projects when no run can continue.
func (g *player) finishBeside() {
	for _, id := range g.beside {
		r := g.ExecutionStatus(id)
		g.holds(terminates, r.State.Over(), "run %s of %s is %s when no run can continue", id, r.Project, r.State)
		g.checkSteps(r)
		l, err := g.backend.(*memoryBackend).Store.Lock(g.Context(), r.Project)
		g.holds(freed, err == nil && l.Owner.Run == "", "run %s holds the lock of %s", l.Owner.Run, r.Project)
	}
}

// watchBudgets checks what budgets grant, and when they are lowered.
func (w *monitor) watchBudgets() {
	type demander struct {
		where, run string
		writes     bool
	}
	type hunger struct{ since, last time.Time }
	hungry := make(map[demander]hunger)
	w.p.Granted = func(x sim.Grant) {
		if len(x.Demands) == 0 || w.skewed() {
			return
		}
		of, now := demander{x.Where, x.Run, x.Demands[0].Writes > 0}, w.p.Now()
		was, waits := hungry[of]
		if !waits || now.Sub(was.last) > 30*time.Second { // it needed none in between
			was.since = now
		}
		if was.last = now; x.Granted > 0 {
			was.since = now
		}
		hungry[of] = was
		w.holds(fed, now.Sub(was.since) <= time.Minute, "run %s was granted no request in %s for %s", x.Run, x.Where, now.Sub(was.since))
	}
	w.p.Lowered = func(where string) {
		if len(w.p.Cloud.Limits) > 0 {
			l := w.p.Cloud.Limits[where]
			w.holds(apart, l != nil && l.Refused > 0, "the budget of %s is lowered, where no request was throttled", where)
		}
	}
}

// withinLimits checks the limits of a run when one of its steps begins.
func (w *monitor) withinLimits(r run.Run, began run.Step) {
	for _, l := range r.MaxParallel {
		if !grouped(began, l) {
			continue
		}
		n := 0
		for _, s := range r.Steps {
			if s.Status == run.Running && grouped(s, l) {
				n++
			}
		}
		w.holds(capped, n <= l.Most, "with %s of run %s, %d steps with the prefix %q are in flight, and max_parallel is %d", began.ID, r.ID, n, l.Prefix+l.Group, l.Most)
	}
}

// oddGroup is the group of the stacks that odd reports.
const oddGroup = "odd"

// odd reports whether the name of a stack of a random scenario ends with an odd digit.
func odd(node string) bool {
	name, _, _ := strings.Cut(node, "@")
	return len(name) > 1 && name[0] == 's' && strings.ContainsRune("13579", rune(name[len(name)-1]))
}

// grouped reports whether a limit is for the stack of a step. A stack that is no longer in the files has the group that is recorded.
func grouped(s run.Step, l project.Limit) bool {
	if l.Rollout != "" {
		return inSet(s, l) && s.Approval == nil
	}
	if l.Group != "" {
		return s.Node != "" && s.Approval == nil && (s.Group == l.Group || s.Spec != "" && odd(s.Node))
	}
	return s.Node != "" && s.Approval == nil && len(s.Node) >= len(l.Prefix) && s.Node[:len(l.Prefix)] == l.Prefix
}

// checkLimits checks, by the times of the steps, that a run which has ended obeyed its
// limits.
func (g *player) checkLimits(r run.Run) {
	if g.skewed() {
		return
	}
	for _, l := range r.MaxParallel {
		for _, s := range r.Steps {
			if s.Attempt == 0 || !grouped(s, l) {
				continue
			}
			n := 0
			for _, o := range r.Steps {
				if o.Attempt > 0 && grouped(o, l) && !o.Claimed.After(s.Claimed) && o.Ended.After(s.Claimed) {
					n++
				}
			}
			g.holds(capped, n <= l.Most, "when %s of run %s began, %d steps with the prefix %q were in flight, and max_parallel is %d", s.ID, r.ID, n, l.Prefix+l.Group, l.Most)
		}
	}
}

// The random scenarios contain what they are said to contain: stacks that change hands, hubs with 2,000
// dependents, lag, three runs in one account, one account of several that throttles, and
// max_parallel of projects and of prefixes.
func TestRandomScenariosContain(t *testing.T) {
	found := make(map[string]int)
	for seed := uint64(1); seed <= largeSeeds; seed++ {
		s := writeScript(seed, false)
		beside := 0
		for _, l := range s {
			switch {
			case l[0] == "beside":
				beside++
			case l[0] == "policy" && l[1] != "nothing":
				found["policy"]++
			case l[0] == "max-parallel" && len(l) == 3 && l[2] == oddGroup:
				found["max_parallel of a group"]++
			case l[0] == "max-parallel" && len(l) == 3:
				found["max_parallel of a prefix"]++
			case l[0] == "deploy-hub" && len(hub(l.number(1)+1)) > hubSize:
				found["hub of 2,000"]++
			case l[0] == "deploy" && slices.ContainsFunc(l.stacks(), func(s stack) bool { return s.giver != "" }):
				found["move"]++
			default:
				found[l[0]]++
			}
			if l[0] == "deploy" && l.stacks().haveUnit() {
				found["unit"]++
			}
		}
		if beside == 2 {
			found["three runs"]++
		}
	}
	for what, least := range map[string]int{
		"adopt": 100, "forget": 100, "by-hand": 40, "unreadable": 40, "lab-adopt": 100, "lab-deploy": 40, "lab-destroy": 40, "lab-forget": 40,
		"hub of 2,000": 1, "lag": 200, "three runs": 16, "throttle": 100, "max-parallel": 400, "max_parallel of a prefix": 150, "max_parallel of a group": 40, "policy": 300, "table": 1000, "taken": 100, "left": 50, "move": 300, "hook": 500, "fail-hook": 200, "promote": 60, "pipeline": 30, "account": 600, "organization": 100, "unit": 100,
	} {
		if found[what] < least {
			t.Errorf("%d of %d random scenarios have %s, want at least %d", found[what], largeSeeds, what, least)
		}
	}
}
