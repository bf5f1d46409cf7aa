package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/project"
)

// reasons says what about the stack itself, not its files, makes the plan have steps for
// it.
func (d describer) reasons(name string, a StackAction) []string {
	n, desired := d.Desired.Nodes[name]
	r, live := d.Recorded[name], d.Live[name]
	_, recorded := d.Recorded[name]
	var all []string
	add := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	exists := !live.Status.Gone()
	switch {
	case d.replacing[name] != "":
		return []string{d.replacing[name]}
	case a == ActionForget && d.exists(name):
		return []string{"only its record is deleted: the stack stays as it is"}
	case live.AccessError != "":
		return []string{"could not be read, so it is not known what changes"}
	case a == ActionForget:
		return []string{"its stack is gone: only its record is deleted"}
	case a == ActionLevel:
		return []string{"its level of approval changes, and nothing in AWS"}
	case a == ActionRetain:
		return []string{"what a deletion retains changes, and nothing in AWS"}
	case a == ActionRevert:
		return []string{fmt.Sprintf("has drifted, as run %s found: %s", r.Drift.Run, listed(r.Drift.Resources))}
	case a == ActionSuspend && r.Suspended != nil:
		return []string{"suspended already since " + r.Suspended.Since.UTC().Format(time.RFC3339)}
	case a == ActionHooks, a == ActionSuspend:
		return nil
	case a == ActionResume:
		return []string{"suspended since " + r.Suspended.Since.UTC().Format(time.RFC3339)}
	case a == ActionAdopt:
		return []string{"it exists, and no project owns it"}
	case !desired && r.formerNode() != "":
		return []string{fmt.Sprintf("%s gets another physical name, account or region: a new stack is created, and this one is deleted", r.formerNode())}
	case !desired && d.Desired.IsObsolete(name):
		return []string{"obsolete: true in the project's files"}
	case !desired && len(d.Desired.Nodes) == 0: // a destroy deletes all stacks
		return nil
	case !desired && d.leftUnit(r.Target) != "":
		return []string{fmt.Sprintf("account %s has left the unit of target %s, or is left out of it", r.Target.Account, d.leftUnit(r.Target))}
	case !desired:
		return []string{"no longer in the project"}
	case !exists && !recorded && d.moved[name]:
		return []string{"gets another physical name, account or region: this stack is created, and the former one is deleted"}
	case !exists && !recorded:
		return []string{"new in the project"}
	case !exists:
		return []string{"deleted outside Stackwright, or never created"}
	case a == ActionCreate: // what is there was never created
		return []string{"new in the project"}
	case a == ActionReplace:
		return []string{fmt.Sprintf("never finished: it is %s and can only be created again", live.Status)}
	}
	add(live.Status.Busy(), "another operation is in progress: %s", live.Status)
	add(live.Status.Stuck(), "never finished: it is %s, and its rollback is continued first", live.Status)
	moved := d.asMoved(name)
	add(moved != nil, "%s", moved)
	unfinished := moved == nil && r.Digest == "" && !live.Status.Busy() && !live.Status.Stuck()
	add(unfinished && r.Token == "" && r.IsAdopted(), "adopted, and not deployed since")
	add(r.OtherPolicy, "its stack policy was changed outside Stackwright")
	add(unfinished && !r.OtherPolicy && (r.Token != "" || !r.IsAdopted()), "never finished: its last operation failed or was interrupted")
	outside := d.changedOutside(name)
	if moved != nil {
		outside = outside && d.changedSince(*moved, name)
	}
	add(outside, "changed outside Stackwright since it was last deployed")
	add(recorded && !slices.Equal(n.Needs, r.Needs), "depends on other stacks than before")
	add(r.Current(live) && !maps.Equal(r.Outputs, live.Outputs), "its outputs are not those that are recorded")
	return all
}

// explain adds what differs to the reasons, and why a stack without differences has a
// step.
func (d describer) explain(c *StackChange, n project.Node, compared bool) {
	if !c.Action.Existing() || c.Action == ActionLevel || c.Action == ActionRetain || c.Action == ActionHooks {
		return
	}
	var parts []string
	for _, p := range []struct {
		what string
		all  []ValueChange
	}{{"parameters", c.Parameters}, {"tags", c.Tags}, {"options", c.Options}} {
		if slices.ContainsFunc(p.all, func(v ValueChange) bool { return v.Known }) {
			parts = append(parts, p.what)
		}
	}
	if deployed, _ := d.TemplateOf(n.Name); compared && deployed != n.Template.Digest && !d.Found[n.Name].Identical {
		parts = append(parts, "template")
	}
	if len(parts) > 0 {
		c.Reasons = append(c.Reasons, "changed here: "+strings.Join(parts, ", "))
	}
	for _, need := range n.Needs {
		if _, changes := d.uncertain[need]; changes && c.Certainty == Possible {
			c.Reasons = append(c.Reasons, "depends on "+need+", which changes")
		}
	}
	if c.stale && len(parts) == 0 && d.anyReading(n) == "" {
		c.Reasons = append(c.Reasons, "what its template reads may have changed since: "+n.Reads[0].String())
	}
	switch {
	case !compared || len(c.Parameters)+len(c.Tags)+len(c.Options)+len(c.Resources)+len(c.Outputs) > 0:
	case !d.pinned(n):
		if len(c.Reasons) == 0 {
			c.Certainty = Possible
		}
		c.Caveats = append(c.Caveats, "CloudFormation decides whether anything changes: the stack uses "+strings.Join(d.unpinned(n), ", "))
	default:
		c.Caveats = append(c.Caveats, "no difference was found")
	}
}

// pinned reports whether what a stack deploys follows from the values as they are now.
func (d describer) pinned(n project.Node) bool {
	got, err := n.Resolve(d.output)
	return n.Template.Pinned && (err != nil || Pinned(n, got))
}

// unpinned names what the values of a stack are not known by: macros, nested stacks, and
// references to values that have no version.
func (d describer) unpinned(n project.Node) []string {
	var all []string
	if t, err := d.templates(n.Template.Digest); err == nil {
		for _, l := range t.Loose() {
			what := l.What
			if difference.Secret(what) { // the plan shows no reference to a secret
				what = "a secret without a version"
			}
			all = append(all, fmt.Sprintf("%s (line %d)", what, l.Line))
		}
	}
	if len(all) == 0 {
		return []string{"a value without a version in its parameters or tags"}
	}
	return all
}
