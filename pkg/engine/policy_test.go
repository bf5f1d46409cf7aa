package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// deny gives the installation a policy.
func (h *fixture) deny(when string) {
	h.backend.Policies = []project.Policy{{Name: "rule", Level: project.Deny, When: when, Message: "no way", File: "policies/rules.yaml", Line: 1, Column: 1, Exact: true}}
}

// Policies see the resources of every stack that is deployed, however many templates there are.
func TestPoliciesSeeEveryTemplate(t *testing.T) {
	h := newFixture(t)
	h.Engine.Changes = templates{h.Changes, "zzz", "Resources: {Queue: {Type: 'AWS::SQS::Queue'}}"}
	h.deny(`resource.type == "AWS::SQS::Queue"`)
	var list strings.Builder
	for i := range 1002 {
		fmt.Fprintf(&list, "s%d ", i)
	}
	h.setVersion("v1", list.String())
	for name, n := range h.projects["v1"].Nodes {
		n.Template.Digest = "digest of " + name
		if name == "s7" {
			n.Template.Digest = "zzz"
		}
		h.projects["v1"].Nodes[name] = n
	}
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	if got := h.stored("a").Messages; loop.State != run.StateRefused || len(got) != 1 || !strings.Contains(got[0], "policy rule denies stack s7, resource Queue") {
		t.Errorf("the run is %s: %q", loop.State, got)
	}
}

// A plan is refused if there are policies that may use the resources of a stack, and nobody can read its template.
// Other policies do not refuse it.
func TestPoliciesDenyStacksWithoutTemplates(t *testing.T) {
	const said = "policy rule denies stack vpc: it cannot be checked, because the template of the stack cannot be read: it is no longer stored"
	for when, refused := range map[string]bool{
		`resource.type == "AWS::SQS::Queue"`:                              true,
		`stack.resources.exists(r, r.type == "AWS::SQS::Queue")`:          true,
		`plan.stacks.exists(s, s.resources.exists(r, r.action == "add"))`: true,
		`project == "other"`: false,
	} {
		h := newFixture(t)
		h.Engine.Changes = withoutTemplates{h.Changes}
		h.deny(when)
		h.setVersion("v1", "vpc")
		h.request("a", "deploy", "v1")
		loop := h.planned("a", 1)
		if got := strings.Join(h.stored("a").Messages, "; "); (loop.State == run.StateRefused) != refused || strings.Contains(got, said) != refused {
			t.Errorf("%s: the run is %s: %q", when, loop.State, got)
		}
	}
}

// If nobody knows what is deployed, policies see that each resource may change.
func TestPoliciesSeeThatUnknownResourcesMayChange(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.Engine.Changes, h.backend.Cloud.Unreadable = templates{h.Changes, "v1", ""}, map[string]bool{"shop-vpc": true}
	h.deny(`resource.action == "dynamic"`)
	h.setVersion("v2", "vpc")
	h.request("b", "deploy", "v2")
	loop := h.planned("b", 1)
	if got := h.stored("b").Messages; loop.State != run.StateRefused || len(got) != 1 || !strings.Contains(got[0], "stack vpc, resource Topic") {
		t.Errorf("the run is %s: %q", loop.State, got)
	}
}

// templates has a template of its own under a digest; none if it is empty.
type templates struct {
	engine.Changes
	digest, body string
}

func (w templates) Template(ctx context.Context, digest string) ([]byte, error) {
	switch {
	case digest == w.digest && w.body == "":
		return nil, fault.New(fault.Missing, "there is no template %s", digest)
	case digest == w.digest:
		return []byte(w.body), nil
	}
	return w.Changes.Template(ctx, digest)
}

// An approval that arrives while an execution polls starts no step before function plan has checked the policies again.
func TestPoliciesAreCheckedAgainAfterALateApproval(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	p.Approval = project.Approval{Plan: true, Approvals: 2}
	h.projects["v1"] = p
	if r := h.requestAndExecute("a", "deploy", "v1"); r.State != run.StateWaiting {
		t.Fatalf("the run is %s: %q", r.State, r.Messages)
	}
	approve := func(step, who string) {
		h.must(h.Answer(t.Context(), "a", step, run.Answer{ID: "by " + who, Yes: true, Who: who, Subject: who, Digest: h.stored("a").Digest, At: h.backend.Now()}))
	}
	approve("approve", "ann")
	h.deny(`true`)
	h.store.afterRegister = func() {
		h.store.afterRegister = nil
		approve("approve:2", "bob")
	}
	loop := h.planned("a", 2)
	if r := h.stored("a"); loop.State != run.StatePoll || r.Step("approve").Status != run.Running {
		t.Fatalf("after one approval of two the policies are checked: %s, %+v", loop.State, r.Steps)
	}
	if r := h.executeToEnd(loop); r.State != run.StateRunning || r.Epoch != 3 || r.Step("vpc/create").Status != run.Pending {
		t.Fatalf("the run is %s in epoch %d", r.State, r.Epoch)
	}
	if r := h.planAndExecute("a"); r.State != run.StateFailed || !strings.Contains(r.Step("approve:2").Why, "policy rule denies") || r.Step("vpc/create").Status != run.Skipped {
		t.Errorf("the run is %s: %s", r.State, r.Step("approve:2").Why)
	}
}

