package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// backSeeds tells in which random scenarios users roll back to revisions: one of so many.
const backSeeds = 3

const (
	restored  invariant = "restored: after a rollback without faults to a revision, the records and the live stacks are those that this revision left"
	revisable invariant = "revisable: the current revision is that of the last deploy of all stacks that succeeded, and each revision has files"
)

// backs lets users roll back in a scenario. The rollbacks are drawn from random numbers of their own.
func (a *generator) backs(seed uint64) {
	if seed%backSeeds == 2 {
		a.backing = rand.New(rand.NewPCG(seed, 13))
	}
}

// rollback adds a rollback to the revision of an earlier run, whatever that run did, or to the previous one.
func (a *generator) rollback() {
	if a.backing == nil || a.backing.IntN(2) == 0 {
		return
	}
	words := []string{fmt.Sprint(a.backing.IntN(5))}
	switch a.backing.IntN(6) {
	case 0:
		words = append(words, "with", "rolling-back")
	case 1:
		words = append(words, "with", "refusing")
	case 2:
		words = append(words, "with", []string{"late", "twice"}[a.backing.IntN(2)], fmt.Sprint(a.backing.IntN(60)))
	}
	a.add("rollback-to", words...)
	if a.backing.IntN(2) == 0 && !a.plain {
		a.add("pass", fmt.Sprint(a.backing.IntN(100)))
		a.add([]string{"pause", "cancel", "cancel-rolling-back", "abort", "retry"}[a.backing.IntN(5)], "0")
	}
	a.add("wait-idle")
}

// rollBack adds, after a deploy without faults, another one and a rollback to the first.
func (a *generator) rollBack(w stacks) {
	if a.backing == nil || len(w) == 0 || a.importing != nil || a.moving != nil || a.contests || a.pruning != nil {
		return
	}
	a.add("redeploy", w.words()...)
	a.add("roll-back", a.stacks().words()...)
}

// rollbackTo requests a rollback to the revision of the run that was requested so many requests before, or to the previous one.
func (g *player) rollbackTo(l line) {
	o := options{to: g.of(l.number(1))}
	if l.number(1) == 0 {
		o.to = run.PreviousRevision
	}
	_, o.rollback = l.option("rolling-back")
	_, o.refuse = l.option("refusing")
	g.injected["rollback to a revision"]++
	g.requested = append(g.requested, g.deliver(l, nil, "", []options{o}))
}

// rollBack checks that a rollback without faults restores what a deploy without faults has left, after another one. No run is open, and no fault is
// left.
func (g *player) rollBack(w stacks) {
	current := g.Lock().LastSuccessful
	i := slices.IndexFunc(g.requested, func(id string) bool {
		r := g.ExecutionStatus(id)
		return r.State == run.StateSucceeded && r.Source == current
	})
	if current == (run.Source{}) || i < 0 || len(g.Recorded()) == 0 {
		return
	}
	g.createAgain()
	first, before := g.ExecutionStatus(g.requested[i]), g.deployed()
	w = enabled(w)
	g.submit(append(line{"deploy"}, w.words()...))
	g.finish()
	if hindered(g.ExecutionStatus(g.of(0))) {
		return // the exports need two deploys
	}
	if second := g.ExecutionStatus(g.of(0)); second.State != run.StateSucceeded || g.Failed() {
		g.holds(converges, false, "the run is %s: %s%v", second.State, failedSteps(second), second.Messages)
		return
	}
	limit := 1000
	id := g.deliver(line{"rollback-to"}, nil, "", []options{{to: first.ID, deletions: &limit}})
	g.requested = append(g.requested, id)
	g.finish()
	r := g.ExecutionStatus(id)
	if hindered(r) {
		return
	}
	g.holds(restored, r.State == run.StateSucceeded && r.Revision == first.ID && before == g.deployed(), "the rollback is %s: %s%v; what was\n%s\nis\n%s", r.State, failedSteps(r), r.Messages, before, g.deployed())
}

// deployed describes the recorded and the live stacks, but not which physical resources they have.
func (g *player) deployed() string {
	var b strings.Builder
	records := g.Recorded()
	for _, name := range slices.Sorted(maps.Keys(records)) {
		r := records[name]
		version, _ := g.Deployed(placed(strings.TrimPrefix(r.Stack, physicalName("")), r.Target))
		fmt.Fprintf(&b, "%s %s %s %v %s\n", name, r.Stack, r.Digest, r.Needs, version)
	}
	return b.String()
}

// listsRevisions checks the revisions of a project of which no run is open.
func (g *player) listsRevisions(runs []run.Run) {
	h := g.Lock().History
	newest := slices.Clone(runs)
	slices.SortStableFunc(newest, func(a, b run.Run) int { return b.Requested.Compare(a.Requested) })
	all := h.Revisions(plan.AllOperations(), newest)
	for _, v := range all {
		g.holds(revisable, !v.Started.IsZero() && v.Source != run.Source{}, "%s is listed: %+v", v.Run, v)
	}
	v, err := h.Revision("shop@default", run.CurrentRevision, all)
	g.holds(revisable, (err == nil) == (h.LastSuccessful != run.Source{}) && v.Source == h.LastSuccessful, "the current revision is %+v (%v), and what was deployed last %v", v, err, h.LastSuccessful)
}
