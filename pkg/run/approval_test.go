package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// subjectOf is the subject of a caller, if AWS says more than an account.
func subjectOf(who string) string {
	if strings.HasPrefix(who, "unknown") {
		return ""
	}
	return who
}

// An approval is accepted from a person who may give it, in time, and once.
func TestApprovals(t *testing.T) {
	const lead, dev = "arn:aws:sts::111122223333:assumed-role/lead/ann", "arn:aws:sts::111122223333:assumed-role/dev/bob"
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		rule   project.Approval
		answer run.Answer
		author string
		want   string
	}{
		{"anybody", project.Approval{}, run.Answer{Yes: true, Who: "unknown principal of account 111122223333"}, dev, ""},
		{"an approver", project.Approval{Approvers: []string{"arn:aws:sts::*:assumed-role/lead/*"}}, run.Answer{Yes: true, Who: lead}, dev, ""},
		{"a session of an approving role", project.Approval{Approvers: []string{"arn:aws:iam::111122223333:role/lead"}}, run.Answer{Yes: true, Who: lead}, dev, ""},
		{"no approver", project.Approval{Approvers: []string{"arn:aws:sts::*:assumed-role/lead/*"}}, run.Answer{Yes: true, Who: dev}, dev,
			dev + " may not answer run one: its approvers are arn:aws:sts::*:assumed-role/lead/*"},
		{"a claim", project.Approval{Approvers: []string{"*"}}, run.Answer{Yes: true, Who: "unknown principal of account 111122223333", Claim: lead}, dev,
			"AWS does not say who has sent this answer (unknown principal of account 111122223333), and only certain persons may answer run one: send it to the API"},
		{"another person than the author", project.Approval{NotByAuthor: true}, run.Answer{Yes: true, Who: lead}, dev, ""},
		{"the author", project.Approval{NotByAuthor: true}, run.Answer{Yes: true, Who: dev}, dev, dev + " has requested run one, and so may not approve it: another person has to"},
		{"a schedule is the author", project.Approval{NotByAuthor: true}, run.Answer{Yes: true, Who: lead}, "schedule nightly", ""},
		{"the author rejects", project.Approval{NotByAuthor: true}, run.Answer{Who: dev}, dev, ""},
		{"an unknown author", project.Approval{NotByAuthor: true}, run.Answer{Yes: true, Who: lead}, "unknown principal of account 111122223333",
			"AWS does not say who has requested run one, and its author may not approve it: request it by the API"},
		{"just in time", project.Approval{}, run.Answer{Yes: true, Who: lead, At: since.Add(24*time.Hour - time.Second)}, dev, ""},
		{"late", project.Approval{}, run.Answer{Yes: true, Who: lead, At: since.Add(24 * time.Hour)}, dev, "the plan of run one had to be approved within 24h, until 2026-03-02T12:00:00Z: deploy again"},
	} {
		c.rule.Plan = true
		r := run.Run{Request: run.Request{ID: "one", Who: c.author, Subject: subjectOf(c.author)}, State: run.StateWaiting, Command: run.Continue}
		r.Start(plan.View{}.Gated(plan.Plan{Steps: []plan.Step{{ID: "vpc/create"}}}, c.rule), nil)
		r.Steps[0].Status, r.Steps[0].Claimed = run.Waiting, since
		c.answer.ID, c.answer.Digest, c.answer.Subject = "a", r.Digest, subjectOf(c.answer.Who)
		if c.answer.At.IsZero() {
			c.answer.At = since
		}
		got := ""
		if err := r.Accepts(r.Steps[0], c.answer); err != nil {
			got = err.Error()
			if !fault.Is(err, fault.Refused) {
				t.Errorf("%s: the kind of %v is %s", c.name, err, fault.KindOf(err))
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Who has caused a run approves it as little as who has requested it. If AWS does not say one of them, nobody approves it.
func TestAuthorsBesidesTheRequester(t *testing.T) {
	const lead, dev = "arn:aws:iam::111122223333:role/lead", "arn:aws:iam::111122223333:role/dev"
	for _, c := range []struct {
		authors []string
		want    string
	}{
		{nil, ""},
		{[]string{lead}, ""},
		{[]string{lead, dev}, dev + " may not approve run one, because it follows from a deploy or a request of the same person: another person has to"},
		{[]string{lead, ""}, "AWS does not say who has requested run one, and its author may not approve it: request it by the API"},
	} {
		r := run.Run{Request: run.Request{ID: "one", Who: "schedule x", Subject: "schedule x", Authors: c.authors}, State: run.StateWaiting, Command: run.Continue}
		r.Start(plan.View{}.Gated(plan.Plan{Steps: []plan.Step{{ID: "vpc/delete"}}}, project.Approval{Plan: true, NotByAuthor: true}), nil)
		r.Steps[0].Status = run.Waiting
		got := ""
		if err := r.Accepts(r.Steps[0], run.Answer{ID: "a", Yes: true, Who: dev, Subject: dev, Digest: r.Digest}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("authors %q: got %q, want %q", c.authors, got, c.want)
		}
	}
}

// Two approvals are those of two persons. A third answer, and one to a run that asks nothing, have no question.
func TestTwoApprovals(t *testing.T) {
	r := run.Run{Request: run.Request{ID: "one", Who: "eve"}, State: run.StateRunning, Command: run.Continue}
	if _, err := r.Question("a", ""); err == nil || err.Error() != "run one waits for no approval: it is running" {
		t.Errorf("before the plan: %v", err)
	}
	r.Start(plan.View{}.Gated(plan.Plan{Steps: []plan.Step{{ID: "vpc/create"}, {ID: "db/create", After: []int{0}}}}, project.Approval{Plan: true, Approvals: 2}), nil)
	if len(r.Steps) != 4 || len(r.Steps[2].After) != 2 || len(r.Steps[3].After) != 1 || r.Steps[3].After[0] != 2 {
		t.Fatalf("the steps are %+v", r.Steps)
	}
	for i := range 2 {
		r.Steps[i].Status = run.Waiting
	}
	answer := func(id, who string) error {
		s, err := r.Question(id, "")
		if err == nil {
			a := run.Answer{ID: id, Yes: true, Who: who, Subject: who, Digest: r.Digest}
			if err = r.Accepts(s, a); err == nil {
				r.Steps[s.Number].Answer = a
			}
		}
		return err
	}
	if err := answer("a", "ann"); err != nil {
		t.Error(err)
	}
	if s, err := r.Question("a", ""); err != nil || s.Number != 0 {
		t.Errorf("the same request again is for step %d, %v", s.Number, err)
	}
	if err := answer("b", "ann"); err == nil || err.Error() != "ann has approved the plan of run one already, and it needs 2 approvals: another person has to approve it too" {
		t.Errorf("ann again: %v", err)
	}
	if err := answer("c", "bob"); err != nil || !r.Unapproved() {
		t.Errorf("bob: %v", err)
	}
	if err := answer("d", "cid"); err == nil || err.Error() != "run one was answered by ann and bob already: it waits for no more approvals" {
		t.Errorf("cid: %v", err)
	}
	r.Steps[0].Status, r.Steps[1].Status = run.Done, run.Done
	if r.Unapproved() {
		t.Error("it is approved")
	}
}

// The rule that was deployed last decides: files do not replace a rule, and get one.
func TestRule(t *testing.T) {
	old, other, none := project.Approval{Plan: true, Approvals: 2}, project.Approval{Plan: true}, project.Approval{}
	for _, c := range []struct {
		deployed       *project.Approval
		declared, want project.Approval
	}{{nil, none, none}, {nil, other, other}, {&none, other, other}, {&old, none, old}, {&old, other, old}} {
		if got, _ := (run.History{Approval: c.deployed}).Rule(c.declared, true); got.Plan != c.want.Plan || got.Approvals != c.want.Approvals {
			t.Errorf("deployed with %+v, and declared %+v: got %+v", c.deployed, c.declared, got)
		}
	}
}

// Stacks are approved by themselves: an answer names the step if several wait, and one person may approve several stacks.
func TestApprovalsOfStacks(t *testing.T) {
	r := run.Run{Request: run.Request{ID: "one"}, State: run.StateRunning, Command: run.Continue}
	v := plan.View{Recorded: map[string]plan.Record{"vpc": {Approve: project.ApproveAlways}, "db": {Approve: project.ApproveDeletions}}}
	r.Start(v.Gated(plan.Plan{Steps: []plan.Step{{ID: "db/delete", Node: "db", Verb: plan.Delete}, {ID: "vpc/delete", Node: "vpc", Verb: plan.Delete, After: []int{0}}}}, project.Approval{Approvals: 2}), nil)
	for i := range r.Steps {
		if r.Steps[i].Approval != nil {
			r.Steps[i].Status = run.Waiting
		}
	}
	if got := r.Asks(); !slices.Equal(got, []string{"db/approve", "vpc/approve"}) {
		t.Fatalf("it asks %v", got)
	}
	answer := func(id, who, step, want string) {
		t.Helper()
		s, err := r.Question(id, step)
		if err == nil {
			a := run.Answer{ID: id, Yes: true, Who: who, Subject: who, Digest: r.Digest}
			if err = r.Accepts(s, a); err == nil {
				r.Steps[s.Number].Answer = a
			}
		}
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s answers %q: got %q, want %q", who, step, got, want)
		}
	}
	answer("a", "ann", "", "run one waits for several approvals: name one of them with --step: db/approve, vpc/approve")
	answer("a", "ann", "web/approve", "step web/approve of run one waits for no approval: the run waits for db/approve, vpc/approve")
	answer("a", "ann", "db/approve", "<nil>")
	answer("b", "ann", "vpc/approve", "<nil>")
	answer("c", "ann", "db/approve:2", "ann has approved what the plan does with db of run one already, and it needs 2 approvals: another person has to approve it too")
	if completes, _ := r.Completes(); completes {
		t.Error("one of two approvals completes something")
	}
	answer("d", "bob", "db/approve", "<nil>")
	if completes, whole := r.Completes(); !completes || whole {
		t.Errorf("db is approved: it completes %t, the whole plan %t", completes, whole)
	}
	answer("e", "cid", "db/approve", "step db/approve of run one was answered by ann and bob already: it waits for no more approvals")
	answer("f", "bob", "", "<nil>")
	if r.Unapproved() {
		t.Error("its plan need not be approved")
	}
}