// After an approval, policies see the values outside the project that were read for the plan, and not those that there are now.
func TestPoliciesSeeWhatWasPlanned(t *testing.T) {
	for _, later := range []map[string]plan.Export{{"legacy-Name": {Stack: "legacy", Value: "large"}}, nil} {
		h := newFixture(t)
		h.backend.Cloud.Make("legacy", "v1", nil)
		h.setVersion("v1", "vpc")
		p := h.projects["v1"]
		p.Approval = project.Approval{Plan: true}
		p.Nodes["vpc"].Parameters["P"] = project.Text{{Source: &project.Source{Export: "legacy-Name"}}}
		h.projects["v1"] = p
		if r := h.requestAndExecute("a", "deploy", "v1"); r.State != run.StateWaiting {
			t.Fatalf("the run is %s: %q", r.State, r.Messages)
		}
		h.Engine.Clouds = exporting{h.Clouds, later}
		h.deny(`stack.desired.parameters.P != "legacy"`)
		h.must(h.Answer(t.Context(), "a", "approve", run.Answer{ID: "by ann", Yes: true, Who: "ann", Subject: "ann", Digest: h.stored("a").Digest, At: h.backend.Now()}))
		if r := h.planAndExecute("a"); r.State != run.StateSucceeded {
			t.Errorf("the run is %s: %s", r.State, r.Step("approve").Why)
		}
	}
}

// exporting has exports of its own.
type exporting struct {
	engine.Clouds
	exports map[string]plan.Export
}

func (x exporting) Exports(context.Context, project.Target, []string, func()) (map[string]plan.Export, error) {
	return x.exports, nil
}

// A plan that was approved is not executed as long as its policies cannot be checked: the state machine tries it again.
func TestPoliciesThatCannotBeCheckedAreCheckedLater(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	p.Approval = project.Approval{Plan: true}
	h.projects["v1"] = p
	h.requestAndExecute("a", "deploy", "v1")
	h.deny(`true`)
	h.must(h.Answer(t.Context(), "a", "approve", run.Answer{ID: "x", Yes: true, Who: "ann", Digest: h.stored("a").Digest, At: h.backend.Now()}))
	h.cloud.readErr = fault.New(fault.Throttled, "slow")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 2}); !fault.Is(err, fault.Throttled) {
		t.Fatal(err)
	}
	h.cloud.readErr = nil
	h.passTime(time.Second)
	if r := h.planAndExecute("a"); r.State != run.StateFailed {
		t.Errorf("the run is %s", r.State)
	}
}

// After an approval, what was planned is read for many stacks at the same time, once for each.
func TestPlannedSpecsAreReadInParallel(t *testing.T) {
	h := newFixture(t)
	h.backend.Cloud.Make("legacy", "v1", nil)
	h.setVersion("v1", "a b c")
	p := h.projects["v1"]
	p.Approval = project.Approval{Plan: true}
	p.Nodes["a"].Parameters["P"] = project.Text{{Source: &project.Source{Export: "legacy-Name"}}}
	h.projects["v1"] = p
	h.requestAndExecute("a", "deploy", "v1")
	h.deny(`false`)
	h.must(h.Answer(t.Context(), "a", "approve", run.Answer{ID: "by ann", Yes: true, Who: "ann", Subject: "ann", Digest: h.stored("a").Digest, At: h.backend.Now()}))
	slow := &meetingSpecs{Specs: h.Engine.Specs, arrived: make(chan struct{}), needs: 3}
	h.Engine.Specs, h.Engine.Parallel = slow, engine.AtMost(8)
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	if got := slow.reads.Load(); got != 3 {
		t.Errorf("%d reads for 3 stacks", got)
	}
}

// meetingSpecs answers no read before there are as many as it needs, or five seconds have passed.
type meetingSpecs struct {
	engine.Specs
	arrived chan struct{}
	needs   int64
	reads   atomic.Int64
}

func (s *meetingSpecs) Spec(ctx context.Context, reference string) (project.Node, error) {
	if s.reads.Add(1) == s.needs {
		close(s.arrived)
	}
	select {
	case <-s.arrived:
	case <-time.After(5 * time.Second):
		return project.Node{}, fault.New(fault.Unavailable, "the other specs are not read at the same time")
	}
	return s.Specs.Spec(ctx, reference)
}
