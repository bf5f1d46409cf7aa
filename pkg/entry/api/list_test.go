package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// pagesOf reads all pages of a list, and returns one entry for each: what shown returns for a page, and its cursor.
func pagesOf[T any](t *testing.T, h *app, route, parameter string, shown func(T) ([]string, string), words ...string) (pages [][]string) {
	t.Helper()
	for at := ""; len(pages) < 20; {
		one, next := shown(read[T](t, h, route, append(words, "query."+parameter+"="+at)...))
		pages = append(pages, one)
		if at = next; at == "" {
			return pages
		}
	}
	t.Fatalf("%s: the pages do not end", route)
	return nil
}

// The runs of all projects are those that the caller may read, newest first, as the filters say. Pages lead through all of them.
func TestAllRuns(t *testing.T) {
	shown := func(p report.RunPage) (all []string, next string) {
		for _, r := range p.Runs {
			all = append(all, r.Run[:1])
		}
		return all, p.Before
	}
	list := func(h *app, words ...string) string {
		return strings.Join(slices.Concat(pagesOf(t, h, "GET /runs", "before", shown, words...)...), "")
	}
	h := newApp()
	if got := list(h); got != "nmo" {
		t.Errorf("a reader of shop@prod is shown %s", got)
	}
	h.admin, h.runs[1].State, h.runs[2].Operation, h.runs[2].Who = true, run.StateFailed, "destroy", "eve"
	at := func(hours int) string { return noon.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	for _, c := range []struct{ query, want string }{
		{"", "nmot"}, {"query.limit=1", "nmot"}, {"query.limit=3", "nmot"},
		{"query.project=shop", "nmo"}, {"query.project=sho", ""}, {"query.environment=prod", "nmot"}, {"query.environment=test", ""},
		{"query.state=failed", "m"}, {"query.operation=destroy", "o"}, {"query.who=ev", "o"}, {"query.who=nobody", ""},
		{"query.since=" + at(-1), "nm"}, {"query.until=" + at(-1), "ot"}, {"query.since=" + at(-2) + " query.until=" + at(0), "mo"}, {"query.limit=1 query.until=" + at(-1), "ot"},
	} {
		if got := list(h, strings.Fields(c.query)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	for _, c := range []struct{ query, want string }{
		{"query.state=done", "state: "}, {"query.operation=deploi", "operation: "}, {"query.since=yesterday", `since: "yesterday": it is a time such as`}, {"query.until=", "until: "},
		{"query.until=2026-02-30T00:00:00Z", "until: "}, {"query.before=x", "before: "}, {"query.sort=state", `"sort" is not understood`}, {"query.limit=0", "limit: "},
	} {
		if r, said := h.ask(t, call("GET /runs", "", c.query)); r.StatusCode != 400 || !strings.HasPrefix(said.Detail, c.want) {
			t.Errorf("%s: %d %s", c.query, r.StatusCode, said.Detail)
		}
	}
}

// A request reads no more runs than it may, however few it lists. The next page goes on behind them.
func TestListOfRunsIsBounded(t *testing.T) {
	h := newApp()
	h.runs = nil
	for n := range 2500 {
		id := fmt.Sprintf("%020d", n)
		id = strings.NewReplacer("0", "a", "1", "b", "8", "c", "9", "d").Replace(id)
		h.runs = append(h.runs, run.Run{Request: run.Request{ID: id, Project: "shop@prod", Operation: "deploy"}, State: run.StateSucceeded, Command: run.Continue, Requested: noon.Add(-time.Duration(n) * time.Second)})
	}
	h.runs[2400].State = run.StateFailed
	pages := pagesOf(t, h, "GET /runs", "before", func(p report.RunPage) ([]string, string) { return make([]string, len(p.Runs)), p.Before }, "query.state=failed")
	if len(pages) != 3 || len(pages[0])+len(pages[1]) != 0 || len(pages[2]) != 1 {
		t.Errorf("%d pages: %v", len(pages), pages)
	}
}

// The events of all projects are those of the runs that the caller may read.
func TestAllEvents(t *testing.T) {
	h := newApp()
	h.runs[1].Ended = noon.Add(-30 * time.Minute)
	shown := func(p report.EventList) (all []string, next string) {
		for _, e := range p.Events {
			all = append(all, fmt.Sprint(e.Run[:1], " ", e.Event.Event, " ", e.Project))
		}
		return all, p.Before
	}
	list := func(words ...string) string {
		return strings.Join(slices.Concat(pagesOf(t, h, "GET /events", "before", shown, words...)...), ", ")
	}
	for _, c := range []struct{ query, want string }{
		{"query.stack=vpc", "n step_started shop@prod"}, {"query.event=step_started query.limit=1", "n step_started shop@prod"}, {"query.project=other", ""},
		{"query.event=ended query.since=" + noon.Add(-time.Hour).Format(time.RFC3339), "m ended shop@prod"},
		{"query.event=requested", "n requested shop@prod, m requested shop@prod, o requested shop@prod"},
		{"query.event=requested query.until=" + noon.Format(time.RFC3339), "m requested shop@prod, o requested shop@prod"},
	} {
		if got := list(strings.Fields(c.query)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	for range 300 {
		h.runs[0].Steps = append(h.runs[0].Steps, run.Step{Step: plan.Step{ID: "vpc/read", Node: "vpc"}, Status: run.Done, Attempt: 1, Claimed: noon, Ended: noon})
	}
	if p := read[report.EventList](t, h, "GET /events", "query.stack=vpc", "query.limit=1"); len(p.Events) != report.MostOfRun || len(p.Cut) != 1 || p.Cut[0] != newest {
		t.Errorf("%d events, and more of %v", len(p.Events), p.Cut)
	}
}

// The stacks of all projects are those that the caller may read, without outputs, and pages lead through them.
func TestAllStacks(t *testing.T) {
	h := newApp()
	shown := func(p report.StackList) (all []string, next string) {
		for _, s := range p.Stacks {
			if s.Outputs != nil {
				t.Errorf("%+v has outputs", s)
			}
			all = append(all, s.Project+" "+s.Stack.Stack)
		}
		return all, p.After
	}
	list := func(words ...string) string {
		return strings.Join(slices.Concat(pagesOf(t, h, "GET /stacks", "after", shown, words...)...), ", ")
	}
	const shop = "shop@prod a, shop@prod b, shop@prod c"
	if got := list("query.stack=*"); got != shop {
		t.Errorf("a reader of shop@prod is shown %s", got)
	}
	h.admin = true
	for _, c := range []struct{ query, want string }{
		{"query.stack=*", "other@prod a, other@prod b, other@prod c, " + shop}, {"query.stack= query.limit=2", "other@prod a, other@prod b, other@prod c, " + shop},
		{"query.stack=b", "other@prod b, shop@prod b"}, {"query.stack=* query.project=shop", shop}, {"query.stack=* query.target=eu", ""},
		{"query.stack=* query.recorded=deployed", ""}, {"query.stack=a* query.recorded=unfinished query.limit=1", "other@prod a, shop@prod a"},
		{"query.stack=* query.changed_since=" + noon.Format(time.RFC3339), ""},
	} {
		if got := list(strings.Fields(c.query)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	after := read[report.StackList](t, h, "GET /stacks", "query.limit=1").After
	for _, query := range []string{"query.after=x", "query.recorded=no"} {
		if r, _ := h.ask(t, call("GET /stacks", "", query)); r.StatusCode != 400 {
			t.Errorf("%s: %d", query, r.StatusCode)
		}
	}
	if r, _ := h.ask(t, call("GET /resources", "", "query.after="+after)); r.StatusCode != 400 {
		t.Errorf("the cursor of another list: %d", r.StatusCode)
	}
	h.admin = false
	if got := list("query.stack=*", "query.after="+after); got != shop {
		t.Errorf("with the cursor of somebody who may read more: %s", got)
	}
}

// inside answers about the resources of stacks.
type inside struct {
	*app
	answer   func(stack, after string) ([]plan.StackResource, string, error)
	requests int
}

// Resources is api.Inside.
func (i *inside) Resources(_ context.Context, p plan.Location, after string) ([]plan.StackResource, string, error) {
	i.requests++
	return i.answer(p.Stack, after)
}

// The resources of all projects are those of stacks that the caller may read. A stack that cannot be read is said to be so, and when CloudFormation
// throttles, the next page begins with the stack.
func TestAllResources(t *testing.T) {
	h := newApp()
	shown := func(p report.ResourceList) (all []string, next string) {
		for _, r := range p.Resources {
			all = append(all, r.Stack+" "+r.ID)
		}
		for _, u := range p.Unread {
			all = append(all, "not "+u.Stack)
		}
		return all, p.After
	}
	list := func(words ...string) string {
		return strings.Join(slices.Concat(pagesOf(t, h, "GET /resources", "after", shown, words...)...), ", ")
	}
	all := "a shop-a, a shop-atoken of 2, b shop-b, b shop-btoken of 2, c shop-c, c shop-ctoken of 2"
	for _, c := range []struct{ query, want string }{
		{"", all}, {"query.limit=1", all}, {"query.type=AWS::SNS::*", all}, {"query.type=AWS::SNS::Topic", all}, {"query.type=AWS::RDS::*", ""}, {"query.physical_id=x", ""},
		{"query.stack=b", "b shop-b, b shop-btoken of 2"}, {"query.project=other", ""}, {"query.target=eu", ""},
	} {
		if got := list(append([]string{"query.stack="}, strings.Fields(c.query)...)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	calls := 0
	in := &inside{app: h, answer: func(stack, _ string) ([]plan.StackResource, string, error) {
		calls++
		switch {
		case stack == "shop-a":
			return nil, "", fault.New(fault.Denied, "no")
		case calls == 2:
			return nil, "", fault.New(fault.Throttled, "slow down")
		}
		return []plan.StackResource{{ID: "R", Type: "T", Status: "s"}}, "", nil
	}}
	a := h.api()
	a.Inside = in
	first, err := a.Answer(t.Context(), call("GET /resources", "", "query.stack="))
	if err != nil || !strings.Contains(first.Body, `"unread":[{"project":"shop@prod","stack":"a","why":"no"}]`) || !strings.Contains(first.Body, `"after":"`) || in.requests != 2 {
		t.Errorf("%d %s %v", first.StatusCode, first.Body, err)
	}
	in.answer = func(string, string) ([]plan.StackResource, string, error) {
		return nil, "", fault.New(fault.Throttled, "slow down")
	}
	if r, _ := a.Answer(t.Context(), call("GET /resources", "", "query.stack=")); r.StatusCode != 429 {
		t.Errorf("throttled at once: %d %s", r.StatusCode, r.Body)
	}
}

// The environments that live are those that the caller may read, with until when each lives, and pages lead through them.
func TestAllEnvironments(t *testing.T) {
	h := newApp()
	shown := func(p report.LivingPage) (all []string, next string) {
		for _, e := range p.Environments {
			until := "for ever"
			if e.Lifetime != nil {
				until = e.Lifetime.Expires.UTC().Format(time.RFC3339) + " " + e.Lifetime.Pattern + " " + e.Lifetime.TTL
			}
			all = append(all, fmt.Sprint(e.Project, " ", e.Stacks, " ", until, " ", e.Deployed != nil))
		}
		return all, p.After
	}
	list := func(words ...string) string {
		return strings.Join(slices.Concat(pagesOf(t, h, "GET /environments", "after", shown, words...)...), ", ")
	}
	shop := "shop@prod 3 " + noon.Add(36*time.Hour).UTC().Format(time.RFC3339) + " pr* 1d12h true"
	if got := list("query.project="); got != shop {
		t.Errorf("a reader of shop@prod is shown %s", got)
	}
	h.admin = true
	if got, want := list("query.project="), "other@prod 3 for ever true, "+shop; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := list("query.project=shop"); got != shop {
		t.Errorf("of a project: %s", got)
	}
	if one := read[report.LivingPage](t, h, "GET /environments", "query.after=other@prod").Environments; len(one) != 1 || !one[0].Lifetime.GivenUp || !one[0].Lifetime.Next.IsZero() || one[0].Lifetime.Destroys != oldest {
		t.Errorf("%+v", one)
	}
	if e := read[report.Environment](t, h, "GET"+ofShop); e.Lifetime == nil || e.Lifetime.Who != "ann" || e.Lifetime.Attempts != project.MostAttempts {
		t.Errorf("%+v", e.Lifetime)
	}
	h.blind = fault.New(fault.Throttled, "slow down")
	if r, _ := h.ask(t, call("GET /environments", "")); r.StatusCode != 429 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}
