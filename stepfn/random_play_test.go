package stepfn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A player plays one random scenario on a backend.
type player struct {
	*recorder
	backend
	requested      []string                       // runs, in order
	desired        map[string]stacks              // by run
	sources        map[run.Source]stacks          // desired, by source
	projects       map[run.Source]project.Project // the project of the same, by source
	lastChecked    string                         // the run that checkLastRun checked
	last           stacks                         // of the last deploy
	changedOutside map[string]bool                // stacks that were changed outside Stackwright since the last finish
	snapshots      []string                       // one for each finish
	count
	beside         []string      // runs of other projects
	promoted       []string      // runs of the upper environment
	pipelined      bool          // deploys are promoted to it by themselves
	soak           time.Duration // when they have lasted so long
	saved          savedPlan
	units          unitState
	costed         map[string]bool              // by run: the cost of its plan was checked
	deployedBefore map[string]map[string]string // by run, in memory: the digests of the templates of the recorded stacks when it was planned
	proposesLate   bool                         // a late process may have made a change set after its run had deleted it: no request of CloudFormation refuses that
	outdated       map[string]bool              // by run: its saved plan was out of date when it was requested
	contested      bool                         // stacks change hands
	drifted        bool                         // somebody has changed resources without CloudFormation
	gated          bool                         // plans have to be approved
	tables         []string                     // that exist
	deletions      int                          // of tables, that were checked
	retaining      map[string]bool              // physical names of stacks of which files have retained resources
	denied         string                       // what the policy of the installation denies: a key of denials
	previewed      bool                         // the next request is planned before
	expected       map[string][]string          // by run that is not planned yet: the steps of its plan
}

func newPlayer(t testing.TB) *player {
	return &player{
		recorder: &recorder{TB: t}, desired: make(map[string]stacks), sources: make(map[run.Source]stacks), projects: make(map[run.Source]project.Project),
		changedOutside: make(map[string]bool), count: newCount(), costed: make(map[string]bool), deployedBefore: make(map[string]map[string]string), outdated: make(map[string]bool), retaining: make(map[string]bool), expected: make(map[string][]string),
	}
}

// play plays a script, until something fails.
func (g *player) play(s script) {
	defer func() {
		if r := recover(); r != nil && r != (stop{}) {
			panic(r)
		}
	}()
	g.KeepSnapshots(project.SnapshotPolicy{Keep: 2})
	g.MaxDeletions(1000) // no deploy is refused for its deletions
	g.faultPlan(s)
	if g.gated = slices.ContainsFunc(s, func(l line) bool { return l[0] == "approve-plans" }); g.gated {
		g.ApprovePlans(24 * time.Hour)
	}
	for _, l := range s {
		if g.execute(l); g.Failed() {
			return
		}
	}
	g.finish()
}

