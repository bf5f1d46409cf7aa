package action_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

var (
	now   = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	epoch = now.Add(-24 * time.Hour)
	eu    = project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}
)

// A cloud gives the answers that a test sets. It knows stacks by ID and by name. When
// only one entry of events is left, Events returns it again and again.
type cloud struct {
	live   map[string]plan.Live
	begin  []error // the errors of the next calls of Begin
	events []action.Operation
	fails  map[string]error // by the name of a method, in lower case
	calls  []string
	sent   action.Task // with the last call of Begin

	proposal plan.Proposal // of the change set
	ready    bool

	detection plan.Detection
	policy    project.StackPolicy
	template  string // the digest of the template of each stack
	room      plan.Room

	refactors []action.Refactor // the answers of Refactor, the last again and again
}

func (c *cloud) Live(_ context.Context, p plan.Location) (plan.Live, error) {
	c.calls = append(c.calls, "live")
	if p.StackID != "" {
		return c.live[p.StackID], c.fails["live"]
	}
	return c.live[p.Stack], c.fails["live"]
}

func (c *cloud) Begin(_ context.Context, t action.Task) (plan.Receipt, error) {
	c.calls, c.sent = append(c.calls, "begin "+string(t.Request)), t
	err := c.refusal(t)
	if len(c.begin) > 0 {
		err, c.begin = c.begin[0], c.begin[1:]
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	return plan.Receipt{StackID: "new", Operation: "op"}, nil
}

// refusal returns CloudFormation's error for an update that the stack does not allow.
func (c *cloud) refusal(t action.Task) error {
	l := c.live[t.Location().StackID]
	switch {
	case t.Request != action.UpdateStack:
		return nil
	case l.Status.Gone():
		return fault.New(fault.Missing, "gone")
	case l.Status.Busy(), l.Status.Cleaning():
		return fault.New(fault.Busy, "stack shop-vpc is %s", l.Status)
	case !l.Updatable(), l.Status.FailedWithoutRollback() && t.Seen == nil:
		return fault.New(fault.Refused, "stack shop-vpc is %s", l.Status)
	}
	return nil
}

func (c *cloud) Execute(context.Context, action.Task) error {
	c.calls = append(c.calls, "execute")
	return c.fails["execute"]
}

func (c *cloud) Protect(context.Context, action.Task) error {
	c.calls = append(c.calls, "protect")
	return c.fails["protect"]
}

func (c *cloud) SetStackPolicy(context.Context, action.Task) error {
	c.calls = append(c.calls, "policy")
	return c.fails["policy"]
}

func (c *cloud) StackPolicy(context.Context, plan.Location) (project.StackPolicy, error) {
	c.calls = append(c.calls, "read-policy")
	return c.policy, c.fails["read-policy"]
}

func (c *cloud) TemplateDigest(context.Context, plan.Location, string) (string, error) {
	c.calls = append(c.calls, "template-digest")
	return c.template, c.fails["template-digest"]
}

func (c *cloud) Room(context.Context, project.Target, func()) (plan.Room, error) {
	return c.room, c.fails["room"]
}

func (c *cloud) ReadTemplate(context.Context, project.Target, string) error {
	return c.fails["template"]
}

func (c *cloud) Cancel(context.Context, action.Task) error {
	c.calls = append(c.calls, "cancel")
	return c.fails["cancel"]
}

func (c *cloud) Events(context.Context, action.Task) (action.Operation, error) {
	c.calls = append(c.calls, "events")
	var op action.Operation
	if len(c.events) > 0 {
		op = c.events[0]
		c.events = c.events[min(1, len(c.events)-1):]
	}
	return op, c.fails["events"]
}

// task returns a step on vpc, which was deployed with digest v1 and is desired with v2.
func task(v plan.Verb) action.Task {
	t := action.Task{
		Run: "r", Project: "shop@prod", Number: 3, Attempt: 1, Now: now, Claimed: now.Add(-10 * time.Second),
		Step:    plan.Step{ID: "vpc/" + string(v), Node: "vpc", Verb: v},
		Request: action.Named(action.All(nil, nil, nil, nil, nil)...).Of(v).Request,
		Node:    project.Node{Name: "vpc", Stack: "shop-vpc", Target: eu, Template: project.Template{Pinned: true}, Needs: []string{"net"}},
		Want:    project.Resolved{Digest: "v2"},
		Record: plan.Record{
			Node: "vpc", Stack: "shop-vpc", Target: eu, StackID: "id", Digest: "v1", Needs: []string{"net", "old"}, LastUpdated: epoch,
			Outputs: map[string]string{"Id": "1"}, Revision: "rev1", Token: "sw-before-1-1", Deployed: "sw-before-1-1", Run: "before",
		},
	}
	if v == plan.Create {
		t.Record = plan.Record{Node: "vpc", Stack: "shop-vpc", Target: eu, Needs: []string{"net"}, Token: t.Token(), Run: "r"}
	}
	return t
}

// is returns a cloud whose stack has the status, and has not changed since Stackwright
// deployed it.
func is(s plan.Status) *cloud {
	l := plan.Live{StackID: "id", Status: s, LastUpdated: epoch, Outputs: map[string]string{"Id": "1"}}
	return &cloud{live: map[string]plan.Live{"id": l, "shop-vpc": l}}
}

func act(c *cloud, v plan.Verb) action.Action {
	return action.Named(action.All(c, nil, nil, nil, nil)...).Of(v)
}

var (
	started   = plan.Receipt{StackID: "new", Operation: "op"}
	unchanged = plan.Receipt{StackID: "id", Unchanged: true}
)

func TestStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		verb    plan.Verb
		prepare func(*action.Task)
		cloud   *cloud
		receipt plan.Receipt
		kind    fault.Kind
		says    string
		calls   string
	}{
		{name: "a stack is created", verb: plan.Create, cloud: is(""), receipt: started, calls: "begin CreateStack"},
		{name: "a name that is taken", verb: plan.Create, cloud: answering(is(""), fault.New(fault.Taken, "exists")), kind: fault.Taken,
			says: "stack shop-vpc exists and is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name: (exists)", calls: "begin CreateStack"},
		{name: "a refusal says why", verb: plan.Create, cloud: answering(is(""), fault.New(fault.Denied, "no")), kind: fault.Denied, says: "no", calls: "begin CreateStack"},
		{name: "an update", verb: plan.Update, cloud: is("UPDATE_COMPLETE"), receipt: started, calls: "begin UpdateStack"},
		{name: "an update after a failed one", verb: plan.Update, cloud: is("UPDATE_FAILED"), receipt: started, calls: "begin UpdateStack; live; begin UpdateStack"},
		{name: "a stack that is as desired by now is not updated", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest = "v1" },
			cloud: is("UPDATE_ROLLBACK_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "a stack that was changed outside Stackwright is updated", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest, t.Record.LastUpdated = "v1", now },
			cloud: is("UPDATE_COMPLETE"), receipt: started, calls: "live; begin UpdateStack"},
		{name: "a stack whose template is not pinned is updated", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest, t.Node.Template.Pinned = "v1", false },
			cloud: is("UPDATE_COMPLETE"), receipt: started, calls: "live; begin UpdateStack"},
		{name: "CloudFormation finds nothing to change", verb: plan.Update, cloud: answering(is("UPDATE_COMPLETE"), fault.New(fault.Unchanged, "none")),
			receipt: unchanged, calls: "begin UpdateStack"},
		{name: "an update that CloudFormation refuses", verb: plan.Update, cloud: answering(is("UPDATE_COMPLETE"), fault.New(fault.Refused, "no")), kind: fault.Refused, says: "no", calls: "begin UpdateStack; live"},
		{name: "an update of a stack whose last one failed is described if it is refused", verb: plan.Update, prepare: func(t *action.Task) { t.Record.Digest = "" },
			cloud: is("UPDATE_ROLLBACK_COMPLETE"), receipt: started, calls: "begin UpdateStack"},
		{name: "an update of a stack without a known ID", verb: plan.Update, prepare: func(t *action.Task) { t.Record.StackID = "" }, cloud: answering(is("UPDATE_COMPLETE"), nil), receipt: started, calls: "live; begin UpdateStack"},
		{name: "a stack that is gone is created", verb: plan.Update, cloud: is("DELETE_COMPLETE"), receipt: started, calls: "begin UpdateStack; live; begin CreateStack"},
		{name: "an update of a busy stack waits", verb: plan.Update, cloud: is("UPDATE_IN_PROGRESS"), kind: fault.Busy, says: "stack shop-vpc is busy (stack shop-vpc is UPDATE_IN_PROGRESS)", calls: "begin UpdateStack"},
		{name: "an update waits for the cleanup", verb: plan.Update, cloud: is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), kind: fault.Busy, calls: "begin UpdateStack"},
		{name: "an update of a stack that is dead by now", verb: plan.Update, cloud: is("ROLLBACK_COMPLETE"), kind: fault.Refused,
			says: "stack shop-vpc is now ROLLBACK_COMPLETE: retry the run; the new run repairs the stack first", calls: "begin UpdateStack; live"},
		{name: "an update of a stack that is stuck by now", verb: plan.Update, cloud: is("UPDATE_ROLLBACK_FAILED"), kind: fault.Refused, calls: "begin UpdateStack; live"},
		{name: "a stack that is deleted between the read and the call", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest, t.Record.LastUpdated = "v1", now }, cloud: answering(is("UPDATE_COMPLETE"), fault.New(fault.Missing, "gone")), kind: fault.Missing,
			says: "stack shop-vpc is gone: retry the run to create it again (gone)", calls: "live; begin UpdateStack"},
		{name: "a start that cannot read does nothing", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest = "v1" }, cloud: failing(is(""), "live", fault.New(fault.Throttled, "slow")), kind: fault.Throttled, calls: "live"},
		{name: "a stack whose protection has to change is updated", verb: plan.Update, prepare: func(t *action.Task) { t.Want.Digest, t.Node.Protect = "v1", true },
			cloud: is("UPDATE_COMPLETE"), receipt: started, calls: "live; begin UpdateStack"},
		{name: "a failed rollback is continued", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_FAILED"), receipt: started, calls: "live; begin ContinueUpdateRollback"},
		{name: "a rollback that another operation has continued", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "a rollback that another operation is continuing", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_IN_PROGRESS"), kind: fault.Busy, calls: "live"},
		{name: "a deletion", verb: plan.Delete, prepare: deletesForGood, cloud: is("CREATE_COMPLETE"), receipt: started, calls: "begin DeleteStack"},
		{name: "a dead stack is deleted to be created again", verb: plan.Delete, cloud: is("ROLLBACK_COMPLETE"), receipt: started, calls: "live; begin DeleteStack"},
		{name: "a desired stack that is not dead is not deleted", verb: plan.Delete, cloud: is("UPDATE_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "a desired stack that is busy is not deleted yet", verb: plan.Delete, cloud: is("CREATE_IN_PROGRESS"), kind: fault.Busy, says: "stack shop-vpc is CREATE_IN_PROGRESS", calls: "live"},
		{name: "a dead stack that the project no longer protects is deleted", verb: plan.Delete, cloud: protected(is("DELETE_FAILED")), receipt: started, calls: "live; protect; begin DeleteStack"},
		{name: "a dead, protected stack is not deleted", verb: plan.Delete, prepare: func(t *action.Task) { t.Node.Protect = true }, cloud: protected(is("DELETE_FAILED")), kind: fault.Refused,
			says: "stack shop-vpc is DELETE_FAILED and must be created again, but is protected: set protect: false first", calls: "live"},
		{name: "a delete that cannot read does nothing", verb: plan.Delete, cloud: failing(is(""), "live", fault.New(fault.Throttled, "slow")), kind: fault.Throttled, calls: "live"},
		{name: "the deletion of a stack that is gone", verb: plan.Delete, prepare: deletesForGood, cloud: answering(is(""), fault.New(fault.Missing, "gone")), receipt: unchanged, calls: "begin DeleteStack"},
		{name: "the deletion of a busy stack", verb: plan.Delete, prepare: deletesForGood, cloud: answering(is(""), fault.New(fault.Busy, "busy")), kind: fault.Busy, calls: "begin DeleteStack"},
		{name: "a wait requests nothing", verb: plan.Wait, cloud: is("UPDATE_IN_PROGRESS")},
		{name: "a read requests nothing", verb: plan.Read, cloud: is("UPDATE_COMPLETE")},
		{name: "a forget requests nothing", verb: plan.Forget, cloud: is("")},
		{name: "a barrier requests nothing", verb: plan.Barrier, cloud: is("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			if c.prepare != nil {
				c.prepare(&in)
			}
			receipt, err := act(c.cloud, c.verb).Start(t.Context(), in)
			if receipt != c.receipt || fault.KindOf(err) != c.kind || c.says != "" && err.Error() != c.says {
				t.Errorf("got %+v, %v (%s)", receipt, err, fault.KindOf(err))
			}
			if got := strings.Join(c.cloud.calls, "; "); got != c.calls {
				t.Errorf("called %s", got)
			}
		})
	}
}

// deletesForGood makes a task one on a stack that is no longer desired.
func deletesForGood(t *action.Task) { t.Node = project.Node{} }

func answering(c *cloud, answers ...error) *cloud { c.begin = answers; return c }

func protected(c *cloud) *cloud {
	for k, l := range c.live {
		l.Protected = true
		c.live[k] = l
	}
	return c
}

// lists gives the stack the IDs of its last operations.
func lists(c *cloud, operations ...string) *cloud {
	for k, l := range c.live {
		l.Operations = operations
		c.live[k] = l
	}
	return c
}

// at gives the stack the time of its last update.
func at(c *cloud, updated time.Time) *cloud {
	for k, l := range c.live {
		l.LastUpdated = updated
		c.live[k] = l
	}
	return c
}

func withEvents(c *cloud, events ...action.Operation) *cloud { c.events = events; return c }

func failing(c *cloud, method string, err error) *cloud {
	c.fails = map[string]error{method: err}
	return c
}

// operation returns an operation that the events report: it has ended with the status,
// or is in progress if that is empty.
func operation(s plan.Status, why string) action.Operation {
	return action.Operation{Found: true, Receipt: plan.Receipt{StackID: "id", Operation: "op"}, Over: s != "", Status: s, Why: why, Newest: s, NewestOperation: "op"}
}

// after returns an operation that came after the one with the given token.
func after(token string, op action.Operation) action.Operation {
	op.Before = token
	return op
}

// superseded returns an operation after which another has started on its stack.
func superseded(op action.Operation) action.Operation {
	op.Superseded, op.Newest, op.NewestOperation = true, "UPDATE_IN_PROGRESS", "theirs"
	return op
}

// updated makes t a task whose update has changed the stack.
func updated(t *action.Task) {
	if t.Step.Verb == plan.Update {
		t.Record.LastUpdated = epoch.Add(-time.Hour)
	}
}

// leaving is a deletion that has failed because of the resources of the given IDs.
func leaving(ids ...string) action.Operation {
	op := operation("DELETE_FAILED", "no")
	for _, id := range ids {
		op.Left = append(op.Left, action.Left{ID: id, Type: "AWS::X::Y", PhysicalID: "shop-" + id})
	}
	return op
}

// behind is why a step runs whose events report an end, while the description of its
// stack shows another status.
func behind(reported, shown plan.Status) string {
	return fmt.Sprintf("CloudFormation has reported %s, but DescribeStacks still shows the stack as it was before (%s): Stackwright waits until the new outputs can be read", reported, shown)
}

// A running step is over when CloudFormation's events say so. It is started again
// only if there are no events and the first start can no longer happen.
func TestPoll(t *testing.T) {
	stored := func(t *action.Task) { t.Receipt = plan.Receipt{StackID: "id", Operation: "op"}; updated(t) }
	old := func(t *action.Task) { t.Claimed = now.Add(-action.MaxStartTime) }
	older := func(t *action.Task) { t.Claimed = now.Add(-2 * action.MaxStartTime) }
	type want struct {
		over, forget bool
		fails, why   string
		receipt      plan.Receipt
		digest       string // of the record; "-" if there is none
		policy       string // of the record
		calls        string
	}
	received := plan.Receipt{StackID: "id", Operation: "op"}
	repeated := plan.Receipt{StackID: "id", Operation: "op", Retained: "Bucket,Images"}
	retains := func(t *action.Task) {
		deletesForGood(t)
		var err error
		if t.Step.Arguments, err = plan.NewArguments(plan.RetentionVersion, plan.Retention{Resources: []string{"Bucket", "Images"}}); err != nil {
			panic(err)
		}
	}
	for _, c := range []struct {
		name    string
		verb    plan.Verb
		prepare func(*action.Task)
		cloud   *cloud
		want    want
	}{
		{"created", plan.Create, stored, withEvents(is("CREATE_COMPLETE"), operation("CREATE_COMPLETE", "")), want{over: true, receipt: received, digest: "v2", calls: "live; events"}},
		{"created, as its description alone shows", plan.Create, stored, lists(is("CREATE_COMPLETE"), "op"), want{over: true, receipt: received, digest: "v2", calls: "live"}},
		{"updated, as its description alone shows", plan.Update, stored, lists(at(is("UPDATE_COMPLETE"), now), "op", "before"), want{over: true, receipt: received, digest: "v2", calls: "live"}},
		{"updated, but the description is older", plan.Update, stored, lists(is("UPDATE_COMPLETE"), "op", "before"), want{receipt: received, digest: "-", calls: "live; events"}},
		{"another operation came after it", plan.Update, stored, lists(at(is("UPDATE_COMPLETE"), now), "theirs", "op"), want{receipt: received, digest: "-", calls: "live; events"}},
		{"created again by an update, as its description alone shows", plan.Update, func(t *action.Task) { stored(t); t.Record.StackID = "former" }, lists(is("CREATE_COMPLETE"), "op"),
			want{over: true, receipt: received, digest: "v2", calls: "live"}},
		{"the protection is set before the step is over", plan.Update, func(t *action.Task) { stored(t); t.Node.Protect = true }, lists(at(is("UPDATE_COMPLETE"), now), "op"),
			want{over: true, receipt: received, digest: "v2", calls: "live; protect"}},
		{"the stack policy is set before the step is over", plan.Update, func(t *action.Task) { stored(t); t.Node.StackPolicy.Digest = "p" }, lists(at(is("UPDATE_COMPLETE"), now), "op"),
			want{over: true, receipt: received, digest: "v2", policy: "p", calls: "live; policy"}},
		{"the stack policy of an unchanged stack is set", plan.Update, func(t *action.Task) { t.Receipt, t.Node.StackPolicy.Digest, t.Record.Policy = unchanged, "p", "old" }, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", policy: "p", calls: "live; policy"}},
		{"a stack that loses its stack policy gets one that allows everything", plan.Update, func(t *action.Task) { t.Receipt, t.Record.Policy = unchanged, "old" }, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live; policy"}},
		{"a stack that was made again gets the stack policy", plan.Update, func(t *action.Task) {
			t.Receipt, t.Node.StackPolicy.Digest, t.Record.Policy, t.Record.StackID = unchanged, "p", "p", "older"
		}, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", policy: "p", calls: "live; policy"}},
		{"a stack policy that was set is not set again", plan.Update, func(t *action.Task) { t.Receipt, t.Node.StackPolicy.Digest, t.Record.Policy = unchanged, "p", "p" }, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", policy: "p", calls: "live"}},
		{"the protection of an unchanged stack is set", plan.Update, func(t *action.Task) { t.Receipt = unchanged }, protected(is("UPDATE_COMPLETE")),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live; protect"}},
		{"being created", plan.Create, stored, is("CREATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"events are late", plan.Create, stored, is("CREATE_COMPLETE"), want{receipt: received, digest: "-", calls: "live; events"}},
		{"failed and rolled back", plan.Create, stored, withEvents(is("ROLLBACK_COMPLETE"), operation("ROLLBACK_COMPLETE", "no room")),
			want{over: true, fails: "ROLLBACK_COMPLETE: no room", receipt: received, digest: "", calls: "live; events"}},
		{"updated", plan.Update, stored, withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", "")), want{over: true, receipt: received, digest: "v2", calls: "live; events"}},
		{"updated, and cleaning up", plan.Update, stored, withEvents(is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), operation("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")),
			want{over: true, receipt: received, digest: "v2", calls: "live; events"}},
		{"rolled back to what Stackwright deployed", plan.Update, stored,
			withEvents(is("UPDATE_ROLLBACK_COMPLETE"), after("sw-before-1-1", operation("UPDATE_ROLLBACK_COMPLETE", "no room"))),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: received, digest: "v1", calls: "live; events"}},
		{"rolled back to what Stackwright deployed and cancelled", plan.Update, stored,
			withEvents(is("UPDATE_ROLLBACK_COMPLETE"), after("sw-before-1-1-cancel", operation("UPDATE_ROLLBACK_COMPLETE", "no room"))),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: received, digest: "v1", calls: "live; events"}},
		{"rolled back to an unknown state", plan.Update, stored, withEvents(is("UPDATE_ROLLBACK_COMPLETE"), operation("UPDATE_ROLLBACK_COMPLETE", "no room")),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: received, digest: "", calls: "live; events"}},
		{"rolled back to a state that Stackwright did not deploy", plan.Update, stored, withEvents(is("UPDATE_ROLLBACK_COMPLETE"), after("theirs", operation("UPDATE_ROLLBACK_COMPLETE", "no room"))),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: received, digest: "", calls: "live; events"}},
		{"stuck", plan.Update, stored, withEvents(is("UPDATE_ROLLBACK_FAILED"), operation("UPDATE_ROLLBACK_FAILED", "")),
			want{over: true, fails: "stack is UPDATE_ROLLBACK_FAILED", receipt: received, digest: "", calls: "live; events"}},
		{"unchanged when it started", plan.Update, func(t *action.Task) { t.Receipt = unchanged }, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live"}},
		{"continued", plan.Continue, stored, withEvents(is("UPDATE_ROLLBACK_COMPLETE"), operation("UPDATE_ROLLBACK_COMPLETE", "")), want{over: true, receipt: received, digest: "", calls: "live; events"}},
		{"the continued rollback failed again", plan.Continue, stored, withEvents(is("UPDATE_ROLLBACK_FAILED"), operation("UPDATE_ROLLBACK_FAILED", "again")),
			want{over: true, fails: "UPDATE_ROLLBACK_FAILED: again", receipt: received, digest: "", calls: "live; events"}},
		{"continued by another operation", plan.Continue, func(t *action.Task) { t.Receipt = unchanged }, is("UPDATE_ROLLBACK_COMPLETE"),
			want{over: true, why: "found it UPDATE_ROLLBACK_COMPLETE", receipt: unchanged, digest: "", calls: "live"}},
		{"a receipt and no events: the stack has succeeded", plan.Update, func(t *action.Task) { stored(t); old(t) }, is("UPDATE_COMPLETE"), want{over: true, receipt: received, digest: "v2", calls: "live; events"}},
		{"a receipt and no events: the stack has failed", plan.Update, func(t *action.Task) { stored(t); old(t) }, is("UPDATE_FAILED"),
			want{over: true, fails: "stack is UPDATE_FAILED", receipt: received, digest: "", calls: "live; events"}},
		{"deleted while it was created", plan.Create, stored, withEvents(is("DELETE_COMPLETE"), operation("DELETE_COMPLETE", "")),
			want{over: true, fails: "stack is DELETE_COMPLETE", receipt: received, digest: "", calls: "live; events"}},

		{"no events, and the first start may still happen", plan.Create, nil, is(""), want{digest: "-", calls: "live; events"}},
		{"no events of a busy stack, and the first start may still happen", plan.Update, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live; events"}},
		{"no events, and the first start can no longer happen: it is started again", plan.Create, old, is(""), want{receipt: started, digest: "-", calls: "live; events; begin CreateStack"}},
		{"the update of a stack that is gone is started again as its creation", plan.Update, old, is(""), want{receipt: started, digest: "-", calls: "live; live; events; begin CreateStack"}},
		{"the second start is throttled", plan.Create, old, answering(is(""), fault.New(fault.Throttled, "slow")), want{digest: "-", calls: "live; events; begin CreateStack"}},
		{"the second start finds it busy", plan.Update, old, answering(is("UPDATE_COMPLETE"), fault.New(fault.Busy, "busy")), want{digest: "-", calls: "live; events; begin UpdateStack"}},
		{"the outcome of the second start is unknown", plan.Update, old, answering(is("UPDATE_COMPLETE"), fault.New(fault.Unavailable, "x")), want{digest: "-", calls: "live; events; begin UpdateStack"}},
		{"the second start finds nothing to change", plan.Update, old, answering(is("UPDATE_COMPLETE"), fault.New(fault.Unchanged, "none")),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live; events; begin UpdateStack; live"}},
		{"the second start is refused, because the first has events", plan.Create, old, withEvents(answering(is("CREATE_IN_PROGRESS"), fault.New(fault.Taken, "exists")), action.Operation{}, operation("", "")),
			want{receipt: received, digest: "-", calls: "live; events; begin CreateStack; events"}},
		{"the second start is refused, because the first has ended", plan.Create, old, withEvents(answering(is("CREATE_COMPLETE"), fault.New(fault.Taken, "exists")), action.Operation{}, operation("CREATE_COMPLETE", "")),
			want{over: true, receipt: received, digest: "v2", calls: "live; events; begin CreateStack; events"}},
		{"the second start is refused, and the first has no events", plan.Update, old, answering(is("UPDATE_COMPLETE"), fault.New(fault.Refused, "no")),
			want{over: true, fails: "no", digest: "-", calls: "live; events; begin UpdateStack; live; events"}},
		{"a stack of our name may be ours, because events may be late", plan.Create, old, answering(is("CREATE_IN_PROGRESS"), fault.New(fault.Taken, "exists")),
			want{digest: "-", calls: "live; events; begin CreateStack; events"}},
		{"a stack of our name that still has no events of ours is not ours", plan.Create, older, answering(is("CREATE_COMPLETE"), fault.New(fault.Taken, "exists")),
			want{over: true, forget: true, fails: "stack shop-vpc exists and is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name: (exists)", digest: "-", calls: "live; events; begin CreateStack; events"}},
		{"a poll that cannot read learns nothing", plan.Create, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"a poll that cannot read at the end learns nothing", plan.Update, func(t *action.Task) { t.Receipt = unchanged }, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"a poll without access to events learns nothing", plan.Create, old, failing(is(""), "events", io.EOF), want{calls: "live; events"}},

		{"deleted", plan.Delete, stored, is("DELETE_COMPLETE"), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"deleted, though the start has no receipt", plan.Delete, nil, is(""), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"being deleted", plan.Delete, stored, is("DELETE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"deleted, which only the events show yet", plan.Delete, stored, withEvents(is("CREATE_COMPLETE"), operation("DELETE_COMPLETE", "")),
			want{why: behind("DELETE_COMPLETE", "CREATE_COMPLETE"), receipt: received, digest: "-", calls: "live; events; live"}},
		{"not deleted", plan.Delete, stored, withEvents(is("DELETE_FAILED"), operation("DELETE_FAILED", "in use")),
			want{over: true, fails: "DELETE_FAILED: in use", receipt: received, digest: "", calls: "live; events"}},
		{"a deletion that CloudFormation cancelled", plan.Delete, stored, withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", "export in use")),
			want{over: true, fails: "UPDATE_COMPLETE: export in use", receipt: received, digest: "v1", calls: "live; events"}},
		{"a deletion without events", plan.Delete, func(t *action.Task) { old(t); deletesForGood(t) }, is("CREATE_COMPLETE"), want{receipt: started, digest: "-", calls: "live; events; begin DeleteStack"}},
		{"a dead stack is deleted to be created again, though there are no events", plan.Delete, old, is("ROLLBACK_COMPLETE"), want{receipt: started, digest: "-", calls: "live; events; live; begin DeleteStack"}},
		{"a stack that is not dead is not deleted, though there are no events", plan.Delete, old, is("CREATE_COMPLETE"), want{receipt: unchanged, digest: "-", calls: "live; events; live"}},
		{"a stack that is not dead is not deleted", plan.Delete, func(t *action.Task) { t.Receipt = unchanged }, is("CREATE_COMPLETE"), want{over: true, why: "found it CREATE_COMPLETE", digest: "-", calls: "live"}},
		{"a stack that was gone already is forgotten", plan.Delete, func(t *action.Task) { t.Receipt = unchanged }, is("DELETE_COMPLETE"), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"a stack that was gone before its rollback was continued is forgotten", plan.Continue, func(t *action.Task) { t.Receipt = unchanged }, is("DELETE_COMPLETE"),
			want{over: true, forget: true, why: "found it DELETE_COMPLETE", receipt: unchanged, digest: "-", calls: "live"}},
		{"a deletion that fails because of what is retained is repeated", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(is("DELETE_FAILED"), leaving("Bucket", "Images"), action.Operation{}), want{why: "DELETE_FAILED: no: the deletion is repeated and retains Bucket, Images", receipt: repeated, digest: "-", calls: "live; events; events; begin DeleteStack"}},
		{"a deletion that a poll has repeated which has crashed", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(is("DELETE_FAILED"), leaving("Bucket", "Images"), operation("", "")), want{why: "DELETE_FAILED: no: the deletion is repeated and retains Bucket, Images", receipt: repeated, digest: "-", calls: "live; events; events"}},
		{"the repeated deletion is throttled", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(answering(is("DELETE_FAILED"), fault.New(fault.Throttled, "slow")), leaving("Bucket", "Images"), action.Operation{}),
			want{why: "DELETE_FAILED: no: the deletion is repeated and retains Bucket, Images: slow", digest: "-", calls: "live; events; events; begin DeleteStack"}},
		{"the repeated deletion is refused", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(answering(is("DELETE_FAILED"), fault.New(fault.Refused, "no such resource")), leaving("Bucket", "Images"), action.Operation{}),
			want{over: true, fails: "DELETE_FAILED: no; its deletion cannot be repeated with retain: no such resource", receipt: received, digest: "", calls: "live; events; events; begin DeleteStack; live"}},
		{"a deletion that fails because of another resource too is not repeated", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(is("DELETE_FAILED"), leaving("Bucket", "Queue", "Topic")),
			want{over: true, fails: "DELETE_FAILED: no (the deletion was not repeated: retain does not name Queue, Topic: add it there, write obsolete: true for the stack, and prune)", receipt: received, digest: "", calls: "live; events"}},
		{"a deletion that retains nothing is not repeated", plan.Delete, func(t *action.Task) { stored(t); deletesForGood(t) },
			withEvents(is("DELETE_FAILED"), leaving("Bucket")), want{over: true, fails: "DELETE_FAILED: no", receipt: received, digest: "", calls: "live; events"}},
		{"a cancelled deletion is not repeated", plan.Delete, func(t *action.Task) { stored(t); retains(t) },
			withEvents(is("UPDATE_COMPLETE"), operation("UPDATE_COMPLETE", "export in use")), want{over: true, fails: "UPDATE_COMPLETE: export in use", receipt: received, digest: "v1", calls: "live; events"}},
		{"the repeated deletion fails because of something else that is retained", plan.Delete, func(t *action.Task) { stored(t); retains(t); t.Receipt.Retained = "Bucket" },
			withEvents(is("DELETE_FAILED"), leaving("Images"), action.Operation{}), want{why: "DELETE_FAILED: no: the deletion is repeated and retains Bucket, Images", receipt: repeated, digest: "-", calls: "live; events; events; begin DeleteStack"}},
		{"the repeated deletion fails because of what it retains", plan.Delete, func(t *action.Task) { stored(t); retains(t); t.Receipt = repeated },
			withEvents(is("DELETE_FAILED"), leaving("Images")), want{over: true, fails: "DELETE_FAILED: no", receipt: received, digest: "", calls: "live; events"}},
		{"deleted, with what was retained", plan.Delete, func(t *action.Task) { stored(t); retains(t); t.Receipt = repeated }, withEvents(is("DELETE_COMPLETE"), leaving("Bucket", "Other")),
			want{over: true, forget: true, why: "retained, and managed by no stack from now on: Bucket (AWS::X::Y shop-Bucket)", digest: "-", calls: "live; events"}},
		{"a poll of a deletion that cannot read", plan.Delete, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},

		{"busy", plan.Wait, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"cleaning up", plan.Wait, nil, is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"the cleanup has ended", plan.Wait, nil, is("UPDATE_COMPLETE"), want{over: true, why: "found it UPDATE_COMPLETE", digest: "-", calls: "live"}},
		{"the wait has ended", plan.Wait, nil, is("ROLLBACK_COMPLETE"), want{over: true, why: "found it ROLLBACK_COMPLETE", digest: "-", calls: "live"}},
		{"waited until it is gone", plan.Wait, nil, is(""), want{over: true, why: "found it gone", digest: "-", calls: "live"}},
		{"a wait that cannot read", plan.Wait, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"read", plan.Read, nil, is("UPDATE_COMPLETE"), want{over: true, why: "as recorded", digest: "v1", calls: "live"}},
		{"a read waits until no operation is in progress", plan.Read, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"read a stack that was changed outside Stackwright", plan.Read, func(t *action.Task) { t.Record.LastUpdated = now }, is("UPDATE_COMPLETE"),
			want{over: true, why: "changed outside Stackwright, or its last operation did not finish: the next deploy updates it", digest: "v1", calls: "live; template-digest"}},
		{"read a stack that is gone", plan.Read, nil, is("DELETE_COMPLETE"), want{over: true, forget: true, why: "it is gone", digest: "-", calls: "live"}},
		{"read a stack that never got an ID", plan.Read, func(t *action.Task) { t.Record.StackID = "" }, is(""), want{over: true, forget: true, why: "it is gone", digest: "-", calls: "live"}},
		{"read a stack that may not be ours", plan.Read, func(t *action.Task) { t.Record.StackID = "" }, is("CREATE_COMPLETE"),
			want{over: true, why: "it is not known yet whether Stackwright made this stack: the next deploy finds out", digest: "-", calls: "live"}},
		{"a read that cannot read", plan.Read, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"forgotten", plan.Forget, nil, is(""), want{over: true, forget: true, why: "only its record was deleted", digest: "-"}},
		{"at the barrier", plan.Barrier, nil, is(""), want{over: true, digest: "-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			if c.prepare != nil {
				c.prepare(&in)
			}
			before := in.Record
			got, err := act(c.cloud, c.verb).Poll(t.Context(), in)
			if calls := strings.Join(c.cloud.calls, "; "); calls != c.want.calls {
				t.Errorf("called %s", calls)
			}
			if c.cloud.fails != nil {
				if !errors.Is(err, io.EOF) || got.Over {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			seen := want{over: got.Over, forget: got.Forget, why: got.Why, receipt: got.Receipt, digest: "-", calls: c.want.calls}
			if got.Err != nil {
				seen.fails = got.Err.Error()
			}
			if got.Record != nil {
				seen.digest, seen.policy = got.Record.Digest, got.Record.Policy
				checkRecord(t, in, *got.Record)
			}
			if diff := cmp.Diff(c.want, seen, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("wanted (-), got (+):\n%s", diff)
			}
			if diff := cmp.Diff(before, in.Record); diff != "" {
				t.Errorf("Poll changes the record of its task:\n%s", diff)
			}
		})
	}
}

// checkRecord checks the fields of a record that have one value after every action.
func checkRecord(t *testing.T, in action.Task, r plan.Record) {
	t.Helper()
	if r.Node != "vpc" || r.Stack != "shop-vpc" || r.Target != eu || r.StackID != "id" || r.Run != "r" || r.LastUpdated.IsZero() || r.Outputs["Id"] != "1" {
		t.Errorf("the record is %+v", r)
	}
	want := in.Record.Needs // the old and the new dependencies, while nobody knows which the stack has
	if r.Digest == in.Want.Digest {
		want = in.Node.Needs
	}
	if !slices.Equal(r.Needs, want) {
		t.Errorf("the record needs %v, not %v", r.Needs, want)
	}
}

// A step is started again once, and not at every poll.
func TestStartedAgainOnce(t *testing.T) {
	c := is("")
	in := task(plan.Create)
	in.Claimed = now.Add(-2 * action.MaxStartTime)
	for range 4 {
		p, err := act(c, plan.Create).Poll(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if p.Receipt.Known() {
			in.Receipt = p.Receipt // as the engine records it
		}
	}
	begins := 0
	for _, call := range c.calls {
		if strings.HasPrefix(call, "begin") {
			begins++
		}
	}
	if begins != 1 {
		t.Errorf("it was started %d times: %v", begins, c.calls)
	}
}

// The location of a task is that of its stack. A stack that is being created has no ID
// before the receipt.
func TestTaskLocation(t *testing.T) {
	for _, c := range []struct {
		verb    plan.Verb
		prepare func(*action.Task)
		want    plan.Location
	}{
		{plan.Update, func(*action.Task) {}, plan.Location{StackID: "id", Stack: "shop-vpc"}},
		{plan.Create, func(t *action.Task) { t.Record.StackID = "gone" }, plan.Location{StackID: "", Stack: "shop-vpc"}},
		{plan.Create, func(t *action.Task) { t.Record.StackID, t.Receipt.StackID = "gone", "new" }, plan.Location{StackID: "new", Stack: "shop-vpc"}},
		{plan.Delete, func(t *action.Task) { t.Node, t.Record.Stack = project.Node{}, "old-name" }, plan.Location{StackID: "id", Stack: "old-name"}},
	} {
		in := task(c.verb)
		c.prepare(&in)
		c.want.Node, c.want.Target, c.want.Token = "vpc", eu, action.Token("r", "", 3, 1)
		if got := in.Location(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.verb, got, c.want)
		}
	}
}

// Every verb that plans use has a row; an unknown verb fails its step.
func TestVerbs(t *testing.T) {
	all := action.Named(action.All(is(""), nil, nil, nil, nil)...)
	wanted := []plan.Verb{
		plan.Create,
		plan.Update,
		plan.Delete,
		plan.Continue,
		plan.Wait,
		plan.Read,
		plan.Adopt,
		plan.Forget,
		plan.Propose,
		plan.Approve,
		plan.Barrier,
		plan.Import,
		plan.CreateEmpty,
		plan.SetLevel,
		plan.MoveOut,
		plan.MoveIn,
		plan.Execute,
		plan.Publish,
		plan.Hook,
		plan.SetHooks,
		plan.SetRetain,
		plan.Compare,
		plan.Verify,
		plan.Detect,
		plan.ProposeRevert,
		plan.Revert,
		plan.Suspend,
		plan.Resume,
		plan.ProposeSuspend,
		plan.ProposeResume,
		plan.BackUp,
		plan.DeleteBackup,
		plan.DropSnapshot,
		plan.Bake,
	}
	for _, v := range wanted {
		if _, ok := all[v]; !ok {
			t.Errorf("there is no row for %s", v)
		}
	}
	if len(all) != len(wanted) {
		t.Errorf("there are %d verbs", len(all))
	}
	none := all.Of("fly")
	if _, err := none.Start(t.Context(), action.Task{}); !fault.Is(err, fault.Broken) {
		t.Errorf("an unknown verb starts: %v", err)
	}
	if _, err := none.Poll(t.Context(), action.Task{}); !fault.Is(err, fault.Broken) {
		t.Errorf("an unknown verb is polled: %v", err)
	}
}

func (c *cloud) Proposal(context.Context, action.Task) (plan.Proposal, bool, error) {
	c.calls = append(c.calls, "proposal")
	return c.proposal, c.ready, c.fails["proposal"]
}

func (c *cloud) Detection(context.Context, action.Task) (plan.Detection, bool, error) {
	c.calls = append(c.calls, "detection")
	return c.detection, c.ready, c.fails["detection"]
}

func (c *cloud) Refactor(context.Context, action.Task) (action.Refactor, error) {
	c.calls = append(c.calls, "refactor")
	if len(c.refactors) > 1 {
		defer func() { c.refactors = c.refactors[1:] }()
	}
	if len(c.refactors) == 0 {
		return action.Refactor{}, fault.New(fault.Missing, "there is none")
	}
	return c.refactors[0], c.fails["refactor"]
}

func (c *cloud) Withdraw(context.Context, action.Task) error {
	c.calls = append(c.calls, "withdraw")
	return c.fails["withdraw"]
}
