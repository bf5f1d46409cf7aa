package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator makes scripts.
type generator struct {
	policed   *rand.Rand // draws policies; nil if the installation has none
	importing *rand.Rand // draws tables; nil if stacks import none
	outside   *rand.Rand // draws tables that a user adds to our stacks; nil if none is added
	optional  *rand.Rand // draws options; nil if stacks have none
	moving    *rand.Rand // draws which stack has the table that moves; nil if none does
	*rand.Rand
	script   script
	emulated bool   // for the emulators: shorter scripts
	last     stacks // of the last deploy
	plain    bool   // no faults, and one request at a time
	crowded  bool   // runs of several projects share their accounts
	contests bool   // stacks change hands
	levels   bool   // some stacks have to be approved

	hooking    *rand.Rand // draws hooks; nil if the project has none
	hooks      []string   // their names
	grouped    bool       // a hook is about all Auto Scaling groups of its stack
	alarms     []string   // that they wait for
	uploading  [][]string // the words of hooks that upload, without what they upload
	drifting   *rand.Rand // draws which resources drift; nil if none does
	selecting  *rand.Rand // draws which stacks a request is about; nil if all are about all
	backing    *rand.Rand // draws rollbacks to revisions; nil if there are none
	promoting  *rand.Rand // draws promotions; nil if there are none
	suspending *rand.Rand // draws suspensions; nil if there are none
	expiring   *rand.Rand // draws how long the environment lives; nil if it does for ever
	rolling    *rand.Rand // draws a rollout; nil if there is none
	snapping   *rand.Rand // draws snapshots; nil if there are none
	publishing *rand.Rand // draws assets; nil if no stack has some
	previewing *rand.Rand // draws which operations are planned before, and which retries are forced; nil if none is
	pruning    *rand.Rand // draws obsolete stacks and ignored changes; nil if there are none
	exporting  *rand.Rand // draws exports; nil if no stack has some of its own
	following  *rand.Rand // draws the accounts of a unit; nil if no stack is in one
}

// writeScript makes the script of a seed.
func writeScript(seed uint64, emulated bool) script {
	a := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), emulated: emulated}
	large := !emulated && seed%largeSeeds == 0
	a.plain = a.IntN(12) == 0 && !large
	a.contests = seed%contestedSeeds == 0 && !large && !a.plain && !emulated
	a.levels = seed%6 == 1 && !large
	a.faultPlan(seed)
	if large {
		a.hubScript()
		return a.script
	}
	a.follows(seed)
	a.sharing()
	a.policies(seed)
	a.imports(seed)
	a.options(seed)
	a.declareHooks(seed)
	a.moves(seed)
	a.prunes(seed)
	a.drifts(seed)
	a.selections(seed)
	a.backs(seed)
	a.suspends(seed)
	a.promotions(seed)
	a.lifetimes(seed)
	a.rollouts(seed)
	a.snaps(seed)
	a.previews(seed)
	a.assets(seed)
	a.exports(seed)
	turns := 1 + a.IntN(3)
	if a.emulated {
		turns = 1 + a.IntN(5)/4
	}
	for range turns {
		a.round()
	}
	a.prune()
	a.failRetained()
	if a.IntN(3) == 0 || a.importing != nil || a.moving != nil {
		w := a.stacks()
		a.add("redeploy", w.words()...)
		a.replaced(w)
	}
	a.rollBack(a.last)
	a.expires()
	a.add("destroy-all")
	return a.script
}

func (a *generator) add(what string, words ...string) {
	a.preview(what, words)
	a.script = append(a.script, append(line{what}, words...))
}

// one returns one of the words.
func (a *generator) one(words ...string) string { return words[a.IntN(len(words))] }

// number returns a number below n, as a word.
func (a *generator) number(n int) string { return strconv.Itoa(a.IntN(n)) }

