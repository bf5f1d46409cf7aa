package stepfn_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// snapshotSeeds tells in which random scenarios users make snapshots: one of so many.
const snapshotSeeds = 4

const (
	keptNames invariant = "kept names: the snapshots are those that succeeded runs have made and none has deleted since, each with the files that were deployed then"
	restores  invariant = "restores: a restore deploys the very files that its snapshot named when the restore was planned"

	keptBackups  invariant = "kept backups: every backup that a snapshot has exists, and every other one is named by a run that has not succeeded, or that was to keep it"
	notEmpty     invariant = "not empty: a stack that a restore was to create with the data of a backup, and has not, is not created empty"
	keptRestored invariant = "kept restored: only a restore changes what a database was restored from, and to a backup that exists"
)

// snaps lets users make, delete and restore snapshots in a scenario. They are drawn from random numbers of their own.
func (a *generator) snaps(seed uint64) {
	if seed%snapshotSeeds == 1 && a.following == nil {
		a.snapping = rand.New(rand.NewPCG(seed, 29))
	}
}

// snap adds requests about snapshots, some of which are refused.
func (a *generator) snap() {
	if a.snapping == nil {
		return
	}
	for range 1 + a.snapping.IntN(3) {
		words := []string{fmt.Sprint(a.snapping.IntN(3))}
		switch a.snapping.IntN(6) {
		case 0:
			words = append(words, "with", "refusing")
		case 1:
			words = append(words, "with", []string{"late", "twice"}[a.snapping.IntN(2)], fmt.Sprint(a.snapping.IntN(60)))
		}
		if len(a.last) > 0 && !a.plain && !a.emulated && a.snapping.IntN(2) == 0 {
			st := a.last[a.snapping.IntN(len(a.last))]
			of := []string{"db-" + st.physical, "cluster-" + st.physical, "table-" + st.physical, "warehouse-" + st.physical, "volume-" + st.physical, "files-" + st.physical}[a.snapping.IntN(6)]
			if a.snapping.IntN(4) == 0 {
				a.add("fail-backup", of)
			} else {
				a.add("group-fault", faultNames[a.snapping.IntN(len(faultNames))], of)
			}
		}
		if len(words) == 1 && a.snapping.IntN(5) == 0 {
			words = append(words, "with", "without-backups")
		}
		a.add([]string{"snapshot", "snapshot", "snapshot", "restore", "restore", "delete-snapshot", "delete-snapshot", "prune-snapshots"}[a.snapping.IntN(8)], words...)
		if a.snapping.IntN(3) == 0 && !a.plain {
			a.add("pass", fmt.Sprint(a.snapping.IntN(50)))
			a.add([]string{"pause", "cancel", "abort", "retry"}[a.snapping.IntN(4)], "0")
		}
		if a.plain || a.snapping.IntN(3) == 0 {
			a.add("wait-idle")
		}
	}
	a.add("wait-idle")
}

// snap requests what a line says about the snapshot of a number.
func (g *player) snap(l line) {
	limit := 1000
	o := options{called: "s" + fmt.Sprint(l.number(1))}
	if plan.AllOperations().Of(l[0]).FromRevision {
		o.deletions = &limit
	}
	_, o.refuse = l.option("refusing")
	if _, without := l.option("without-backups"); without {
		o.noBackups, o.keepBackups = plan.AllOperations().Of(l[0]).TakesSnapshot, plan.AllOperations().Of(l[0]).DeletesSnapshot
	}
	if plan.AllOperations().Of(l[0]).PrunesSnapshots {
		o = options{refuse: o.refuse, given: true}
	}
	g.injected[l[0]]++
	g.requested = append(g.requested, g.deliver(l, nil, "", []options{o}))
}

