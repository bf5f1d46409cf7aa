package stepfn_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// An invariant is what holds in every world: its name, and what it says.
type invariant string

// The invariants that are checked after every single write in memory.
const (
	ordered    invariant = "ordered: nothing starts before all it comes after is done"
	current    invariant = "current: what starts is made of the outputs of this run's versions of what it needs"
	alone      invariant = "alone: at most one operation of ours is under way on a stack"
	owned      invariant = "owned: only the run that owns the lock starts anything"
	written    invariant = "written: what is asked of CloudFormation was written down before, with all that it may need"
	once       invariant = "once: a step is asked for once"
	unused     invariant = "unused: nothing is deleted for good under a live user, or one that is in flight"
	finished   invariant = "finished: nothing is written for a run that is over, and it asks for nothing"
	locked     invariant = "locked: the lock has an owner that lives as long as anybody waits, and all who wait live"
	remembered invariant = "remembered: the records name every stack that we made and did not delete"
	fulfilled  invariant = "fulfilled: what has succeeded is live as it was desired, and nothing else is"
)

// The invariants that are checked when all is quiet.
const (
	terminates invariant = "ends: every run ends"
	measured   invariant = "measured: the end of a run is measured at most once"
	freed      invariant = "freed: when every run is over nobody holds the lock"
	settled    invariant = "settled: every step of a run that is over is over, begun at most once, and in order"
	converges  invariant = "mended: without faults a deploy brings what is desired, whatever was there before"
	unchanged  invariant = "unchanged: what is deployed again without a change costs nothing"
	emptied    invariant = "emptied: without faults a destroy leaves nothing"
	certain    invariant = "certain: the result does not depend on what happens first"
)

// name is the first word.
func (i invariant) name() string {
	name, _, _ := strings.Cut(string(i), ":")
	return name
}

// holds checks an invariant.
func (g *player) holds(i invariant, ok bool, format string, args ...any) {
	g.checked[i.name()]++
	if !ok {
		g.Helper()
		g.Errorf("%s\n    %s", i, fmt.Sprintf(format, args...))
	}
}

// A watch checks the invariants of a world in memory after every write.
type monitor struct {
	*player
	p     *memoryBackend
	known map[string]*observed // runs
	begun map[string]string    // by run and step: the token that CloudFormation heard
	named map[string]bool      // stacks that the records name
}

// watched is what a watch remembers of a run.
type observed struct {
	over   bool
	given  bool // up: it was ended from outside
	status []run.Status
	number map[string]int // of steps, by ID
}

// look sets a watch on a world in memory.
func (g *player) monitor(p *memoryBackend) {
	w := &monitor{player: g, p: p, known: make(map[string]*observed), begun: make(map[string]string), named: make(map[string]bool)}
	p.Store.After = w.wrote
	p.World.Under = w.under
}

// of returns what is remembered of a run.
func (w *monitor) of(id string) *observed {
	k, ok := w.known[id]
	if !ok {
		k = &observed{}
		w.known[id] = k
	}
	return k
}

// wrote checks what must hold after a write. A look may come to a run that is
// over, and register before it sees that.
func (w *monitor) wrote(x sim.Write) {
	k := w.of(x.Run)
	w.holds(finished, !k.over || x.Op == "Register", "%s writes for run %s, which is over", x.Op, x.Run)
	switch x.Op {
	case "Commit":
		k.status, k.number = nil, make(map[string]int)
		for _, s := range w.p.Store.Lend(x.Run).Steps {
			k.status = append(k.status, s.Status)
			k.number[s.ID] = s.Number
		}
	case "Move":
		w.moved(w.p.Store.Lend(x.Run), x.Step)
	case "Ask", "Enter", "End", "Raise":
		w.line(x)
	}
	if x.Op == "Displace" || x.Op == "Move" {
		w.remembers()
	}
}

// line checks the lock, and sees who is over.
func (w *monitor) line(x sim.Write) {
	for id, k := range w.known {
		r := w.p.Store.Lend(id)
		if r.State.Over() && !k.over {
			k.over, k.given = true, len(r.Messages) > 0
			w.ended(r)
		}
	}
	l, err := w.p.Store.Lock(w.p.Context(), "shop@default")
	if err != nil {
		w.Fatal(err)
	}
	owner := w.p.Store.Lend(l.Owner.Run)
	w.holds(locked, l.Owner.Run == "" && len(l.Waiting) == 0 || owner.ID != "" && !owner.State.Over(),
		"after %s the owner %q is %q, and %v wait", x.Op, l.Owner.Run, owner.State, l.Waiting)
	for _, waits := range l.Waiting {
		s := w.p.Store.Lend(waits.Run).State
		w.holds(locked, s == run.StateQueued || s == run.StatePending, "after %s run %s waits in line and is %q", x.Op, waits.Run, s)
	}
}

// ended checks a run that is over now.
func (w *monitor) ended(r run.Run) {
	if desired, ok := w.sources[r.Source]; ok && r.State == run.StateSucceeded && (r.Operation == "deploy" || r.Operation == "rollback") {
		w.asDesired(r, desired)
	}
}

// moved checks a step that has moved.
func (w *monitor) moved(r run.Run, number int) {
	k, s := w.of(r.ID), r.Steps[number]
	was := k.status[number]
	k.status[number] = s.Status
	if was != run.Pending || s.Status != run.Running {
		return
	}
	for _, after := range s.After {
		a := r.Steps[k.number[after]]
		w.holds(ordered, a.Status == run.Done, "%s of run %s is begun, and %s is %s", s.ID, r.ID, a.ID, a.Status)
	}
	l, err := w.p.Store.Lock(w.p.Context(), r.Project)
	w.holds(owned, err == nil && l.Owner.Run == r.ID, "%s of run %s is begun, and run %s owns the lock", s.ID, r.ID, l.Owner.Run)
	if !requests(s.Verb) {
		return
	}
	for id, other := range w.known {
		if other.over || len(other.status) == 0 {
			continue
		}
		for _, o := range w.p.Store.Lend(id).Steps {
			same := id == r.ID && o.Number == number
			w.holds(alone, same || o.Node != s.Node || o.Status != run.Running || !requests(o.Verb),
				"%s of run %s is begun while %s of run %s is running", s.ID, r.ID, o.ID, id)
		}
	}
}

