package cloudformation_test

import (
	"net/url"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A failed stack has resources if its rollback was disabled. A stack in review has
// those that CloudFormation lists; only then are they listed.
func TestHasResources(t *testing.T) {
	const (
		disabled = "<DisableRollback>true</DisableRollback>"
		describe = "DescribeStacks"
		list     = "DescribeStacks ListStackResources"
	)
	holds := say("<StackResourceSummaries><member><LogicalResourceId>Vpc</LogicalResourceId></member></StackResourceSummaries>")
	for name, c := range map[string]struct {
		status, more string
		resources    func(url.Values) (int, string)
		has          bool
		calls        string
	}{
		"failed":                        {"CREATE_FAILED", "", nil, false, describe},
		"failed, not to be rolled back": {"CREATE_FAILED", disabled, nil, true, describe},
		"rolled back after all":         {"ROLLBACK_COMPLETE", disabled, nil, false, describe},
		"recovered":                     {"UPDATE_COMPLETE", disabled, nil, false, describe},
		"in review":                     {"REVIEW_IN_PROGRESS", "", say("<StackResourceSummaries/>"), false, list},
		"in review, with resources":     {"REVIEW_IN_PROGRESS", "", holds, true, list},
	} {
		w := newWire(t)
		w.answers["DescribeStacks"], w.answers["ListStackResources"] = stacks(stack(vpcID, "shop-vpc", c.status, c.more)), c.resources
		p := plan.Location{Node: "vpc", Stack: "shop-vpc"}
		got, err := w.cloud().Live(t.Context(), p)
		if err != nil || got.HasResources != c.has || w.calls() != c.calls {
			t.Errorf("%s: has resources %v, %v, by %s", name, got.HasResources, err, w.calls())
		}
		all, err := w.cloud().Observe(t.Context(), []plan.Location{p})
		if err != nil || all["vpc"].HasResources != c.has {
			t.Errorf("%s: observed with resources %v, %v", name, all["vpc"].HasResources, err)
		}
	}
}

// If the resources of a stack in review cannot be listed, that is an error.
func TestResourcesCannotBeListed(t *testing.T) {
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
		t.Errorf("a stack that was deleted in between is %s, %v", got.Status, err)
	}
}
