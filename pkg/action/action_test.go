package action_test

import (
	"context"
	"errors"
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

// A cloud answers as it is reported. Stacks are known by ID and by name; what is
// requested without an answer being left gets the last one again.
type cloud struct {
	live   map[string]plan.Live
	begin  []error // how Begin answers, once each
	events []action.Operation
	fails  map[string]error // by the name of a method
	calls  []string
}

func (c *cloud) Live(_ context.Context, p plan.Location) (plan.Live, error) {
	c.calls = append(c.calls, "live")
	if p.StackID != "" {
		return c.live[p.StackID], c.fails["live"]
	}
	return c.live[p.Stack], c.fails["live"]
}

func (c *cloud) Begin(_ context.Context, t action.Task) (plan.Receipt, error) {
	c.calls = append(c.calls, "begin "+string(t.Step.Verb))
	var err error
	if len(c.begin) > 0 {
		err, c.begin = c.begin[0], c.begin[1:]
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	return plan.Receipt{StackID: "begun", Operation: "op"}, nil
}

func (c *cloud) Cancel(context.Context, action.Task) error {
	c.calls = append(c.calls, "cancel")
	return c.fails["cancel"]
}

func (c *cloud) Events(context.Context, action.Task) (action.Operation, error) {
	c.calls = append(c.calls, "events")
	var w action.Operation
	if len(c.events) > 0 {
		w = c.events[0]
		c.events = c.events[min(1, len(c.events)-1):]
	}
	return w, c.fails["events"]
}

// task is a verb on vpc, which is recorded as we deployed it: v1, and to be v2.
func task(v plan.Verb) action.Task {
	t := action.Task{
		Run: "r", Project: "shop@prod", Number: 3, Attempt: 1, Now: now, Claimed: now.Add(-10 * time.Second),
		Step: plan.Step{ID: "vpc/" + string(v), Node: "vpc", Verb: v},
		Node: project.Node{Name: "vpc", Stack: "shop-vpc", Target: eu, Template: project.Template{Pinned: true}, Needs: []string{"net"}},
		Want: project.Resolved{Digest: "v2"},
		Record: plan.Record{
			Node: "vpc", Stack: "shop-vpc", Target: eu, StackID: "id", Digest: "v1", Needs: []string{"net", "old"}, LastUpdated: epoch,
			Outputs: map[string]string{"Id": "1"}, Revision: "rev1", Token: "sw-before-1-1", Run: "before",
		},
	}
	if v == plan.Create {
		t.Record = plan.Record{Node: "vpc", Stack: "shop-vpc", Target: eu, Needs: []string{"net"}, Token: t.Token(), Run: "r"}
	}
	return t
}

// is returns a setup in which the stack has a status, its ID and changed when
// we deployed it.
func is(s plan.Status) *cloud {
	l := plan.Live{StackID: "id", Status: s, LastUpdated: epoch, Outputs: map[string]string{"Id": "1"}}
	return &cloud{live: map[string]plan.Live{"id": l, "shop-vpc": l}}
}

func act(c *cloud, v plan.Verb) action.Action { return action.Named(action.All(c)...).Of(v) }

var (
	startedAt = plan.Receipt{StackID: "begun", Operation: "op"}
	fresh     = plan.Receipt{StackID: "begun", Operation: "op", Restored: true}
	unchanged = plan.Receipt{StackID: "id", Unchanged: true}
)

func TestStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		verb    plan.Verb
		turn    func(*action.Task)
		cloud   *cloud
		receipt plan.Receipt
		kind    fault.Kind
		says    string
		calls   string
	}{
		{name: "a stack is created", verb: plan.Create, cloud: is(""), receipt: startedAt, calls: "live; begin create"},
		{name: "a name that is taken", verb: plan.Create, cloud: begins(is(""), fault.New(fault.Taken, "exists")), kind: fault.Taken,
			says: "stack shop-vpc exists and is not managed by Stackwright: write another name under stack_name:; taking over existing stacks is not supported yet (exists)", calls: "live; begin create"},
		{name: "what is refused says why", verb: plan.Create, cloud: begins(is(""), fault.New(fault.Denied, "no")), kind: fault.Denied, says: "no", calls: "live; begin create"},
		{name: "an update", verb: plan.Update, cloud: is("UPDATE_COMPLETE"), receipt: fresh, calls: "live; begin update"},
		{name: "an update after a failed one", verb: plan.Update, cloud: is("UPDATE_FAILED"), receipt: startedAt, calls: "live; begin update"},
		{name: "what has become as it should be is left alone", verb: plan.Update, turn: func(t *action.Task) { t.Want.Digest = "v1" },
			cloud: is("UPDATE_ROLLBACK_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "but not if somebody has touched it", verb: plan.Update, turn: func(t *action.Task) { t.Want.Digest, t.Record.LastUpdated = "v1", now },
			cloud: is("UPDATE_COMPLETE"), receipt: startedAt, calls: "live; begin update"},
		{name: "nor if its template does not say all", verb: plan.Update, turn: func(t *action.Task) { t.Want.Digest, t.Node.Template.Pinned = "v1", false },
			cloud: is("UPDATE_COMPLETE"), receipt: fresh, calls: "live; begin update"},
		{name: "CloudFormation finds nothing to change", verb: plan.Update, cloud: begins(is("UPDATE_COMPLETE"), fault.New(fault.Unchanged, "none")),
			receipt: unchanged, calls: "live; begin update"},
		{name: "what has gone is created", verb: plan.Update, cloud: is("DELETE_COMPLETE"), receipt: startedAt, calls: "live; live; begin create"},
		{name: "what is busy waits", verb: plan.Update, cloud: is("UPDATE_IN_PROGRESS"), kind: fault.Busy, says: "stack shop-vpc is UPDATE_IN_PROGRESS", calls: "live"},
		{name: "what cleans up waits", verb: plan.Update, cloud: is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), kind: fault.Busy, calls: "live"},
		{name: "what has died meanwhile", verb: plan.Update, cloud: is("ROLLBACK_COMPLETE"), kind: fault.Refused,
			says: "stack shop-vpc has become ROLLBACK_COMPLETE: retry, and it is mended first", calls: "live"},
		{name: "what got stuck meanwhile", verb: plan.Update, cloud: is("UPDATE_ROLLBACK_FAILED"), kind: fault.Refused, calls: "live"},
		{name: "what goes between the read and the call", verb: plan.Update, cloud: begins(is("UPDATE_COMPLETE"), fault.New(fault.Missing, "gone")), kind: fault.Missing,
			says: "stack shop-vpc is gone: retry, and it is created again (gone)", calls: "live; begin update"},
		{name: "a start that cannot read does nothing", verb: plan.Update, cloud: failing(is(""), "live", fault.New(fault.Throttled, "slow")), kind: fault.Throttled, calls: "live"},
		{name: "nor if its protection is to be another", verb: plan.Update, turn: func(t *action.Task) { t.Want.Digest, t.Node.Protect = "v1", true },
			cloud: is("UPDATE_COMPLETE"), receipt: fresh, calls: "live; begin update"},
		{name: "a rollback goes on", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_FAILED"), receipt: startedAt, calls: "live; begin continue"},
		{name: "a rollback that somebody else has continued", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "a rollback that somebody else continues", verb: plan.Continue, cloud: is("UPDATE_ROLLBACK_IN_PROGRESS"), kind: fault.Busy, calls: "live"},
		{name: "a deletion", verb: plan.Delete, turn: going, cloud: is("CREATE_COMPLETE"), receipt: startedAt, calls: "begin delete"},
		{name: "the deletion of what is dead", verb: plan.Delete, cloud: is("ROLLBACK_COMPLETE"), receipt: startedAt, calls: "live; begin delete"},
		{name: "what stays and is not dead is spared", verb: plan.Delete, cloud: is("UPDATE_COMPLETE"), receipt: unchanged, calls: "live"},
		{name: "what stays and is busy waits", verb: plan.Delete, cloud: is("CREATE_IN_PROGRESS"), kind: fault.Busy, says: "stack shop-vpc is CREATE_IN_PROGRESS", calls: "live"},
		{name: "what is dead and protected is spared", verb: plan.Delete, cloud: guarded(is("DELETE_FAILED")), kind: fault.Refused,
			says: "stack shop-vpc is DELETE_FAILED and must be created again, but is protected: take protect away first", calls: "live"},
		{name: "a delete that cannot read does nothing", verb: plan.Delete, cloud: failing(is(""), "live", fault.New(fault.Throttled, "slow")), kind: fault.Throttled, calls: "live"},
		{name: "a deletion waits for the cleanup of its users", verb: plan.Delete, turn: func(t *action.Task) { going(t); t.Users = []plan.Location{{Node: "app", StackID: "id"}} },
			cloud: is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), kind: fault.Busy, says: "app may still use it: it is UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", calls: "live"},
		{name: "a deletion whose users have let go", verb: plan.Delete, turn: func(t *action.Task) { going(t); t.Users = []plan.Location{{Node: "app", StackID: "id"}, {Node: "web"}} },
			cloud: is("UPDATE_COMPLETE"), receipt: startedAt, calls: "live; live; begin delete"},
		{name: "a delete that cannot read the users does nothing", verb: plan.Delete, turn: func(t *action.Task) { going(t); t.Users = []plan.Location{{Node: "app"}} },
			cloud: failing(is(""), "live", fault.New(fault.Throttled, "slow")), kind: fault.Throttled, calls: "live"},
		{name: "the deletion of what is gone", verb: plan.Delete, turn: going, cloud: begins(is(""), fault.New(fault.Missing, "gone")), receipt: unchanged, calls: "begin delete"},
		{name: "the deletion of what is busy", verb: plan.Delete, turn: going, cloud: begins(is(""), fault.New(fault.Busy, "busy")), kind: fault.Busy, calls: "begin delete"},
		{name: "a wait requests nothing", verb: plan.Wait, cloud: is("UPDATE_IN_PROGRESS")},
		{name: "nothing is asked to read", verb: plan.Read, cloud: is("UPDATE_COMPLETE")},
		{name: "nothing is asked to forget", verb: plan.Forget, cloud: is("")},
		{name: "nothing is asked at the barrier", verb: plan.Barrier, cloud: is("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			if c.turn != nil {
				c.turn(&in)
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

// going makes a task one on a stack that is not to be there again.
func going(t *action.Task) { t.Node = project.Node{} }

func begins(c *cloud, answers ...error) *cloud { c.begin = answers; return c }

func guarded(c *cloud) *cloud {
	for k, l := range c.live {
		l.Protected = true
		c.live[k] = l
	}
	return c
}

func receives(c *cloud, works ...action.Operation) *cloud { c.events = works; return c }

func failing(c *cloud, method string, err error) *cloud {
	c.fails = map[string]error{method: err}
	return c
}

// work is what was found in the events work that has ended so.
func work(s plan.Status, why string) action.Operation {
	return action.Operation{Found: true, Receipt: plan.Receipt{StackID: "id", Operation: "op"}, Over: s != "", Status: s, Why: why}
}

// A running step is over when CloudFormation's events say so. It is started again
// only if there are no events and the first start can no longer happen.
func TestPoll(t *testing.T) {
	stored := func(t *action.Task) { t.Receipt = plan.Receipt{StackID: "id", Operation: "op"} }
	old := func(t *action.Task) { t.Claimed = now.Add(-action.MaxStartTime) }
	older := func(t *action.Task) { t.Claimed = now.Add(-2 * action.MaxStartTime) }
	type want struct {
		over, forget bool
		fails, why   string
		receipt      plan.Receipt
		digest       string // of the record; "-" if there is none
		calls        string
	}
	received := plan.Receipt{StackID: "id", Operation: "op"}
	for _, c := range []struct {
		name  string
		verb  plan.Verb
		turn  func(*action.Task)
		cloud *cloud
		want  want
	}{
		{"created", plan.Create, stored, receives(is("CREATE_COMPLETE"), work("CREATE_COMPLETE", "")), want{over: true, receipt: received, digest: "v2", calls: "live; events; live"}},
		{"being created", plan.Create, stored, is("CREATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"events are late", plan.Create, stored, is("CREATE_COMPLETE"), want{receipt: received, digest: "-", calls: "live; events"}},
		{"failed and rolled back", plan.Create, stored, receives(is("ROLLBACK_COMPLETE"), work("ROLLBACK_COMPLETE", "no room")),
			want{over: true, fails: "ROLLBACK_COMPLETE: no room", receipt: received, digest: "", calls: "live; events; live"}},
		{"updated", plan.Update, stored, receives(is("UPDATE_COMPLETE"), work("UPDATE_COMPLETE", "")), want{over: true, receipt: received, digest: "v2", calls: "live; events; live"}},
		{"updated, and cleaning up", plan.Update, stored, receives(is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), work("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")),
			want{over: true, receipt: received, digest: "v2", calls: "live; events; live"}},
		{"restored to what we deployed", plan.Update, func(t *action.Task) { t.Receipt = plan.Receipt{StackID: "id", Operation: "op", Restored: true} },
			receives(is("UPDATE_ROLLBACK_COMPLETE"), work("UPDATE_ROLLBACK_COMPLETE", "no room")),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: plan.Receipt{StackID: "id", Operation: "op", Restored: true}, digest: "v1", calls: "live; events; live"}},
		{"restored to what somebody else had made of it", plan.Update, stored, receives(is("UPDATE_ROLLBACK_COMPLETE"), work("UPDATE_ROLLBACK_COMPLETE", "no room")),
			want{over: true, fails: "UPDATE_ROLLBACK_COMPLETE: no room", receipt: received, digest: "", calls: "live; events; live"}},
		{"stuck", plan.Update, stored, receives(is("UPDATE_ROLLBACK_FAILED"), work("UPDATE_ROLLBACK_FAILED", "")),
			want{over: true, fails: "stack is UPDATE_ROLLBACK_FAILED", receipt: received, digest: "", calls: "live; events; live"}},
		{"unchanged when it started", plan.Update, func(t *action.Task) { t.Receipt = unchanged }, is("UPDATE_COMPLETE"),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live"}},
		{"continued", plan.Continue, stored, receives(is("UPDATE_ROLLBACK_COMPLETE"), work("UPDATE_ROLLBACK_COMPLETE", "")), want{over: true, receipt: received, digest: "", calls: "live; events; live"}},
		{"continued in vain", plan.Continue, stored, receives(is("UPDATE_ROLLBACK_FAILED"), work("UPDATE_ROLLBACK_FAILED", "again")),
			want{over: true, fails: "UPDATE_ROLLBACK_FAILED: again", receipt: received, digest: "", calls: "live; events; live"}},
		{"continued by somebody else", plan.Continue, func(t *action.Task) { t.Receipt = unchanged }, is("UPDATE_ROLLBACK_COMPLETE"),
			want{over: true, why: "found it UPDATE_ROLLBACK_COMPLETE", receipt: unchanged, digest: "", calls: "live"}},
		{"recorded, and without events", plan.Update, func(t *action.Task) { stored(t); old(t) }, is("UPDATE_COMPLETE"), want{over: true, receipt: received, digest: "v2", calls: "live; events; live"}},
		{"recorded, without events, and it has failed", plan.Update, func(t *action.Task) { stored(t); old(t) }, is("UPDATE_FAILED"),
			want{over: true, fails: "stack is UPDATE_FAILED", receipt: received, digest: "", calls: "live; events; live"}},
		{"deleted while it was created", plan.Create, stored, receives(is("DELETE_COMPLETE"), work("DELETE_COMPLETE", "")),
			want{over: true, fails: "stack is DELETE_COMPLETE", receipt: received, digest: "", calls: "live; events; live"}},

		{"young and without events", plan.Create, nil, is(""), want{digest: "-", calls: "live; events"}},
		{"young and without events, though the stack is busy", plan.Update, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live; events"}},
		{"old and without events is started again", plan.Create, old, is(""), want{receipt: startedAt, digest: "-", calls: "live; events; live; begin create"}},
		{"the update of a stack that is gone is started again as its creation", plan.Update, old, is(""), want{receipt: startedAt, digest: "-", calls: "live; live; events; live; begin create"}},
		{"the second start is throttled", plan.Create, old, begins(is(""), fault.New(fault.Throttled, "slow")), want{digest: "-", calls: "live; events; live; begin create"}},
		{"the second start finds it busy", plan.Update, old, begins(is("UPDATE_COMPLETE"), fault.New(fault.Busy, "busy")), want{digest: "-", calls: "live; events; live; begin update"}},
		{"the outcome of the second start is unknown", plan.Update, old, begins(is("UPDATE_COMPLETE"), fault.New(fault.Unavailable, "x")), want{digest: "-", calls: "live; events; live; begin update"}},
		{"the second start finds nothing to change", plan.Update, old, begins(is("UPDATE_COMPLETE"), fault.New(fault.Unchanged, "none")),
			want{over: true, why: "unchanged", receipt: unchanged, digest: "v2", calls: "live; events; live; begin update; live"}},
		{"the second start is refused, because the first has events", plan.Create, old, receives(begins(is("CREATE_IN_PROGRESS"), fault.New(fault.Taken, "exists")), action.Operation{}, work("", "")),
			want{receipt: received, digest: "-", calls: "live; events; live; begin create; events"}},
		{"and has ended", plan.Create, old, receives(begins(is("CREATE_COMPLETE"), fault.New(fault.Taken, "exists")), action.Operation{}, work("CREATE_COMPLETE", "")),
			want{over: true, receipt: received, digest: "v2", calls: "live; events; live; begin create; events; live"}},
		{"the second start is refused, and the first has no events", plan.Update, old, begins(is("UPDATE_COMPLETE"), fault.New(fault.Refused, "no")),
			want{over: true, fails: "no", digest: "-", calls: "live; events; live; begin update; events"}},
		{"what bears our name may be ours, and its events late", plan.Create, old, begins(is("CREATE_IN_PROGRESS"), fault.New(fault.Taken, "exists")),
			want{digest: "-", calls: "live; events; live; begin create; events"}},
		{"what somebody made meanwhile under our name is not ours", plan.Create, older, begins(is("CREATE_COMPLETE"), fault.New(fault.Taken, "exists")),
			want{over: true, forget: true, fails: "stack shop-vpc exists and is not managed by Stackwright: write another name under stack_name:; taking over existing stacks is not supported yet (exists)", digest: "-", calls: "live; events; live; begin create; events"}},
		{"a poll that cannot read learns nothing", plan.Create, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"a poll that cannot read at the end learns nothing", plan.Update, func(t *action.Task) { t.Receipt = unchanged }, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"a poll without access to events learns nothing", plan.Create, old, failing(is(""), "events", io.EOF), want{calls: "live; events"}},

		{"deleted", plan.Delete, stored, is("DELETE_COMPLETE"), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"deleted before we knew", plan.Delete, nil, is(""), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"being deleted", plan.Delete, stored, is("DELETE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"deleted, which only the events show yet", plan.Delete, stored, receives(is("CREATE_COMPLETE"), work("DELETE_COMPLETE", "")),
			want{over: true, forget: true, digest: "-", calls: "live; events"}},
		{"not deleted", plan.Delete, stored, receives(is("DELETE_FAILED"), work("DELETE_FAILED", "in use")),
			want{over: true, fails: "DELETE_FAILED: in use", receipt: received, digest: "", calls: "live; events"}},
		{"a deletion that CloudFormation called off", plan.Delete, stored, receives(is("UPDATE_COMPLETE"), work("UPDATE_COMPLETE", "export in use")),
			want{over: true, fails: "UPDATE_COMPLETE: export in use", receipt: received, digest: "v1", calls: "live; events"}},
		{"a deletion without events", plan.Delete, func(t *action.Task) { old(t); going(t) }, is("CREATE_COMPLETE"), want{receipt: startedAt, digest: "-", calls: "live; events; begin delete"}},
		{"a deletion without events still waits for its users", plan.Delete, func(t *action.Task) {
			old(t)
			going(t)
			t.Users = []plan.Location{{Node: "app", StackID: "id"}}
		}, is("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), want{digest: "-", calls: "live; events; live"}},
		{"a dead stack is deleted to be created again, though there are no events", plan.Delete, old, is("ROLLBACK_COMPLETE"), want{receipt: startedAt, digest: "-", calls: "live; events; live; begin delete"}},
		{"a stack that is not dead is not deleted, though there are no events", plan.Delete, old, is("CREATE_COMPLETE"), want{receipt: unchanged, digest: "-", calls: "live; events; live"}},
		{"what did not die is left as it is", plan.Delete, func(t *action.Task) { t.Receipt = unchanged }, is("CREATE_COMPLETE"), want{over: true, why: "found it CREATE_COMPLETE", digest: "-", calls: "live"}},
		{"what was gone is to be made anew", plan.Delete, func(t *action.Task) { t.Receipt = unchanged }, is("DELETE_COMPLETE"), want{over: true, forget: true, digest: "-", calls: "live"}},
		{"what went before it was continued is forgotten", plan.Continue, func(t *action.Task) { t.Receipt = unchanged }, is("DELETE_COMPLETE"),
			want{over: true, forget: true, why: "found it DELETE_COMPLETE", receipt: unchanged, digest: "-", calls: "live"}},
		{"a poll of a deletion that cannot read", plan.Delete, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},

		{"busy", plan.Wait, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"waited", plan.Wait, nil, is("ROLLBACK_COMPLETE"), want{over: true, why: "found it ROLLBACK_COMPLETE", digest: "-", calls: "live"}},
		{"waited until it is gone", plan.Wait, nil, is(""), want{over: true, why: "found it gone", digest: "-", calls: "live"}},
		{"a wait that cannot read", plan.Wait, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"read", plan.Read, nil, is("UPDATE_COMPLETE"), want{over: true, why: "as recorded", digest: "v1", calls: "live"}},
		{"read when it is at rest", plan.Read, nil, is("UPDATE_IN_PROGRESS"), want{digest: "-", calls: "live"}},
		{"read what somebody has touched", plan.Read, func(t *action.Task) { t.Record.LastUpdated = now }, is("UPDATE_COMPLETE"),
			want{over: true, why: "changed outside Stackwright, or its last operation did not finish: the next deploy updates it", digest: "", calls: "live"}},
		{"read what is gone", plan.Read, nil, is("DELETE_COMPLETE"), want{over: true, forget: true, why: "it is gone", digest: "-", calls: "live"}},
		{"read what was never known to be there", plan.Read, func(t *action.Task) { t.Record.StackID = "" }, is(""), want{over: true, forget: true, why: "it is gone", digest: "-", calls: "live"}},
		{"read what may be somebody else's", plan.Read, func(t *action.Task) { t.Record.StackID = "" }, is("CREATE_COMPLETE"),
			want{over: true, why: "it is not known yet whether Stackwright made this stack: the next deploy finds out", digest: "-", calls: "live"}},
		{"a read that cannot read", plan.Read, nil, failing(is(""), "live", io.EOF), want{calls: "live"}},
		{"forgotten", plan.Forget, nil, is(""), want{over: true, forget: true, why: "it was gone already", digest: "-"}},
		{"at the barrier", plan.Barrier, nil, is(""), want{over: true, digest: "-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := task(c.verb)
			if c.turn != nil {
				c.turn(&in)
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
				seen.digest = got.Record.Digest
				checkRecord(t, in, *got.Record)
			}
			if diff := cmp.Diff(c.want, seen, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("wanted (-), got (+):\n%s", diff)
			}
			if diff := cmp.Diff(before, in.Record); diff != "" {
				t.Errorf("it changes the record that it was given:\n%s", diff)
			}
		})
	}
}

// checkRecord checks what every record that an action writes says.
func checkRecord(t *testing.T, in action.Task, r plan.Record) {
	t.Helper()
	if r.Node != "vpc" || r.Stack != "shop-vpc" || r.Target != eu || r.StackID != "id" || r.Run != "r" || !r.LastUpdated.Equal(epoch) || r.Outputs["Id"] != "1" {
		t.Errorf("the record says %+v", r)
	}
	want := in.Record.Needs // what it needed or was to need, while it is unknown which
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
		t.Errorf("it was begun %d times: %v", begins, c.calls)
	}
}

// A place is where the work is: what is created has no ID until it is recorded.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		verb plan.Verb
		turn func(*action.Task)
		want plan.Location
	}{
		{plan.Update, func(*action.Task) {}, plan.Location{StackID: "id", Stack: "shop-vpc"}},
		{plan.Create, func(t *action.Task) { t.Record.StackID = "gone" }, plan.Location{StackID: "", Stack: "shop-vpc"}},
		{plan.Create, func(t *action.Task) { t.Record.StackID, t.Receipt.StackID = "gone", "new" }, plan.Location{StackID: "new", Stack: "shop-vpc"}},
		{plan.Delete, func(t *action.Task) { t.Node, t.Record.Stack = project.Node{}, "old-name" }, plan.Location{StackID: "id", Stack: "old-name"}},
	} {
		in := task(c.verb)
		c.turn(&in)
		c.want.Node, c.want.Target, c.want.Token = "vpc", eu, "sw-r-3-1"
		if got := in.Location(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.verb, got, c.want)
		}
	}
}

// Every verb that plans use has a row; an unknown verb fails its step.
func TestVerbs(t *testing.T) {
	all := action.Named(action.All(is(""))...)
	for _, v := range []plan.Verb{plan.Create, plan.Update, plan.Delete, plan.Continue, plan.Wait, plan.Read, plan.Forget, plan.Barrier} {
		if _, ok := all[v]; !ok {
			t.Errorf("there is no row for %s", v)
		}
	}
	if len(all) != 8 {
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
