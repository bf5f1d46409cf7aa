package stepfn_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An invariant holds in every random scenario: its name, and what it says.
type invariant string

// The invariants that are checked after every write in memory.
const (
	ordered      invariant = "ordered: no step starts before the steps it depends on are done"
	current      invariant = "current: a step starts with the outputs that this run made"
	alone        invariant = "alone: at most one operation of ours is in progress on a stack"
	owned        invariant = "owned: only the run that owns the lock starts steps that change something"
	guarded      invariant = "guarded: files without a project file change no stack that was deployed with one"
	approved     invariant = "approved: nothing is executed that was not approved"
	spared       invariant = "spared: no stack that the files of the last deploy leave alone is changed"
	written      invariant = "written: a request to CloudFormation is recorded before it is sent, with all its dependencies"
	once         invariant = "once: a step sends one request"
	same         invariant = "same: each request under one token is the same"
	unused       invariant = "unused: no stack is deleted permanently while another stack uses it or is being changed to use it"
	finished     invariant = "finished: nothing is written for a run that has ended, and it sends no request"
	locked       invariant = "locked: while a run is queued, a run that has not ended owns the lock, and no queued run has ended"
	followed     invariant = "followed: a poll reads the run as it is, though it reads only what was selected"
	remembered   invariant = "remembered: the records name every stack that we created and did not delete"
	retainsNamed invariant = "retains: a deletion is repeated without resources only if files have said to retain them"
	fulfilled    invariant = "fulfilled: after a run has succeeded, exactly the desired stacks are live, as desired"
)

// The invariants that are checked when no run can continue.
const (
	terminates invariant = "ends: every run ends"
	measured   invariant = "measured: the end of a run is measured at most once"
	freed      invariant = "freed: when every run has ended, no run holds the lock"
	complete   invariant = "complete: every step of a run that has ended has ended, was started at most once, and in order"
	converges  invariant = "converges: a deploy without faults brings the desired state, whatever the state before"
	unchanged  invariant = "unchanged: a deploy that changes nothing has no steps"
	asRecorded invariant = "recorded: after two deploys without faults, a check finds every stack as recorded, and changes nothing"
	withdrawn  invariant = "withdrawn: when every run has ended, no change set is left"
	emptied    invariant = "emptied: a destroy without faults leaves nothing"
	certain    invariant = "certain: the result does not depend on the order of concurrent calls"
)

// name returns the first word of an invariant.
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

// A monitor checks invariants after every write of a random scenario in
// memory.
type monitor struct {
	*player
	p       *memoryBackend
	known   map[string]*observed // by run
	started map[string]string    // by run and step: the token of its request
	named   map[string]bool      // stacks that the records name
	owners  ownership
	hooked  map[string]bool // tokens with which hooks were called
	data    owings
}

// observed is what a monitor knows about a run.
type observed struct {
	counted bool
	over    bool
	byForce bool   // it was ended by force
	denied  string // what the policy denied when it was planned
	status  []run.Status
	reads   [2][]run.Step // as functions have read the steps before: the last time but one, and the last time
}

// monitor starts a monitor.
func (g *player) monitor(p *memoryBackend) {
	w := &monitor{player: g, p: p, known: make(map[string]*observed), started: make(map[string]string), named: make(map[string]bool), owners: make(ownership), hooked: make(map[string]bool), data: newOwings()}
	p.Store.After = w.wrote
	p.Store.Followed = w.read
	p.listed = func(r run.Run, in []project.Target) {
		if w.known[r.ID] == nil || w.known[r.ID].status == nil { // it has no plan
			w.lists(r.ID, in)
		}
	}
	p.Backend.Started = w.startedBy
	p.Hooks.Called = w.hookCalled
	p.Cloud.Updates, p.Cloud.Creates = w.updates, w.creates
	p.Cloud.Resized, p.Cloud.Scaled, p.Cloud.Switched = w.resized, w.counted, w.switches
	w.watchBudgets()
}

