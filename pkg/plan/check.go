package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// check compares the live stacks with their records.
func check() Operation {
	return Operation{
		Name: "check", Plan: Check,
		Requestable: true, Compares: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionRefuse),
		Effect:  "it compares the live stacks with their records, and changes nothing",
	}
}

// Check compares every recorded stack. Its steps have no order.
func Check(v View) (Plan, error) { return eachRecorded(v, Compare) }

// The kinds of the findings of a check.
const (
	CheckMissing  = "missing"  // the stack does not exist
	CheckOther    = "other"    // another stack has its name
	CheckProject  = "project"  // its tag does not name the project
	CheckStatus   = "status"   // its last operation failed
	CheckUpdated  = "updated"  // it was changed outside Stackwright
	CheckOutput   = "output"   // an output differs
	CheckUnproved = "unproved" // nobody knows what was last deployed to it
)

// Compared lists what differs between a record of a project such as "shop@prod" and the live stack, on which no operation is in progress. Values
// of outputs are not part of it: they may be secret.
func (r Record) Compared(project string, live Live) []Finding {
	switch {
	case live.Status.Gone():
		return []Finding{{Kind: CheckMissing, Expected: r.Stack}}
	case live.StackID != r.StackID:
		return []Finding{{Kind: CheckOther, Expected: r.StackID, Actual: live.StackID}}
	}
	var all []Finding
	if live.Project != project && !(r.IsAdopted() && live.Project == "") { // an adopted stack gets the tag with its first update
		all = append(all, Finding{Kind: CheckProject, Expected: project, Actual: live.Project})
	}
	if !live.Status.Good() && !live.Status.Restored() {
		all = append(all, Finding{Kind: CheckStatus, Actual: string(live.Status)})
	}
	switch {
	case !r.LastUpdated.Equal(live.LastUpdated):
		all = append(all, Finding{Kind: CheckUpdated, Expected: r.LastUpdated.UTC().Format(time.RFC3339), Actual: live.LastUpdated.UTC().Format(time.RFC3339)})
	case r.Digest == "":
		all = append(all, Finding{Kind: CheckUnproved})
	}
	names := make(map[string]bool)
	for _, outputs := range []map[string]string{r.Outputs, live.Outputs} {
		for name := range outputs {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, recorded := r.Outputs[name]
		is, there := live.Outputs[name]
		if recorded != there || was != is {
			all = append(all, Finding{Kind: CheckOutput, Property: name})
		}
	}
	return all
}

// SayCompared says for people what differs, and what to do. There is a difference.
func SayCompared(all []Finding) string {
	var texts, outputs []string
	for _, f := range all {
		switch f.Kind {
		case CheckMissing:
			texts = append(texts, "it does not exist any more: refresh forgets it, and the next deploy creates it")
		case CheckOther:
			texts = append(texts, "another stack has its name now: refresh forgets the recorded one")
		case CheckProject:
			texts = append(texts, fmt.Sprintf("its tag stackwright:project names %q instead of %s: find out who has changed it", f.Actual, f.Expected))
		case CheckStatus:
			texts = append(texts, "it is "+f.Actual+": read its events, and deploy again")
		case CheckUpdated:
			texts = append(texts, fmt.Sprintf("it was changed outside Stackwright at %s: the next deploy updates it", f.Actual))
		case CheckUnproved:
			texts = append(texts, "it is not known what was last deployed to it: the next deploy updates it")
		case CheckOutput:
			outputs = append(outputs, f.Property)
		}
	}
	if len(outputs) > 0 {
		texts = append(texts, "other outputs than recorded: "+strings.Join(outputs, ", ")+": refresh records them")
	}
	return strings.Join(texts, "; ")
}
