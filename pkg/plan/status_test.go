package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/plan"
)

// The steps that Deploy and Destroy plan for a stack of each status, with and without
// termination protection. The test fails for statuses of the SDK that have no row.
func TestStatuses(t *testing.T) {
	const (
		create     = "vpc/create"
		update     = "vpc/update"
		again      = "vpc/delete vpc/create"
		remove     = "vpc/delete"
		resume     = "vpc/continue vpc/update"
		wait       = "vpc/wait vpc/continue vpc/update"
		waitAgain  = "vpc/wait vpc/delete vpc/update"
		waitRemove = "vpc/wait vpc/delete"
		forget     = "vpc/forget"
		keep       = "stack vpc: it is STATUS and must be created again, but is protected: set protect: false first"
		person     = "stack vpc: it is STATUS, and Stackwright cannot repair it: see its events in CloudFormation"
		holds      = "stack vpc: it is STATUS but has resources, and Stackwright cannot repair it: see its change sets in CloudFormation"
		unknown    = "stack vpc: its status STATUS is unknown to this version"
	)
	type row struct{ deploy, protected, destroy string }
	rows := map[string]row{
		"":                            {create, create, forget},
		"DELETE_COMPLETE":             {create, create, forget},
		"CREATE_IN_PROGRESS":          {waitAgain, waitAgain, waitRemove},
		"ROLLBACK_IN_PROGRESS":        {waitAgain, waitAgain, waitRemove},
		"DELETE_IN_PROGRESS":          {waitAgain, waitAgain, waitRemove},
		"UPDATE_IN_PROGRESS":          {wait, wait, waitRemove},
		"UPDATE_ROLLBACK_IN_PROGRESS": {wait, wait, waitRemove},
		"UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": {wait, wait, waitRemove},
		"IMPORT_IN_PROGRESS":                           {wait, wait, waitRemove},
		"IMPORT_ROLLBACK_IN_PROGRESS":                  {wait, wait, waitRemove},
		"CREATE_COMPLETE":                              {update, update, remove},
		"UPDATE_COMPLETE":                              {update, update, remove},
		"IMPORT_COMPLETE":                              {update, update, remove},
		"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS":          {update, update, "vpc/wait barrier:cleanup vpc/delete"},
		"UPDATE_ROLLBACK_COMPLETE":                     {update, update, remove},
		"IMPORT_ROLLBACK_COMPLETE":                     {update, update, remove},
		"UPDATE_FAILED":                                {update, update, remove},
		"UPDATE_ROLLBACK_FAILED":                       {resume, resume, remove},
		"IMPORT_ROLLBACK_FAILED":                       {person, person, remove},
		"ROLLBACK_COMPLETE":                            {again, keep, remove},
		"ROLLBACK_FAILED":                              {again, keep, remove},
		"DELETE_FAILED":                                {again, keep, remove},
		"CREATE_FAILED":                                {again, keep, remove},
		"CREATE_FAILED with resources":                 {update, update, remove},
		"REVIEW_IN_PROGRESS":                           {again, keep, remove},
		"REVIEW_IN_PROGRESS with resources":            {holds, holds, holds},
		"FUTURE_STATUS":                                {unknown, unknown, unknown},
	}
	for _, s := range statuses() {
		if _, ok := rows[string(s)]; !ok {
			t.Errorf("%s is known to CloudFormation and has no row", s)
		}
	}
	for name, want := range rows {
		status, resources := strings.CutSuffix(name, " with resources")
		for _, c := range []struct {
			operation func(plan.View) (plan.Plan, error)
			protected bool
			want      string
		}{{plan.Deploy, false, want.deploy}, {plan.Deploy, true, want.protected}, {plan.Destroy, false, want.destroy}} {
			f := newFixture()
			f.want("vpc")
			f.have(plan.Status(status), "vpc")
			l := f.Live["vpc"]
			l.HasResources, l.Protected = resources, c.protected
			n := f.Desired.Nodes["vpc"]
			n.Protect = c.protected
			f.Desired.Nodes["vpc"] = n
			f.Live["vpc"] = l
			if got, want := ids(c.operation(f.View)), strings.ReplaceAll(c.want, "STATUS", status); got != want {
				t.Errorf("a stack that is %s (protected: %v): got %s, want %s", name, c.protected, got, want)
			}
		}
	}
}

// Every known status is of exactly one class, and an unknown one is of none.
func TestStatusIsOfOneClass(t *testing.T) {
	for _, s := range append([]plan.Status{"", "FUTURE_STATUS"}, statuses()...) {
		kinds := 0
		for _, is := range []bool{s.Gone(), s.Busy(), s.Good(), s.Recoverable(), s.Stuck(), s.Dead(), s == "IMPORT_ROLLBACK_FAILED"} {
			if is {
				kinds++
			}
		}
		if want := map[bool]int{true: 1, false: 0}[s.Known()]; kinds != want {
			t.Errorf("%s is of %d classes", s, kinds)
		}
		if s.Cleaning() && !s.Good() || s.Restored() && !s.Recoverable() || s.Fragile() && !s.Busy() {
			t.Errorf("%s contradicts its class", s)
		}
		if l := (plan.Live{Status: s}); l.Dead() != s.Dead() || l.Updatable() != (s.Good() || s.Recoverable()) {
			t.Errorf("a stack that is %s contradicts its status", s)
		}
	}
	if plan.Status("").String() != "gone" || plan.Status("UPDATE_FAILED").String() != "UPDATE_FAILED" {
		t.Error("statuses are shown wrongly")
	}
}

// statuses returns all statuses of the SDK.
func statuses() []plan.Status {
	var all []plan.Status
	for _, s := range types.StackStatus("").Values() {
		all = append(all, plan.Status(s))
	}
	return all
}

// Every status that starts an operation is known, and ends none.
func TestStarts(t *testing.T) {
	for _, s := range plan.Starts() {
		if !s.Busy() || slices.Contains(plan.Ends(), s) {
			t.Errorf("%s starts no operation", s)
		}
	}
}

// A run is woken by every status that ends an operation, and by that of an update
// whose cleanup is in progress. The test covers all statuses of the SDK.
func TestEnds(t *testing.T) {
	ends := plan.Ends()
	for _, s := range types.StackStatus("").Values() {
		want := !strings.HasSuffix(string(s), "_IN_PROGRESS") || s == types.StackStatusUpdateCompleteCleanupInProgress
		if got := slices.Contains(ends, plan.Status(s)); got != want {
			t.Errorf("%s: ends %t, want %t", s, got, want)
		}
	}
}
