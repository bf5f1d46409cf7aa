package cloudformation_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// "Maximum number of CloudFormation stacks that you can create: 2000 stacks", which can be raised. A stack that is deleted makes room.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
func TestStackLimit(t *testing.T) {
	scenarioIn(t, "", cloudformation.Options{}, func(w *account) {
		limits := func() map[string]int32 {
			out, err := w.client.DescribeAccountLimits(w.Context(), &cfn.DescribeAccountLimitsInput{})
			if err != nil {
				t.Fatal(err)
			}
			all := make(map[string]int32)
			for _, l := range out.AccountLimits {
				all[aws.ToString(l.Name)] = aws.ToInt32(l.Value)
			}
			return all
		}
		if got := limits(); got["StackLimit"] != 2000 || got["StackOutputsLimit"] != 200 {
			t.Errorf("the quotas are %v", got)
		}
		w.service.SetStackLimit(1)
		w.up("net", network)
		_, err := w.tryCreate("other", network)
		w.refused(err, "LimitExceededException", "Limit for stack has been exceeded")
		w.service.SetStackLimit(2)
		if got := limits()["StackLimit"]; got != 2 {
			t.Errorf("the quota is %d", got)
		}
		w.up("other", network)
		w.remove("net")
		w.wait("net", "DELETE_COMPLETE")
		w.up("third", network)
	})
}
