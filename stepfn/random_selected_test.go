package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/run"
)

// selects is an invariant that is checked at each request to CloudFormation.
const selects invariant = "selects: a run of some stacks changes no other stack"

// selectingSeeds is of how many seeds one has requests about some stacks only.
const selectingSeeds = 5

// selections lets requests of a scenario be about some stacks only.
func (a *generator) selections(seed uint64) {
	if seed%selectingSeeds == 4 && !a.contests && a.importing == nil && a.moving == nil {
		a.selecting = rand.New(rand.NewPCG(seed, 19))
	}
}

// someOf draws which of the stacks a request is about, as the words of its line.
func (a *generator) someOf(w stacks) []string {
	if a.selecting == nil || len(w) == 0 || a.selecting.IntN(2) == 0 {
		return nil
	}
	names := func(most int) string {
		var all []string
		for _, i := range a.selecting.Perm(len(w))[:1+a.selecting.IntN(min(most, len(w)))] {
			all = append(all, w[i].name)
		}
		return strings.Join(all, ",")
	}
	words := []string{"with"}
	only := a.selecting.IntN(4) > 0
	if only {
		words = append(words, "only", names(3))
	}
	if !only || a.selecting.IntN(3) == 0 {
		words = append(words, "excluding", names(2))
	}
	if only && a.selecting.IntN(3) == 0 {
		words = append(words, []string{"without-dependencies", "with-dependencies"}[a.selecting.IntN(2)])
	}
	if only && a.selecting.IntN(3) == 0 {
		words = append(words, "with-dependents")
	}
	return words
}

// since draws the run since whose files the stacks of a deploy differ, as the words of its line.
func (a *generator) since() []string {
	if a.selecting == nil || a.selecting.IntN(5) > 0 {
		return nil
	}
	return []string{"with", "changed-since", fmt.Sprint(a.selecting.IntN(3))}
}

// selection returns the options of a line that select stacks, and whether it has some.
func (l line) selection() (o options, some bool) {
	o.only, o.exclude = l.names("only"), l.names("excluding")
	_, o.apart = l.option("without-dependencies")
	_, o.together = l.option("with-dependencies")
	_, o.dependents = l.option("with-dependents")
	o.retain = l.names("retaining")
	return o, len(o.only)+len(o.exclude) > 0
}

// names returns the names that follow an option after "with".
func (l line) names(option string) []string {
	rest := l.rest()
	if i := slices.Index(rest, option); i >= 0 && i+1 < len(rest) {
		return strings.Split(rest[i+1], ",")
	}
	return nil
}

// staysInside checks that a run requests nothing for a stack that it is not about.
func (w *monitor) staysInside(r run.Run, t action.Task) {
	if !r.Partial() || r.Project != "shop@default" {
		return
	}
	name := t.Step.Node
	if strings.Contains(name, ":") { // it was left behind when its node got another physical name
		name = w.p.Store.LendRecords(t.Project)[name].FormerName
	}
	if r.Operation == "replace" {
		r.WithDependents, r.Exclude = true, nil // they follow
	}
	w.holds(selects, w.about(r)[name], "%s of run %s is requested, which is about %+v", t.Step.ID, r.ID, r.Selection)
}

// about lists the stacks that a run of some stacks is about. It is found in another way than the plan finds it.
func (w *monitor) about(r run.Run) map[string]bool {
	needs := make(map[string][]string)
	for name, record := range w.p.Store.LendRecords(r.Project) {
		needs[name] = record.Needs
		if strings.Contains(name, ":") {
			needs[record.FormerName] = append(needs[record.FormerName], record.Needs...)
		}
	}
	files, _ := w.projectOf(r)
	for name, n := range files.Nodes {
		if r.Operation != "replace" { // what no longer depends on a replaced stack may still import from it
			needs[name] = nil
		}
		needs[name] = slices.Concat(needs[name], n.Needs)
	}
	about := make(map[string]bool)
	before, _ := w.projectOf(w.p.Store.Lend(r.ChangedSince)) // also of a retry, which has the files of another run
	for name := range needs {
		if r.ChangedSince != "" && reflect.DeepEqual(before.Nodes[name], files.Nodes[name]) {
			continue
		}
		all, _, _ := strings.Cut(name, "@") // the stack in all accounts of the unit
		about[name] = (len(r.Only) == 0 || slices.Contains(r.Only, name) || slices.Contains(r.Only, all)) && !slices.Contains(r.Exclude, name) && !slices.Contains(r.Exclude, all)
	}
	maps.DeleteFunc(about, func(_ string, is bool) bool { return !is })
	spread := func(reaches func(from, to string) bool) {
		for before := -1; before != len(about); {
			before = len(about)
			for from := range needs {
				for to := range needs {
					if all, _, _ := strings.Cut(to, "@"); about[from] && reaches(from, to) && !slices.Contains(r.Exclude, to) && !slices.Contains(r.Exclude, all) {
						about[to] = true
					}
				}
			}
		}
	}
	if r.WithDependents {
		spread(func(from, to string) bool { return slices.Contains(needs[to], from) })
	}
	if r.WithDependencies == nil && len(files.Nodes) > 0 && r.Operation != "replace" || r.WithDependencies != nil && *r.WithDependencies {
		spread(func(from, to string) bool {
			_, desired := files.Nodes[from]
			return slices.Contains(needs[from], to) && (desired || len(files.Nodes) == 0)
		})
	}
	return about
}