// faultPlan adds the faults.
func (a *generator) faultPlan(seed uint64) {
	a.add("latency", strconv.FormatUint(seed, 10))
	if !a.emulated && a.IntN(4) == 0 {
		a.add("targets", a.one("2", "3"))
	}
	if a.IntN(5) == 0 {
		a.add("approve-plans")
	}
	if a.plain {
		return
	}
	a.add("events", a.one("prompt", "lost", "wild", "wild"))
	if a.IntN(4) == 0 {
		a.add("failures-unreported")
	}
	if a.IntN(3) == 0 {
		a.add("lag", a.one("1000", "1500", "4000", "7000"))
	}
	if !a.emulated && a.IntN(4) == 0 {
		a.add("skewed", a.one("1", "3", "10"))
	}
	risk := []float64{0, 0.003, 0.02, 0.04}[a.IntN(4)]
	if risk == 0 {
		return
	}
	kinds := []string{"crash-before", "crash-after", "answer-lost", "throttled", "late-process"}
	if a.emulated {
		kinds = kinds[:4]
		a.add("throttling", fmt.Sprint(risk))
	}
	for at := 0; ; {
		at += 1 + int(a.ExpFloat64()/risk)
		if at > 2000 || len(a.script) > 60 {
			return
		}
		a.add("fault", strconv.Itoa(at), a.one(kinds...))
	}
}

// round adds a request and, sometimes, what happens while its run is executed.
func (a *generator) round() {
	a.policy()
	a.giveAssets()
	a.takeTables()
	a.failHooks()
	a.failRetained()
	a.prune()
	for _, st := range a.last {
		if a.IntN(12) == 0 && !a.plain {
			a.add("live", st.nameOnBackend(), a.one(outsideChanges...))
		}
	}
	a.addTable()
	a.drift()
	a.changeAccounts()
	a.suspend()
	a.age()
	a.soundAlarm()
	w := a.stacks()
	for _, st := range w {
		if a.IntN(2) == 0 {
			a.add("slow", st.nameOnBackend(), strconv.Itoa(1+a.IntN(90)))
		}
		if a.IntN(7) == 0 {
			a.add("fail", st.nameOnBackend()+"/"+a.one(a.operations()...))
		}
	}
	if a.contests {
		a.contest()
	}
	a.request(w)
	for i := 0; i < 4 && a.IntN(5) < 2 && !a.plain; i++ {
		a.add("pass", a.number(100))
		a.meanwhile()
		a.changeAccount()
		a.takeTables()
	}
	a.add("wait-idle")
	if a.contests && a.IntN(2) == 0 {
		a.contest()
		a.add("wait-idle")
	}
	if a.IntN(4) == 0 {
		a.add("retry", a.forced()...)
		a.add("wait-idle")
	}
	a.replace()
	a.rollback()
	a.promote()
	a.snap()
}

// request adds a deploy of w, or another request.
func (a *generator) request(w stacks) {
	switch what := a.one("deploy", "deploy", "deploy", "deploy", "destroy", "refresh", "plan", "deploy-planned"); what {
	case "deploy":
		a.deploy(w)
	case "deploy-planned":
		if a.suspending != nil { // it would be refused
			a.deploy(w)
			break
		}
		a.deployPlanned(w)
	case "plan":
		words := w.words()
		if a.IntN(2) == 0 {
			words = append(words, "with", "exactly")
		}
		a.add(what, words...)
	case "destroy":
		a.add(what, a.someOf(a.last)...)
	case "refresh":
		a.add(a.one(what, "check"))
	default:
		a.add(what)
	}
}

