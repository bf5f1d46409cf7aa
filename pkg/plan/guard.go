package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

const (
	defaultMaxDeletions = 10 // the limit of a deploy that does not set one
	maxListed           = 50 // stacks in one message
)

// MaxDeletions returns how many stacks a deploy may delete permanently: the project's
// max_deletions. Without it, that is ten or half of the recorded stacks (rounded down),
// whichever is less, and at least one.
func (v View) MaxDeletions() int {
	if most := v.Desired.MaxDeletions; most != nil {
		return *most
	}
	return max(1, min(defaultMaxDeletions, len(v.Recorded)/2))
}

// guard refuses a plan that would delete more stacks than the user probably intends. A
// dead stack that is deleted and created again does not count, and neither does a stack
// that was created by the run which is rolled back. A stack whose physical name, account
// or region changes counts, because the old stack is deleted permanently.
func (v View) guard() []error {
	if len(v.Desired.Nodes) == 0 && len(v.Recorded) > 0 && len(v.Desired.Ignored)+len(v.Desired.Obsolete) == 0 {
		why := strings.Join(append([]string{""}, v.unplaced()...), "; ")
		return []error{fault.New(fault.Refused, "project %s has no stacks, and %d are recorded: to delete all its stacks, use destroy%s", v.Desired.ID(), len(v.Recorded), why)}
	}
	going, most := v.permanentDeletions(), v.MaxDeletions()
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

// permanentDeletions lists the stacks that are deleted permanently, sorted: managed
// stacks that exist, or may exist, and are no longer desired.
func (v View) permanentDeletions() []string {
	about, _ := v.selected()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if v.deletesPermanently(name, about) && !v.created(name) {
			names = append(names, v.Recorded[name].displayName())
		}
	}
	slices.Sort(names)
	return names
}

// deletesPermanently reports whether an operation on the selected nodes, nil for all,
// deletes a recorded stack permanently.
func (v View) deletesPermanently(name string, about map[string]bool) bool {
	return v.removes(name, about) && v.exists(name)
}

// displayName returns the name of a record's stack for people. If the node has got
// another physical stack, this is the old name of the node, with the physical name.
func (r Record) displayName() string {
	if left := r.formerNode(); left != "" {
		return fmt.Sprintf("%s (%s)", left, r.Stack)
	}
	return r.Node
}

// formerNode returns the node that had this record's stack before it got another
// physical stack; "" if the record belongs to its node.
func (r Record) formerNode() string {
	if r.Node == r.StackID || strings.HasPrefix(r.Node, unknownID) {
		return r.FormerName
	}
	return ""
}

// listed joins names, at most the first mostNamed.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
