package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which some stacks are in an organizational unit, whose accounts change between the requests and while runs are executed.

// The invariants of units.
const (
	listedOnly invariant = "listed: a run that reads files creates and updates stacks only in those accounts of a unit that its plan has listed"
	keepsThere invariant = "spared there: a run that reads files deletes no stack that they have in an account that was in the unit while the plan was made, whatever the list has, and none in an account that was closed"
	spread     invariant = "spread: after a deploy without faults, the stacks in a unit are in each of its active accounts, and recorded in no other but closed ones"
)

// followingSeeds is of how many seeds one has stacks in a unit.
const followingSeeds = 11

// unitAccounts are the accounts of these scenarios; the last one is left out of the unit.
var unitAccounts = []string{"111111111111", "222222222222", "333333333333", unitAccess.Except[0]}

// follows lets some stacks of a scenario be in a unit. They are drawn from random numbers of their own. All stacks have different physical names in
// other scenarios, and so they cannot be compared with those that take tables, change hands, or are in several accounts.
func (a *generator) follows(seed uint64) {
	if seed%followingSeeds != 6 || a.contests || seed%movingSeeds == 3 {
		return
	}
	a.following = rand.New(rand.NewPCG(seed, 41))
	a.script = slices.DeleteFunc(a.script, func(l line) bool { return l[0] == "targets" })
	for _, id := range unitAccounts {
		a.add("account", id, []string{"joins", "joins", "joins-deep", "leaves"}[a.following.IntN(4)])
	}
}

// withUnits puts some stacks of a project into the unit. One is not, so that no project is empty.
func (a *generator) withUnits(w stacks) stacks {
	if a.following == nil {
		return w
	}
	w = slices.Clone(w)
	apart := slices.DeleteFunc(slices.Clone(w), func(s stack) bool { return len(s.targets) > 0 })
	if len(apart) == 0 {
		w = slices.Concat(stacks{{name: "s0", version: "v1", physical: physicalName("s0")}}, w)
	}
	if w.haveUnit() && a.following.IntN(5) > 0 {
		return w
	}
	w = slices.DeleteFunc(w, func(s stack) bool { return len(s.targets) > 0 })
	others := len(w)
	for k := range 1 + a.following.IntN(2) {
		s := stack{name: fmt.Sprint("u", k), version: []string{"v1", "v2", "v3"}[a.following.IntN(3)], targets: []string{unitAccess.Name}}
		s.physical = physicalName(s.name)
		if k > 0 && a.following.IntN(3) > 0 {
			s.needs = append(s.needs, need{name: "u0", output: []string{"Value", "Name"}[a.following.IntN(2)], bare: a.following.IntN(4) == 0})
		}
		if a.following.IntN(2) == 0 {
			s.needs = append(s.needs, need{name: w[a.following.IntN(others)].name, output: "Value", bare: true})
		}
		if a.levels {
			s.approve = []string{"", "deletions", "always"}[a.following.IntN(3)]
		}
		w = append(w, s.tidy())
	}
	return w
}

// changeAccounts adds changes of accounts before a request, and what Organizations does with the lists of its plan.
func (a *generator) changeAccounts() {
	if a.following == nil {
		return
	}
	for range a.following.IntN(3) {
		a.addAccount()
	}
	does := []string{"answer", "answer", "answer", "answer", "throttle", "deny", "list-nothing", "list-flat"}
	if a.emulated {
		does = does[:6] // nobody knows there which list a plan was made from
	}
	a.add("organization", does[a.following.IntN(len(does))])
}

// changeAccount adds that an account changes, or that Organizations answers again, while a run is executed.
func (a *generator) changeAccount() {
	switch {
	case a.following == nil:
	case a.following.IntN(3) == 0:
		a.add("organization", "answer")
	case a.following.IntN(3) == 0:
		a.addAccount()
	}
}

