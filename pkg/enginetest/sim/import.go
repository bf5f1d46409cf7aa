package sim

import (
	"context"
	"maps"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// proposeImport makes the change set of an import.
func (c *Cloud) proposeImport(st *stack, t action.Task) (plan.Receipt, error) {
	if _, made := c.sets[t.Token()]; !made {
		switch {
		case st == nil || st.status == "DELETE_COMPLETE":
			return plan.Receipt{}, fault.New(fault.Missing, "stack does not exist")
		case st.status.Busy() || st.status.Cleaning():
			return plan.Receipt{}, fault.New(fault.Busy, "stack %s is in %s state", st.name, st.status)
		case !st.status.Good() && !st.status.Restored():
			return plan.Receipt{}, fault.New(fault.Refused, "stack %s is in %s state and can not be updated", st.name, st.status)
		}
		set := changeSet{stack: st.name, ready: c.clock.Now().Add(makingChangeSet)}
		for _, r := range t.Import.Resources {
			set.says.Resources = append(set.says.Resources, plan.ResourceChange{ID: r.ID, Type: r.Type, Action: "import", Replacement: "never"})
			if why := c.cannotImport(r.PhysicalID()); why != "" {
				set.says = plan.Proposal{Failure: why}
				break
			}
		}
		if why := c.failure(st, "propose", content{}); why != "" {
			set.says = plan.Proposal{Failure: why}
		}
		c.sets[t.Token()] = set
	}
	return plan.Receipt{StackID: st.id, Operation: "changeSet/" + t.Token()}, nil
}

// Execute implements action.Cloud.
func (c *Cloud) Execute(_ context.Context, t action.Task) error {
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if t.Request == action.CreateStackRefactor {
		return c.executeRefactor(t)
	}
	set, ok := c.sets[t.Token()]
	st := c.find(t.Location())
	switch {
	case c.tokens[t.Token()] != "":
		return nil // CloudFormation knows the token: this is the same request
	case !ok || st == nil:
		return fault.New(fault.Missing, "ChangeSet [%s] does not exist", t.Token())
	case c.clock.Now().Before(set.ready), st.status.Busy(), set.says.Failure != "":
		return fault.New(fault.Busy, "ChangeSet [%s] cannot be executed in its current status", t.Token())
	}
	c.tokens[t.Token()] = st.id
	c.Requests = append(c.Requests, Request{c.clock.Now(), t.Number, st.name + "/" + operations[t.Request]})
	delete(c.sets, t.Token())
	want := content{template: t.Import.Template, params: maps.Clone(st.now.params), tags: st.now.tags, topics: st.now.topics, triggers: st.now.triggers}
	for _, name := range t.Import.Parameters {
		if want.params == nil {
			want.params = make(map[string]string)
		}
		want.params[name] = t.Want.Parameters[name]
	}
	c.begin(st, t, want)
	return nil
}

// Holder implements engine.Clouds.
func (c *Cloud) Holder(_ context.Context, t project.Target, physicalID string) (string, error) {
	if err := c.denied(t); err != nil {
		return "", err
	}
	if st := c.holder(physicalID); st != nil {
		return st.name, nil
	}
	return "", nil
}