// keepsSnapshots checks the snapshots of a project of which no run is open, by its runs in the order in which they had the lock.
func (g *player) keepsSnapshots(runs []run.Run) {
	if g.skewed() { // the times do not say who had the lock first
		return
	}
	if r, on := g.backend.(*emulators); on { // the put of a request whose answer was lost is repeated, so that it makes two runs
		runs = nil
		for _, one := range r.all() {
			runs = append(runs, r.ExecutionStatus(one.ID))
		}
	}
	ordered := slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return r.Started.IsZero() || r.Project != "shop@default" })
	slices.SortStableFunc(ordered, func(a, b run.Run) int { return a.Started.Compare(b.Started) })
	for i, r := range ordered[min(1, len(ordered)):] {
		if r.Started.Equal(ordered[i].Started) { // without latency, runs follow each other in no time
			return
		}
	}
	want := make(map[string]run.Source)
	var last run.Source
	for _, r := range ordered {
		o := plan.AllOperations().Of(r.Operation)
		succeeded := r.State == run.StateSucceeded
		if o.Preview {
			continue
		}
		switch {
		case o.FromRevision && o.NamesSnapshot():
			g.holds(restores, r.Source != run.Source{} && r.Source == want[r.Snapshot], "run %s restores %s and deploys %v instead of %v", r.ID, r.Snapshot, r.Source, want[r.Snapshot])
		case o.TakesSnapshot && succeeded:
			_, taken := want[r.Snapshot]
			g.holds(keptNames, !taken && last != run.Source{}, "run %s makes %s, which there is: %v, of %v", r.ID, r.Snapshot, taken, last)
			want[r.Snapshot] = last
		case o.DeletesSnapshot && succeeded:
			_, there := want[r.Snapshot]
			g.holds(keptNames, there, "run %s deletes %s, which there is not", r.ID, r.Snapshot)
			delete(want, r.Snapshot)
		}
		g.drops(r, want)
		if o.Writes && succeeded && !r.Partial() && !r.Unapproved() {
			if last = r.Source; o.DeletesAll {
				last = run.Source{}
			}
		}
	}
	got := make(map[string]run.Source)
	for _, s := range g.Lock().Snapshots {
		got[s.Name] = s.Revision.Source
	}
	g.holds(keptNames, fmt.Sprint(got) == fmt.Sprint(want) && len(got) == len(g.Lock().Snapshots), "the snapshots are %v instead of %v", got, want)
}

// drops takes out of want the snapshots that steps of a run have deleted.
func (g *player) drops(r run.Run, want map[string]run.Source) {
	for _, s := range r.Steps {
		if d, deletes := s.BackupDeletion(); deletes && s.Drops() && s.Status == run.Done {
			delete(want, d.Snapshot)
		}
	}
}

// keepsBackups checks the backups that exist when no run is open.
func (g *player) keepsBackups(p *memoryBackend, runs []run.Run) {
	exist := p.Cloud.Backups()
	recorded := make(map[string]bool)
	for _, s := range g.Lock().Snapshots {
		for _, b := range plan.Left(s.Backups) {
			recorded[b.ARN] = true
			g.holds(keptBackups, slices.Contains(exist, b.ARN), "snapshot %s has the backup %s, which does not exist", s.Name, b.ARN)
		}
	}
	for _, arn := range exist {
		if recorded[arn] {
			continue
		}
		g.holds(keptBackups, slices.ContainsFunc(runs, func(r run.Run) bool { return left(r, arn, p.Cloud.BackupName(arn)) }), "the backup %s is in no snapshot, and no run says so", arn)
	}
}

// left reports whether a run says that it has left a backup, or may have, by its ARN or its name. A run that has succeeded leaves backups only if it was to keep them.
func left(r run.Run, arn, name string) bool {
	says := strings.Join(r.Messages, "\n")
	return (r.State != run.StateSucceeded || r.KeepBackups) && (strings.Contains(says, arn) || strings.Contains(says, name))
}

// restored checks an update of a stack with parameters that name what its resources were restored from. The first update
// of a stack that was created empty creates the resources.
func (w *monitor) restored(t action.Task, before, after map[string]string) {
	for key, is := range after {
		if !strings.HasPrefix(key, backupParameter) {
			continue
		}
		was, had := before[key]
		if !had && w.data.empty[t.Node.Name] {
			w.createdFrom(t, key, is)
		} else if was != is {
			w.restoredFrom(t, key, was, is)
		}
	}
}

// restoredFrom checks that a restore changes a parameter from one value to another, and to a backup that exists.
func (w *monitor) restoredFrom(t action.Task, key, was, is string) {
	r := w.p.Store.Lend(t.Run)
	o := plan.AllOperations().Of(r.Operation)
	w.holds(keptRestored, o.FromRevision && o.NamesSnapshot(), "run %s, a %s, changes the parameter %s of %s: from %q to %q", r.ID, r.Operation, key, t.Node.Name, was, is)
	exists := slices.ContainsFunc(w.p.Cloud.Backups(), func(arn string) bool {
		return arn == is || strings.EqualFold(w.p.Cloud.BackupName(arn), is)
	})
	w.holds(keptRestored, key != backupParameter+"Volume", "run %s changes what the volume of %s was created from, which CloudFormation refuses: from %q to %q", r.ID, t.Node.Name, was, is)
	w.holds(keptRestored, exists, "run %s restores %s of %s from %q, which does not exist", r.ID, key, t.Node.Name, is)
}

