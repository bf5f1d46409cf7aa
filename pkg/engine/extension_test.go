package engine_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// inspect is a toy operation: it inspects every recorded stack twice, with other
// arguments.
func inspect() plan.Operation {
	return plan.Operation{
		Name: "inspect", Plan: planInspection, Requestable: true, Retryable: true,
		Options: []plan.Option{plan.OptionRefuse}, Effect: "it inspects all stacks",
	}
}

// depth is the argument of an inspection, of version 1.
type depth struct {
	Resources bool `json:"resources"`
}

func planInspection(v plan.View) (plan.Plan, error) {
	var p plan.Plan
	for _, node := range slices.Sorted(maps.Keys(v.Recorded)) {
		var after []int
		for _, kind := range []string{"stack", "resources"} {
			arguments, err := plan.NewArguments(1, depth{kind == "resources"})
			if err != nil {
				return p, err
			}
			s := plan.Step{ID: plan.StepID(node, "inspect", kind), Node: node, Verb: "inspect", Qualifier: kind, Arguments: arguments, After: after}
			p.Steps, after = append(p.Steps, s), []int{len(p.Steps)}
		}
	}
	return p, nil
}

// inspects is a toy verb: it finds what its stack has.
func inspects(c action.Cloud) action.Verb {
	return action.Verb{Name: "inspect", Action: inspection{c}, PollReads: 1, Past: "inspected"}
}

type inspection struct{ action.Cloud }

func (inspection) Start(context.Context, action.Task) (plan.Receipt, error) {
	return plan.Receipt{}, nil
}

func (i inspection) Poll(ctx context.Context, t action.Task) (action.Progress, error) {
	var d depth
	if err := t.Step.Arguments.Read(1, &d); err != nil {
		return action.Progress{}, err
	}
	live, err := i.Live(ctx, t.Location())
	if err != nil {
		return action.Progress{}, err
	}
	finding := plan.Finding{Kind: "status", Actual: string(live.Status)}
	if d.Resources {
		finding = plan.Finding{Kind: "text", Resource: "Topic", Expected: strings.Repeat("x", 1000)}
	}
	return action.Progress{Over: true, Result: plan.ResultOf(live).Found([]plan.Finding{finding})}, nil
}

// A new operation and a new verb are one row each: nothing else knows them, and a run of
// them is requested, executed and retried, and has findings.
func TestNewOperationAndVerbAreOneRowEach(t *testing.T) {
	h := newFixture(t)
	h.Operations = append(plan.AllOperations(), inspect())
	h.Verbs["inspect"] = inspects(h.cloud)
	h.setVersion("v1", "vpc db<vpc")
	h.requestAndExecute("a", "deploy", "v1")

	q := trigger.ParseRequest(h.Operations, shop, []byte(`{"operation":"inspect","options":{"refuse":true}}`))
	if len(q.Problems) > 0 || q.Operation != "inspect" {
		t.Fatalf("the request is %+v", q)
	}
	wrong := trigger.ParseRequest(h.Operations, shop, []byte(`{"operation":"inspekt"}`))
	if d := cmp.Diff([]string{`operation: there is no operation "inspekt": did you mean inspect?`}, wrong.Problems); d != "" {
		t.Error(d)
	}
	q.ID = "i"
	h.must(h.Start(t.Context(), q))
	r := h.executeToEnd(h.planned("i", 1))
	var got []string
	for _, s := range r.Steps {
		f := s.Result.Findings
		if s.Status != run.Done || len(f) != 1 || len(f[0].Expected) > 600 {
			t.Fatalf("step %s is %s: %s; found %+v", s.ID, s.Status, s.Why, f)
		}
		got = append(got, s.ID+" "+f[0].Kind+" "+f[0].Actual)
	}
	want := []string{"db/inspect:stack status CREATE_COMPLETE", "db/inspect:resources text ", "vpc/inspect:stack status CREATE_COMPLETE", "vpc/inspect:resources text "}
	if d := cmp.Diff(want, got); d != "" || r.State != run.StateSucceeded {
		t.Errorf("%s: %s", r.State, d)
	}
	if again := h.requestAndExecute("again", "retry", "i"); again.State != run.StateSucceeded || again.Operation != "inspect" || len(again.Steps) != 4 {
		t.Errorf("the retry is %s, a %s of %d steps", again.State, again.Operation, len(again.Steps))
	}
	if l, err := h.Store.Lock(t.Context(), shop); err != nil || l.LastAttempted.Run != "a" {
		t.Errorf("the last attempted run is %s, %v", l.LastAttempted.Run, err)
	}
}

// A step fails if this version does not know its verb.
func TestUnknownVerbFailsItsStep(t *testing.T) {
	h := newFixture(t)
	h.Operations = append(plan.AllOperations(), inspect())
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	r := h.requestAndExecute("i", "inspect", "")
	if s := r.Steps[0]; r.State != run.StateFailed || s.Status != run.Failed || !strings.Contains(s.Why, `does not know the verb "inspect"`) {
		t.Errorf("the run is %s, step %s is %s: %s", r.State, s.ID, s.Status, s.Why)
	}
}

// Arguments are refused if they have another version, are missing, or are too large.
func TestArguments(t *testing.T) {
	a, err := plan.NewArguments(1, depth{true})
	var d depth
	if err != nil || a.Read(1, &d) != nil || !d.Resources {
		t.Errorf("got %+v, %v", d, err)
	}
	if err := a.Read(2, &d); !fault.Is(err, fault.Broken) {
		t.Errorf("another version: %v", err)
	}
	if err := (*plan.Arguments)(nil).Read(1, &d); !fault.Is(err, fault.Broken) {
		t.Errorf("none: %v", err)
	}
	if _, err := plan.NewArguments(1, strings.Repeat("x", 5000)); !fault.Is(err, fault.Invalid) {
		t.Errorf("large: %v", err)
	}
}