// addAccount adds a change of an account, which happens if it can.
func (a *generator) addAccount() {
	changes := []string{"joins", "joins", "joins-deep", "leaves", "leaves", "closes", "suspended", "reopens", "reopens", "vanishes"}
	a.add("account", unitAccounts[a.following.IntN(len(unitAccounts))], changes[a.following.IntN(len(changes))])
}

// A unitState is what a player knows of the accounts of the unit.
type unitState struct {
	accounts map[string]*unitAccount
	changed  time.Time          // when an account changed last, on the emulators
	members  map[string]members // by run
}

// members are what is known of the accounts of a unit at the plan of a run.
type members struct {
	listed map[string]bool // the targets of the accounts that a list had
	always map[string]bool // the same, of all lists; a function that has crashed has not planned with its list
	in     map[string]bool // the accounts that have been in the unit and active all the time
	closed map[string]bool // the accounts that have been closed, or in no organization, at some time
	shut   map[string]bool // the same, all the time
}

// targets returns the listed targets.
func (m members) targets() []project.Target {
	var all []project.Target
	for _, name := range slices.Sorted(maps.Keys(m.listed)) {
		all = append(all, targetOf(name))
	}
	return all
}

// inUnit reports whether a stack is in the unit of these scenarios, and returns the account.
func inUnit(node string) (account string, in bool) {
	_, target, _ := strings.Cut(node, "@")
	of, account, member := project.UnitOf(target)
	return account, member && of == unitAccess.Name
}

// placed is the name in calls of backends, with physicalName, of a stack in a target.
func placed(stack string, t project.Target) string {
	if of, _, member := project.UnitOf(t.Name); member && of == unitAccess.Name {
		return stack + "@" + t.Name
	}
	return stack
}

// accountLine changes an account, if it can change so.
func (g *player) accountLine(l line) {
	if g.units.accounts == nil {
		g.units.accounts = make(map[string]*unitAccount)
	}
	a, known := g.units.accounts[l[1]]
	if !known {
		a = &unitAccount{id: l[1]}
		g.units.accounts[l[1]] = a
		if l[2] != "leaves" {
			g.Account(l[1], "leaves") // it is elsewhere in the organization
		}
	}
	if !slices.Contains(a.may(), l[2]) {
		return
	}
	g.injected["account "+l[2]]++
	a.become(l[2])
	g.Account(l[1], l[2])
	if _, emulated := g.backend.(*emulators); emulated {
		g.units.changed = time.Now()
	}
}

// organizationLine changes what Organizations does with requests.
func (g *player) organizationLine(l line) {
	if g.units.accounts == nil {
		return
	}
	if l[1] != "answer" {
		g.injected["organization "+l[1]]++
	}
	g.Organization(l[1])
}

// relists lets Organizations answer again if plans wait for that.
func (g *player) relists() {
	if g.units.accounts != nil {
		g.Organization("answer")
	}
}

// active lists the targets of the accounts to which stacks in the unit are deployed now.
func (g *player) active() []string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(g.units.accounts)) {
		if g.units.accounts[id].active() {
			all = append(all, project.MemberName(unitAccess.Name, id))
		}
	}
	return all
}

// unusable lists the accounts that nobody can use now.
func (g *player) unusable() map[string]bool {
	all := make(map[string]bool)
	for id, a := range g.units.accounts {
		if a.closed || a.gone {
			all[id] = true
		}
	}
	return all
}

// membersNow is what is known of the accounts at this moment.
func (g *player) membersNow() members {
	m := members{listed: make(map[string]bool), in: make(map[string]bool), closed: g.unusable(), shut: g.unusable()}
	for _, target := range g.active() {
		_, id, _ := project.UnitOf(target)
		m.in[id], m.listed[target] = true, true
	}
	m.always = m.listed
	return m
}

// learn adds what is known at this moment to what is known of the plan of a run.
func (g *player) learn(id string) {
	now := g.membersNow()
	was, known := g.units.members[id]
	now.listed, now.always = was.listed, was.always
	if known {
		maps.Copy(now.closed, was.closed)
		maps.DeleteFunc(now.in, func(id string, _ bool) bool { return !was.in[id] })
		maps.DeleteFunc(now.shut, func(id string, _ bool) bool { return !was.shut[id] })
	}
	if g.units.members == nil {
		g.units.members = make(map[string]members)
	}
	g.units.members[id] = now
}

