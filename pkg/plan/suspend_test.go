package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// suspendable are recorded stacks: web needs app, app needs db, and both need vpc. Those of the given names are suspended.
func suspendable(suspended ...string) plan.View {
	v := plan.View{Suspendable: true, Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live)}
	v.Desired.Name, v.Desired.Environment = "shop", "dev"
	for name, needs := range map[string]string{"web": "app vpc", "app": "db vpc", "db": "", "vpc": ""} {
		r := plan.Record{Node: name, Stack: "shop-" + name, StackID: name, Needs: strings.Fields(needs)}
		if slices.Contains(suspended, name) {
			r.Suspended = &plan.Suspension{Since: time.Date(2026, 3, 1, 20, len(name), 0, 0, time.UTC)}
		}
		v.Recorded[name], v.Live[name] = r, plan.Live{StackID: name, Status: "CREATE_COMPLETE"}
	}
	return v
}

// A suspend goes from dependents to dependencies, a resume the other way, and only over suspended stacks. A stack between two of a request
// orders these too.
func TestSuspendAndResume(t *testing.T) {
	for name, c := range map[string]struct {
		make      func(plan.View) (plan.Plan, error)
		suspended string
		only      string
		gone      string
		want      string
	}{
		"suspend":                     {plan.SuspendStacks, "", "", "", "web/suspend\napp/suspend ← web/suspend\ndb/suspend ← app/suspend\nvpc/suspend ← app/suspend web/suspend"},
		"suspend some":                {plan.SuspendStacks, "", "web,db", "", "web/suspend\ndb/suspend ← web/suspend"},
		"suspend without one":         {plan.SuspendStacks, "", "", "app", "web/suspend\ndb/suspend ← web/suspend\nvpc/suspend ← web/suspend"},
		"suspend again":               {plan.SuspendStacks, "db", "db", "", "db/suspend"},
		"resume nothing":              {plan.ResumeStacks, "", "", "", ""},
		"resume":                      {plan.ResumeStacks, "web app db", "", "", "db/resume\napp/resume ← db/resume\nweb/resume ← app/resume"},
		"resume around one":           {plan.ResumeStacks, "web db", "", "", "db/resume\nweb/resume ← db/resume"},
		"resume some":                 {plan.ResumeStacks, "web app db", "app,vpc", "", "app/resume"},
		"resume a stack that is gone": {plan.ResumeStacks, "app", "", "app", "app/resume"},
	} {
		v := suspendable(strings.Fields(c.suspended)...)
		if c.only != "" {
			v.Only = strings.Split(c.only, ",")
		}
		delete(v.Live, c.gone)
		p, err := c.make(v)
		if got := strings.TrimSpace(p.String()); got != c.want || err != nil {
			t.Errorf("%s: got\n%s\nwant\n%s\n%v", name, got, c.want, err)
		}
		if says := strings.Join(p.Messages, ""); strings.Contains(says, "no stack is suspended") != (c.want == "") {
			t.Errorf("%s: says %q", name, says)
		}
	}
	v := suspendable()
	r := v.Recorded["db"]
	r.Needs = []string{"web"} // while an update is in flight, a record has its old and its new dependencies
	v.Recorded["db"] = r
	if p, err := plan.SuspendStacks(v); err != nil || len(p.Steps) != 4 {
		t.Errorf("with a cycle of old and new dependencies: %v, %v", p, err)
	}
}

// A suspend is refused with all reasons at once.
func TestSuspendRefused(t *testing.T) {
	v := suspendable()
	v.Suspendable, v.Only = false, []string{"web", "no"}
	v.Live["web"] = plan.Live{StackID: "web", Status: "UPDATE_IN_PROGRESS"}
	_, err := plan.SuspendStacks(v)
	if got := fault.Messages(err); len(got) != 3 || !strings.HasPrefix(got[0], "only: there is no stack no") || !strings.Contains(got[1], "shop@dev may not be suspended: ask the owner of the installation to add it to the setting suspend") || !strings.Contains(got[2], "stack web: it is UPDATE_IN_PROGRESS: wait") {
		t.Errorf("refused with %q", got)
	}
	if _, err := plan.ResumeStacks(v); len(fault.Messages(err)) != 1 {
		t.Errorf("a resume is refused with %v", err)
	}
}

// Operations that need running stacks are refused for suspended ones of the request, unless the request says otherwise. Plans that are only
// shown say it.
func TestNeedsRunning(t *testing.T) {
	for _, o := range plan.AllOperations() {
		if want := slices.Contains([]string{"deploy", "plan", "forget", "replace", "revert-drift", "plan-revert-drift", "rollback-to", "plan-rollback-to", "promote", "plan-promote", "restore", "plan-restore"}, o.Name); o.NeedsRunning != want {
			t.Errorf("%s: needs running stacks: %v", o.Name, o.NeedsRunning)
		}
	}
	o := plan.Operation{Name: "any", NeedsRunning: true, Plan: func(plan.View) (plan.Plan, error) { return plan.Plan{Unchanged: []string{"web"}}, nil }}
	for name, c := range map[string]struct {
		change   func(*plan.View, *plan.Operation)
		refused  bool
		messages bool
	}{
		"suspended":            {func(*plan.View, *plan.Operation) {}, true, false},
		"others are suspended": {func(v *plan.View, _ *plan.Operation) { v.Only = []string{"vpc"} }, false, false},
		"as the request says":  {func(v *plan.View, _ *plan.Operation) { v.WhileSuspended = true }, false, true},
		"shown":                {func(_ *plan.View, o *plan.Operation) { o.Preview = true }, false, true},
		"of any stacks":        {func(_ *plan.View, o *plan.Operation) { o.NeedsRunning = false }, false, false},
	} {
		v, o := suspendable("web", "db"), o
		c.change(&v, &o)
		p, err := o.Make(v)
		if (err != nil) != c.refused || (len(p.Messages) > 0) != c.messages || len(p.Unchanged) != 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		said := strings.Join(p.Messages, "")
		if err != nil {
			said = err.Error()
		}
		if (c.refused || c.messages) && !strings.Contains(said, "suspended since 2026-03-01T20:02:00Z: db, web") || c.refused && (!strings.Contains(said, "stackwright resume") || !strings.Contains(said, "while_suspended")) {
			t.Errorf("%s: says %s", name, said)
		}
	}
}