// execute executes one line.
func (g *player) execute(l line) {
	g.retains(l)
	switch what := l[0]; what {
	case "deploy", "plan", "prune", "destroy", "refresh", "check", "drift", "revert-drift", "suspend", "resume", "retry", "replace":
		g.submit(l)
	case "planned-before":
		g.previewed = true
	case "drifts":
		g.changeResource(l)
	case "deploy-planned":
		g.deployPlanned(l)
	case "pause", "continue", "approve", "reject", "cancel", "cancel-rolling-back", "unlock", "abort":
		g.command(l)
	case "pass":
		g.Pass(time.Duration(l.number(1)) * time.Second)
	case "wait-idle":
		g.finish()
	case "slow":
		g.Slow(l[1], time.Duration(l.number(2))*time.Second)
	case "fail":
		name, v, _ := strings.Cut(l[1], "/")
		g.FailNext(name, plan.Verb(v))
	case "live":
		g.changeOutside(l[1], plan.Status(l[2]))
	case "outage":
		g.injected["outage"]++
		g.outage(time.Duration(l.number(1)) * time.Second)
	case "deploy-hub":
		g.injected["hub of 2,000"]++
		g.submit(append(line{"deploy"}, hub(l.number(1)+1).words()...))
	case "adopt", "forget", "by-hand", "unreadable", "lab-adopt", "lab-deploy", "lab-destroy", "lab-forget":
		g.contest(l)
	case "add-table":
		g.addTable(l)
	case "table", "taken", "left":
		g.tableLine(l)
	case "policy":
		g.deny(l)
	case "account":
		g.accountLine(l)
	case "organization":
		g.organizationLine(l)
	case "throttle":
		g.throttle(l)
	case "beside":
		g.besides(l)
	case "hook":
		g.Hook(parseHook(l[1:]))
	case "assets":
		g.backend.(publishing).Assets(l[1], l[2:]...)
	case "fail-hook":
		g.injected["hook failed"]++
		g.FailHook(l[1])
	case "hook-fault":
		g.injected["hook "+l[1]]++
		g.HookFault(l[2], faultKinds[l[1]])
	case "group-fault":
		g.injected["hook "+l[1]]++
		g.GroupFault(l[2], faultKinds[l[1]])
	case "max-failures":
		g.maxFailures(l)
	case "alarm":
		g.Alarm(l[1], l[2])
	case "group":
		g.Group(l[1])
	case "fill":
		g.Fill(l[1], l.number(2))
	case "slow-hook":
		g.SlowHook(l[1], time.Duration(l.number(2))*time.Second)
	case "replaced":
		g.replaced(l)
	case "rollback-to":
		g.rollbackTo(l)
	case "environments":
		g.Environments(l[1:])
	case "promote":
		g.promote(l)
	case "pipeline":
		g.follows(time.Duration(l.number(1)) * time.Second)
	case "promoted":
		g.commandPromoted(l)
	case "fail-backup":
		g.FailBackup(l[1])
	case "snapshot", "delete-snapshot", "prune-snapshots", "restore":
		g.snap(l)
	case "roll-back":
		g.rollBack(l.stacks())
	case "ttl", "extend", "extend-until", "expire":
		g.lifetimeLine(l)
	case "redeploy":
		g.redeploy(l.stacks())
	case "destroy-all":
		g.destroyAll()
	case "latency", "targets", "events", "failures-unreported", "lag", "skewed", "throttling", "fault", "max-parallel", "approve-plans", "rollout": // faultPlan reads them
	default:
		g.Fatalf("%q is not a word of scripts", what)
	}
}

// retains learns from a line of which stacks its files retain resources.
func (g *player) retains(l line) {
	if slices.Contains([]string{"deploy", "prune", "redeploy", "plan", "adopt", "roll-back", "replace", "replaced"}, l[0]) {
		for _, s := range l.stacks() {
			g.retaining[s.physical] = g.retaining[s.physical] || slices.Contains(s.options, "retained")
		}
	}
}

// submit sends a request that makes a run.
func (g *player) submit(l line) {
	var o []options
	if _, ok := l.option("rolling-back"); ok {
		o = []options{{rollback: true}}
	}
	if _, ok := l.option("refusing"); ok {
		o = []options{{refuse: true}}
	}
	if _, ok := l.option("forced"); ok {
		o = []options{{force: true}}
	}
	_, suspended := l.option("while-suspended")
	since, changed := l.option("changed-since")
	adopt := l.names("adopting")
	if some, ok := l.selection(); ok || suspended || changed || adopt != nil {
		if some.whileSuspended, some.adopt = suspended, adopt; changed {
			some.since = g.of(since)
		}
		o = []options{some}
	}
	_, lost := l.option("file-lost")
	g.ProjectFile(!lost)
	if _, ok := l.option("exactly"); ok {
		o = []options{{exact: true}}
	}
	var w stacks
	if l[0] == "deploy" || l[0] == "plan" || l[0] == "prune" || l[0] == "replace" {
		w = g.givers(l.stacks())
	}
	if l[0] == "deploy" {
		g.last = w
	}
	of := ""
	if l[0] == "retry" {
		if of = g.of(0); of == "" {
			return
		}
	}
	id := g.deliver(l, w, of, o)
	g.requested = append(g.requested, id)
	if w != nil {
		g.desired[id] = w
	}
	if l[0] == "plan" {
		g.saved = savedPlan{run: id, from: len(g.requested)}
	}
}

