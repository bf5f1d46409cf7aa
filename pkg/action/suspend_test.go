package action_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// switches gives the same answers to all calls.
type switches struct {
	running   []plan.Stopped
	fixed     []string
	unsettled []string
	gone      []string
	err       error
	called    []string
}

func (x *switches) Running(_ context.Context, _ project.Target, stack string) ([]plan.Stopped, []string, error) {
	x.called = append(x.called, "find "+stack)
	return x.running, x.fixed, x.err
}

func (x *switches) Stoppable(_ context.Context, _ project.Target, stack string) (plan.PlannedSuspension, error) {
	return plan.PlannedSuspension{Resources: []plan.SuspendedResource{{ID: "of " + stack}}}, x.err
}

func (x *switches) Startable(_ context.Context, _ project.Target, all []plan.Stopped) (plan.PlannedSuspension, error) {
	return plan.PlannedSuspension{Resources: []plan.SuspendedResource{{ID: ids(all)}}}, x.err
}

func (x *switches) Stop(_ context.Context, _ project.Target, all []plan.Stopped) error {
	x.called = append(x.called, "stop "+ids(all))
	return x.err
}

func (x *switches) Start(_ context.Context, _ project.Target, all []plan.Stopped) error {
	x.called = append(x.called, "start "+ids(all))
	return x.err
}

func (x *switches) Unsettled(context.Context, project.Target, []plan.Stopped, bool) ([]string, []string, error) {
	return x.unsettled, x.gone, x.err
}

func ids(all []plan.Stopped) string {
	var names []string
	for _, one := range all {
		names = append(names, one.ID+one.Was)
	}
	return strings.Join(names, " ")
}

// switched is the task of a verb on a stack with a suspension.
func switched(v plan.Verb, s *plan.Suspension) action.Task {
	return action.Task{
		Run: "r2", Attempt: 1, Step: plan.Step{Verb: v, Node: "web", Timeout: project.Timeout(time.Hour)}, Claimed: now, Now: now,
		Record: plan.Record{Node: "web", Stack: "shop-web", StackID: "id", Run: "r1", Suspended: s},
	}
}

// The record has what runs before it is stopped. What it has already stays, and what a stack without an ID runs is not known.
func TestWhatRunsIsRecordedOnce(t *testing.T) {
	before := &plan.Suspension{Since: now.Add(-time.Hour), Run: "r1", Resources: []plan.Stopped{{Type: "T", ID: "a", Was: "4"}}}
	x := &switches{running: []plan.Stopped{{Type: "T", ID: "a", Was: "0"}, {Type: "T", ID: "b", Was: "2"}}}
	write := action.Named(action.All(nil, nil, nil, x, nil)...).Of(plan.Suspend).Before
	for name, c := range map[string]struct {
		was   *plan.Suspension
		want  string
		since time.Time
		run   string
	}{
		"first":  {nil, "a0 b2", now, "r2"},
		"second": {before, "a4 b2", before.Since, "r1"},
	} {
		r, err := write(t.Context(), switched(plan.Suspend, c.was))
		if err != nil || r.Suspended == nil || ids(r.Suspended.Resources) != c.want || !r.Suspended.Since.Equal(c.since) || r.Suspended.Run != c.run || r.Run != "r2" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if ids(before.Resources) != "a4" {
		t.Errorf("the record before has %v", before.Resources)
	}
	in := switched(plan.Suspend, nil)
	in.Record.StackID = ""
	if r, err := write(t.Context(), in); err != nil || r.Suspended != nil {
		t.Errorf("without an ID: %+v, %v", r, err)
	}
	if r, err := action.Named(action.All(nil, nil, nil, &switches{}, nil)...).Of(plan.Suspend).Before(t.Context(), switched(plan.Suspend, nil)); err != nil || r.Suspended != nil {
		t.Errorf("where nothing runs: %+v, %v", r, err)
	}
	x.err = io.EOF
	if _, err := write(t.Context(), switched(plan.Suspend, nil)); !errors.Is(err, io.EOF) {
		t.Errorf("what cannot be read: %v", err)
	}
}

// A start carries out what the record lists. What can be repeated is, until the timeout.
func TestSwitch(t *testing.T) {
	list := &plan.Suspension{Resources: []plan.Stopped{{Type: "T", ID: "a", Was: "4"}}}
	for v, want := range map[plan.Verb]string{plan.Suspend: "stop a4", plan.Resume: "start a4"} {
		x := &switches{}
		verb := action.Named(action.All(nil, nil, nil, x, nil)...).Of(v)
		got, err := verb.Start(t.Context(), switched(v, list))
		if err != nil || !got.Known() || strings.Join(x.called, " ") != want {
			t.Errorf("%s: %+v, %v, %v", v, got, x.called, err)
		}
		if got.Unchanged {
			t.Errorf("%s of one resource: unchanged", v)
		}
		if got, err := verb.Start(t.Context(), switched(v, nil)); err != nil || !got.Unchanged {
			t.Errorf("%s of nothing: %+v, %v", v, got, err)
		}
		x.called = nil
		x.err = fault.New(fault.Busy, "modifying")
		in := switched(v, list)
		if got, err := verb.Start(t.Context(), in); !fault.Is(err, fault.Busy) || got.Known() {
			t.Errorf("%s while it is busy: %+v, %v", v, got, err)
		}
		in.Tried = now.Add(-time.Hour)
		if _, err := verb.Start(t.Context(), in); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "within 1h") {
			t.Errorf("%s while it is busy for an hour: %v", v, err)
		}
	}
}

