package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// read asks the app for something that must be answered 200, and reads the answer.
func read[T any](t *testing.T, h *app, route string, words ...string) T {
	t.Helper()
	r, _ := h.ask(t, call(route, "", words...))
	var v T
	if err := json.Unmarshal([]byte(r.Body), &v); err != nil || r.StatusCode != 200 {
		t.Fatalf("%s %s: %d %s %v", route, words, r.StatusCode, r.Body, err)
	}
	return v
}

// An environment is shown with its newest run and the failed run that no later one has repaired.
func TestEnvironmentShowsWhatNeedsAttention(t *testing.T) {
	h := newApp()
	h.runs[1].State = run.StateFailed
	got := read[report.Environment](t, h, "GET"+ofShop)
	if got.Project != "shop@prod" || got.Environment != "prod" || got.Stacks != 3 || got.LastRun.Run != newest || got.Attention.Run != middle || got.Lock.Owner.Run != newest {
		t.Errorf("%+v", got)
	}
	h.runs[0].State = run.StateSucceeded
	if got := read[report.Environment](t, h, "GET"+ofShop); got.Attention != nil {
		t.Errorf("a later run has repaired it, and %s needs attention", got.Attention.Run)
	}
}

// A project whose environments the caller may not read is answered as one that does not exist.
func TestEnvironmentsOfOthersAreHidden(t *testing.T) {
	h := newApp()
	if got := read[report.EnvironmentPage](t, h, "GET /projects/{project}"); len(got.Environments) != 1 || got.Environments[0].Project != "shop@prod" || got.After != "" {
		t.Errorf("%+v", got)
	}
	if got := read[report.EnvironmentPage](t, h, "GET /projects/{project}", "query.after=prod"); len(got.Environments) > 0 {
		t.Errorf("behind the last one are %+v", got)
	}
	hidden, _ := h.ask(t, call("GET /projects/{project}", "", "project=other"))
	absent, _ := h.ask(t, call("GET /projects/{project}", "", "project=absent"))
	if hidden.StatusCode != 404 || strings.ReplaceAll(hidden.Body, "other", "absent") != absent.Body {
		t.Errorf("%s differs from %s", hidden.Body, absent.Body)
	}
}

// waiting is an app whose newest run waits for the approval of its plan by two persons, and of a stack.
func waiting() *app {
	h := newApp()
	rule := &project.Approval{Plan: true, Approvals: 2}
	step := func(id, node string) run.Step {
		return run.Step{Step: plan.Step{ID: id, Node: node, Verb: plan.Approve, Approval: rule, Timeout: project.Timeout(time.Hour)}, Status: run.Waiting, Attempt: 1, Claimed: noon, Why: "approve it?"}
	}
	h.runs[0].Digest, h.runs[0].State = "d1", run.StateWaiting
	h.runs[0].Steps = []run.Step{step(plan.StepID("", plan.Approve, ""), ""), step(plan.StepID("", plan.Approve, "2"), ""), step(plan.StepID("db", plan.Approve, ""), "db")}
	return h
}