// of returns what the monitor knows about a run.
func (w *monitor) of(id string) *observed {
	k, ok := w.known[id]
	if !ok {
		k = &observed{}
		w.known[id] = k
	}
	return k
}

// wrote checks what must hold after a write. A poll may register its token for a run
// that has ended, because it registers before it reads the run.
func (w *monitor) wrote(x sim.Write) {
	k := w.of(x.Run)
	w.holds(finished, !k.over || x.Op == "Register", "%s writes for run %s, which has ended", x.Op, x.Run)
	if r := w.p.Store.Lend(x.Run); !k.counted && r.ID != "" {
		k.counted = true
		w.requests(r.Request)
	}
	switch x.Op {
	case "Commit":
		k.status, k.denied = nil, w.denied
		w.deployedBefore[x.Run] = make(map[string]string)
		for node, record := range w.p.Store.LendRecords("shop@default") {
			w.deployedBefore[x.Run][node] = record.Template
		}
		if w.units.accounts != nil {
			w.learn(x.Run)
		}
		for _, s := range w.p.Store.Lend(x.Run).Steps {
			k.status = append(k.status, s.Status)
		}
		r := w.p.Store.Lend(x.Run)
		w.asForetold(r)
		limits := slices.DeleteFunc(slices.Clone(r.MaxParallel), func(l project.Limit) bool { return l.Rollout != "" })
		w.holds(capped, r.Source == run.Source{} || r.Project != "shop@default" || slices.Equal(limits, w.p.limits), "run %s has the limits %v, and its project %v", r.ID, r.MaxParallel, w.p.limits)
		w.keepsProjectFile(r)
	case "Move":
		w.moved(w.p.Store.Lend(x.Run), x.Step)
	case "CreateRun", "Enter", "End", "RaiseEpoch":
		w.queue(x)
	}
	if x.Op == "Rename" || x.Op == "Move" {
		w.remembers()
	}
}

// keepsProjectFile checks a run that is planned. A rollback restores what was deployed before.
func (w *monitor) keepsProjectFile(r run.Run) {
	if r.Kind == project.WithFile || r.Operation == plan.RollbackName || r.Revision != "" || r.Project != "shop@default" {
		return
	}
	for _, k := range w.p.Recorded() {
		by := w.p.Store.Lend(k.Run)
		w.holds(guarded, by.Source == run.Source{} || by.Kind == r.Kind, "run %s has no project file, and run %s deployed %s with one", r.ID, k.Run, k.Node)
	}
}

// read checks a run that a poll has read.
func (w *monitor) read(r run.Run) {
	k := w.of(r.ID)
	k.reads = [2][]run.Step{k.reads[1], slices.Clone(r.Steps)}
	for i, s := range w.p.Store.Lend(r.ID).Steps {
		if got := r.Steps[i]; got.Status != s.Status || got.Attempt != s.Attempt || got.Nonce != s.Nonce || got.Due != s.Due || got.Event != s.Event {
			w.holds(followed, false, "%s of run %s is read as %+v, and is %+v", s.ID, r.ID, got, s)
			return
		}
	}
	w.holds(followed, true, "")
}

// queue checks the lock and the queue, and finds the runs that have ended.
func (w *monitor) queue(x sim.Write) {
	for id, k := range w.known {
		r := w.p.Store.Lend(id)
		if r.State.Over() && !k.over {
			k.over, k.byForce = true, len(r.Messages) > 0
			w.ended(r)
			w.owes(r)
		}
	}
	l, err := w.p.Store.Lock(w.p.Context(), "shop@default")
	if err != nil {
		w.Fatal(err)
	}
	owner := w.p.Store.Lend(l.Owner.Run)
	w.holds(locked, l.Owner.Run == "" && len(l.Waiting) == 0 || owner.ID != "" && !owner.State.Over(),
		"after %s the owner %q is %q, and %v are queued", x.Op, l.Owner.Run, owner.State, l.Waiting)
	for _, queued := range l.Waiting {
		s := w.p.Store.Lend(queued.Run).State
		w.holds(locked, s == run.StateQueued || s == run.StatePending, "after %s run %s is in the queue and is %q", x.Op, queued.Run, s)
	}
}

