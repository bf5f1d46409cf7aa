package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
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

// Departed returns an error of kind Refused if stacks that a plan creates or updates, by node, are in accounts of units to which the files are not
// deployed any more: an account has left its unit since the plan was made, or is not active.
func Departed(desired project.Project, deployed []string) error {
	by := make(map[string][]string)
	for _, node := range deployed {
		_, target, _ := strings.Cut(node, "@")
		of, account, member := project.UnitOf(target)
		if _, has := desired.Nodes[node]; !member || has {
			continue
		}
		why := fmt.Sprintf("account %s has left the unit of target %s since the plan was made, is not active, or is left out (--except), so that nothing is deployed there: deploy again, which makes a new plan (stackwright targets shows the accounts)", account, of)
		if lost := desired.Lost[of]; lost != nil {
			why = lost.Error()
		}
		if !slices.Contains(by[why], node) {
			by[why] = append(by[why], node)
		}
	}
	var all []error
	for _, why := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[why])
		all = append(all, fault.New(fault.Refused, "%s: %s", listed(by[why]), why))
	}
	return errors.Join(all...)
}

// Undestroyed reports whether stacks are recorded that a destroy of all stacks, which has succeeded, has not deleted, because nobody could reach them. Those
// that it leaves alone are none of them.
func Undestroyed(destroyed project.Project, recorded map[string]Record) bool {
	for name := range recorded {
		if !destroyed.Ignores(name) {
			return true
		}
	}
	return false
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

// messages says why stacks are what the text says, once for each reason.
func (a Unreachable) messages(what string) []string {
	by := make(map[string][]string)
	for name, why := range a {
		by[why] = append(by[why], name)
	}
	var all []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		names := by[why]
		slices.Sort(names)
		all = append(all, fmt.Sprintf("%s: %s: %s", what, listed(names), why))
	}
	return all
}

// remains says of an operation that deletes all stacks what becomes of those that it cannot reach.
func (v View) remains(o Operation) []string {
	if !o.DeletesAll || len(v.Unreachable) == 0 {
		return nil
	}
	return []string{"this run does not delete these stacks, because nobody can use their accounts now: when an account can be used again, run stackwright destroy again; if it is closed for good, delete the records with stackwright forget. If the environment has expired, Stackwright repeats the destroy by itself, as after a destroy that fails"}
}

// unplaced says which stacks of the files are deployed nowhere, but for those that are recorded and unreachable; for a partial request, only those that it
// names.
func (v View) unplaced() []string {
	about := maps.Clone(v.Desired.Unplaced)
	maps.DeleteFunc(about, func(name string, _ string) bool {
		return v.Unreachable[name] != "" || v.Selection.Partial() && !slices.Contains(v.Only, name)
	})
	return Unreachable(about).messages("deployed nowhere for now")
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
