package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A change set is stored before it is deleted, and is made again under its token if the function that claimed the step has crashed.
func TestProposal(t *testing.T) {
	receipt, failure := plan.Receipt{StackID: "id", Operation: "set"}, plan.Proposal{Failure: "no export"}
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
		{"it is ready", receipt, time.Second, cloud{ready: true, proposal: failure}, "proposal", false, &failure, ""},
		{"it takes too long", receipt, time.Hour, cloud{}, "proposal", false, &plan.Proposal{Failure: "CloudFormation has not made it within 20m0s"}, ""},
		{"somebody has deleted it", receipt, time.Second, cloud{fails: map[string]error{"proposal": fault.New(fault.Missing, "ChangeSet [set] does not exist")}}, "proposal", true, nil,
			"somebody has deleted the change set of stack shop-vpc before Stackwright had read it: plan again (ChangeSet [set] does not exist)"},
		{"it is stored", plan.Receipt{StackID: "id", Operation: "set", Proposal: "digest"}, time.Second, cloud{}, "withdraw", true, nil, ""},
	} {
		one := task(plan.Propose)
		one.Receipt, one.Claimed = c.receipt, now.Add(-c.ran)
		got, err := act(&c.cloud, plan.Propose).Poll(t.Context(), one)
		why := ""
		if got.Err != nil {
			why = got.Err.Error()
		}
		same := (got.Proposal == nil) == (c.says == nil) && (c.says == nil || got.Proposal.Failure == c.says.Failure)
		if err != nil || strings.Join(c.cloud.calls, " ") != c.calls || got.Over != c.over || !same || why != c.err || got.Record != nil {
			t.Errorf("%s: %v, %+v, %v", c.name, c.cloud.calls, got, err)
		}
	}
}

// A change set that is still being made is not deleted: the poll is repeated.
func TestBusyChangeSetIsDeletedLater(t *testing.T) {
	c := &cloud{fails: map[string]error{"withdraw": fault.New(fault.Busy, "being made")}}
	one := task(plan.Propose)
	one.Receipt = plan.Receipt{StackID: "id", Operation: "set", Proposal: "digest"}
	if _, err := act(c, plan.Propose).Poll(t.Context(), one); !fault.Is(err, fault.Busy) {
		t.Errorf("got %v", err)
	}
}
