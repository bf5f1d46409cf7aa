package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// Unreachable are recorded stacks that are no longer desired, and that nobody can reach at present, because their account is closed or has left the
// organization: by node, with why. No operation but a forget is about them, and their records stay.
type Unreachable map[string]string

// TargetsLeft returns the targets of the recorded stacks that are no longer desired.
func TargetsLeft(desired project.Project, recorded map[string]Record) []project.Target {
	all := make(map[project.Target]bool)
	for name, r := range recorded {
		if _, wanted := desired.Nodes[name]; !wanted {
			all[r.Target] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), project.Target.Compare)
}

// Unreached returns the recorded stacks that are no longer desired and that are unreachable, and those of which that is not known, which cannot be
// read. If the operation is about one of the latter, it is an error, except of an operation that sends no request there. v needs only the desired
// and recorded stacks and the selection.
func (v View) Unreached(found project.Unreached, o Operation) (closed, unread Unreachable, err error) {
	closed, unread = make(Unreachable), make(Unreachable)
	about, refusals := v.beforeRead()
	unknown := make(map[string]error) // by their texts
	for name, r := range v.Recorded {
		if _, wanted := v.Desired.Nodes[name]; wanted {
			continue
		}
		of, _, member := project.UnitOf(r.Target.Name)
		why := found.Unknown[r.Target]
		if lost := v.Desired.Lost[of]; member && lost != nil {
			why = lost
		}
		switch {
		case found.Closed[r.Target] != "":
			closed[name] = found.Closed[r.Target]
		case why != nil:
			if unread[name] = why.Error(); !o.OfUnreachable && about(name) {
				unknown[why.Error()] = why
			}
		}
	}
	if len(refusals) > 0 { // what matches nothing may be what the files say of these units
		for _, why := range v.Desired.Lost {
			unknown[why.Error()] = why
		}
	}
	var all []error
	for _, text := range slices.Sorted(maps.Keys(unknown)) {
		all = append(all, unknown[text])
	}
	return closed, unread, errors.Join(all...)
}

// beforeRead returns which stacks the selection may select, before the live stacks are read: their tags are not known yet, so that a pattern of
// tags may mean all.
func (v View) beforeRead() (may func(name string) bool, refusals []error) {
	c, refusals := v.choose()
	if c.about == nil || slices.ContainsFunc(v.Only, func(p string) bool { return strings.HasPrefix(p, tagged) }) {
		return func(string) bool { return true }, nil
	}
	by, _ := v.matched(OptionExclude, v.Exclude, v.selectables())
	return func(name string) bool { _, left := by[name]; return c.about[name] && !left }, refusals
}

// Others returns the records of all other stacks.
func (a Unreachable) Others(recorded map[string]Record) map[string]Record {
	if len(a) == 0 {
		return recorded
	}
	others := maps.Clone(recorded)
	for name := range a {
		delete(others, name)
	}
	return others
}

// Leaving returns the view without the stacks that are unreachable. For an operation that is also about these, it says why they cannot be read, as it
// does for those that cannot be read at all.
func (v View) Leaving(a, unread Unreachable, o Operation) View {
	if !o.OfUnreachable {
		v.Recorded, v.Unreachable = a.Others(v.Recorded), a
		a = nil
	}
	if len(a)+len(unread) == 0 {
		return v
	}
	v.Live = maps.Clone(v.Live)
	if v.Live == nil {
		v.Live = make(map[string]Live)
	}
	maps.Copy(unread, a)
	for name, why := range unread {
		v.Live[name] = Live{AccessError: why}
	}
	return v
}

// messages says which stacks are unreachable, once for each account.
func (a Unreachable) messages() []string {
	by := make(map[string][]string)
	for name, why := range a {
		by[why] = append(by[why], name)
	}
	var all []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		names := by[why]
		slices.Sort(names)
		all = append(all, fmt.Sprintf("not reachable for now, and kept in the records: %s: %s", listed(names), why))
	}
	return all
}

// leftUnit returns the name of the target whose unit a target was of, if the project has stacks in that unit still and none in the account; "" otherwise.
func (v View) leftUnit(t project.Target) string {
	left, _, member := project.UnitOf(t.Name)
	if !member {
		return ""
	}
	name := ""
	for _, n := range v.Desired.Nodes {
		switch of, _, _ := project.UnitOf(n.Target.Name); {
		case n.Target == t:
			return ""
		case of == left:
			name = left
		}
	}
	return name
}