// A step waits for what it has requested. It is claimed again if nobody knows whether it has, and only when the function that claimed it has
// ended. It is over after its timeout. Only a resume takes the list out of the record.
func TestSwitchIsFollowed(t *testing.T) {
	for _, v := range []plan.Verb{plan.Suspend, plan.Resume} {
		for name, c := range map[string]struct {
			x     switches
			known bool
			age   time.Duration
			want  string
		}{
			"young":            {},
			"claimed again":    {age: action.MaxStartTime, want: "repeat"},
			"never accepted":   {age: time.Hour, want: "failed: AWS has not accepted all requests within 1h"},
			"waits":            {x: switches{unsettled: []string{"a is stopping"}}, known: true, want: "waits: a is stopping"},
			"waits too long":   {x: switches{unsettled: []string{"a is stopping"}}, known: true, age: time.Hour, want: "failed: not over after 1h: a is stopping"},
			"over":             {known: true, want: "over: " + map[plan.Verb]string{plan.Suspend: "stopped: a; what this saves is not known", plan.Resume: "started: a; what this has saved is not known"}[v]},
			"something gone":   {x: switches{gone: []string{"a"}}, known: true, want: "over: " + map[plan.Verb]string{plan.Suspend: "stopped: a; what this saves is not known", plan.Resume: "started: a; what this has saved is not known; gone: a"}[v]},
			"cannot be read":   {x: switches{err: io.EOF}, known: true, want: "error"},
			"over at its time": {known: true, age: time.Hour, want: "over: " + map[plan.Verb]string{plan.Suspend: "stopped: a; what this saves is not known", plan.Resume: "started: a; what this has saved is not known"}[v]},
		} {
			in := switched(v, &plan.Suspension{Resources: []plan.Stopped{{Type: "T", ID: "a", Was: "4"}}})
			in.Claimed = now.Add(-c.age)
			if c.known {
				in.Receipt = plan.Receipt{Executed: true}
			}
			p, err := action.Named(action.All(nil, nil, nil, &c.x, nil)...).Of(v).Poll(t.Context(), in)
			got := p.Why
			switch {
			case err != nil:
				got = "error"
			case p.Repeat:
				got = "repeat"
			case p.Err != nil:
				got = "failed: " + p.Err.Error()
			case p.Over:
				got = "over: " + p.Why
			}
			ends := strings.HasPrefix(c.want, "over") && v == plan.Resume
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || (p.Record != nil) != ends || ends && (p.Record.Suspended != nil || p.Record.Run != "r2") {
				t.Errorf("%s %s: got %q, want %q; record %+v", v, name, got, c.want, p.Record)
			}
		}
		p, err := action.Named(action.All(nil, nil, nil, &switches{}, nil)...).Of(v).Poll(t.Context(), action.Task{Receipt: plan.Receipt{Executed: true}, Step: plan.Step{Verb: v}, Record: plan.Record{Node: "web", StackID: "id"}, Claimed: now, Now: now})
		if err != nil || !p.Over || p.Record != nil || !strings.Contains(p.Why, "nothing") {
			t.Errorf("%s of a stack without suspension: %+v, %v", v, p, err)
		}
	}
	p, err := action.Named(action.All(nil, nil, nil, &switches{fixed: []string{"b keeps running: it is a replica"}}, nil)...).Of(plan.Suspend).Poll(t.Context(), action.Task{Receipt: plan.Receipt{Executed: true}, Record: plan.Record{StackID: "id"}, Claimed: now, Now: now})
	if err != nil || p.Why != "b keeps running: it is a replica" {
		t.Errorf("what keeps running: %+v, %v", p, err)
	}
}

