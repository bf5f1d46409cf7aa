package trigger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
)

// The rules let through what bears a token of ours, and are written as
// EventBridge takes them.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern trigger.Pattern
		want    string
	}{
		{trigger.Uploads("b"), `{"source":["aws.s3"],"detail-type":["Object Created"],"detail":{"bucket":{"name":["b"]},"object":{"key":[{"prefix":"projects/"},{"prefix":"requests/"}]}}}`},
		{trigger.Settings("b"), `{"source":["aws.s3"],"detail-type":["Object Created","Object Deleted"],"detail":{"bucket":{"name":["b"]},"object":{"key":[{"prefix":"access/"},{"prefix":"policies/"}]}}}`},
		{trigger.Stacks(), `{"source":["aws.cloudformation"],"detail-type":["CloudFormation Stack Status Change"],"detail":{"client-request-token":[{"prefix":"` + action.Prefix + `"}],"status-details":{"status":[`},
		{trigger.Executions("m"), `{"source":["aws.states"],"detail-type":["Step Functions Execution Status Change"],"detail":{"stateMachineArn":["m"],"status":["FAILED","TIMED_OUT","ABORTED"]}}`},
	} {
		if got, err := json.Marshal(c.pattern); err != nil || !strings.HasPrefix(string(got), c.want) {
			t.Errorf("got  %s\nwant %s\n%v", got, c.want, err)
		}
	}
}