// ended checks a run that has just ended.
func (w *monitor) ended(r run.Run) {
	if desired, ok := w.sources[r.Source]; ok && r.Project == "shop@default" && r.State == run.StateSucceeded && plan.AllOperations().Of(r.Operation).Writes && r.Operation != "destroy" && !r.Partial() {
		w.asDesired(r, desired)
	}
}

// moved checks a step whose status has changed.
func (w *monitor) moved(r run.Run, number int) {
	k, s := w.of(r.ID), r.Steps[number]
	was := k.status[number]
	k.status[number] = s.Status
	w.owners.moved(w, r, s)
	w.hookEnded(r, s)
	w.switched(r, s)
	if was != run.Pending || s.Status != run.Running {
		return
	}
	w.permits(r, s, k.denied)
	for _, n := range s.After {
		a := r.Steps[n]
		w.holds(ordered, a.Status == run.Done || (s.OnFailure || s.Tolerant) && a.Over(), "%s of run %s starts while %s is %s", s.ID, r.ID, a.ID, a.Status)
	}
	w.used["verb "+string(s.Verb)]++
	w.withinLimits(r, s)
	w.rollsOut(r, s)
	w.ofUnit(r, s)
	w.approves(r, s)
	w.expires(r, s)
	if o := plan.AllOperations().Of(r.Operation); o.Preview || s.Verb == plan.Propose {
		w.holds(plansOnly, !verbs.Of(s.Verb).Mutates(), "%s of run %s, a %s, starts", s.ID, r.ID, r.Operation)
		return
	}
	l, err := w.p.Store.Lock(w.p.Context(), r.Project)
	w.holds(owned, err == nil && l.Owner.Run == r.ID, "%s of run %s starts while run %s owns the lock", s.ID, r.ID, l.Owner.Run)
	if !requests(s.Verb) {
		return
	}
	for id, other := range w.known {
		if other.over || len(other.status) == 0 || w.p.Store.Lend(id).Project != r.Project {
			continue
		}
		for _, o := range w.p.Store.Lend(id).Steps {
			same := id == r.ID && o.Number == number
			w.holds(alone, same || !shares(o, s) || o.Status != run.Running || !requests(o.Verb),
				"%s of run %s starts while %s of run %s is running", s.ID, r.ID, o.ID, id)
		}
	}
}

// shares reports whether two steps change the same stack.
func shares(a, b run.Step) bool {
	return slices.ContainsFunc(occupies(a), func(node string) bool { return slices.Contains(occupies(b), node) })
}

// requests reports whether a verb sends a request to CloudFormation.
func requests(v plan.Verb) bool {
	return v == plan.Create || v == plan.CreateEmpty || v == plan.Update || v == plan.Continue || v == plan.Delete || v == plan.MoveIn || imports(v)
}

// imports reports whether a verb imports resources.
func imports(v plan.Verb) bool { return v == plan.Import }

