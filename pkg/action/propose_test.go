package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A change set is read when it is ready, and is made again under its token if the function that claimed the step has crashed.
func TestProposal(t *testing.T) {
	receipt, says := plan.Receipt{StackID: "id", Operation: "set"}, plan.Proposal{Warning: "left out"}
	for _, c := range []struct {
		name    string
		receipt plan.Receipt
		ran     time.Duration
		cloud   cloud
		calls   string
		over    bool
		says    *plan.Proposal
		err     string
	}{
		{"its start may be in progress", plan.Receipt{}, 10 * time.Second, cloud{}, "", false, nil, ""},
		{"its claimer has crashed", plan.Receipt{}, 2 * time.Minute, cloud{}, "begin CreateChangeSet", false, nil, ""},
		{"it is being made", receipt, time.Second, cloud{}, "proposal", false, nil, ""},
		{"it is ready", receipt, time.Second, cloud{ready: true, proposal: says}, "proposal", true, &says, ""},
		{"it has failed", receipt, time.Second, cloud{ready: true, proposal: plan.Proposal{Failure: "no export"}}, "proposal", true, nil, "no export"},
		{"it takes too long", receipt, time.Hour, cloud{}, "proposal", true, nil, "CloudFormation has not made the change set within 20m0s"},
		{"it changes nothing", receipt, time.Second, cloud{ready: true, proposal: plan.Proposal{Unchanged: true}}, "proposal live", true, &plan.Proposal{}, ""},
		{"somebody has deleted it", receipt, time.Second, cloud{fails: map[string]error{"proposal": fault.New(fault.Missing, "ChangeSet [set] does not exist")}}, "proposal", true, nil,
			"the change set of stack shop-vpc no longer exists, because somebody has changed the stack or deleted the change set: retry the run (ChangeSet [set] does not exist)"},
	} {
		one := task(plan.Propose)
		one.Receipt, one.Claimed = c.receipt, now.Add(-c.ran)
		got, err := act(&c.cloud, plan.Propose).Poll(t.Context(), one)
		why := ""
		if got.Err != nil {
			why = got.Err.Error()
		}
		same := (got.Proposal == nil) == (c.says == nil) && (c.says == nil || got.Proposal.Warning == c.says.Warning && got.Proposal.Inputs == "v2")
		if err != nil || strings.Join(c.cloud.calls, " ") != c.calls || got.Over != c.over || !same || why != c.err || got.Record != nil {
			t.Errorf("%s: %v, %+v, %v", c.name, c.cloud.calls, got, err)
		}
	}
}

// The change set of a step is deleted when the run ends.
func TestChangeSetIsDeletedAtTheEnd(t *testing.T) {
	c := &cloud{fails: map[string]error{"withdraw": fault.New(fault.Busy, "being made")}}
	one := task(plan.Propose)
	one.Receipt = plan.Receipt{StackID: "id", Operation: "set", Proposal: "digest"}
	if err := action.Named(action.All(c, nil, nil, nil, nil)...).Of(plan.Propose).Tidy(t.Context(), one); !fault.Is(err, fault.Busy) || strings.Join(c.calls, " ") != "withdraw" {
		t.Errorf("got %v, %v", err, c.calls)
	}
}

