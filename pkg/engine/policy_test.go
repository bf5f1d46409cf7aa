package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
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
	h.Engine.Changes = templates{h.Changes, "v1", ""}
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
