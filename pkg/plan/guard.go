package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

const (
	mostDeletions = 10 // the limit of a deploy that does not set one
	mostNamed     = 50 // stacks in one message
)

// MaxDeletions returns how many stacks a deploy may delete permanently: the project's
// max_deletions. Without it, that is ten or half of the recorded stacks (rounded down),
// whichever is less, and at least one.
func (v View) MaxDeletions() int {
	if most := v.Desired.MaxDeletions; most != nil {
		return *most
	}
	return max(1, min(mostDeletions, len(v.Recorded)/2))
}

// guard refuses a plan that would delete more stacks than the user probably intends. A
// dead stack that is deleted and created again does not count, and neither does a stack
// that was created by the run which is rolled back. A stack whose physical name, account
// or region changes counts, because the old stack is deleted permanently.
func (v View) guard() []error {
	if len(v.Desired.Nodes) == 0 && len(v.Recorded) > 0 {
		return []error{fault.New(fault.Refused, "project %s has no stacks, and %d are recorded: to delete all its stacks, use destroy", v.Desired.ID(), len(v.Recorded))}
	}
	going, most := v.going(), v.MaxDeletions()
	if len(going) <= most {
		return nil
	}
	refusals := []error{fault.New(fault.Refused, "%d of the %d recorded stacks would be deleted permanently (%s), and at most %d may be: if this is intended, write max_deletions: %d in the project file, or deploy with --max-deletions %d (options.max_deletions of a request)",
		len(going), len(v.Recorded), listed(going), most, len(going), len(going))}
	for _, t := range v.twins() {
		refusals = append(refusals, fault.New(fault.Refused, "%s", t))
	}
	return refusals
}

// going lists the stacks that are deleted permanently, sorted: those that exist, or
// may exist, are ours, and are no longer desired, whether or not they may be
// deleted.
func (v View) going() []string {
	about, _ := v.reach()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if v.goes(name, about) && !v.created(name) {
			names = append(names, v.Recorded[name].called())
		}
	}
	slices.Sort(names)
	return names
}

// goes reports whether an operation about the given nodes, nil for all, deletes a
// recorded stack permanently.
func (v View) goes(name string, about map[string]bool) bool {
	_, stays := v.Desired.Nodes[name]
	return !stays && v.exists(name) && (about == nil || about[name])
}

// called returns the name by which a person knows the stack of a record. For a stack
// that its node left behind, this is the name that the node had, and the physical
// name.
func (r Record) called() string {
	if left := r.leftName(); left != "" {
		return fmt.Sprintf("%s (%s)", left, r.Stack)
	}
	return r.Node
}

// leftName returns the name of the node that left this record behind for another
// physical stack; "" if none did.
func (r Record) leftName() string {
	if r.Node == r.StackID || strings.HasPrefix(r.Node, unknownID) {
		return r.FormerName
	}
	return ""
}

// listed joins names, at most the first mostNamed.
func listed(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