// A change set is executed only while it is what was read before: not if the stack, the inputs or the change set have changed.
func TestExecution(t *testing.T) {
	const good = "UPDATE_COMPLETE"
	none := plan.Proposal{}
	for _, c := range []struct {
		name     string
		status   plan.Status
		says     plan.Proposal // now
		fails    error
		proposed plan.Proposal // before
		calls    string
		err      string
	}{
		{"it is as before", good, none, nil, plan.Proposal{Inputs: "v2"}, "live proposal begin ExecuteChangeSet", ""},
		{"it changes nothing", good, none, nil, plan.Proposal{Unchanged: true, LastUpdated: epoch}, "live", ""},
		{"it changes nothing, and the stack was changed", good, none, nil, plan.Proposal{Unchanged: true, LastUpdated: epoch.Add(-time.Hour)}, "live", "stack shop-vpc was changed after its change set was made: retry the run"},
		{"it changes nothing, and the stack is gone", "DELETE_COMPLETE", none, nil, plan.Proposal{Unchanged: true, LastUpdated: epoch}, "live", "stack shop-vpc was changed after its change set was made: retry the run"},
		{"the stack is gone", "DELETE_COMPLETE", none, nil, plan.Proposal{Inputs: "v2"}, "live proposal", "stack shop-vpc is gone: retry the run to create it again (it is DELETE_COMPLETE)"},
		{"the stack is busy", "UPDATE_IN_PROGRESS", none, nil, plan.Proposal{Inputs: "v2"}, "live proposal", "stack shop-vpc is UPDATE_IN_PROGRESS"},
		{"the stack was changed", good, plan.Proposal{Outdated: true}, nil, plan.Proposal{Inputs: "v2"}, "live proposal", "stack shop-vpc was changed after its change set was made: retry the run"},
		{"an output was changed", good, none, nil, plan.Proposal{Inputs: "other"}, "live proposal", "the outputs that stack shop-vpc uses have changed after its change set was made: retry the run"},
		{"somebody has deleted it", good, none, fault.New(fault.Missing, "none"), plan.Proposal{Inputs: "v2"}, "live proposal",
			"the change set of stack shop-vpc no longer exists, because somebody has changed the stack or deleted the change set: retry the run (none)"},
	} {
		cl := is(c.status)
		cl.proposal, cl.ready, cl.fails = c.says, true, map[string]error{"proposal": c.fails}
		one := task(plan.Execute)
		one.Proposal, one.Proposed = plan.Receipt{StackID: "id", Operation: "set", Proposal: "digest"}, c.proposed
		receipt, err := act(cl, plan.Execute).Start(t.Context(), one)
		why := ""
		if err != nil {
			why = err.Error()
		}
		if strings.Join(cl.calls, " ") != c.calls || why != c.err || receipt.Unchanged != (c.proposed.Unchanged && err == nil) {
			t.Errorf("%s: %v, %+v, %v", c.name, cl.calls, receipt, err)
		}
	}
}

// A change set that CloudFormation deletes is not executed: somebody may have made another one of the same name.
func TestExecutionOfAChangeSetThatIsNotReady(t *testing.T) {
	cl, one := is("UPDATE_COMPLETE"), task(plan.Execute)
	one.Proposal, one.Proposed = plan.Receipt{StackID: "id", Operation: "set", Proposal: "digest"}, plan.Proposal{Inputs: "v2"}
	if _, err := act(cl, plan.Execute).Start(t.Context(), one); !fault.Is(err, fault.Refused) || strings.Join(cl.calls, " ") != "live proposal" {
		t.Errorf("%v, %v", cl.calls, err)
	}
}

// A change set waits for approval if its plan said that it would, or if it has to be approved.
func TestApprovalOfAChangeSet(t *testing.T) {
	replaces := plan.Proposal{Resources: []plan.ResourceChange{{ID: "Topic", Type: "AWS::SNS::Topic", Action: "replace", Replacement: "always"}}}
	for _, c := range []struct {
		level    project.ApprovalLevel
		optional bool
		proposed plan.Proposal
		want     string
	}{
		{project.ApproveReplacements, true, replaces, "waits for approval: approve: replacements, and the update replaces Topic"},
		{project.ApproveDataLoss, true, replaces, ""},
		{project.ApproveDataLoss, false, replaces, "waits for approval"},
		{project.ApproveAlways, true, plan.Proposal{Unchanged: true}, ""},
		{project.ApproveAlways, true, plan.Proposal{Unchanged: true, Protection: true}, "waits for approval: approve: always"},
		{project.ApproveReplacements, true, plan.Proposal{Unchanged: true, Protection: true}, ""},
		{project.ApproveAlways, true, replaces, "waits for approval: approve: always"},
	} {
		one := task(plan.Approve)
		one.Node.Approve, one.Proposed = c.level, c.proposed
		one.Step.Proposal, one.Step.Optional = "vpc/propose", c.optional
		got, err := act(&cloud{}, plan.Approve).Poll(t.Context(), one)
		if err != nil || got.Question != c.want || got.Over != (c.want == "") {
			t.Errorf("%s: got %+v, %v", c.level, got, err)
		}
	}
}
