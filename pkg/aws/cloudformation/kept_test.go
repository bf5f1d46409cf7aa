package cloudformation_test

import (
	"net/url"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A stack that would be dead is kept if its rollback was disabled, or if it is
// in review and holds something; only in review is it asked what it holds.
func TestKept(t *testing.T) {
	const (
		disabled = "<DisableRollback>true</DisableRollback>"
		describe = "DescribeStacks"
		list     = "DescribeStacks ListStackResources"
	)
	holds := say("<StackResourceSummaries><member><LogicalResourceId>Vpc</LogicalResourceId></member></StackResourceSummaries>")
	for name, c := range map[string]struct {
		status, more string
		resources    func(url.Values) (int, string)
		kept         bool
		calls        string
	}{
		"failed":                        {"CREATE_FAILED", "", nil, false, describe},
		"failed, not to be rolled back": {"CREATE_FAILED", disabled, nil, true, describe},
		"rolled back after all":         {"ROLLBACK_COMPLETE", disabled, nil, false, describe},
		"whole":                         {"UPDATE_COMPLETE", disabled, nil, false, describe},
		"in review":                     {"REVIEW_IN_PROGRESS", "", say("<StackResourceSummaries/>"), false, list},
		"in review, with resources":     {"REVIEW_IN_PROGRESS", "", holds, true, list},
	} {
		w := newWire(t)
		w.answers["DescribeStacks"], w.answers["ListStackResources"] = stacks(stack(vpcID, "shop-vpc", c.status, c.more)), c.resources
		p := plan.Location{Node: "vpc", Stack: "shop-vpc"}
		got, err := w.cloud().Live(t.Context(), p)
		if err != nil || got.HasResources != c.kept || w.calls() != c.calls {
			t.Errorf("%s: kept %v, %v, by %s", name, got.HasResources, err, w.calls())
		}
		seen, err := w.cloud().Observe(t.Context(), []plan.Location{p})
		if err != nil || seen["vpc"].HasResources != c.kept {
			t.Errorf("%s: observed as kept %v, %v", name, seen["vpc"].HasResources, err)
		}
	}
}

// Who cannot see what a stack in review holds does not take it for dead.
func TestKeptUnseen(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "REVIEW_IN_PROGRESS"))
	w.answers["ListStackResources"] = refuse(403, "AccessDenied", "no")
	p := plan.Location{Node: "vpc", Stack: "shop-vpc"}
	if _, err := w.cloud().Live(t.Context(), p); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	if _, err := w.cloud().Observe(t.Context(), []plan.Location{p}); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	w.answers["ListStackResources"] = refuse(400, "ValidationError", "Stack with id shop-vpc does not exist")
	if got, err := w.cloud().Live(t.Context(), p); err != nil || !got.Status.Gone() {
		t.Errorf("what went in between is %s, %v", got.Status, err)
	}
}

// What stands where it failed takes only an update that is not rolled back.
func TestUpdateOfWhatFailed(t *testing.T) {
	for status, want := range map[string]string{"UPDATE_FAILED": "true", "CREATE_FAILED": "true", "UPDATE_COMPLETE": "", "UPDATE_ROLLBACK_COMPLETE": ""} {
		w := newWire(t)
		w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", status))
		w.answers["UpdateStack"] = say("")
		if _, err := w.cloud().Begin(t.Context(), task(plan.Update)); err != nil {
			t.Errorf("%s: %v", status, err)
		}
		if got := w.last().Get("DisableRollback"); got != want {
			t.Errorf("%s: DisableRollback is %q, not %q", status, got, want)
		}
	}
}