// A suspend says what it saves an hour, and a resume what that was until now. What has no known price is named, and is not counted as nothing.
func TestSavings(t *testing.T) {
	known := plan.Stopped{Type: "T", ID: "a", Charged: "2 ec2 linux m5.large"}
	unknown, idle := plan.Stopped{Type: "T", ID: "b", Charged: "1 ec2 linux m9.huge"}, plan.Stopped{Type: "T", ID: "c", Charged: "nothing"}
	for _, c := range []struct {
		list         []plan.Stopped
		saves, saved string
	}{
		{[]plan.Stopped{known, idle}, "stopped: a, c; this saves about $0.19 an hour, an estimate", "started: a, c; this has saved about $6.91 in 36.0 hours, an estimate"},
		{[]plan.Stopped{known, unknown}, "stopped: a, b; this saves about $0.19 an hour, an estimate without b, whose price is not known", "started: a, b; this has saved about $6.91 in 36.0 hours, an estimate without b, whose price is not known"},
		{[]plan.Stopped{unknown, idle}, "stopped: b, c; what this saves is not known", "started: b, c; what this has saved is not known"},
		{[]plan.Stopped{idle}, "stopped: c", "started: c"},
	} {
		for v, want := range map[plan.Verb]string{plan.Suspend: c.saves, plan.Resume: c.saved} {
			in := switched(v, &plan.Suspension{Since: now.Add(-36 * time.Hour), Resources: c.list})
			in.Record.Target.Region, in.Receipt = "us-east-1", plan.Receipt{Executed: true}
			p, err := action.Named(action.All(nil, nil, nil, &switches{}, nil)...).Of(v).Poll(t.Context(), in)
			if err != nil || !p.Over || p.Why != want {
				t.Errorf("%s: got %q, want %q: %v", v, p.Why, want, err)
			}
		}
	}
}

// Hours after the first resume began do not count, because it may have started some resources although it has failed.
func TestSavingsEndWithTheFirstResume(t *testing.T) {
	v := action.Named(action.All(nil, nil, nil, &switches{}, nil)...).Of(plan.Resume)
	in := switched(plan.Resume, &plan.Suspension{Since: now.Add(-36 * time.Hour), Resources: []plan.Stopped{{Type: "T", ID: "a", Charged: "2 ec2 linux m5.large"}}})
	in.Record.Target.Region = "us-east-1"
	in.Now = now.Add(-24 * time.Hour)
	first, err := v.Before(t.Context(), in)
	if err != nil || first.Suspended == nil || !first.Suspended.Resumed.Equal(in.Now) || !in.Record.Suspended.Resumed.IsZero() {
		t.Fatalf("%+v, %v", first, err)
	}
	in.Record, in.Now, in.Receipt = first, now, plan.Receipt{Executed: true}
	again, err := v.Before(t.Context(), in)
	if err != nil || !again.Suspended.Resumed.Equal(now.Add(-24*time.Hour)) {
		t.Errorf("%+v, %v", again, err)
	}
	const want = "started: a; this has saved about $2.30 in 12.0 hours, an estimate"
	if p, err := v.Poll(t.Context(), in); err != nil || p.Why != want {
		t.Errorf("%q, %v", p.Why, err)
	}
	in.Record.Suspended = nil
	if r, err := v.Before(t.Context(), in); err != nil || r.Suspended != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// A plan of a suspend or a resume reads, and changes nothing. What cannot be read now is read again, and what AWS refuses ends the step.
func TestSuspensionIsProposed(t *testing.T) {
	s := &plan.Suspension{Since: now, Run: "r1", Resources: []plan.Stopped{{Type: "T", ID: "a", Was: "4"}}}
	for v, want := range map[plan.Verb]string{plan.ProposeSuspend: "of id", plan.ProposeResume: "a4"} {
		x := &switches{}
		a := action.Named(action.All(nil, nil, nil, x, nil)...).Of(v)
		if receipt, err := a.Start(t.Context(), switched(v, s)); receipt.Known() || err != nil {
			t.Errorf("%s: started with %+v, %v", v, receipt, err)
		}
		p, err := a.Poll(t.Context(), switched(v, s))
		if err != nil || !p.Over || p.Err != nil || p.Record != nil || p.Proposal == nil || p.Proposal.Suspension.Resources[0].ID != want || x.called != nil {
			t.Errorf("%s: %+v, %v, called %q", v, p, err, x.called)
		}
		for kind, over := range map[fault.Kind]bool{fault.Throttled: false, fault.Unavailable: false, fault.Denied: true, fault.Refused: true} {
			x.err = fault.New(kind, "no")
			if p, err := a.Poll(t.Context(), switched(v, s)); p.Over != over || (p.Err != nil) != over || (err != nil) == over {
				t.Errorf("%s, %s: %+v, %v", v, kind, p, err)
			}
		}
	}
	a, unknown := action.Named(action.All(nil, nil, nil, &switches{}, nil)...).Of(plan.ProposeSuspend), switched(plan.ProposeSuspend, nil)
	unknown.Record.StackID = ""
	if p, err := a.Poll(t.Context(), unknown); err != nil || !p.Over || len(p.Proposal.Suspension.Resources) > 0 {
		t.Errorf("of a stack that nobody knows: %+v, %v", p, err)
	}
}