// deployPlanned adds a plan of w and a deploy that carries it out. Between them may be a change
// outside Stackwright or another deploy.
func (a *generator) deployPlanned(w stacks) {
	words := w.words()
	if a.IntN(4) == 0 {
		words = append(words, "with", "exactly")
	}
	a.add("plan", words...)
	a.add("wait-idle")
	switch before := a.last; a.IntN(4) {
	case 0:
		if len(before) > 0 && !a.plain {
			a.add("live", before[a.IntN(len(before))].nameOnBackend(), a.one(outsideChanges...))
		}
	case 1:
		a.deploy(a.stacks())
		a.add("wait-idle")
	}
	words = nil
	if a.IntN(3) == 0 {
		words = []string{"with", a.one("late", "twice"), a.number(60)}
	}
	a.add("deploy-planned", words...)
	a.last = w
}

// deploy adds a deploy of w, by upload or by request.
func (a *generator) deploy(w stacks) {
	if a.contests && a.IntN(4) == 0 {
		w = slices.Clone(w)
		w[a.IntN(len(w))].adopts = true
	}
	words := w.words()
	a.failAfterMove(w)
	switch a.IntN(8) {
	case 0:
		words = append(words, "with", "rolling-back")
	case 1:
		words = append(words, "with", "refusing")
	case 2:
		if n := a.number(60); a.moving == nil { // nobody else knows of files that are late, so the table could move back and forth
			words = append(words, "with", "late", n)
		}
	case 3:
		words = append(words, "with", "twice", a.number(60))
	case 4:
		if a.moving == nil { // without a project file there is no move_from
			words = append(words, "with", "file-lost")
		}
	}
	if len(words) == len(w) {
		words = append(words, a.someOf(w)...)
	}
	if len(words) == len(w) {
		words = append(words, a.since()...)
	}
	if len(words) == len(w) && a.contests && a.previewing != nil {
		words = append(words, "with", "adopting", w[a.previewing.IntN(len(w))].name)
	}
	if len(words) == len(w) && a.moving != nil && a.moving.IntN(2) == 0 {
		words = append(words, "with", "rolling-back")
	}
	if a.suspending != nil && len(words) == len(w) && a.suspending.IntN(2) == 0 {
		words = append(words, "with", "while-suspended")
	}
	a.add("deploy", words...)
	a.last = w
}

// forced draws, where operations are planned before, whether a retry or a cancellation is forced.
func (a *generator) forced() []string {
	if a.previewing == nil || a.previewing.IntN(2) == 0 {
		return nil
	}
	return []string{"with", "forced"}
}

// meanwhile adds something that happens while a run is executed.
func (a *generator) meanwhile() {
	if a.contests && a.IntN(2) == 0 {
		a.contest()
		return
	}
	what := a.one("deploy", "deploy", "deploy", "pause", "pause", "continue", "approve", "approve", "reject", "cancel", "cancel-rolling-back", "unlock", "abort", "destroy", "refresh", "retry", "outage", "live")
	switch what {
	case "deploy":
		a.deploy(a.stacks())
	case "destroy":
		a.add(what)
	case "retry":
		a.add(what, a.forced()...)
	case "refresh":
		a.add(a.one(what, "check"))
	case "outage":
		a.add(what, strconv.Itoa(1+a.IntN(900)))
	case "live":
		if st := a.last; len(st) > 0 && !a.emulated {
			a.add(what, st[a.IntN(len(st))].nameOnBackend(), a.one(outsideChanges...))
		}
	default: // a command to the last run, or to the one before
		words := []string{a.one("0", "0", "0", "1")}
		if a.IntN(4) == 0 && what != "abort" {
			words = append(words, "with", "twice", a.number(20))
		} else if what == "cancel" {
			words = append(words, a.forced()...)
		}
		a.add(what, words...)
	}
}

// outsideChanges are the statuses that changes outside Stackwright bring our stacks to.
var outsideChanges = []string{"UPDATE_ROLLBACK_FAILED", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "DELETE_COMPLETE"}

// size draws the number of stacks of a project: mostly a few.
func (a *generator) size() int {
	switch k := a.IntN(40); {
	case a.emulated && k < 39:
		return 2 + a.IntN(3)
	case a.emulated:
		return 2 + a.IntN(9)
	case a.crowded:
		return 20 + a.IntN(30)
	case k < 30:
		return 2 + a.IntN(3)
	case k < 39:
		return 2 + a.IntN(9)
	}
	return 2 + a.IntN(39)
}