// command sends a command to a run.
func (g *player) command(l line) {
	id := g.of(l.number(1))
	g.proposesLate = g.proposesLate || l[0] == "unlock" // a run that is ended by force leaves its change sets
	switch {
	case id == "":
	case l[0] == "abort":
		g.Abort(id)
	case l[0] == "cancel-rolling-back":
		g.deliver(append(line{"cancel"}, l[1:]...), nil, id, []options{{rollback: true}})
	case l[0] == "approve" || l[0] == "reject":
		for _, o := range answers(g.ExecutionStatus(id)) {
			g.deliver(l, nil, id, []options{o})
		}
	default:
		var o []options
		if _, ok := l.option("forced"); ok {
			o = []options{{force: true}}
		}
		g.deliver(l, nil, id, o)
	}
}

// answers returns the options of the answers to all that r waits for; if it waits for nothing, those of one that comes too late or too early.
func answers(r run.Run) []options {
	steps := r.Asks()
	if len(steps) == 0 {
		steps = []string{""}
	}
	var all []options
	for _, step := range steps {
		all = append(all, options{digest: r.DigestFor(step), step: step})
	}
	return all
}

// of returns the run that was requested so many runs before the last one.
func (g *player) of(before int) string {
	if before >= len(g.requested) {
		return ""
	}
	return g.requested[len(g.requested)-1-before]
}

// changeOutside changes a stack of ours without Stackwright, if its status allows that.
func (g *player) changeOutside(name string, becomes plan.Status) {
	s := g.Status(name)
	if s.Busy() || s.Cleaning() || s.Gone() || s.Dead() || s == becomes || becomes.Gone() && g.inUse(name) {
		return
	}
	g.injected["change outside"]++
	g.changedOutside[physicalName(name)] = true
	g.saved.changed = append(g.saved.changed, physicalName(name))
	g.Live(name, becomes)
}

// inUse reports whether a recorded stack needs the one of that name. Then CloudFormation
// refuses to delete it.
func (g *player) inUse(name string) bool {
	records := g.Recorded()
	for node, r := range records {
		if r.Stack != physicalName(name) {
			continue
		}
		for _, u := range records {
			if slices.Contains(u.Needs, node) {
				return true
			}
		}
	}
	return false
}

