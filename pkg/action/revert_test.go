package action_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// reverting is a step that brings back what has drifted in vpc. No files are read.
func reverting(v plan.Verb) action.Task {
	t := task(v)
	t.Node, t.Want = project.Node{}, project.Resolved{}
	t.Record.Drift = &plan.Drift{Run: "before", Resources: []string{"Queue", "Topic"}}
	return t
}

// A change set that reverts drift says what it does not bring back.
func TestProposeRevert(t *testing.T) {
	topic, queue := plan.ResourceChange{ID: "Topic"}, plan.ResourceChange{ID: "Queue", Ignored: []string{"Password (it cannot be read)"}}
	for _, c := range []struct {
		name      string
		resources []plan.ResourceChange
		why       string
	}{
		{"all", []plan.ResourceChange{topic, {ID: "Queue"}}, ""},
		{"not all properties", []plan.ResourceChange{topic, queue}, "of Queue it leaves Password (it cannot be read)"},
		{"not all resources", []plan.ResourceChange{topic}, "CloudFormation does not bring back Queue: change them by hand, or accept how they are in the template"},
	} {
		cloud := is("UPDATE_COMPLETE")
		for id, l := range cloud.live {
			l.Protected = true // no node says that it should not be
			cloud.live[id] = l
		}
		cloud.proposal, cloud.ready = plan.Proposal{Resources: c.resources, Unchanged: len(c.resources) == 0}, true
		in := reverting(plan.ProposeRevert)
		in.Receipt = started
		got, err := act(cloud, plan.ProposeRevert).Poll(t.Context(), in)
		if err != nil || !got.Over || got.Err != nil || got.Proposal == nil || got.Why != c.why || got.Proposal.Protection {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// What is deployed stays what it was, and the record keeps the drift that was not brought back.
func TestRevert(t *testing.T) {
	at := plan.ResourceChange{ID: "Topic"}
	for _, c := range []struct {
		name     string
		proposed []plan.ResourceChange
		end      plan.Status
		drift    []string // that the record keeps
		fails    bool
	}{
		{"all", []plan.ResourceChange{at, {ID: "Queue"}}, "UPDATE_COMPLETE", nil, false},
		{"not all", []plan.ResourceChange{at}, "UPDATE_COMPLETE", []string{"Queue"}, false},
		{"rolled back", []plan.ResourceChange{at}, "UPDATE_ROLLBACK_COMPLETE", []string{"Queue", "Topic"}, true},
	} {
		cloud := withEvents(is(c.end), operation(c.end, "no"))
		for id, l := range cloud.live {
			l.LastUpdated, l.Protected = now, true
			cloud.live[id] = l
		}
		in := reverting(plan.Revert)
		in.Receipt, in.Notified, in.Proposed = plan.Receipt{StackID: "id"}, true, plan.Proposal{Resources: c.proposed}
		got, err := act(cloud, plan.Revert).Poll(t.Context(), in)
		if err != nil || !got.Over || (got.Err != nil) != c.fails || got.Record == nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if calls := strings.Join(cloud.calls, "; "); strings.Contains(calls, "protect") || strings.Contains(calls, "policy") {
			t.Errorf("%s: called %s", c.name, calls)
		}
		var left []string
		if got.Record.Drift != nil {
			left = got.Record.Drift.Resources
		}
		if diff := cmp.Diff(c.drift, left); diff != "" || !c.fails && (got.Record.Digest != "v1" || got.Record.Stack != "shop-vpc") {
			t.Errorf("%s: %+v %s", c.name, got.Record, diff)
		}
	}
}

// Nothing is started if the change set has nothing to bring back.
func TestRevertOfNothing(t *testing.T) {
	cloud := is("UPDATE_COMPLETE")
	in := reverting(plan.Revert)
	in.Proposed = plan.Proposal{Unchanged: true, LastUpdated: epoch}
	receipt, err := act(cloud, plan.Revert).Start(t.Context(), in)
	if err != nil || !receipt.Unchanged || strings.Join(cloud.calls, "; ") != "live" {
		t.Fatalf("%+v, %v; called %s", receipt, err, cloud.calls)
	}
	in.Receipt = receipt
	got, err := act(cloud, plan.Revert).Poll(t.Context(), in)
	if err != nil || !got.Over || got.Err != nil || got.Record.Digest != "v1" || !got.Record.Drifted() || !strings.Contains(got.Why, "does not bring back Queue, Topic") {
		t.Errorf("%+v, %v", got, err)
	}
}
