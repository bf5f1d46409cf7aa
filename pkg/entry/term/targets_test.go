package term_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// manyTargets are the changes of a plan with a stack in n targets, of which the first has another reason, and a stack beside it.
func manyTargets(n int) plan.Changes {
	c := plan.Changes{
		Operation: "plan", Project: "shop", Environment: "prod", Summary: plan.Summary{Create: n + 1, Unchanged: 10},
		MaxParallel: []project.Limit{{Rollout: "net", Most: 30}}, MaxFailures: []project.Limit{{Most: 5}, {Rollout: "net", Most: 2}},
		Stacks:  []plan.StackChange{{Stack: "db", Action: plan.ActionCreate, Certainty: plan.Certain, Steps: []string{"db/create"}, Reasons: []string{"it does not exist"}}},
		Targets: []plan.TargetsChange{{Stack: "net", Targets: n + 10, Unchanged: 10, Actions: map[plan.StackAction]int{plan.ActionCreate: n}, Waves: []int{1, n - 1}}},
	}
	for i := range n {
		s := plan.StackChange{Stack: fmt.Sprintf("net@t%03d", i), Action: plan.ActionCreate, Certainty: plan.Certain, Steps: []string{fmt.Sprintf("net@t%03d/create", i)}, Reasons: []string{"it does not exist"}}
		if i == 0 {
			s.Reasons = []string{"somebody has deleted it"}
		}
		c.Stacks = append(c.Stacks, s)
	}
	return c
}

// Many targets of a stack are one line, and below it what happens in each of those that are alike. A few are shown each by itself, and so are
// all if they are not counted.
func TestPlanOfManyTargets(t *testing.T) {
	c := manyTargets(290)
	text := strings.Join(term.Plan(c, 0, false), "\n")
	for _, want := range []string{
		"  + net  300 targets: 290 create, 10 unchanged, in 2 waves: 1, 289\n      in net@t000:\n      somebody has deleted it\n      in net (289 targets):\n      it does not exist\n",
		"  + db  create\n", "at most 30 targets of net at the same time", "no other of the stacks begins after more than 5 have failed", "no other of the targets of net begins after more than 2 have failed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan does not say %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 15 {
		t.Errorf("the plan has %d lines", n)
	}
	if md := term.Markdown(c); strings.Count(md, "<details>") != 2 || !strings.Contains(md, "<summary><code>+ net  300 targets: 290 create, 10 unchanged, in 2 waves: 1, 289</code></summary>") {
		t.Errorf("in Markdown:\n%s", md)
	}
	for name, open := range map[string]plan.Changes{"few": manyTargets(5), "opened": {Stacks: c.Stacks}} {
		if text := strings.Join(term.Plan(open, 0, false), "\n"); !strings.Contains(text, "+ net@t003  create") || strings.Contains(text, "targets:") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// What differs in each target is not drawn for each, and the flag that does is named. A target that waits for approval is.
func TestPlanOfManyDifferentTargets(t *testing.T) {
	c := manyTargets(20)
	for i := range c.Stacks {
		c.Stacks[i].Reasons = []string{fmt.Sprint("reason ", i)}
	}
	c.Stacks[3].Action, c.Targets[0].Actions = plan.ActionDelete, map[plan.StackAction]int{plan.ActionCreate: 19, plan.ActionDelete: 1}
	text := strings.Join(term.Plan(c, 0, false, "net@t007"), "\n")
	for _, want := range []string{"  ~ net  30 targets: 19 create, 1 delete, 10 unchanged", "in net@t002:\n      reason 3\n      … and 17 other changes: --targets shows each target", "waits for your approval: net@t007"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan does not say %q:\n%s", want, text)
		}
	}
}

// A run shows many targets of a stack as one line with how far they have come, unless it is opened. What has failed is shown in any case.
func TestTreeOfManyTargets(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	r := run.Run{Request: run.Request{ID: "r"}, State: run.StateRunning, Requested: now}
	statuses := slices.Concat([]run.Status{run.Failed, run.Skipped}, slices.Repeat([]run.Status{run.Running}, 3), slices.Repeat([]run.Status{run.Done}, 4), slices.Repeat([]run.Status{run.Pending}, 11))
	for i, status := range statuses {
		node := fmt.Sprintf("net@t%02d", i)
		r.Steps = append(r.Steps, run.Step{Step: plan.Step{ID: node + "/update", Node: node, Verb: plan.Update}, Number: i, Status: status, Claimed: now})
	}
	r.Steps[1].Cause, r.Steps[0].Why = run.Cause{Kind: run.CauseFailure, Step: r.Steps[0].ID}, "it broke"
	closed := strings.Join(term.Tree{Run: r, Now: now}.Render(120, 40), "\n")
	if !strings.Contains(closed, "├─ ● net  20 targets: 1 failed, 3 running, 4 done, 1 skipped, 11 to come") || !strings.Contains(closed, "✗ net@t00  update  it broke") || strings.Contains(closed, "net@t03  update") || strings.Contains(closed, "○") {
		t.Errorf("closed:\n%s", closed)
	}
	open := strings.Join(term.Tree{Run: r, Now: now, Targets: true}.Render(120, 40), "\n")
	if !strings.Contains(open, "● net@t03  update") || strings.Contains(open, "20 targets") {
		t.Errorf("open:\n%s", open)
	}
	r.State = run.StateFailed
	for i := range r.Steps {
		if s := &r.Steps[i]; i > 0 {
			s.Status, s.Cause = run.Skipped, run.Cause{Kind: run.CauseFailures, Step: r.Steps[0].ID}
		}
	}
	if text := strings.Join(term.Summary(r, nil, 0), "\n"); !strings.Contains(text, "skipped because of it: net (19 targets)") {
		t.Errorf("the summary:\n%s", text)
	}
}