// runs lists the requested runs and the rollbacks that followed them.
func (g *player) runs() []run.Run {
	var all []run.Run
	for _, id := range g.requested {
		for _, id := range []string{id, rollbackOf(id)} {
			if r := g.ExecutionStatus(id); r.State != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// finish waits until no run can continue, continues the runs that wait for a person,
// and checks what must hold then.
func (g *player) finish() {
	g.relists()
	var runs []run.Run
	for round := range 30 {
		if !g.WaitIdle() {
			g.holds(terminates, false, "some run never ends: %s", g.queue())
			return
		}
		runs = g.runs()
		waiting := false
		for _, r := range runs {
			if r.State == run.StateWaiting {
				waiting = true
				if round < 10 {
					g.Submit("continue", nil, r.ID)
				} else { // the policies deny what is left of its plan
					g.Submit("cancel", nil, r.ID)
				}
				if len(r.Asks()) > 0 {
					for _, o := range answers(r) {
						g.Submit("approve", nil, r.ID, o)
					}
				}
			}
		}
		if g.finishPromoted() {
			waiting = true
		}
		if !waiting {
			break
		}
	}
	for _, r := range runs {
		if w, ok := g.desired[r.ID]; ok {
			g.sources[r.Source] = w
		}
	}
	for _, r := range runs {
		g.unhinders(r)
		g.holds(terminates, r.State.Over(), "run %s is %s when no run can continue: %s", r.ID, r.State, g.queue())
		if p, inMemory := g.backend.(*memoryBackend); inMemory {
			g.holds(measured, p.Ends[r.ID] <= 1, "the end of run %s is measured %d times", r.ID, p.Ends[r.ID])
		}
		g.checkSteps(r)
	}
	for _, r := range runs {
		g.checkCosts(r)
		g.checkLosses(r)
	}
	g.listsRevisions(runs)
	g.keepsSnapshots(runs)
	if p, inMemory := g.backend.(*memoryBackend); inMemory {
		g.keepsBackups(p, runs)
	}
	g.finishBeside()
	g.checkPromoted(runs)
	g.keepsTables()
	g.keepsMoved()
	if p, inMemory := g.backend.(*memoryBackend); inMemory {
		g.holds(same, len(p.Cloud.Others) == 0, "another request was sent under the tokens %v", p.Cloud.Others)
	}
	l := g.Lock()
	g.holds(withdrawn, g.proposesLate || len(g.ChangeSets()) == 0, "change sets of %v are left", g.ChangeSets())
	g.holds(freed, l.Owner.Run == "" && len(l.Waiting) == 0, "run %s holds the lock, and %v are queued", l.Owner.Run, l.Waiting)
	g.checkLastRun()
	g.snapshots = append(g.snapshots, g.snapshot())
	clear(g.changedOutside)
}

// queue describes who holds the lock, and the steps of that run.
func (g *player) queue() string {
	l := g.Lock()
	r := g.ExecutionStatus(l.Owner.Run)
	var b strings.Builder
	fmt.Fprintf(&b, "the lock is held by run %s, which is %s in epoch %d with the command %s; queued: %v", r.ID, r.State, r.Epoch, r.Command, l.Waiting)
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "\n    %-20s %-8s %d %s", s.ID, s.Status, s.Attempt, s.Why)
	}
	return b.String()
}

// checkSteps checks the steps of a run that has ended.
func (g *player) checkSteps(r run.Run) {
	g.checkLimits(r)
	g.checkPlanned(r)
	for _, st := range r.Steps {
		g.holds(complete, st.Over() || plan.AllOperations().Of(r.Operation).Preview, "%s is %s after the end of run %s", st.ID, st.Status, r.ID)
		g.holds(complete, st.Attempt <= 1 || slices.Contains([]plan.Verb{plan.BackUp, plan.DeleteBackup, plan.DropSnapshot, plan.Hook, plan.Suspend, plan.Resume}, st.Verb), "%s was started %d times", st.ID, st.Attempt)
		for _, n := range st.After {
			a := r.Steps[n]
			if st.OnFailure || st.Tolerant {
				g.holds(complete, a.Over() || st.Attempt == 0, "%s tolerates failures, and %s is %s", st.ID, a.ID, a.Status)
				continue
			}
			late := !g.skewed() && st.Claimed.Before(a.Ended)
			g.holds(complete, st.Attempt == 0 || a.Status == run.Done && !late, "%s started at %s, before %s (%s) ended at %s", st.ID, st.Claimed, a.ID, a.Status, a.Ended)
		}
	}
}

// checkLastRun checks, on the emulators, the result of the run that wrote last. The test
// may not know its ID: if the answer to a put is lost, the object is put again and
// requests a second run.
func (g *player) checkLastRun() {
	emulated, ok := g.backend.(*emulators)
	if !ok {
		return // the monitor has checked it at the end of the run
	}
	var last run.Run
	for _, r := range emulated.all() {
		if plan.AllOperations().Of(r.Operation).Writes && !r.Started.IsZero() && len(r.Steps) > 0 && r.Ended.After(last.Ended) {
			last = r
		}
	}
	if last.ID == g.lastChecked {
		return // its stacks may have been changed since
	}
	g.lastChecked = last.ID
	if w, ok := g.sources[last.Source]; ok && last.State == run.StateSucceeded && last.Operation != "destroy" && !last.Partial() {
		g.asDesired(last, w)
	}
}

// snapshot describes the live stacks and the records, without times.
func (g *player) snapshot() string {
	p, ok := g.backend.(*memoryBackend)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, name := range p.Cloud.Names() {
		template, params := p.Cloud.Template(name)
		fmt.Fprintf(&b, "%s %s %s %v\n", name, p.Cloud.Status(name), template, params)
	}
	records := g.Recorded()
	for _, name := range slices.Sorted(maps.Keys(records)) {
		r := records[name]
		fmt.Fprintf(&b, "%s %s %s %v %v\n", name, r.Stack, r.Digest, r.Needs, r.Outputs)
	}
	return b.String()
}

// redeploy checks that a deploy without faults brings the desired state, and that a
// second one changes nothing.
func (g *player) redeploy(w stacks) {
	g.finish()
	g.stopFaults()
	g.forgiveHooks()
	w = g.endDisputes(w)
	g.bringBack()
	g.resumeAll()
	w = enabled(g.reachable(g.importable(w))) // the environment may have expired meanwhile
	for range 2 {
		g.submit(append(line{"deploy"}, w.words()...))
		g.finish()
		r := g.ExecutionStatus(g.of(0))
		if r.State == run.StateRefused && strings.Contains(strings.Join(r.Messages, "\n"), "nobody knows whether it is of this resource") {
			return // the files drop a restored resource and add another one that can be: the user has to say whether it is the same
		}
		if hindered(r) { // the exports need two deploys
			g.submit(append(line{"deploy"}, w.withoutExports().words()...))
			g.finish()
			g.submit(append(line{"deploy"}, w.words()...))
			g.finish()
			r = g.ExecutionStatus(g.of(0))
		}
		g.holds(converges, r.State == run.StateSucceeded, "the run is %s: %s%v", r.State, failedSteps(r), r.Messages)
		if g.Failed() {
			return
		}
	}
	r := g.ExecutionStatus(g.of(0))
	n := len(w.unfolded(g.active()))
	g.holds(unchanged, len(r.Steps) == 0 && r.Unchanged == n, "%d of %d stacks are unchanged, and the run has %d steps", r.Unchanged, n, len(r.Steps))
	g.spreads(w)
	g.check(w)
	g.detect()
}

// check checks that the stacks are as recorded which two deploys have left, and that a check changes nothing. Other stacks may be left alone.
func (g *player) check(w stacks) {
	before := g.snapshot()
	g.submit(line{"check"})
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	g.holds(asRecorded, r.State.Over() && before == g.snapshot(), "the check is %s, and what was\n%s\nis\n%s", r.State, before, g.snapshot())
	desired := w.unfolded(g.active()).project()
	for _, s := range r.Steps {
		_, ours := desired.Nodes[s.Node]
		ours = ours && !desired.Ignores(s.Node) || s.Verb == plan.Verify
		g.holds(asRecorded, s.Status == run.Done || !ours, "%s is %s: %s", s.ID, s.Status, s.Why)
	}
}

// failedSteps lists the steps of a run that failed, with their reasons.
func failedSteps(r run.Run) string {
	var all []string
	for _, s := range r.Steps {
		if s.Status == run.Failed {
			all = append(all, s.ID+": "+s.Why)
		}
	}
	return strings.Join(all, "; ")
}

// destroyAll checks that a destroy without faults leaves nothing.
func (g *player) destroyAll() {
	g.finish()
	g.stopFaults()
	g.forgiveHooks()
	g.endDisputes(nil)
	g.submit(line{"destroy"})
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	for range 5 {
		if r.State == run.StateSucceeded || !g.contested {
			break // else an adopted stack imports from others than its files say: CloudFormation has refused a deletion
		}
		g.submit(line{"destroy"})
		g.finish()
		r = g.ExecutionStatus(g.of(0))
	}
	if r.State == run.StateRefused && len(g.Recorded()) == 0 && strings.HasPrefix(strings.Join(r.Messages, "\n"), "nothing is recorded for ") {
		return // no run has deployed anything
	}
	if why := failedSteps(r); g.contested && strings.Contains(why, "in use by") {
		return // two adopted stacks import from each other the other way round than their files say: the user has to deploy first
	}
	left := ignoredBy(r)
	if len(left) > 0 && r.State == run.StateRefused {
		return // what others depend on that is left alone stays
	}
	g.holds(emptied, r.State == run.StateSucceeded, "the run is %s: %s%v", r.State, failedSteps(r), r.Messages)
	stays, unusable := maps.Clone(g.Recorded()), g.unusable()
	maps.DeleteFunc(stays, func(name string, _ plan.Record) bool {
		account, in := inUnit(name)
		return slices.Contains(left, name) || in && unusable[account]
	})
	g.holds(emptied, len(stays) == 0, "records are left: %v", stays)
	if g.calledAroundDestroy(r); g.reinstate() && len(left) == 0 {
		g.submit(line{"destroy"})
		g.finish()
		r = g.ExecutionStatus(g.of(0))
		g.holds(emptied, r.State == run.StateSucceeded && len(g.Recorded()) == 0, "all accounts are back, and the run is %s: %s%v; records are left: %v", r.State, failedSteps(r), r.Messages, g.Recorded())
	}
}