// startedBy checks an operation that CloudFormation starts for a task.
func (w *monitor) startedBy(t action.Task) {
	key := fmt.Sprintf("%s/%d/%s", t.Run, t.Number, t.Receipt.Retained)
	token, before := w.started[key]
	if before && token == t.Token() {
		return // CloudFormation continues it or rolls it back
	}
	w.holds(once, !before, "%s of run %s is requested with the token %s, and was before with %s", t.Step.ID, t.Run, t.Token(), token)
	w.started[key] = t.Token()
	w.owners.requested(w, t)
	w.repeats(t)
	w.prunedBy(t)
	w.hasAssets(t)
	w.imported(t)
	r, k := w.p.Store.Lend(t.Run), w.of(t.Run)
	w.holds(finished, !k.over || k.byForce, "run %s is %s and requests %s", t.Run, r.State, t.Step.ID)
	if k.over {
		return // the run was ended by force while the request was on its way
	}
	w.leavesAlone(r, t)
	w.staysInside(r, t)
	record := w.p.Store.LendRecords(t.Project)[t.Step.Node]
	w.holds(written, r.Steps[t.Number].Status == run.Running && record.Token == action.Token(t.Run, t.TokenKey, t.Number, t.Attempt),
		"%s is requested with the token %s: the step is %s, the record says %q", t.Step.ID, t.Token(), r.Steps[t.Number].Status, record.Token)
	for _, n := range t.Node.Needs {
		w.holds(written, slices.Contains(record.Needs, n), "%s needs %s, and its record says %v", t.Step.ID, n, record.Needs)
	}
	if t.Step.Verb == plan.Delete {
		w.unneeded(t)
	} else if t.Step.Verb != plan.Continue && t.Step.Verb != plan.CreateEmpty && t.Step.Verb != plan.MoveIn && !imports(t.Step.Verb) {
		w.upToDate(t)
	}
	w.remembers()
}

// repeats checks what a task retains that repeats a deletion.
func (w *monitor) repeats(t action.Task) {
	names := t.Retained()
	if len(names) == 0 {
		return
	}
	name, _, _ := strings.Cut(cmp.Or(w.p.Cloud.NameOf(t.Location().Stack), t.Location().Stack), "@")
	w.holds(retainsNamed, slices.Equal(names, []string{"Topic"}) && w.retaining[name], "%s of run %s retains %v of %s, which no files have retained", t.Step.ID, t.Run, names, name)
}

// unneeded checks that no stack uses one that is deleted permanently.
func (w *monitor) unneeded(t action.Task) {
	name := placed(t.Location().Stack, t.Location().Target)
	if t.Node.Name != "" || w.changedOutside[name] {
		return // it will be created again, or was changed outside Stackwright
	}
	w.holds(unused, w.contested || !w.p.Cloud.InUse(name), "%s is being deleted while a live stack uses it", name)
	for _, s := range w.p.Store.Lend(t.Run).Steps {
		record := w.p.Store.LendRecords(t.Project)[s.Node]
		w.holds(unused, s.Status != run.Running || s.Node == t.Step.Node || !requests(s.Verb) || !slices.Contains(record.Needs, t.Step.Node),
			"%s is being deleted while %s is in flight and needs it", name, s.ID)
	}
}

// leavesAlone checks that a run changes no stack that its files, or for a destroy those of the last deploy, leave alone.
func (w *monitor) leavesAlone(r run.Run, t action.Task) {
	if plan.AllOperations().Of(r.Operation).NeedsFiles {
		p, _ := w.projectOf(r)
		pruned := r.Operation == "prune" && t.Step.Verb == plan.Delete && p.IsObsolete(t.Step.Node)
		w.holds(spared, pruned || !p.Ignores(t.Step.Node), "%s of run %s is requested, and its files leave the stack alone", t.Step.ID, r.ID)
		return
	}
	l, err := w.p.Store.Lock(w.p.Context(), t.Project)
	if err != nil {
		w.Fatal(err)
	}
	w.holds(spared, !l.OfDestroy(project.Project{}).Ignores(t.Step.Node), "%s of run %s is requested, and the files of the last deploy leave the stack alone", t.Step.ID, r.ID)
}

// projectOf returns the project that the source of a run describes. It reports false if that is not known.
func (w *monitor) projectOf(r run.Run) (project.Project, bool) {
	p, ok := w.projects[r.Source]
	deployed, known := w.sources[r.Source]
	if !known || ok {
		return p, ok
	}
	if deployed.haveUnit() { // it depends on the accounts that the plan has listed
		return w.p.project(deployed.followed(w.units.members[r.ID].targets())), true
	}
	p = w.p.project(deployed)
	w.projects[r.Source] = p
	return p, true
}

