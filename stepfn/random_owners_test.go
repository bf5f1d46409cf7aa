package stepfn_test

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which stacks change hands: a project forgets and adopts stacks, a user
// creates some by hand, and another project, lab, describes stacks with the same physical
// names in the same accounts.

const respected invariant = "respected: a project adopts and changes no stack that another project owns, or that it has not created or adopted"

// contestedSeeds tells in which random scenarios stacks change hands: one of so many.
const contestedSeeds = 4

// contest adds something that makes stacks change hands, or tries to.
func (a *generator) contest() {
	w := a.last
	if len(w) == 0 {
		w = a.stacks()
	}
	k := a.IntN(len(w))
	some := stacks{w[k]}
	if l := a.IntN(len(w)); l != k && a.IntN(2) == 0 {
		some = append(some, w[l])
	}
	theirs := slices.Clone(some)
	for i := range theirs {
		theirs[i].needs, theirs[i].adopts = nil, a.IntN(2) == 0
		if a.IntN(3) == 0 {
			theirs[i].version = a.version()
		}
	}
	var names []string
	for _, s := range some {
		names = append(names, s.name)
	}
	switch what := a.one("adopt", "adopt", "forget", "forget", "by-hand", "unreadable", "lab-adopt", "lab-adopt", "lab-deploy", "lab-destroy", "lab-forget"); what {
	case "adopt":
		a.add(what, w.words()...)
	case "forget", "lab-forget":
		a.add(what, names...)
	case "lab-adopt", "lab-deploy":
		a.add(what, theirs.words()...)
	case "by-hand", "unreadable":
		byHand := slices.Clone(some)
		for i := range byHand {
			byHand[i].table, byHand[i].importsTable = "", false // the tables exist
		}
		a.add(what, byHand.words()...)
	default:
		a.add(what)
	}
}

// contest executes a line about stacks that change hands.
func (g *player) contest(l line) {
	p := g.backend.(*memoryBackend)
	g.contested = true
	g.injected[l[0]]++
	operation, theirs := strings.CutPrefix(l[0], "lab-")
	switch {
	case operation == "by-hand":
		for _, s := range l.stacks() {
			if p.Status(s.nameOnBackend()).Gone() && l.stacks().exportsFor(p, s) {
				p.ByHand(s, l.stacks())
			}
		}
	case operation == "unreadable":
		for _, s := range l.stacks() {
			p.Cloud.Unreadable[s.physical] = !p.Cloud.Unreadable[s.physical]
		}
	case theirs:
		g.lab(p, operation, l)
	case operation == "adopt":
		g.requested = append(g.requested, g.deliver(l, l.stacks(), "", nil))
	default:
		g.requested = append(g.requested, g.deliver(l[:1], nil, "", []options{{only: l.named()}}))
	}
}

// named returns the stacks that a line about records names: nil for all.
func (l line) named() []string {
	if strings.HasSuffix(l[0], "forget") {
		return l[1:]
	}
	return nil
}

// lab sends a request of the project lab.
func (g *player) lab(p *memoryBackend, operation string, l line) {
	q := run.Request{Project: "lab@default", Operation: operation, Who: "somebody"}
	q.Only = l.named()
	if operation == "deploy" || operation == "adopt" {
		made := p.project(l.stacks())
		made.Name, made.Approval = "lab", project.Approval{} // its plans need no approval
		q.Source = p.Source(made)
	}
	g.beside = append(g.beside, p.Backend.Submit(q))
}

// endDisputes ends the disputes about stacks, without faults: lab forgets its stacks, and a user
// repairs those that nobody owns and that w has, and deletes the others. It returns w, in which
// those stacks are adopted that exist and that shop has not recorded.
func (g *player) endDisputes(w stacks) stacks {
	if !g.contested {
		return w
	}
	p := g.backend.(*memoryBackend)
	clear(p.Cloud.Unreadable)
	for name := range p.Store.LendRecords("lab@default") {
		g.lab(p, "forget", line{"lab-forget", name})
	}
	g.finish()
	recorded := make(map[string]bool)
	for _, project := range g.projectsOf() {
		for _, r := range p.Store.LendRecords(project) {
			live, err := p.Cloud.Live(p.Context(), plan.Location{Stack: r.Stack, Target: r.Target})
			if err != nil {
				g.Fatal(err)
			}
			// A user may have created another stack in the place of the recorded one.
			recorded[r.Stack] = recorded[r.Stack] || r.StackID == "" || live.Status.Gone() || live.StackID == r.StackID
		}
	}
	wanted := make(map[string]bool)
	w = slices.Clone(w)
	for i, s := range w {
		wanted[s.physical] = true
		w[i].adopts = !recorded[s.physical] && !p.Status(s.nameOnBackend()).Gone()
	}
	for _, name := range p.Cloud.Names() {
		switch {
		case recorded[name]:
		case !wanted[name]:
			p.Cloud.Set(name, "DELETE_COMPLETE")
		default:
			p.Cloud.Set(name, "UPDATE_COMPLETE")
		}
	}
	return w
}

// An ownership says which project owns each stack: by its ID, the project that has created or
// adopted it, or "" if that has forgotten it. A stack that a user has created is not in it
// before it is adopted.
type ownership map[string]string

// requested checks an operation that CloudFormation starts for a task, and learns from it who
// creates a stack.
func (o ownership) requested(w *monitor, t action.Task) {
	id, token := w.p.Cloud.Origin(t.Location())
	if token == t.Token() {
		o[id] = t.Project
		return
	}
	if _, known := o[id]; !known && token != "" { // a change set has created it
		run := strings.Split(token, "-")[1]
		o[id] = w.p.Store.Lend(run).Project
	}
	w.holds(respected, o[id] == t.Project, "%s of run %s of %s changes %s, which %q owns", t.Step.ID, t.Run, t.Project, id, o[id])
}

// moved learns from a step that is done who adopts and forgets stacks.
func (o ownership) moved(w *monitor, r run.Run, s run.Step) {
	records := w.p.Store.LendRecords(r.Project)
	switch {
	case s.Status != run.Done:
	case s.Verb == plan.Adopt:
		id := records[s.Node].StackID
		w.holds(respected, o[id] == "" || o[id] == r.Project, "%s of run %s of %s adopts %s, which %s owns", s.ID, r.ID, r.Project, id, o[id])
		o[id] = r.Project
	case s.Verb == plan.Forget:
		named := make(map[string]bool)
		for _, record := range records {
			named[record.StackID], named[record.Stack] = true, named[record.Stack] || record.Intent
		}
		for id, owner := range o {
			if owner == r.Project && !named[id] && !named[w.p.Cloud.NameOf(id)] {
				o[id] = ""
			}
		}
	}
	w.keepsOwners()
}

// keepsOwners checks that the store keeps the owners of exactly the stacks that are recorded as
// adopted.
func (w *monitor) keepsOwners() {
	kept := w.p.Store.Adopted()
	for _, project := range w.projectsOf() {
		for _, r := range w.p.Store.LendRecords(project) {
			if r.Adopted != "" {
				w.holds(respected, kept[r.Adopted] == project, "%s has adopted %s, and %q is kept as its owner", project, r.Adopted, kept[r.Adopted])
				delete(kept, r.Adopted)
			}
		}
	}
	w.holds(respected, len(kept) == 0, "owners are kept of stacks that nobody has adopted: %v", kept)
}
