package wire

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

func TestFilesThatAWSMayHaveAccepted(t *testing.T) {
	for operation, want := range map[string]bool{
		"deploy": false, "plan": false, "replace": false, "rollback": true, "rollback-to": true, "promote": true,
		"restore": true, "adopt": true, "prune": true,
	} {
		r := run.Run{Request: run.Request{Operation: operation}, State: run.StatePending}
		if got := accepted(r); got != want {
			t.Errorf("%s: accepted is %v", operation, got)
		}
	}
	for _, r := range []run.Run{
		{Request: run.Request{Operation: "deploy", Schedule: "nightly"}, State: run.StatePending},
		{Request: run.Request{Operation: "deploy"}, State: run.StateSucceeded},
	} {
		if !accepted(r) {
			t.Errorf("%+v is not accepted", r)
		}
	}
}