// owings are the data that stacks of a scenario are to be created with, as the monitor knows them from the ends of runs and the requests to CloudFormation.
type owings struct {
	owed map[string]string // what a restore was to create from a backup, and has not, as "db.Database", with the backup
	made map[string]string // what the newest creation of a stack was to have because of a restore, as long as the stack is not deleted

	empty map[string]bool // the nodes whose newest creation made a stack without resources
}

func newOwings() owings {
	return owings{make(map[string]string), make(map[string]string), make(map[string]bool)}
}

// forgetNode removes what is known of the stack of a node.
func forgetNode(known map[string]string, node string) {
	maps.DeleteFunc(known, func(of, _ string) bool { return of[:strings.LastIndex(of, ".")] == node })
}

// creates checks a creation: no stack is created without data that a restore was to create with data.
func (w *monitor) creates(t action.Task, with map[string]string) {
	forgetNode(w.data.made, t.Node.Name)
	w.data.empty[t.Node.Name] = t.Step.Verb == plan.CreateEmpty
	for key, value := range with {
		w.createdFrom(t, key, value)
	}
}

// createdFrom checks a parameter of a stack whose resources are created.
func (w *monitor) createdFrom(t action.Task, key, value string) {
	r := w.p.Store.Lend(t.Run)
	o := plan.AllOperations().Of(r.Operation)
	resource, has := strings.CutPrefix(key, backupParameter)
	if !has || r.Project != "shop@default" {
		return
	}
	of := t.Node.Name + "." + resource
	w.holds(notEmpty, value != "" || w.data.owed[of] == "", "run %s, a %s, creates %s without data, "+
		"and a restore was to create it from %s", r.ID, r.Operation, of, w.data.owed[of])
	if value != "" && (w.data.owed[of] != "" || o.FromRevision && o.NamesSnapshot()) {
		w.data.made[of] = value
	}
}

// owes learns from a run that has ended which data stacks are to be created with.
func (w *monitor) owes(r run.Run) {
	o := plan.AllOperations().Of(r.Operation)
	if r.Project != "shop@default" || o.Preview || r.Unapproved() || r.Started.IsZero() {
		return
	}
	if o.Writes && !o.Restores && r.State == run.StateSucceeded && !r.Partial() {
		clear(w.data.owed)
	}
	ends := func(node string, status run.Status, verbs ...plan.Verb) bool {
		return slices.ContainsFunc(r.Steps, func(s run.Step) bool {
			return s.Node == node && slices.Contains(verbs, s.Verb) && (status == "" || s.Status == status)
		})
	}
	for _, s := range r.Steps {
		deploys := ends(s.Node, "", plan.Create, plan.CreateEmpty, plan.Update, plan.Execute)
		deleted := ends(s.Node, run.Done, plan.Delete) && !ends(s.Node, run.Done, plan.Create, plan.CreateEmpty)
		switch {
		case deleted && o.Restores: // it deletes what the run has created that it rolls back
			for of, backup := range w.data.made {
				if strings.HasPrefix(of, s.Node+".") {
					w.data.owed[of] = backup
				}
			}
		case ends(s.Node, run.Done, plan.Create, plan.Update, plan.Execute), (deleted || ends(s.Node, run.Done, plan.Forget)) && !deploys:
			forgetNode(w.data.owed, s.Node)
		}
	}
	if !o.FromRevision || !o.NamesSnapshot() {
		return
	}
	l, err := w.p.Store.Lock(context.Background(), r.Project)
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range l.Snapshots {
		for _, b := range plan.Left(s.Backups) {
			if s.Name == r.Snapshot && b.Property != "" && ends(b.Node, "", plan.Create, plan.CreateEmpty) && !ends(b.Node, run.Done, plan.Create, plan.CreateEmpty) {
				w.data.owed[b.Data.String()] = b.ARN
			}
		}
	}
}