// renewed is an invariant that is checked after a replace without faults.
const renewed invariant = "renewed: after a replace without faults each named stack is another one, and all are as desired"

// replace adds a replace of some stacks of the last deploy.
func (a *generator) replace() {
	a.replaceTables()
	if a.selecting == nil || len(a.last) == 0 || a.selecting.IntN(3) > 0 {
		return
	}
	a.add("replace", append(a.last.words(), "with", "only", a.oneOf(a.last))...)
	a.add("wait-idle")
}

// replaceTables adds a replace of a stack of the last deploy that has a table, and retains the table.
func (a *generator) replaceTables() {
	if a.importing == nil || a.importing.IntN(2) > 0 {
		return
	}
	for _, s := range a.last {
		if s.table != "" {
			a.add("replace", append(a.last.words(), "with", "only", s.name, "retaining", "Table")...)
			a.add("wait-idle")
			return
		}
	}
}

// replacedTables adds a check of such a replace, after w was deployed without faults.
func (a *generator) replacedTables(w stacks) {
	if a.importing == nil {
		return
	}
	for _, s := range w {
		if s.table != "" {
			a.add("replaced", append(w.words(), "with", "only", s.name, "retaining", "Table")...)
			return
		}
	}
}

// replaced adds a check of a replace, after w was deployed without faults.
func (a *generator) replaced(w stacks) {
	a.replacedTables(w)
	if a.selecting != nil {
		a.add("replaced", append(w.words(), "with", "only", a.oneOf(w))...)
	}
}

// oneOf draws the name of a stack, or the names of two.
func (a *generator) oneOf(w stacks) string {
	all := []string{w[a.selecting.IntN(len(w))].name}
	if other := w[a.selecting.IntN(len(w))].name; other != all[0] && a.selecting.IntN(2) == 0 {
		all = append(all, other)
	}
	return strings.Join(all, ",")
}

// replaced checks a replace of stacks that were deployed without faults just now.
func (g *player) replaced(l line) {
	w, before := l.stacks(), g.Recorded()
	if len(g.tables) > 0 { // as they were deployed
		w = enabled(g.reachable(g.importable(g.endDisputes(w))))
	}
	if !slices.Equal(w.words(), g.last.words()) {
		return // others were deployed
	}
	g.finish()
	g.submit(append(append(line{"replace"}, w.words()...), append(line{"with"}, l.rest()...)...))
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	if r.State == run.StateRefused {
		return // it is left alone, or a stack outside the project imports from it
	}
	g.holds(renewed, r.State == run.StateSucceeded, "the run is %s: %s%v", r.State, failedSteps(r), r.Messages)
	if g.Failed() {
		return
	}
	after := g.Recorded()
	deleted := make(map[string]bool)
	for _, s := range r.Steps {
		deleted[s.Node] = deleted[s.Node] || s.Verb == "delete"
	}
	for name, was := range before {
		named := slices.Contains(l.names("only"), name)
		g.holds(renewed, !named || deleted[name], "%s is not replaced by run %s", name, r.ID)
		g.holds(renewed, deleted[name] == (after[name].StackID != was.StackID), "%s was %s and is %s, and run %s deletes it: %t", name, was.StackID, after[name].StackID, r.ID, deleted[name])
	}
	g.asDesired(r, w)
	g.redeploy(w)
}