// intends reports whether a verb asks CloudFormation for something.
func requests(v plan.Verb) bool {
	return v == plan.Create || v == plan.Update || v == plan.Continue || v == plan.Delete
}

// under checks what gets under way at CloudFormation.
func (w *monitor) under(t action.Task) {
	key := fmt.Sprintf("%s/%d", t.Run, t.Number)
	heard, before := w.begun[key]
	if before && heard == t.Token() {
		return // it goes on, or is rolled back
	}
	w.holds(once, !before, "%s of run %s is asked for under %s, and was under %s", t.Step.ID, t.Run, t.Token(), heard)
	w.begun[key] = t.Token()
	r, k := w.p.Store.Lend(t.Run), w.of(t.Run)
	w.holds(finished, !k.over || k.given, "run %s is %s and asks for %s", t.Run, r.State, t.Step.ID)
	if k.over {
		return // it was given up while this was on its way
	}
	record := w.p.Store.LendRecords(t.Project)[t.Step.Node]
	w.holds(written, r.Steps[t.Number].Status == run.Running && record.Token == t.Token(),
		"%s is asked for under %s: the step is %s, the record says %q", t.Step.ID, t.Token(), r.Steps[t.Number].Status, record.Token)
	for _, n := range t.Node.Needs {
		w.holds(written, slices.Contains(record.Needs, n), "%s needs %s, and its record says %v", t.Step.ID, n, record.Needs)
	}
	if t.Step.Verb == plan.Delete {
		w.unneeded(t)
	} else if t.Step.Verb != plan.Continue {
		w.upToDate(t)
	}
	w.remembers()
}

// unneeded checks that nobody uses a stack that goes for good.
func (w *monitor) unneeded(t action.Task) {
	name := t.Location().Stack
	if t.Node.Name != "" || w.changedOutside[name] {
		return // it is dead, or somebody else had a hand in it
	}
	w.holds(unused, !w.p.Cloud.InUse(name), "%s is being deleted while a live stack uses it", name)
	for _, s := range w.p.Store.Lend(t.Run).Steps {
		record := w.p.Store.LendRecords(t.Project)[s.Node]
		w.holds(unused, s.Status != run.Running || s.Node == t.Step.Node || !requests(s.Verb) || !slices.Contains(record.Needs, t.Step.Node),
			"%s is being deleted while %s is in flight and needs it", name, s.ID)
	}
}

// upToDate checks that a stack is made of what this run has made of those that
// it needs.
func (w *monitor) upToDate(t action.Task) {
	source := w.p.Store.Lend(t.Run).Source
	desired, ok := w.projects[source]
	if made, known := w.sources[source]; !ok && known {
		desired, ok = w.p.project(made), true
		w.projects[source] = desired
	}
	for name, text := range t.Node.Parameters {
		for _, part := range text {
			n, here := desired.Nodes[part.Node]
			if part.Node == "" || !here || w.changedOutside[n.Stack] {
				continue
			}
			template, _ := w.p.Cloud.Template(n.Stack)
			w.holds(current, !ok || template == n.Template.Digest, "%s is begun while %s is at %q, not %q", t.Step.ID, n.Stack, template, n.Template.Digest)
			got, want := t.Want.Parameters[name], w.p.Cloud.Output(n.Stack, part.Output)
			w.holds(current, got == want, "%s is given %q by %s, whose output is %q", t.Step.ID, got, n.Stack, want)
		}
	}
}

// remembers checks that the records name every stack that we made.
func (w *monitor) remembers() {
	clear(w.named)
	for _, r := range w.p.Store.LendRecords("shop@default") {
		w.named[r.Stack] = true
	}
	for _, name := range w.p.Cloud.Names() {
		w.holds(remembered, w.named[name] || !w.p.Cloud.Ours(name), "%s is live (%s) and nobody remembers it", name, w.p.Cloud.Status(name))
	}
}

// asDesired checks that what is live is what was asked for, made of the outputs
// of this version.
func (g *player) asDesired(r run.Run, w stacks) {
	_, real := g.backend.(*emulators)
	physical := w.physicalNames()
	wanted := make(map[string]bool)
	for _, st := range w {
		wanted[st.name] = true
		if g.changedOutside[st.physical] {
			continue
		}
		s := g.Status(st.nameOnBackend())
		version, params := g.Deployed(st.nameOnBackend())
		g.holds(fulfilled, (s.Good() || s.Restored()) && version == st.version, "run %s has succeeded, and %s is %s at %q, not %s", r.ID, st.name, s, version, st.version)
		for _, n := range st.needs {
			got, told := params["From"+n.name]
			if real && !told || g.changedOutside[physical[n.name]] {
				continue // CloudFormation updates nothing where only the names of parameters change
			}
			on := stack{physical: physical[n.name]}
			want := g.OutputOf(on.nameOnBackend(), n.output)
			g.holds(fulfilled, got == want, "run %s has succeeded, and %s was given %q by %s, whose output is %q", r.ID, st.name, got, n.name, want)
		}
	}
	for name := range g.Recorded() {
		g.holds(fulfilled, wanted[name], "run %s has succeeded, and %s is recorded, which nobody wants", r.ID, name)
	}
}
