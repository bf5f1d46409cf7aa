package plan

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// phases are the steps of each node's phase, in order. Only the builder knows their IDs
// and edges.
type phases map[string][]Step

// in returns the ID of a step of a node's phase.
func (s Step) in(node string) string { return StepID(node, s.Verb, s.Qualifier) }

// names lists the nodes that have steps in the phase, sorted.
func (l phases) names() []string {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(l)) {
		if len(l[n]) > 0 {
			names = append(names, n)
		}
	}
	return names
}

// first names the first step of a node's phase.
func (l phases) first(node string) string { return l[node][0].in(node) }

// last names the last steps of the phases of the given nodes.
func (l phases) last(nodes ...string) []string {
	var ids []string
	for _, n := range nodes {
		if k := len(l[n]); k > 0 {
			ids = append(ids, l[n][k-1].in(n))
		}
	}
	return ids
}

// A builder makes the steps of all phases and puts them in order.
type builder struct {
	view              View
	deletes, deploys  phases
	possible          map[string]bool // nodes whose update may change nothing
	leaving, arriving map[string]Step // of the moves, by node
	moves             []Move
	graph             graph.Graph[string]
	steps             map[string]Step
}

// plan makes all phases and edges: the required edges first, then the optional ones,
// each only if it makes no cycle with the edges before it.
func (b *builder) plan() (Plan, error) {
	b.steps = make(map[string]Step)
	by := b.dependents()
	given := b.handovers()
	var optional []graph.Edge[string]
	for _, name := range b.deploys.names() {
		// (1) A node is deployed after its dependencies, (3) and after it was deleted.
		after := b.deletes.last(name)
		for _, need := range b.view.Desired.Nodes[name].Needs {
			if len(given) == 0 || len(b.deploys[need]) == 0 || !b.canPrecede(name, need) {
				after = append(after, b.deploys.last(need)...)
				continue
			}
			optional = append(optional, graph.Edge[string]{Later: b.deploys.first(name), Earlier: b.deploys.last(need)[0]})
		}
		b.addPhase(name, after, b.deploys[name]...)
	}
	if err := b.publish(); err != nil {
		return Plan{}, err
	}
	for _, name := range b.deletes.names() {
		if b.neverCreated(name) {
			b.addPhase(name, nil, b.deletes[name]...)
			continue
		}
		// (2) A node is deleted after its dependents.
		b.addPhase(name, b.deletes.last(by[name]...), b.deletes[name]...)
	}
	refusals := append(b.handOver(given), b.refuseTaken()...)
	if len(refusals) > 0 && !b.view.lenient {
		return Plan{}, errors.Join(refusals...)
	}
	b.graph.AddAcyclic(optional)
	b.move()
	if err := b.rollOut(); err != nil {
		return Plan{}, err
	}
	b.afterFormerUsers(by)
	users := b.users(by)
	// The deletes that some deploy waits for. No optional edge adds to them: from a
	// deploy back to such a delete there are only deletes, and optional edges lead
	// from deletes to deploys.
	awaited := b.graph.Reach(b.deploys.last(b.deploys.names()...)...)
	b.afterLastUse(users)
	b.afterCleanup()
	b.barrier(awaited)
	order, err := b.graph.Order()
	if err != nil {
		return Plan{}, fault.As(fault.Invalid, err)
	}
	p := Plan{Steps: make([]Step, len(order))}
	place := make(map[string]int, len(order))
	for i, id := range order {
		p.Steps[i], place[id] = b.steps[id], i
		for _, a := range b.graph.After(id) {
			p.Steps[i].After = append(p.Steps[i].After, place[a])
		}
		slices.Sort(p.Steps[i].After)
	}
	for _, err := range refusals {
		p.Messages = append(p.Messages, err.Error())
	}
	return p, nil
}

// dependents lists, for each node that a record needs, the recorded nodes that need
// it.
func (b *builder) dependents() map[string][]string {
	by := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(b.view.Recorded)) {
		for _, need := range b.view.Recorded[name].Needs {
			by[need] = append(by[need], name)
		}
	}
	return by
}

// neverCreated reports whether a node that stays has a stack whose creation failed. No
// stack uses it: what its recorded dependents use is a stack that it left behind, or
// nothing.
func (b *builder) neverCreated(node string) bool {
	_, stays := b.view.Desired.Nodes[node]
	return stays && b.view.Live[node].Status.NeverCreated()
}

// users lists, for each node in a delete phase, the recorded nodes that need it, or
// that needed it under its former name, before its node got another stack.
func (b *builder) users(by map[string][]string) map[string][]string {
	users := make(map[string][]string)
	for _, name := range b.deletes.names() {
		users[name] = append(users[name], by[name]...)
		if was := b.view.Recorded[name].FormerName; was != "" {
			users[name] = append(users[name], by[was]...)
		}
	}
	return users
}