// upToDate checks that a stack is deployed with the outputs that this run made of its
// dependencies.
func (w *monitor) upToDate(t action.Task) {
	r := w.p.Store.Lend(t.Run)
	desired, ok := w.projectOf(r)
	for name, text := range t.Node.Parameters {
		for _, part := range text {
			n, here := desired.Nodes[part.Node]
			_, environment, _ := strings.Cut(r.Project, "@")
			n.Stack = placed(inEnvironment(environment, n.Stack), n.Target)
			if part.Node == "" || !here || w.changedOutside[n.Stack] {
				continue
			}
			if desired.Ignores(part.Node) { // it stays as it was recorded
				n.Stack = placed(w.p.Store.LendRecords(t.Project)[part.Node].Stack, n.Target)
			}
			template, _ := w.p.Cloud.Template(n.Stack)
			w.holds(current, !ok || desired.Ignores(part.Node) || r.Partial() && !w.about(r)[part.Node] || stays(r, part.Node) || template == n.Template.Digest, "%s starts while %s has the template %q, not %q", t.Step.ID, n.Stack, template, n.Template.Digest)
			got, want := t.Want.Parameters[name], w.p.Cloud.Output(n.Stack, part.Output)
			w.holds(current, got == want, "%s gets %q from %s, whose output is %q", t.Step.ID, got, n.Stack, want)
		}
	}
}

// stays reports whether a run has said that it leaves a stack as it is, because nobody approves a rollback.
func stays(r run.Run, name string) bool {
	return slices.ContainsFunc(r.Messages, func(m string) bool { return strings.HasPrefix(m, "stack "+name+" stays as it is") })
}

// remembers checks that the records name every stack that we created.
func (w *monitor) remembers() {
	clear(w.named)
	for _, name := range w.projectsOf() {
		for _, r := range w.p.Store.LendRecords(name) {
			w.named[placed(r.Stack, r.Target)] = true
		}
	}
	forgotten := slices.DeleteFunc(w.p.Cloud.OursBut(w.named), func(name string) bool {
		id, _ := w.p.Cloud.Origin(plan.Location{Stack: name})
		owner, known := w.owners[id]
		return known && owner == ""
	})
	w.holds(remembered, len(forgotten) == 0, "%v are live and no record names them", forgotten)
}

// asDesired checks that the live stacks are those of the request, each deployed with
// the current outputs of its dependencies.
func (g *player) asDesired(r run.Run, w stacks) {
	_, emulated := g.backend.(*emulators)
	m, knows := g.membersOf(r)
	w = w.unfolded(slices.Sorted(maps.Keys(m.listed)))
	if !knows { // accounts have changed meanwhile
		w = slices.DeleteFunc(w, func(s stack) bool { return s.of != "" })
	}
	physical := w.physicalNames()
	desired := make(map[string]bool)
	for _, st := range w {
		desired[st.name] = true
		if g.changedOutside[st.physical] || stays(r, st.name) || st.ignored() || st.of != "" && !m.always[st.of] {
			continue
		}
		s := g.Status(st.nameOnBackend())
		version, params := g.Deployed(st.nameOnBackend())
		g.hasTable(r.ID, st)
		g.holds(fulfilled, g.Topics(st.nameOnBackend()) == st.topics(), "run %s has succeeded, but %s has the topics %q, not %q", r.ID, st.name, g.Topics(st.nameOnBackend()), st.topics())
		g.holds(fulfilled, (s.Good() || s.Restored()) && version == st.version, "run %s has succeeded, but %s is %s at %q, not %s", r.ID, st.name, s, version, st.version)
		for _, n := range st.needs {
			got, known := params["From"+n.name]
			on := stack{physical: cmp.Or(physical[at(n.name, st.of)], physical[n.name])}
			if emulated && !known || g.changedOutside[on.physical] {
				continue // CloudFormation does not update a stack if only the names of its parameters change
			}
			want := n.of(g.OutputOf(on.nameOnBackend(), n.output))
			g.holds(fulfilled, got == want || st.keeps(), "run %s has succeeded, but %s got %q from %s, whose output is %q", r.ID, st.name, got, n.name, want)
		}
	}
	for name := range g.Recorded() {
		kept := slices.ContainsFunc(r.Messages, func(m string) bool {
			return strings.HasPrefix(m, "stack "+name+" is kept, although the files that are deployed again")
		})
		if account, in := inUnit(name); in && (!knows || m.closed[account]) {
			continue
		}
		g.holds(fulfilled, desired[name] || kept && r.Operation == plan.RollbackName, "run %s has succeeded, but %s is recorded and not desired", r.ID, name)
	}
}

