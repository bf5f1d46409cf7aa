package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

const whyRoute = "GET" + ofShop + "/stacks/why"

// Why a stack is changed is what is recorded of it, its last changes, and what the newest plan says. It has no outputs.
func TestWhy(t *testing.T) {
	h := newApp()
	w := read[report.Why](t, h, whyRoute, "query.stack=a")
	if w.Project != "shop@prod" || w.Stack != "a" || w.Recorded == nil || w.Recorded.Name != "shop-a" || w.Recorded.Outputs != nil || w.Planned != nil || w.Needs == nil || w.Users == nil ||
		len(w.Changes) != 2 || w.Changes[0].Run != newest || w.Changes[0].Who != "bob" {
		t.Errorf("%+v", w)
	}
	if r, _ := h.ask(t, call(whyRoute, "", "query.stack=a")); strings.Contains(r.Body, "xxxx") || strings.Contains(r.Body, "secret") {
		t.Error("it has outputs or the token of the record")
	}
	for _, c := range []struct {
		query, want string
		status      int
	}{
		{"query.stack=", "stack: missing", 400},
		{"query.stack=d", `no stack "d" of shop@prod is recorded`, 404},
		{"query.limit=1", `"limit" is not understood`, 400},
	} {
		if r, said := h.ask(t, call(whyRoute, "", c.query)); r.StatusCode != c.status || !strings.HasPrefix(said.Detail, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.query, r.StatusCode, said.Detail, c.status, c.want)
		}
	}
}

// The newest plan of all stacks says what a deploy of its files does. It is outdated if another run was requested after it. A plan that is no
// longer stored says nothing, and neither does one of some stacks.
func TestWhyByTheNewestPlan(t *testing.T) {
	change := func(name string, a plan.StackAction) plan.StackChange {
		return plan.StackChange{Stack: name, Action: a, Certainty: plan.Certain, Reasons: []string{"changed here: template"}}
	}
	text, err := json.Marshal(plan.Changes{Stacks: []plan.StackChange{change("a", plan.ActionUpdate)}})
	if err != nil {
		t.Fatal(err)
	}
	planned := func(change func(*app)) *report.Planned {
		h := newApp()
		h.plans = map[string]string{"reference": string(text)}
		h.runs[1].Operation, h.runs[1].Changes = "plan", "reference"
		change(h)
		return read[report.Why](t, h, whyRoute, "query.stack=a").Planned
	}
	if p := planned(func(*app) {}); p == nil || p.Run != middle || !p.Outdated || p.Outcome != "update" || p.Reasons[0] != "changed here: template" || p.Source.Version != "v" {
		t.Errorf("%+v", p)
	}
	if p := planned(func(h *app) { h.runs = h.runs[1:] }); p == nil || p.Outdated {
		t.Errorf("of the newest run: %+v", p)
	}
	if p := planned(func(h *app) { h.plans["reference"] = stored() }); p == nil || p.Outcome != plan.OutcomeUnchanged || len(p.Reasons) > 0 {
		t.Errorf("without changes: %+v", p)
	}
	for what, change := range map[string]func(*app){
		"of some stacks":          func(h *app) { h.runs[1].Only = []string{"b"} },
		"of a destroy":            func(h *app) { h.runs[1].Operation = "plan-destroy" },
		"that was refused":        func(h *app) { h.runs[1].State = run.StateRefused },
		"that is no longer there": func(h *app) { h.plans = nil },
	} {
		if p := planned(change); p != nil {
			t.Errorf("by a plan %s: %+v", what, p)
		}
	}
}