// operations are the operations that may fail.
func (a *generator) operations() []string {
	all := []string{"create", "update", "delete", "continue", "rollback"}
	if a.levels {
		all = append(all, "propose")
	}
	if a.importing != nil {
		all = append(all, "import", "propose")
	}
	if a.moving != nil {
		all = append(all, "move-in", "move-in", "refuse")
	}
	return all
}

// stacks makes a project: often a variation of the last one.
func (a *generator) stacks() stacks {
	return a.withExports(a.withUnits(a.withPromotions(a.withPrunes(a.withOptions(a.withMoves(a.withTables(a.project())))))))
}

// project makes a project without tables.
func (a *generator) project() stacks {
	if len(a.last) > 0 && a.IntN(2) == 0 {
		return a.change(slices.Clone(a.last))
	}
	var w stacks
	n := a.size()
	sparse := 2 + n/3 // the number of edges must not grow with the square of n
	hub := n > 4 && a.IntN(3) == 0
	for _, k := range a.Perm(n) {
		s := stack{name: fmt.Sprintf("s%d", k), version: a.version()}
		s.physical = physicalName(s.name)
		if a.levels {
			s.approve = a.level()
		}
		for i, on := range w {
			if hub && i == 0 || a.IntN(sparse) == 0 {
				s.needs = append(s.needs, need{name: on.name, output: a.one("Value", "Value", "Name"), bare: a.IntN(4) == 0, upper: a.IntN(4) == 0})
			}
		}
		w = append(w, s.tidy())
	}
	return w
}

// version draws a version. One that starts with the letter r gives the topic a name, so that it is replaced. The stack of
// one that starts with the letter g has two Auto Scaling groups.
func (a *generator) version() string {
	if a.levels && a.IntN(3) == 0 {
		return a.one("r1", "r2")
	}
	if a.grouped && a.hooking.IntN(2) == 0 {
		return []string{"g1", "g2"}[a.hooking.IntN(2)]
	}
	if a.suspending != nil && a.suspending.IntN(3) > 0 {
		return []string{"g1", "g2", "d1", "c1", "n1"}[a.suspending.IntN(5)]
	}
	if a.snapping != nil && !a.emulated && a.snapping.IntN(2) == 0 {
		return []string{"b1", "b2", "d1", "t1", "w1", "w2"}[a.snapping.IntN(6)]
	}
	return a.one("v1", "v2", "v3")
}

// level draws which steps of a stack have to be approved.
func (a *generator) level() string {
	return a.one("", "deletions", "data_loss", "replacements", "replacements", "always")
}

// change changes something in a project.
func (a *generator) change(w stacks) stacks {
	k := a.IntN(len(w))
	if a.levels && a.IntN(3) == 0 {
		w[k].approve = a.level()
	}
	switch a.IntN(6) {
	case 0: // a stack is removed
		if gone := w[k].name; len(w) > 1 {
			w = slices.Delete(w, k, k+1)
			for i := range w {
				w[i].needs = slices.DeleteFunc(slices.Clone(w[i].needs), func(n need) bool { return n.name == gone })
			}
		}
	case 1: // a stack gets another physical name
		w[k].physical = physicalName(a.one(w[k].name, "x"+w[k].name))
	default:
		w[k].version = a.version()
	}
	return w
}

// tidy returns s with only those properties that a script can express.
func (s stack) tidy() stack {
	for i, n := range s.needs {
		s.needs[i].bare = n.bare && n.output == "Value"
	}
	return s
}

// nameOnBackend returns the name of the physical stack of s in calls of backends.
func (s stack) nameOnBackend() string { return strings.TrimPrefix(s.physical, physicalName("")) }