// approves checks that the plan of a step that starts was approved, if it had to be.
func (w *monitor) approves(r run.Run, s run.Step) {
	if s.Approval != nil {
		return
	}
	gated := false // a person has approved the plan, what it does with the stack, or a change set that needs no approval
	for _, a := range r.Steps {
		if a.Approval == nil || !a.Approval.Plan && !slices.Contains(s.After, a.Number) {
			continue
		}
		gated = true
		if a.Optional && !a.Answer.Known() {
			w.needsNoApproval(r, a, s)
			continue
		}
		w.holds(approved, a.Status == run.Done && a.Answer.Yes && a.Answer.Digest == r.AnswerDigest(a), "%s of run %s starts, and %s is %s, with the answer %+v", s.ID, r.ID, a.ID, a.Status, a.Answer)
	}
	o := plan.AllOperations().Of(r.Operation)
	needed := w.gated && r.Project == "shop@default" && o.Reversible
	retention, err := s.Retention()
	if err != nil {
		w.Fatal(err)
	}
	if o.Approvable && o.Writes && s.Receipt == (plan.Receipt{}) {
		p, _ := w.projectOf(r)
		n, desired := p.Nodes[s.Node]
		was := w.Recorded()[s.Node].Approve
		changes := slices.Contains([]string{"create", "update", "delete", "continue", "move-out", "move-in"}, string(s.Verb))
		if level := n.Approve.Stronger(was); s.Verb == plan.Update {
			w.holds(approved, level == "" || level == project.ApproveDeletions, "%s of run %s starts, by approve: %s, without a change set", s.ID, r.ID, level)
		}
		needed = needed || changes && (n.Approve == project.ApproveAlways || was == project.ApproveAlways) || s.Verb == "delete" && was != "" && (o.DeletesAll || retention.Replaces != "" || !desired)
	}
	w.holds(approved, gated || !needed, "%s of run %s starts, and nobody had to approve it", s.ID, r.ID)
}

// needsNoApproval checks the change set of approval a that a step executes, or that a hook is called before, without an
// answer of a person.
func (w *monitor) needsNoApproval(r run.Run, a, s run.Step) {
	p, inMemory := w.backend.(*memoryBackend)
	files, _ := w.projectOf(r)
	if !inMemory {
		return
	}
	level := files.Nodes[s.Node].Approve.Stronger(w.Recorded()[s.Node].Approve)
	says := p.Proposals[r.ProposalOf(a.Step).Proposal]
	whole := slices.ContainsFunc(r.Steps, func(a run.Step) bool { return a.Approval != nil && a.Approval.Plan })
	for _, c := range says.Resources {
		bad := c.Action == "replace" && (level == project.ApproveReplacements || c.ID == "Table") || c.ID == "Table" && c.Action == "remove" && c.Policy == ""
		w.holds(approved, !bad || whole, "%s of run %s executes a change set with %s of %s, which nobody has approved by approve: %s", s.ID, r.ID, c.Action, c.ID, level)
	}
	w.holds(approved, says.Unchanged || level != project.ApproveAlways || whole, "%s of run %s executes a change set which nobody has approved by approve: always", s.ID, r.ID)
}

// verbs are the verbs of the engine, without what executes them.
var verbs = action.Named(action.All(nil, nil, nil, nil, nil)...)
