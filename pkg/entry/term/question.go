package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A question is what a run asks about a stack or its whole plan.
type question struct {
	step         run.Step // the first one that waits
	given, wants int      // approvals
}

// questions lists what a run asks, in the order of the plan. Several approvals of the same are one question.
func questions(r run.Run) []question {
	var all []question
	at := make(map[string]int) // places in all, by node
	for _, s := range r.Questions() {
		if _, known := at[s.Node]; known && s.Approval != nil {
			continue
		}
		at[s.Node] = len(all)
		all = append(all, question{step: s})
	}
	for _, s := range r.Steps {
		if i, known := at[s.Node]; known && s.Approval != nil {
			all[i].wants++
			if s.Approved() {
				all[i].given++
			}
		}
	}
	return all
}

// text is the question, and says how many approvals it still needs.
func (q question) text() string {
	text := oneLine(q.step.Why)
	if q.wants > 1 {
		text += fmt.Sprintf(" (%d of %d given)", q.given, q.wants)
	}
	return text
}

// firstDeadline is until when the first of some questions has to be answered.
func firstDeadline(all []question) time.Time {
	var first time.Time
	for _, q := range all {
		if until := q.step.Deadline(q.step.Claimed); first.IsZero() || !until.IsZero() && until.Before(first) {
			first = until
		}
	}
	return first
}

// wholePlan is what a run asks about if it does not ask about stacks.
const wholePlan = "the plan"

// subject says what a run asks about, in a sentence: "the plan", or the stacks that wait for approval.
func subject(r run.Run) string {
	const most = 3
	var stacks []string
	for _, id := range r.Asks() {
		s := r.Step(id)
		if s == nil || s.Node == "" {
			return wholePlan
		}
		stacks = append(stacks, s.Node)
	}
	if len(stacks) > most {
		return "the changes of " + Plural(len(stacks), "stack")
	}
	return "the changes of " + strings.Join(stacks, ", ")
}
