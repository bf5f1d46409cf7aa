package stepfn_test

import (
	"maps"
	"math/rand/v2"
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

// selection returns the options of a line that select stacks, and whether it has some.
func (l line) selection() (o options, some bool) {
	o.only, o.exclude = l.names("only"), l.names("excluding")
	_, o.apart = l.option("without-dependencies")
	_, o.together = l.option("with-dependencies")
	_, o.dependents = l.option("with-dependents")
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
	files, _ := w.projectOf(r.Source)
	for name, n := range files.Nodes {
		needs[name] = n.Needs
	}
	about := make(map[string]bool)
	for name := range needs {
		about[name] = (len(r.Only) == 0 || slices.Contains(r.Only, name)) && !slices.Contains(r.Exclude, name)
	}
	maps.DeleteFunc(about, func(_ string, is bool) bool { return !is })
	spread := func(reaches func(from, to string) bool) {
		for before := -1; before != len(about); {
			before = len(about)
			for from := range needs {
				for to := range needs {
					if about[from] && reaches(from, to) && !slices.Contains(r.Exclude, to) {
						about[to] = true
					}
				}
			}
		}
	}
	if r.WithDependents {
		spread(func(from, to string) bool { return slices.Contains(needs[to], from) })
	}
	if r.WithDependencies == nil && len(files.Nodes) > 0 || r.WithDependencies != nil && *r.WithDependencies {
		spread(func(from, to string) bool {
			_, desired := files.Nodes[from]
			return slices.Contains(needs[from], to) && (desired || len(files.Nodes) == 0)
		})
	}
	return about
}
