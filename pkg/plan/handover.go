package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// A handover is an export that a plan gives up, and what else the plan does with its name.
type handover struct {
	giver, export string
	revalued      bool   // the giver keeps it with another value, which CloudFormation refuses like a deletion
	done, first   string // the last and the first step of the giver
	updated       bool   // the giver is updated and not deleted
	taker         string // the node that takes the name; "" if none does
	importers     []string
}

// handovers lists the exports that the plan gives up, in their order.
func (b *builder) handovers() []handover {
	takers := b.takers()
	var all []handover
	given := b.view.GivenUp()
	for name, uses := range b.view.InUse {
		for export, use := range uses {
			if use.Revalued && !slices.Contains(given[name], export) {
				given[name] = append(given[name], export)
			}
		}
		slices.Sort(given[name])
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		h := handover{giver: name}
		switch {
		case len(b.deletes[name]) > 0:
			h.first, h.done = b.deletes.first(name), b.deletes.last(name)[0]
		case len(b.deploys[name]) > 0:
			h.first, h.done, h.updated = b.deploys.first(name), b.deploys.last(name)[0], true
		default:
			continue
		}
		for _, export := range given[name] {
			use := b.view.InUse[name][export]
			h.export, h.importers, h.revalued = export, use.Importers, use.Revalued
			if h.taker = takers[exportAt{b.view.placeOfNode(name), export}]; h.taker == name {
				h.taker = ""
			}
			all = append(all, h)
		}
	}
	return all
}

// An exportAt is the name of an export or a stack in the account and region where it is unique.
type exportAt struct {
	place
	name string
}

// takers lists the nodes that are deployed and make an export, by the export.
func (b *builder) takers() map[exportAt]string {
	all := make(map[exportAt]string)
	for _, name := range b.deploys.names() {
		n := b.view.Desired.Nodes[name]
		for _, export := range n.Links.Exports {
			if export != "" {
				all[exportAt{placeOf(n.Target), export}] = name
			}
		}
	}
	return all
}

// placeOfNode returns the account and region of a node's stack.
func (v View) placeOfNode(name string) place {
	if n, desired := v.Desired.Nodes[name]; desired {
		return placeOf(n.Target)
	}
	return placeOf(v.Recorded[name].Target)
}

// handOver adds (7), a stack that gives up an import is updated or deleted before the stack that gives up the
// export, and (8), a stack that gives up the name of an export before the stack that takes it. It returns why the
// plan cannot be carried out.
//
// AWS does not document when the update of an importer frees the export, at its end or after its cleanup. So the
// next step waits for the end of the cleanup.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func (b *builder) handOver(all []handover) []error {
	if len(all) == 0 {
		return nil
	}
	owners := b.view.owners()
	var refusals []error
	var edges []graph.Edge[string]
	waits := make(map[string]string) // by the step that an edge comes from: the node whose cleanup is waited for
	after := make(map[graph.Edge[string]]handover)
	add := func(h handover, later, earlier string) {
		e := graph.Edge[string]{Later: later, Earlier: earlier}
		if _, known := after[e]; !known && later != earlier {
			after[e], edges = h, append(edges, e)
		}
	}
	for _, h := range all {
		for _, stack := range h.importers {
			done, node, err := b.frees(h, stack, owners[exportAt{b.view.placeOfNode(h.giver), stack}])
			switch {
			case err != nil:
				refusals = append(refusals, err)
			case done != "":
				if node != "" {
					waits[done] = node
				}
				add(h, h.first, done)
			}
		}
		if h.taker != "" {
			if h.updated {
				waits[h.done] = h.giver
			}
			add(h, b.deploys.first(h.taker), h.done)
		}
	}
	added := b.graph.AddAcyclic(edges)
	for _, e := range edges {
		if !slices.Contains(added, e) {
			refusals = append(refusals, b.noOrder(after[e], b.steps[e.Earlier].Node))
		}
	}
	for _, e := range added {
		if node := waits[e.Earlier]; node != "" {
			b.graph.Remove(e)
			b.graph.Add(e.Later, b.addWait(node, cleanup, e.Earlier))
		}
	}
	return refusals
}

