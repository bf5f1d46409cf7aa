package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// promotedSeeds tells in which random scenarios users promote to another environment: one of so many.
const promotedSeeds = 4

// upper is the environment to which random scenarios promote.
const upper = "prod"

const promotesOnce invariant = "follows: a promotion follows each deploy of all stacks that has succeeded, if the files say so, and nothing else; it begins when the deploy has lasted long enough"

const promotes invariant = "promotes: a promotion deploys the very files of a run that has deployed them successfully to all stacks of the other environment, and what it leaves is what they say for its own"

// promotions lets users promote in a scenario in memory. They are drawn from random numbers of their own.
func (a *generator) promotions(seed uint64) {
	if seed%promotedSeeds != 3 || a.emulated || a.following != nil || a.contests || a.importing != nil || a.moving != nil || a.hooking != nil || a.suspending != nil || a.pruning != nil || a.optional != nil || a.levels {
		return
	}
	a.promoting = rand.New(rand.NewPCG(seed, 17))
	a.add("environments", upper)
	if a.promoting.IntN(4) > 0 {
		a.add("pipeline", []string{"0", "60", "600"}[a.promoting.IntN(3)])
	}
}

// withPromotions lets no template of a project import an export by its name: both environments have the same templates.
func (a *generator) withPromotions(w stacks) stacks {
	if a.promoting == nil {
		return w
	}
	w = slices.Clone(w)
	for i := range w {
		w[i].needs = slices.Clone(w[i].needs)
		for j := range w[i].needs {
			w[i].needs[j].output, w[i].needs[j].bare = "Value", true
		}
	}
	return w
}

// promote adds a promotion: of the newest revision, or of that of an earlier run, whatever that run did.
func (a *generator) promote() {
	if a.promoting == nil || a.promoting.IntN(3) == 0 {
		return
	}
	words := []string{fmt.Sprint(a.promoting.IntN(3))}
	if a.promoting.IntN(4) == 0 {
		words = append(words, "with", []string{"rolling-back", "refusing"}[a.promoting.IntN(2)])
	}
	a.add("promote", words...)
	if a.promoting.IntN(3) == 0 && !a.plain {
		a.add("pass", fmt.Sprint(a.promoting.IntN(60)))
		a.add("promoted", []string{"pause", "cancel", "abort"}[a.promoting.IntN(3)])
	}
}

// follows lets each deploy be promoted by itself, after so many seconds, if the alarm calm is OK.
func (g *player) follows(soak time.Duration) {
	g.Alarm("calm", "OK")
	g.soak, g.pipelined = soak, true
	g.Pipeline(pipeline{order: []string{project.DefaultEnvironment, upper}, soak: soak, alarms: []string{"calm"}})
}

// allPromoted lists the promotions that were requested, and those that followed deploys.
func (g *player) allPromoted() []string {
	all := slices.Clone(g.promoted)
	if !g.pipelined {
		return all
	}
	for _, id := range g.requested {
		r, followed := g.ExecutionStatus(id), g.ExecutionStatus(engine.PromotionOf(id)).ID != ""
		o := plan.AllOperations().Of(r.Operation)
		last := r.State == run.StateSucceeded && r.IsRevision(o) && !r.Partial() && r.Kind == project.WithFile && !o.Restores && !o.DeploysAgain()
		g.holds(promotesOnce, followed == last || r.Kind != project.WithFile, "run %s (%s, %s): a promotion follows: %v", id, r.Operation, r.State, followed)
		if followed {
			all = append(all, engine.PromotionOf(id))
		}
	}
	return all
}

// promote requests a promotion to the upper environment: of the revision of the run that was requested so many requests before, or of the newest one.
func (g *player) promote(l line) {
	o := options{from: project.DefaultEnvironment}
	if n := l.number(1); n > 0 {
		o.revision = g.of(n - 1)
	}
	_, o.rollback = l.option("rolling-back")
	_, o.refuse = l.option("refusing")
	g.injected["promotion"]++
	g.promoted = append(g.promoted, g.plannedBefore(plan.PromoteName, func(operation string) string {
		return g.above(func() string { return g.Submit(operation, nil, "", o) })
	}))
}

