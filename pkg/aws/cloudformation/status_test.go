package cloudformation_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/plan"
)

// Every status in the SDK has its class in the plan's table. A status that a newer
// SDK adds fails this test, and not a deployment.
func TestStatuses(t *testing.T) {
	classes := map[types.StackStatus]string{
		"CREATE_COMPLETE":                              "good",
		"CREATE_FAILED":                                "dead",
		"CREATE_IN_PROGRESS":                           "busy",
		"DELETE_COMPLETE":                              "gone",
		"DELETE_FAILED":                                "dead",
		"DELETE_IN_PROGRESS":                           "busy",
		"IMPORT_COMPLETE":                              "good",
		"IMPORT_IN_PROGRESS":                           "busy",
		"IMPORT_ROLLBACK_COMPLETE":                     "recoverable",
		"IMPORT_ROLLBACK_FAILED":                       "unknown",
		"IMPORT_ROLLBACK_IN_PROGRESS":                  "busy",
		"REVIEW_IN_PROGRESS":                           "dead",
		"ROLLBACK_COMPLETE":                            "dead",
		"ROLLBACK_FAILED":                              "dead",
		"ROLLBACK_IN_PROGRESS":                         "busy",
		"UPDATE_COMPLETE":                              "good",
		"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS":          "good",
		"UPDATE_FAILED":                                "recoverable",
		"UPDATE_IN_PROGRESS":                           "busy",
		"UPDATE_ROLLBACK_COMPLETE":                     "recoverable",
		"UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": "busy",
		"UPDATE_ROLLBACK_FAILED":                       "stuck",
		"UPDATE_ROLLBACK_IN_PROGRESS":                  "busy",
	}
	values := types.StackStatus("").Values()
	for _, v := range values {
		s := plan.Status(v)
		if want, ok := classes[v]; !ok || !s.Known() || class(s) != want {
			t.Errorf("%s is %q (known: %v), and should be %q", v, class(s), s.Known(), want)
		}
	}
	if len(values) != len(classes) {
		t.Errorf("the SDK knows %d statuses, and the table %d", len(values), len(classes))
	}
	if s := plan.Status("PARADISE_COMPLETE"); s.Known() || class(s) != "unknown" {
		t.Errorf("an unknown status is %s", class(s))
	}
}

// class returns the class of a status, or all of its classes.
func class(s plan.Status) string {
	all := ""
	for _, c := range []struct {
		name string
		is   bool
	}{{"gone", s.Gone()}, {"busy", s.Busy()}, {"good", s.Good()}, {"recoverable", s.Recoverable()}, {"stuck", s.Stuck()}, {"dead", s.Dead()}} {
		if c.is {
			all += c.name
		}
	}
	if all == "" {
		return "unknown"
	}
	return all
}