// frees returns the step after which a stack, which is that of the node name, no longer imports an export, and the
// node whose cleanup has to be over too; both are "" if the plan need not wait. The error says why the stack goes
// on importing it.
func (b *builder) frees(h handover, stack, name string) (done, cleaned string, err error) {
	v := b.view
	n, desired := v.Desired.Nodes[name]
	switch {
	case name == h.giver:
		return "", "", nil
	case name == "":
		return "", "", b.held(h, stack, ", which is not part of this plan, imports it", "remove that import first")
	case !desired && len(b.deletes[name]) > 0:
		return b.deletes.last(name)[0], "", nil
	case v.Live[name].Status.Cleaning() && !n.Links.Imported(h.export) && len(b.deploys[name]) == 0:
		return b.addWait(name, cleanup), "", nil
	case !desired || v.stays(name):
		return "", "", b.held(h, name, ", which this plan leaves as it is, imports it", "let the plan be about "+name+" too")
	case n.Links.Imported(h.export):
		return "", "", b.held(h, name, " goes on importing it", "remove that import too, or keep the export")
	case len(b.deletes[name]) > 0:
		return b.deletes.last(name)[0], "", nil
	case len(b.deploys[name]) > 0:
		return b.deploys.last(name)[0], name, nil
	}
	return "", "", nil // its last update dropped the import
}

// owners lists the nodes that have a stack, or adopt it, by the place of the stack.
func (v View) owners() map[exportAt]string {
	all := make(map[exportAt]string, len(v.Recorded))
	for name, r := range v.Recorded {
		if v.managed(name) {
			all[exportAt{placeOf(r.Target), r.Stack}] = name
		}
	}
	for name, n := range v.Desired.Nodes {
		if v.adopts(name) {
			all[exportAt{placeOf(n.Target), n.Stack}] = name
		}
	}
	return all
}

// held refuses a plan because of a stack that goes on importing an export.
func (b *builder) held(h handover, user, why, do string) error {
	what, refuses := "gives up", "deletes no export that is in use"
	switch {
	case h.revalued:
		what, refuses = "changes the value of", "changes no export that is in use"
		if strings.HasSuffix(why, "goes on importing it") {
			do = "make a new export with the new value, let " + user + " import that, and remove the old one in a later deploy"
		}
	case !h.updated:
		what = "would be deleted with"
	}
	if h.taker != "" {
		do = fmt.Sprintf("give the export another name in %s, and let %s import that; "+
			"remove the export from %s in a later deploy", h.taker, user, b.view.shownName(h.giver))
	}
	return fault.New(fault.Refused, "stack %s %s the export %s, but %s%s, and CloudFormation %s: %s",
		b.view.shownName(h.giver), what, h.export, user, why, refuses, do)
}

// noOrder refuses a plan because an edge that an export demands makes a cycle with others.
func (b *builder) noOrder(h handover, earlier string) error {
	giver := b.view.shownName(h.giver)
	if earlier == h.giver {
		return fault.New(fault.Refused, "export %s moves from stack %s to %s, but %s has to be deployed before %s: no order works, "+
			"because two stacks cannot have an export of one name: deploy %s without the export first",
			h.export, giver, h.taker, h.taker, giver, giver)
	}
	return fault.New(fault.Refused, "stack %s gives up the export %s, which %s imports until it is updated, but %s has to be deployed "+
		"before %s: no order works: keep the export in this deploy, and remove it in the next", giver, h.export, earlier, giver, earlier)
}

// canPrecede reports whether a node may be deployed before one that it depends on: it only imports from it, and
// its stack has all that already. CloudFormation changes no value of an export while it is in use.
func (b *builder) canPrecede(name, need string) bool {
	n := b.view.Desired.Nodes[name]
	if len(b.deletes[need]) > 0 || slices.Contains(usedBy(n), need) || n.Links.MayImport("") {
		return false
	}
	live := slices.Collect(maps.Values(b.view.Live[need].Exports))
	uses := false
	for _, export := range b.view.Desired.Nodes[need].Links.Exports {
		if n.Links.Imported(export) && export != "" {
			uses = true
			if !slices.Contains(live, export) {
				return false
			}
		}
	}
	return uses && placeOf(n.Target) == placeOf(b.view.Desired.Nodes[need].Target)
}