// lists learns from a list of the accounts for the plan of a run.
func (g *player) lists(id string, accounts []project.Target) {
	g.learn(id)
	m, listed := g.units.members[id], make(map[string]bool)
	for _, t := range accounts {
		listed[t.Name] = true
	}
	if m.listed == nil {
		m.listed, m.always = make(map[string]bool), maps.Clone(listed)
	}
	maps.Copy(m.listed, listed)
	maps.DeleteFunc(m.always, func(name string, _ bool) bool { return !listed[name] })
	g.units.members[id] = m
}

// membersOf is what is known of the accounts at the plan of a run. It reports false if that is nothing.
func (g *player) membersOf(r run.Run) (m members, known bool) {
	if _, emulated := g.backend.(*emulators); emulated {
		return g.membersNow(), g.units.changed.Before(r.Requested)
	}
	m, known = g.units.members[r.ID]
	return m, known
}

// unfolded returns the stacks with one for each of some targets in the place of each stack in the unit: named and called as on backends.
func (w stacks) unfolded(targets []string) stacks {
	var all stacks
	for _, s := range w {
		if !slices.Contains(s.targets, unitAccess.Name) {
			all = append(all, s)
			continue
		}
		for _, t := range targets {
			one := s
			one.targets, one.of = nil, t
			one.name, one.physical = at(s.name, t), at(s.physical, t)
			all = append(all, one)
		}
	}
	return all
}

// ofUnit checks a step that starts of a run that was planned from files.
func (w *monitor) ofUnit(r run.Run, s run.Step) {
	account, in := inUnit(s.Node)
	o := plan.AllOperations().Of(r.Operation)
	m, known := w.units.members[r.ID]
	if !in || !known || !requests(s.Verb) || !o.NeedsFiles {
		return
	}
	if s.Verb != plan.Delete {
		w.holds(listedOnly, m.listed[project.MemberName(unitAccess.Name, account)], "%s of run %s starts, whose plan has listed %v", s.ID, r.ID, slices.Sorted(maps.Keys(m.listed)))
		return
	}
	w.holds(keepsThere, !m.shut[account], "%s of run %s starts, and the account was closed when the plan was made", s.ID, r.ID)
	name, _, _ := strings.Cut(s.Node, "@")
	desired := w.sources[r.Source].named(name)
	replaced := has(r, s.Node, plan.Create) || r.Operation == "replace" || r.Operation == "prune"
	w.holds(keepsThere, !m.in[account] || desired.physical == "" || len(desired.targets) == 0 || replaced, "%s of run %s starts, and the account was in the unit when the plan was made", s.ID, r.ID)
}

// spreads checks the stacks in the unit after a deploy without faults, and that none is recorded elsewhere.
func (g *player) spreads(w stacks) {
	unusable := g.unusable()
	wanted := make(map[string]bool)
	for _, s := range w.unfolded(g.active()) {
		wanted[s.name] = true
		if s.of != "" {
			g.holds(spread, g.Status(s.nameOnBackend()).Good(), "%s is %q", s.name, g.Status(s.nameOnBackend()))
		}
	}
	for name := range g.Recorded() {
		if account, in := inUnit(name); in {
			g.holds(spread, wanted[name] || unusable[account], "%s is recorded, and the accounts are %v", name, g.active())
		}
	}
}

// reinstate brings all accounts back, and reports whether some were closed.
func (g *player) reinstate() bool {
	some := false
	for _, id := range slices.Sorted(maps.Keys(g.units.accounts)) {
		switch a := g.units.accounts[id]; {
		case a.closed:
			g.accountLine(line{"account", id, "reopens"})
		case a.gone:
			g.accountLine(line{"account", id, "joins"})
		default:
			continue
		}
		some = true
	}
	return some
}
