package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A candidate is a resource that a plan removes from a stack or adds to one, and that may be the same
// as one of another stack.
type candidate struct {
	ResourceChange
	stack    string
	action   StackAction // of the stack
	place    place
	declared template.Resource
	in       *template.Evaluation
	matched  bool
}

// candidates are the resources that a plan removes and adds for certain.
type candidates struct{ removed, added []*candidate }

// collect adds the resources of a stack.
func (all *candidates) collect(c StackChange, at place, before, after difference.Side, uncertain map[string]string) {
	was, is := known(before, nil), known(after, uncertain)
	for _, r := range c.Resources {
		switch {
		case r.Possible || unmovable(r.Type) != "":
		case r.Action == difference.Remove:
			all.removed = append(all.removed, &candidate{ResourceChange: r, stack: c.Stack, action: c.Action, place: at, declared: before.Template.Resources[r.ID], in: was})
		case r.Action == difference.Add:
			all.added = append(all.added, &candidate{ResourceChange: r, stack: c.Stack, action: c.Action, place: at, declared: after.Template.Resources[r.ID], in: is})
		}
	}
}

// kind is what two candidates must have in common.
func (c *candidate) kind() string { return c.place.account + " " + c.place.region + " " + c.Type + " " }

// named identifies a candidate by its physical name; empty if CloudFormation chooses it, or it is not
// known.
func (c *candidate) named() string {
	key := c.kind()
	typ, _ := resource.Named(c.Type)
	for _, property := range typ.Identifier {
		value, known := template.Text(c.in.Reduce(c.declared.Property(property)))
		if !known || value == "" {
			return ""
		}
		key += value + "|"
	}
	return key
}

// alike identifies a candidate by its properties; empty if it has none.
func (c *candidate) alike() string {
	properties, err := json.Marshal(c.in.Reduce(c.declared.Properties))
	if c.declared.Properties == nil || err != nil {
		return ""
	}
	return c.kind() + string(properties)
}

// same identifies a candidate by its properties and its ID in the template.
func (c *candidate) same() string {
	properties, err := json.Marshal(c.in.Reduce(c.declared.Properties))
	if err != nil {
		return ""
	}
	return c.kind() + c.ID + " " + string(properties)
}

// pairs returns the resources that seem to be moved, each with the one that it became. One that could have
// become several, or could have been several, has no pair.
func (all candidates) pairs() [][2]*candidate {
	var pairs [][2]*candidate
	if len(all.removed) == 0 || len(all.added) == 0 {
		return nil
	}
	for _, key := range []func(*candidate) string{(*candidate).named, (*candidate).same, (*candidate).alike} { // the strongest first
		removed, added := byKey(all.removed, key), byKey(all.added, key)
		for _, was := range all.removed {
			k := key(was)
			if was.matched || k == "" || len(removed[k]) != 1 || len(added[k]) != 1 || added[k][0].stack == was.stack {
				continue
			}
			is := added[k][0]
			was.matched, is.matched = true, true
			pairs = append(pairs, [2]*candidate{was, is})
		}
	}
	return pairs
}

// byKey indexes the candidates that have no pair yet.
func byKey(all []*candidate, key func(*candidate) string) map[string][]*candidate {
	by := make(map[string][]*candidate)
	for _, c := range all {
		if !c.matched {
			by[key(c)] = append(by[key(c)], c)
		}
	}
	return by
}

// moveHints says of resources that one stack loses and another gets how to move them instead: one message for each
// two stacks. Stacks of which the plan says that one is the other with another name need none.
func (all candidates) moveHints(twins []Twin) []string {
	by := make(map[[2]string][][2]*candidate)
	for _, p := range all.pairs() {
		from, _, _ := strings.Cut(p[0].stack, "@")
		to, _, _ := strings.Cut(p[1].stack, "@")
		renamed := slices.ContainsFunc(twins, func(t Twin) bool { return t.Deleted == from && t.Created == to })
		if from != to && !renamed {
			by[[2]string{from, to}] = append(by[[2]string{from, to}], p)
		}
	}
	var hints []string
	for _, names := range slices.SortedFunc(maps.Keys(by), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		hints = append(hints, moveHint(names[0], names[1], by[names]))
	}
	return hints
}

// moveHint says how to move resources from one stack to another.
func moveHint(from, to string, pairs [][2]*candidate) string {
	slices.SortFunc(pairs, func(a, b [2]*candidate) int { return cmp.Compare(a[0].ID, b[0].ID) })
	pairs = slices.CompactFunc(pairs, func(a, b [2]*candidate) bool { return a[0].ID == b[0].ID }) // of other targets
	var were, are, keys, lost, changed []string
	for _, p := range pairs {
		were, are, keys = append(were, from+"."+p[0].ID), append(are, to+"."+p[1].ID), append(keys, p[0].ID+": "+p[1].ID)
		if p[0].DataLoss && !slices.Contains(lost, p[0].Loses) {
			lost = append(lost, p[0].Loses)
		}
		if p[0].alike() != p[1].alike() {
			changed = append(changed, p[1].ID)
		}
	}
	seems, them := "seems", "it"
	if len(pairs) > 1 {
		seems, them = "seem", "them"
	}
	deletes := "which this plan deletes"
	if len(lost) > 0 {
		deletes += " (data loss: " + strings.Join(lost, ", ") + ")"
	}
	text := fmt.Sprintf("%s %s to be moved from %s, %s: to move %s and keep %s, write move_from: {%s: {%s}} under %s", listed(are), seems, listed(were), deletes, them, them, from, listed(keys), to)
	if len(changed) > 0 {
		text += fmt.Sprintf(", with the properties of %s as they are deployed (a later deploy can change them)", listed(changed))
	}
	return text + before(pairs[0])
}

// before says what has to be done before a resource can be moved between two stacks.
func before(pair [2]*candidate) string {
	var first []string
	for _, c := range pair {
		stack, _, _ := strings.Cut(c.stack, "@")
		switch c.action {
		case ActionAdopt:
			first = append(first, "adopt "+stack)
		case ActionCreate, ActionReplace:
			first = append(first, "deploy "+stack+" with another resource")
		case ActionDelete:
			first = append(first, "keep "+stack+" in the project, with another resource")
		}
	}
	if len(first) == 0 {
		return ""
	}
	return "; before that, " + strings.Join(first, " and ")
}

// known evaluates one side of a stack without the values that are secret or not known.
func known(s difference.Side, uncertain map[string]string) *template.Evaluation {
	if s.Template == nil {
		return nil
	}
	s.Scope.Parameters = maps.Clone(s.Scope.Parameters)
	maps.DeleteFunc(s.Scope.Parameters, func(name, _ string) bool {
		_, unknown := uncertain[name]
		return unknown || s.Template.Parameters[name].NoEcho
	})
	return s.Template.In(s.Scope)
}