// afterFormerUsers adds (2) for the stacks that nodes left behind, as optional
// edges. A record names the nodes that it needs and not their stacks, so a dependent
// of the node may need the stack that the node left or the one that it has by now.
func (b *builder) afterFormerUsers(by map[string][]string) {
	var optional []graph.Edge[string]
	for _, name := range b.deletes.names() {
		was := b.view.Recorded[name].FormerName
		if was == "" {
			continue
		}
		for _, dependent := range b.deletes.last(by[was]...) {
			optional = append(optional, graph.Edge[string]{Later: b.deletes.first(name), Earlier: dependent})
		}
	}
	b.graph.AddAcyclic(optional)
}

// afterLastUse adds (2b): a node is deleted after the deploy of its former dependents,
// which stay and no longer need it. The update of a dependent frees the resource only in
// its cleanup, and the update step ends before that.
func (b *builder) afterLastUse(users map[string][]string) {
	var optional []graph.Edge[string]
	for _, name := range b.deletes.names() {
		for _, u := range users[name] {
			if len(b.deploys[u]) > 0 && !slices.Contains(b.view.Desired.Nodes[u].Needs, name) {
				optional = append(optional, graph.Edge[string]{Later: b.deletes.first(name), Earlier: b.deploys.last(u)[0]})
			}
		}
	}
	for _, e := range b.graph.AddAcyclic(optional) {
		if b.view.exists(b.steps[e.Later].Node) {
			b.graph.Remove(e)
			b.graph.Add(e.Later, b.addWait(b.steps[e.Earlier].Node, cleanup, e.Earlier))
		}
	}
}

// cleanup is the qualifier of the steps that wait for CloudFormation's cleanup after an
// update, and of the barrier that comes after those of earlier updates.
const cleanup = "cleanup"

// afterCleanup makes every delete wait for the stacks whose cleanup is in progress. Such
// a stack may still use other stacks, and no record says which.
func (b *builder) afterCleanup() {
	deletes := slices.DeleteFunc(b.deletes.names(), func(name string) bool { return !b.view.exists(name) })
	if len(deletes) == 0 {
		return
	}
	var waits []string
	for _, u := range slices.Sorted(maps.Keys(b.view.Live)) {
		if b.view.Live[u].Status.Cleaning() {
			waits = append(waits, b.addWait(u, ""))
		}
	}
	if len(waits) == 0 {
		return
	}
	cleaned := Step{ID: StepID("", Barrier, cleanup), Verb: Barrier, Qualifier: cleanup}
	b.steps[cleaned.ID] = cleaned
	b.graph.Add(cleaned.ID, waits...)
	for _, name := range deletes {
		b.graph.Add(b.deletes.first(name), cleaned.ID)
	}
}

// addWait adds a step that waits until no operation on a node's stack is in progress, and
// returns its ID.
func (b *builder) addWait(node, qualifier string, after ...string) string {
	s := Step{ID: StepID(node, Wait, qualifier), Node: node, Where: b.view.where(node), Verb: Wait, Qualifier: qualifier}
	b.steps[s.ID] = s
	b.graph.Add(s.ID, after...)
	return s.ID
}

// barrier adds (4): stacks are deleted permanently after all others are deployed, as
// in CloudFormation's own cleanup phase, unless some deploy phase waits for the
// delete phase. One step between them saves deploys × deletes edges.
func (b *builder) barrier(awaited map[string]bool) {
	deployed := b.deploys.last(b.deploys.names()...)
	if len(deployed) == 0 {
		return
	}
	var going []string
	for _, name := range b.deletes.names() {
		_, stays := b.view.Desired.Nodes[name]
		if !stays && !awaited[b.deletes.last(name)[0]] {
			going = append(going, name)
		}
	}
	if len(going) == 0 {
		return
	}
	b.addPhase("", deployed, Step{Verb: Barrier})
	for _, name := range going {
		b.graph.Add(b.deletes.first(name), string(Barrier))
	}
}

// where names the account and region of a node's stack.
func (v View) where(node string) string {
	if n, ok := v.Desired.Nodes[node]; ok {
		return n.Target.Where()
	}
	return v.Recorded[node].Target.Where()
}

// Counted returns steps with what the limits of a run count them by: the group and the rollout of their stacks. A stack that is not in
// the files has the group with which it was last deployed, and is part of no rollout.
func (v View) Counted(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i, s := range steps {
		n, desired := v.Desired.Nodes[s.Node]
		if steps[i].Group = v.Recorded[s.Node].Group; desired {
			steps[i].Group = n.Group
		}
		if s.Node != "" && n.Rollout != nil {
			steps[i].Rollout = n.Rollout.Stack
		}
	}
	return steps
}

// addPhase adds the steps of a node's phase, the first after the given steps.
func (b *builder) addPhase(node string, after []string, steps ...Step) {
	for _, s := range steps {
		s.ID, s.Node, s.Where, s.Possible = s.in(node), node, cmp.Or(s.Where, b.view.where(node)), b.possible[node]
		b.graph.Add(s.ID, after...)
		b.steps[s.ID] = s
		after = []string{s.ID}
	}
}
