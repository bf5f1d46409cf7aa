package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// Losses is what the execution of a plan deletes, replaces and loses, for people, a line each.
type Losses struct {
	Deleted  []string // stacks, at most two lines
	Refused  []string // resources whose change CloudFormation will refuse, a stack a line
	Replaced []string // resources, a stack a line
	Skipped  []string // resources that a rollback does not restore, a stack a line
	Lost     []string // data of resources, and data that hooks delete
	MayLose  []string // data of resources
	Unknown  []string // stacks whose resources are not all known
}

// All returns all lines, those first that matter most.
func (l Losses) All() []string {
	return slices.Concat(l.Lost, l.MayLose, l.Unknown, l.Skipped, l.Deleted, l.Replaced, l.Refused)
}

// Alters reports whether the plan may lose something: it changes or deletes stacks that exist, or calls hooks.
func (p Plan) Alters() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.does(Update, Delete, Revert, Hook) })
}

// Losses says what the execution of the plan deletes, replaces and loses.
func (c Changes) Losses() Losses {
	var all Losses
	var deleted, again []string
	for _, s := range c.Stacks {
		s.addLosses(&all)
		switch s.Action {
		case ActionDelete:
			deleted = append(deleted, s.Stack+" ("+s.Name+")")
		case ActionReplace:
			again = append(again, s.Stack+" ("+s.Name+")")
		}
	}
	for what, stacks := range map[string][]string{"DELETED: ": deleted, "DELETED AND CREATED AGAIN: ": again} {
		if len(stacks) > 0 {
			all.Deleted = append(all.Deleted, what+few(stacks))
		}
	}
	slices.Sort(all.Deleted)
	for _, h := range c.Hooks {
		if h.Loses != "" {
			all.Lost = append(all.Lost, fmt.Sprintf("DATA LOSS: hook %s, %s (%s)", h.Name, h.Calls, h.Loses))
		}
	}
	return all
}

func (c StackChange) addLosses(all *Losses) {
	var replaced, refused []string
	for _, r := range c.Resources {
		switch {
		case r.DataLoss:
			all.Lost = append(all.Lost, fmt.Sprintf("DATA LOSS: %s %s, %s (%s)", c.Stack, r.ID, r.Goes(), r.Loses))
		case r.PossibleDataLoss:
			all.MayLose = append(all.MayLose, fmt.Sprintf("POSSIBLE DATA LOSS: %s %s, if it is %s (%s)", c.Stack, r.ID, r.Goes(), r.Loses))
		case r.Refused != "":
			refused = append(refused, r.ID)
		case r.Action == difference.Replace:
			replaced = append(replaced, r.ID)
		}
	}
	for _, h := range c.Hooks {
		if h.Loses != "" {
			all.Lost = append(all.Lost, fmt.Sprintf("DATA LOSS: %s hook %s, %s (%s)", c.Stack, h.Name, h.Calls, h.Loses))
		}
	}
	if c.UnknownDataLoss {
		all.Unknown = append(all.Unknown, fmt.Sprintf("DATA LOSS UNKNOWN: stack %s has resources that the plan does not know", c.Stack))
	}
	if len(c.Skips) > 0 {
		all.Skipped = append(all.Skipped, fmt.Sprintf("SKIPPED: %s %s", c.Stack, saySkipped(c.Skips)))
	}
	if len(replaced) > 0 {
		all.Replaced = append(all.Replaced, fmt.Sprintf("REPLACED: %s %s", c.Stack, strings.Join(replaced, ", ")))
	}
	if len(refused) > 0 {
		all.Refused = append(all.Refused, fmt.Sprintf("REFUSED by CloudFormation: %s %s", c.Stack, strings.Join(refused, ", ")))
	}
}

// maxDeleted is how many stacks a line names.
const maxDeleted = 20

// few lists stacks, and counts those of which there are too many to name.
func few(stacks []string) string {
	if more := len(stacks) - maxDeleted; more > 0 {
		return strings.Join(stacks[:maxDeleted], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(stacks, ", ")
}

// Goes says what happens to the resource with its data: it is replaced, or deleted.
func (r ResourceChange) Goes() string {
	if r.Replacement != resource.Never {
		return "replaced"
	}
	return "deleted"
}
