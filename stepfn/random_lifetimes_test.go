package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// The invariants of environments that expire.
const (
	unexpired invariant = "unexpired: what has not expired stays: a run that an expiry has requested deletes nothing before the end of the lifetime, and nothing of an environment that was extended"
	expired   invariant = "expired: what has expired is gone: without faults, the environment has no stack, no record, no schedule and no lifetime"
)

// ephemeralSeeds is of how many seeds one has an environment that expires.
const ephemeralSeeds = 7

// lifetimes lets the environment of a scenario expire. It draws from numbers of its own, so that other scripts stay as they are.
func (a *generator) lifetimes(seed uint64) {
	if seed%ephemeralSeeds != 4 || a.emulated || a.contests || a.levels || slices.ContainsFunc(a.script, func(l line) bool { return l[0] == "approve-plans" }) {
		return
	}
	a.expiring = rand.New(rand.NewPCG(seed, 29))
	a.add("ttl", fmt.Sprint(3600*(1+a.expiring.IntN(4))))
}

// age lets time pass before the request of a round, or extends the environment.
func (a *generator) age() {
	if a.expiring == nil {
		return
	}
	switch a.expiring.IntN(7) {
	case 0:
		a.add("ttl", fmt.Sprint(3600*a.expiring.IntN(4)))
	case 1:
		a.add("extend-until", fmt.Sprint(600+a.expiring.IntN(20_000)))
	case 2:
		a.add("extend", fmt.Sprint(600+a.expiring.IntN(20_000)))
	case 3, 4, 5:
		a.add("pass", fmt.Sprint(a.expiring.IntN(20_000)))
		if a.expiring.IntN(2) == 0 {
			a.add("extend", fmt.Sprint(600+a.expiring.IntN(20_000)))
		}
	}
}

// expires ends the script of an environment that expires.
func (a *generator) expires() {
	if a.expiring != nil {
		a.add("expire")
	}
}

// lifetimeLine executes a line about the lifetime of the environment.
func (g *player) lifetimeLine(l line) {
	switch l[0] {
	case "ttl":
		g.TTL(time.Duration(l.number(1)) * time.Second)
	case "extend":
		g.Submit("extend", nil, "", options{lives: time.Duration(l.number(1)) * time.Second})
	case "extend-until":
		_, now := g.Lifetime()
		g.Submit("extend", nil, "", options{until: now.Add(time.Duration(l.number(1)) * time.Second)})
	case "expire":
		g.expire()
	}
}

// expire lets the environment expire, without faults.
func (g *player) expire() {
	g.finish()
	g.stopFaults()
	g.forgiveHooks()
	l, now := g.Lifetime()
	if !l.Known() || l.GivenUp() {
		return
	}
	before := g.Recorded()
	g.Pass(l.Expires.Sub(now) + 48*time.Hour) // also if destroys have failed before
	g.finish()
	is, _ := g.Lifetime()
	r := g.ExecutionStatus(g.Newest("destroy"))
	lost := maps.Clone(g.Recorded())
	maps.DeleteFunc(lost, func(name string, _ plan.Record) bool {
		account, in := inUnit(name)
		return !in || !g.unusable()[account]
	})
	g.holds(expired, is.Known() == (len(lost) > 0), "it lives until %s: run %s is %s: %s%v", is.Expires, r.ID, r.State, failedSteps(r), r.Messages)
	left, stays := ignoredBy(r), maps.Clone(g.Recorded())
	maps.DeleteFunc(stays, func(name string, _ plan.Record) bool { _, is := lost[name]; return is || slices.Contains(left, name) })
	g.holds(expired, len(stays) == 0 && len(g.Scheduled()) == 0, "records are left: %v, and schedules: %v", slices.Sorted(maps.Keys(stays)), g.Scheduled())
	for name, k := range before {
		status := g.Status(placed(strings.TrimPrefix(k.Stack, physicalName("")), k.Target))
		g.holds(expired, slices.Contains(left, name) || lost[name].Stack != "" || status.Gone(), "stack %s is %s", k.Stack, status)
	}
}

// expires checks a step that starts.
func (w *monitor) expires(r run.Run, s run.Step) {
	if r.Expiry.IsZero() {
		return
	}
	l, now := w.p.lifetimeOf(r.Project), w.p.Now()
	early := time.Minute
	if w.skewed() { // the clocks of functions differ by so many minutes
		early = 10 * time.Minute
	}
	w.holds(unexpired, l.Expires.Equal(r.Expiry) && l.Expired(now.Add(early)) && l.Destroys == r.ID,
		"%s of run %s, which the expiry at %s has requested, starts at %s: the environment lives until %s, and run %q destroys it", s.ID, r.ID, r.Expiry, now, l.Expires, l.Destroys)
}
