package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A changeSet is a change set in memory. It is ready after a time.
type changeSet struct {
	stack string
	ready time.Time
	says  plan.Proposal
}

// makingChangeSet is how long a change set is made.
const makingChangeSet = 3 * time.Second

// ChangeSets lists the stacks that have change sets, by their names, sorted.
func (c *Cloud) ChangeSets() []string {
	var stacks []string
	for _, s := range c.sets {
		stacks = append(stacks, s.stack)
	}
	slices.Sort(stacks)
	return slices.Compact(stacks)
}

// DeleteChangeSets deletes the change sets of a stack, as a user can.
func (c *Cloud) DeleteChangeSets(stack string) {
	maps.DeleteFunc(c.sets, func(_ string, s changeSet) bool { return s.stack == stack })
}

// propose makes the change set of a task. Every stack has one resource, which changes with its template and its parameters.
func (c *Cloud) propose(st *stack, t action.Task) (plan.Receipt, error) {
	want := content{template: t.Node.Template.Digest, params: t.Want.Parameters}
	_, made := c.sets[t.Token()]
	switch {
	case st == nil || st.status == "DELETE_COMPLETE":
		return plan.Receipt{}, fault.New(fault.Missing, "stack does not exist")
	case made:
	case st.status.Busy() || st.status.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is in %s state", st.name, st.status)
	case !st.status.Good() && !st.status.Recoverable():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is in %s state and can not be updated", st.name, st.status)
	default:
		var says plan.Proposal
		if why := c.failure(st, "propose", want); why != "" {
			says.Failure = why
		} else if st.now.template != want.template || !maps.Equal(st.now.params, want.params) {
			says.Resources = []plan.ResourceChange{{ID: "Topic", Type: "AWS::SNS::Topic", Action: "modify", Replacement: "never"}}
		}
		c.sets[t.Token()] = changeSet{stack: st.name, ready: c.clock.Now().Add(makingChangeSet), says: says}
	}
	return plan.Receipt{StackID: st.id, Operation: "changeSet/" + t.Token()}, nil
}

// Proposal implements action.Cloud.
func (c *Cloud) Proposal(_ context.Context, t action.Task) (plan.Proposal, bool, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return plan.Proposal{}, false, err
	}
	set, ok := c.sets[t.Token()]
	switch {
	case !ok:
		return plan.Proposal{}, false, fault.New(fault.Missing, "ChangeSet [%s] does not exist", t.Token())
	case c.clock.Now().Before(set.ready):
		return plan.Proposal{}, false, nil
	}
	return set.says, true, nil
}

// Withdraw implements action.Cloud.
func (c *Cloud) Withdraw(_ context.Context, t action.Task) error {
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if c.clock.Now().Before(c.sets[t.Token()].ready) {
		return fault.New(fault.Busy, "ChangeSet [%s] is being made", t.Token())
	}
	delete(c.sets, t.Token())
	return nil
}