// above calls f for the upper environment.
func (g *player) above(f func() string) string {
	g.In(upper)
	defer g.In(project.DefaultEnvironment)
	return f()
}

// commandPromoted gives a command to the newest promotion.
func (g *player) commandPromoted(l line) {
	if len(g.promoted) == 0 {
		return
	}
	id := g.promoted[len(g.promoted)-1]
	g.above(func() string {
		if l[1] == "abort" {
			g.Abort(id)
			return ""
		}
		return g.Submit(l[1], nil, id)
	})
}

// finishPromoted continues the promotions that wait for a person, and reports whether one did.
func (g *player) finishPromoted() (waiting bool) {
	for _, id := range g.allPromoted() {
		r := g.ExecutionStatus(id)
		if r.State != run.StateWaiting {
			continue
		}
		waiting = true
		g.above(func() string {
			g.Submit("continue", nil, id)
			for _, o := range answers(r) {
				g.Submit("approve", nil, id, o)
			}
			return ""
		})
	}
	return waiting
}

// checkPromoted checks the promotions when no run can continue.
func (g *player) checkPromoted(runs []run.Run) {
	p, inMemory := g.backend.(*memoryBackend)
	if !inMemory {
		return
	}
	var newest run.Run
	for _, id := range g.allPromoted() {
		r := g.ExecutionStatus(id)
		if r.Follows != "" && !r.Started.IsZero() {
			g.holds(promotesOnce, !r.Started.Before(g.ExecutionStatus(r.Follows).Ended.Add(g.soak)), "the promotion %s has started at %s, and run %s has ended at %s", id, r.Started, r.Follows, g.ExecutionStatus(r.Follows).Ended)
		}
		g.holds(terminates, r.State.Over(), "the promotion %s is %s when no run can continue", id, r.State)
		g.checkSteps(r)
		if r.Started.IsZero() {
			continue
		}
		i := slices.IndexFunc(runs, func(of run.Run) bool { return of.ID == r.Revision })
		g.holds(promotes, i >= 0, "the promotion %s deploys the revision of %q, which nobody has requested", id, r.Revision)
		if i < 0 {
			return
		}
		of := runs[i]
		g.holds(promotes, of.Source == r.Source && of.State == run.StateSucceeded && !of.Partial() && of.Project == "shop@default",
			"the promotion %s deploys %v, and run %s of %s (%s) %v", id, r.Source, of.ID, of.Project, of.State, of.Source)
		if !r.Started.Before(newest.Started) {
			newest = r
		}
	}
	if newest.ID == "" {
		return
	}
	l, err := p.Store.Lock(p.Context(), "shop@"+upper)
	g.holds(freed, err == nil && l.Owner.Run == "", "run %s holds the lock of %s", l.Owner.Run, upper)
	w, known := g.sources[newest.Source]
	if known && newest.State == run.StateSucceeded && l.LastAttempted.Run == newest.ID && l.LastFull == l.LastSuccessful {
		g.leftByPromotion(p, newest, enabled(w))
	}
}

// leftByPromotion checks the stacks that the newest run of the upper environment, a promotion that has succeeded, has left.
func (g *player) leftByPromotion(p *memoryBackend, r run.Run, w stacks) {
	records := p.Store.LendRecords("shop@" + upper)
	var names []string
	for _, k := range records {
		names = append(names, k.Node)
	}
	var want []string
	for _, s := range w {
		want = append(want, s.name)
		k, physical := records[s.name], inEnvironment(upper, s.physical)
		version, _ := g.Deployed(strings.TrimPrefix(physical, physicalName("")))
		g.holds(promotes, k.Stack == physical && version == s.version, "after the promotion %s, %s is %q at %q, and not %s at %s", r.ID, s.name, k.Stack, version, physical, s.version)
	}
	g.holds(promotes, slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(want))), "after the promotion %s, %v are recorded, and %v are desired", r.ID, slices.Sorted(maps.Keys(records)), want)
}
