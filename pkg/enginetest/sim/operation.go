package sim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// seconds returns how long an operation on a stack takes: in express mode, a quarter of
// its time.
func (c *Cloud) seconds(st *stack) float64 {
	s, ok := c.Seconds[st.name]
	if !ok {
		s = 10
	}
	if st.deployment == project.Express {
		s /= 4
	}
	return s
}

// next stops the operation on a stack, if there is one, and starts the next. The
// returned function calls do after a share of the new operation's time, if that is
// still the stack's newest operation.
func (c *Cloud) next(st *stack) (after func(share float64, do func())) {
	st.started++
	c.outdate(st)
	this, seconds := st.started, c.seconds(st)
	return func(share float64, do func()) {
		c.clock.After(time.Duration(share*seconds*float64(time.Second)), func() {
			if st.started == this {
				do()
			}
		})
	}
}

// deniedBy returns why a stack policy does not let an update change the resources, or "". Here, a policy that allows something allows everything.
func deniedBy(policy string, was, want content) string {
	if policy == "" || strings.Contains(policy, `"Allow"`) || was.sameResources(want) {
		return ""
	}
	return "Action denied by stack policy"
}

// begin starts the operation of a task. It ends when its time is over.
func (c *Cloud) begin(st *stack, t action.Task, want content) {
	after := c.next(st)
	ends := func(s plan.Status, why string) func() {
		return func() { c.set(st, t, s, why) }
	}
	st.unrolled = unrolled(t)
	watched := float64(want.triggers.Minutes*60) / c.seconds(st) // the rollback triggers, after the resources are deployed
	switch t.Request {
	case action.CreateStack:
		// DescribeStacks shows them also while the creation is in progress, and when it has failed
		st.now.params, st.now.tags = want.params, want.tags
		c.set(st, t, "CREATE_IN_PROGRESS", "")
		if limit := float64(t.Step.Timeout.Minutes() * 60); limit > 0 && limit < c.seconds(st) {
			after(limit/c.seconds(st), func() {
				c.failCreation(st, t, "Stack creation time exceeded the specified timeout", after)
			})
			return
		}
		after(1+watched, func() {
			if why := cmp.Or(c.failure(st, operations[t.Request], want), c.conflict(st, want), c.unexportable(st, want)); why != "" {
				c.failCreation(st, t, why, after)
				return
			}
			c.change(st, want, t.Run)
			c.set(st, t, "CREATE_COMPLETE", "")
		})
	case action.UpdateStack, action.ExecuteChangeSet, action.ExecuteDriftChangeSet:
		st.lastUpdated = c.clock.Now()
		c.set(st, t, "UPDATE_IN_PROGRESS", "")
		policy := st.policy
		if t.Request == action.UpdateStack && t.Node.DuringUpdate != "" {
			policy = t.Node.DuringUpdate
		}
		after(1+watched, func() {
			if why := cmp.Or(deniedBy(policy, st.now, want), c.failure(st, operations[t.Request], want), c.conflict(st, want), c.unexportable(st, want)); why != "" {
				if st.unrolled {
					c.set(st, t, "UPDATE_FAILED", why)
					return
				}
				c.set(st, t, "UPDATE_ROLLBACK_IN_PROGRESS", why)
				end := plan.Status("UPDATE_ROLLBACK_COMPLETE")
				if c.failure(st, "rollback", st.now) != "" {
					end = "UPDATE_ROLLBACK_FAILED"
				}
				after(0.5, ends(end, ""))
				return
			}
			c.change(st, want, t.Run)
			if t.Request == action.ExecuteDriftChangeSet {
				st.drift = nil
			}
			c.set(st, t, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")
			after(0.2, ends("UPDATE_COMPLETE", ""))
		})
	case action.ImportResources:
		st.lastUpdated = c.clock.Now()
		c.set(st, t, "IMPORT_IN_PROGRESS", "")
		after(1, func() {
			why := c.failure(st, operations[t.Request], want)
			for _, r := range t.Import.Resources {
				why = cmp.Or(why, c.cannotImport(r.PhysicalID()))
			}
			if why != "" {
				c.set(st, t, "IMPORT_ROLLBACK_IN_PROGRESS", why)
				after(0.5, ends("IMPORT_ROLLBACK_COMPLETE", ""))
				return
			}
			c.change(st, want, t.Run)
			c.set(st, t, "IMPORT_COMPLETE", "")
		})
	case action.ContinueUpdateRollback:
		c.set(st, t, "UPDATE_ROLLBACK_IN_PROGRESS", "")
		after(1, func() {
			skips, _ := t.Step.Skips() // begin has read them
			why := c.failure(st, operations[t.Request], st.now)
			if why != "" && !slices.Contains(skips, topic) {
				c.set(st, t, "UPDATE_ROLLBACK_FAILED", why)
				return
			}
			c.set(st, t, "UPDATE_ROLLBACK_COMPLETE", "")
		})
	case action.DeleteStack:
		before := st.status
		c.set(st, t, "DELETE_IN_PROGRESS", "")
		after(1, func() {
			why := ""
			if !slices.Contains(t.Retained(), "Topic") {
				why = c.failure(st, operations[t.Request], content{})
			}
			if user := c.user(st); user != "" { // CloudFormation then restores the status
				c.set(st, t, before, "Delete canceled. Cannot delete export as it is in use by "+user)
				return
			}
			if why != "" {
				c.set(st, t, "DELETE_FAILED", why)
				return
			}
			st.left = t.Retained()
			c.removeTable(st.now, t.Run, before == "DELETE_FAILED")
			c.set(st, t, "DELETE_COMPLETE", "")
			delete(c.live, st.name)
		})
	}
}

// failCreation does with a stack whose creation has failed what its request says.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (OnFailure, DisableRollback)
func (c *Cloud) failCreation(st *stack, t action.Task, why string, after func(share float64, do func())) {
	switch {
	case st.unrolled:
		c.set(st, t, "CREATE_FAILED", why)
	case t.Node.OnFailure == project.DeleteFailed:
		c.set(st, t, "DELETE_IN_PROGRESS", why)
		after(0.5, func() {
			c.set(st, t, "DELETE_COMPLETE", "")
			delete(c.live, st.name)
		})
	default:
		c.set(st, t, "ROLLBACK_IN_PROGRESS", why)
		after(0.5, func() { c.set(st, t, "ROLLBACK_COMPLETE", "") })
	}
}

// Cancel implements action.Cloud.
func (c *Cloud) Cancel(_ context.Context, t action.Task) error {
	st := c.find(t.Location())
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if st == nil {
		return fault.New(fault.Missing, "stack does not exist")
	}
	if slices.ContainsFunc(st.events, func(e event) bool { return e.token == t.CancelToken() }) {
		return nil // CloudFormation knows the token: this is the same request
	}
	if st.status != "UPDATE_IN_PROGRESS" {
		return fault.New(fault.Refused, "CancelUpdateStack cannot be called from current stack status")
	}
	c.Requests = append(c.Requests, Request{c.clock.Now(), t.Number, st.name + "/cancel"})
	after := c.next(st)
	c.setBy(t.CancelToken(), st, t, "UPDATE_ROLLBACK_IN_PROGRESS", "")
	after(0.5, func() {
		end, why := plan.Status("UPDATE_ROLLBACK_COMPLETE"), c.failure(st, "rollback", st.now)
		if why != "" {
			end = "UPDATE_ROLLBACK_FAILED"
		}
		c.setBy(t.CancelToken(), st, t, end, why)
	})
	return nil
}

// change deploys new content to a stack, for a run or, if by is "", for a user.
func (c *Cloud) change(st *stack, want content, by string) {
	if name := TableOf(want.template); name != TableOf(st.now.template) {
		c.removeTable(st.now, by, false)
		c.bringIn(name, by)
	}
	c.put(st, want)
}

// put gives a stack new content, without any change of its resources.
func (c *Cloud) put(st *stack, want content) {
	sum := sha256.New()
	fmt.Fprintln(sum, want.template)
	for _, k := range slices.Sorted(maps.Keys(want.params)) {
		fmt.Fprintln(sum, k, want.params[k])
	}
	want.value = hex.EncodeToString(sum.Sum(nil)[:8])
	if !st.now.sameResources(want) { // the update changes the topic
		st.drift = nil
	}
	c.create(st, want)
	st.formerImports, st.now = st.now.imports(), want
}

// create lets what a stack has with the new content, and did not have before, be as it is when it is created.
func (c *Cloud) create(st *stack, want content) {
	was, is := versionOf(st.now.template), versionOf(want.template)
	for _, group := range GroupsOf(st.name, is) {
		if !slices.Contains(GroupsOf(st.name, was), group) {
			delete(c.Sizes, group)
		}
	}
	for _, arn := range ServicesOf(st.name, is) {
		if !slices.Contains(ServicesOf(st.name, was), arn) {
			delete(c.Tasks, arn)
		}
	}
	for kind, id := range MachinesOf(st.name, is) {
		if MachinesOf(st.name, was)[kind] != id {
			delete(c.databases, id)
		}
	}
	for _, name := range DatabasesOf(st.name, is) {
		if !slices.Contains(DatabasesOf(st.name, was), name) {
			delete(c.databases, name)
		}
	}
}

// set moves a stack to a status and reports the change.
func (c *Cloud) set(st *stack, t action.Task, s plan.Status, why string) {
	c.setBy(t.Token(), st, t, s, why)
}

// setBy does what set does, under another token than the task's own.
func (c *Cloud) setBy(token string, st *stack, t action.Task, s plan.Status, why string) {
	st.status = s
	if !s.Busy() && !s.Cleaning() {
		st.formerImports = nil
	}
	operation := token
	if strings.Contains(string(s), "ROLLBACK") {
		operation += " rollback" // CloudFormation starts an operation of its own
	}
	st.events = append(st.events, event{token, operation, s, why, c.clock.Now()})
	c.describe(st)
	c.Changed(t, s)
}