// What waits for approval is listed once for each plan and stack, with what an answer has to name, and only of projects that the
// caller may read.
func TestApprovalsAreListedWithWhatAnAnswerNames(t *testing.T) {
	for _, route := range []string{"GET" + ofShop + "/approvals", "GET /approvals"} {
		got := read[report.ApprovalPage](t, waiting(), route).Approvals
		if len(got) != 2 || got[0].Stack != "" || got[1].Stack != "db" || got[1].Step != plan.StepID("db", plan.Approve, "") || got[0].Digest != "d1" || got[0].Run != newest ||
			!got[0].Deadline.Equal(noon.Add(time.Hour)) || got[0].Approval.Approvals != 2 {
			t.Errorf("%s: %+v", route, got)
		}
	}
	if got := read[report.ApprovalPage](t, newApp(), "GET /approvals").Approvals; got == nil || len(got) > 0 {
		t.Errorf("nothing waits, and the list is %+v", got)
	}
	h := waiting()
	h.blind = fault.New(fault.Throttled, "slow down")
	if r, _ := h.ask(t, call("GET /approvals", "")); r.StatusCode != 429 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// Revisions are the configurations that were deployed, each once, and what a plan has read is none.
func TestRevisionsAreWhatWasDeployed(t *testing.T) {
	h := newApp()
	for i, o := range []string{"deploy", "plan", "deploy"} {
		h.runs[i].Operation, h.runs[i].Started, h.runs[i].Source.Version = o, noon, fmt.Sprint("v", i)
	}
	got := read[report.RevisionPage](t, h, "GET"+ofShop+"/revisions")
	if len(got.Revisions) != 2 || got.Revisions[0].Version != "v0" || got.Revisions[1].Version != "v2" || got.Revisions[1].Run != oldest || got.Revisions[1].Current || got.Before != "" {
		t.Errorf("%+v", got)
	}
	h.runs[2].Source.Version = "v0"
	page := read[report.RevisionPage](t, h, "GET"+ofShop+"/revisions", "query.limit=1")
	if len(page.Revisions) != 1 || page.Before != newest {
		t.Errorf("%+v", page)
	}
	if all := read[report.RevisionPage](t, h, "GET"+ofShop+"/revisions"); len(all.Revisions) != 1 || all.Revisions[0].Run != newest {
		t.Errorf("two runs of one configuration are %+v", all)
	}
}

// Steps have pages of the requested length, and only those that the query chooses.
func TestStepsAreChosen(t *testing.T) {
	h := newApp()
	h.runs[0].Steps = nil
	for n := range 10 {
		s := run.Step{Step: plan.Step{ID: fmt.Sprintf("s%d/create", n), Node: fmt.Sprint("s", n), Verb: plan.Create}, Number: n, Status: run.Pending, Nonce: "secret"}
		if n%3 == 0 {
			s.Status = run.Failed
		}
		h.runs[0].Steps = append(h.runs[0].Steps, s)
	}
	route := "GET" + ofShop + "/runs/{run}/steps"
	names := func(words ...string) (all []string) {
		for next := 0; ; {
			page := read[report.StepPage](t, h, route, append(words, fmt.Sprint("query.from=", next))...)
			for _, s := range page.Steps {
				all = append(all, s.Stack)
			}
			if next = page.Next; next == 0 {
				return all
			}
		}
	}
	for want, words := range map[string]string{
		"[s0 s3 s6 s9]":                   "query.status=failed query.limit=2",
		"[s0 s1 s2 s3 s4 s5 s6 s7 s8 s9]": "query.limit=3",
		"[s4]":                            "query.stack=s4",
		"[]":                              "query.stack=s4 query.status=done",
	} {
		if got := fmt.Sprint(names(strings.Fields(words)...)); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
	if r, said := h.ask(t, call(route, "", "query.status=broken")); r.StatusCode != 400 || said.Detail != `status: "broken": it is one of pending, running, waiting, done, failed, skipped` {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
}

// A retry is requested for the run of the path, with the options of a retry only.
func TestRetryRepeatsTheRunOfThePath(t *testing.T) {
	h := newApp()
	r, _ := h.ask(t, call(to("retry"), `{"force":true}`, "run="+middle))
	if r.StatusCode != 202 || len(h.requested) != 1 || h.requested[0].Of != middle || !h.requested[0].Force || h.requested[0].Operation != "retry" || !strings.HasPrefix(r.Headers["location"], "/projects/shop/prod/runs/") {
		t.Errorf("%d %s %+v", r.StatusCode, r.Body, h.requested)
	}
	for _, c := range []struct{ body, run, want string }{
		{`{"run":"` + oldest + `"}`, middle, `"run" is not a key of a request`},
		{`{"only":["a"]}`, middle, `"only" is not a key of a request`},
		{`{}`, others, "there is no run " + others + " of shop@prod"},
		{`{"forse":true}`, middle, `"forse" is not a key of a request: did you mean force?`},
	} {
		h := newApp()
		if r, said := h.ask(t, call(to("retry"), c.body, "run="+c.run)); r.StatusCode/100 != 4 || !strings.HasPrefix(said.Detail, c.want) || len(h.requested) > 0 {
			t.Errorf("%s: %d %s, want %s", c.body, r.StatusCode, said.Detail, c.want)
		}
	}
}

// The next ten times of a schedule are in its time zone, also where clocks are put forward.
func TestSchedulesShowTheirNextTimes(t *testing.T) {
	at := project.Scheduled{Expression: "cron(0 9 * * ? *)", Zone: "Europe/Berlin"}
	shown := report.ScheduleOf(at, time.Date(2026, 3, 28, 8, 30, 0, 0, time.UTC)) // 9:30 there; clocks are put forward the next day
	if len(shown.Next) != 10 || shown.Next[0].Format(time.RFC3339) != "2026-03-29T09:00:00+02:00" || shown.Next[9].Format(time.RFC3339) != "2026-04-07T09:00:00+02:00" {
		t.Errorf("%v", shown.Next)
	}
	at.Except = &project.Exception{Zone: at.Zone, Days: []project.Days{"2026-03-29/2026-04-02"}}
	if times := report.NextTimes(at, time.Date(2026, 3, 28, 8, 30, 0, 0, time.UTC), 2); len(times) != 2 || times[0].Format(time.RFC3339) != "2026-04-03T09:00:00+02:00" {
		t.Errorf("without some days it runs at %v", times)
	}
	at.Except.Days = []project.Days{"2026-01-01/2199-12-31"}
	if times := report.NextTimes(at, noon, 2); times != nil {
		t.Errorf("it never runs, and at %v", times)
	}
	at.Except, at.Off = nil, true
	if shown := report.ScheduleOf(at, noon); shown.Next != nil {
		t.Errorf("it is disabled, and runs at %v", shown.Next)
	}
	if times := report.NextTimes(project.Scheduled{Expression: "at(2026-03-01T13:00:00)"}, noon, 10); len(times) != 1 {
		t.Errorf("it runs once, and at %v", times)
	}
}
