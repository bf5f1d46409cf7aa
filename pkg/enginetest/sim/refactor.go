package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A refactor is a stack refactor in memory. It is ready after a time.
type refactor struct {
	description string
	ready       time.Time
	state       action.RefactorState // once it is ready
	why         string
	does        []string
	stacks      [2]string // the IDs of the source and the target
}

// untilRest is for how long the stacks of a refactor are in progress after CloudFormation has reported its end.
const untilRest = 2 * time.Second

// createRefactor makes the stack refactor of a move. A repeated request makes another one.
func (c *Cloud) createRefactor(t action.Task) (plan.Receipt, error) {
	r := &refactor{description: t.Token(), ready: c.clock.Now().Add(makingChangeSet), state: action.RefactorReady}
	for i, s := range []plan.MovedStack{t.Movement.Source, t.Movement.Target} {
		st := c.all[s.StackID]
		switch {
		case st == nil || st.status.Gone():
			return plan.Receipt{}, fault.New(fault.Missing, "Stack %s does not exist", s.StackID)
		case st.status.Busy() || st.status.Cleaning():
			return plan.Receipt{}, fault.New(fault.Busy, "stack %s is in %s state", st.name, st.status)
		case !st.status.Good() && !st.status.Restored():
			r.state, r.why = action.RefactorRefused, fmt.Sprintf("stack %s is in %s state", st.name, st.status)
		}
		r.stacks[i] = st.id
	}
	if why := c.moves(t.Movement); why != "" {
		r.state, r.why = action.RefactorRefused, why
	}
	if why := c.failure(c.all[r.stacks[1]], "refuse", content{}); why != "" {
		r.state, r.why = action.RefactorRefused, why
	}
	for _, m := range t.Movement.Resources {
		r.does = append(r.does, action.Becomes(t.Movement.Source.Stack, m.From, t.Movement.Target.Stack, m.To))
	}
	slices.Sort(r.does)
	id := fmt.Sprintf("refactor-%d", len(c.refactors))
	c.refactors = append(c.refactors, r)
	return plan.Receipt{StackID: t.Movement.Target.StackID, Operation: id}, nil
}

// moves says why the templates of a movement do not move the table of the source, as it is, and nothing else; "" if they do.
func (c *Cloud) moves(m plan.Movement) string {
	table := TableOf(c.all[m.Source.StackID].now.template)
	switch after := TableOf(m.Target.Template); {
	case table == "" || TableOf(m.Source.Template) != "" || after == "" || TableOf(c.all[m.Target.StackID].now.template) != "":
		return "the templates do not move the resources of the mappings"
	case after != table:
		return "a stack refactor does not modify resources"
	}
	return ""
}

// refactor returns the refactor of an ID, or of a description if the ID is empty; nil if there is none.
func (c *Cloud) refactor(id, description string) (*refactor, string) {
	for i, r := range c.refactors {
		if name := fmt.Sprintf("refactor-%d", i); name == id || id == "" && r.description == description {
			return r, name
		}
	}
	return nil, ""
}

// Refactor implements action.Cloud.
func (c *Cloud) Refactor(_ context.Context, t action.Task) (action.Refactor, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return action.Refactor{}, err
	}
	r, id := c.refactor(t.Receipt.Operation, t.Token())
	if r == nil {
		return action.Refactor{}, fault.New(fault.Missing, "there is no stack refactor")
	}
	got := action.Refactor{ID: id, State: r.state, Why: r.why}
	if c.clock.Now().Before(r.ready) {
		got.State, got.Why = action.RefactorMaking, ""
	}
	if got.State == action.RefactorReady {
		got.Does = slices.Clone(r.does)
	}
	return got, nil
}

// executeRefactor starts a refactor: both stacks are in progress until the resources are in the target, or where they were.
func (c *Cloud) executeRefactor(t action.Task) error {
	r, _ := c.refactor(t.Receipt.Operation, "")
	if r == nil {
		return fault.New(fault.Missing, "there is no stack refactor")
	}
	source, target := c.all[r.stacks[0]], c.all[r.stacks[1]]
	if c.clock.Now().Before(r.ready) || r.state != action.RefactorReady {
		return fault.New(fault.Refused, "the stack refactor is %s", r.state)
	}
	c.Requests = append(c.Requests, Request{c.clock.Now(), t.Number, target.name + "/" + operations[t.Request]})
	r.state = action.RefactorMoving
	after := c.next(target)
	c.next(source)
	set := func(s plan.Status, why string) {
		for _, st := range []*stack{source, target} {
			c.setBy("", st, t, s, why)
		}
	}
	for _, st := range []*stack{source, target} {
		st.lastUpdated = c.clock.Now()
	}
	set("UPDATE_IN_PROGRESS", "")
	after(0.5, func() {
		end := plan.Status("UPDATE_COMPLETE")
		if why := c.failure(target, operations[t.Request], content{}); why != "" {
			r.state, r.why, end = action.RefactorRestored, why, "UPDATE_ROLLBACK_COMPLETE"
			set("UPDATE_ROLLBACK_IN_PROGRESS", why)
		} else {
			r.state = action.RefactorMoved
			c.put(source, content{template: t.Movement.Source.Template, params: source.now.params, topics: source.now.topics, triggers: source.now.triggers})
			c.put(target, content{template: t.Movement.Target.Template, params: target.now.params, topics: target.now.topics, triggers: target.now.triggers})
		}
		c.clock.After(untilRest, func() { set(end, "") })
	})
	return nil
}

// outdate makes the change sets of a stack obsolete, and the refactors that have not been executed, when an operation starts on it.
func (c *Cloud) outdate(st *stack) {
	for _, r := range c.refactors {
		if slices.Contains(r.stacks[:], st.id) && r.state == action.RefactorReady {
			r.state = action.RefactorOutdated
		}
	}
	for name, set := range c.sets {
		if set.outdated = set.outdated || set.stack == st.name; set.outdated {
			c.sets[name] = set
		}
	}
}
