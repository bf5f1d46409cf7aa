package cloudformation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// A fault applies to the stacks and the operation that it names, as often as it says.
func TestFailingStacks(t *testing.T) {
	scenario(t, func(w *account) {
		w.fault("POST", `{"stack":"shop-*","operation":"create","reason":"no capacity","times":1}`, 200)
		w.up("other", topic)
		w.create("shop-a", topic)
		w.wait("shop-a", types.StackStatusRollbackComplete)
		w.has("shop-a", "CREATE_FAILED", "no capacity")
		w.up("shop-b", topic)

		w.fault("POST", `{"stack":"shop-b","operation":"delete","reason":"not empty"}`, 200)
		for range 2 {
			w.remove("shop-b")
			w.wait("shop-b", types.StackStatusDeleteFailed)
		}
		w.fault("POST", `{"stack":"shop-a","operation":"*","reason":"anything"}`, 200)
		if got := w.fault("GET", "", 200); strings.Count(got, "operation") != 2 {
			t.Errorf("in force: %s", got)
		}
		w.fault("DELETE", "", 200)
		id := *w.stack("shop-b").StackId
		w.remove("shop-b")
		w.wait(id, types.StackStatusDeleteComplete)

		w.fault("POST", `{"stack":"x","operation":"create"}`, 200)
		w.fault("POST", `{"stack":"x","operation":"rollback","reason":"stuck"}`, 200)
		w.create("x", topic)
		w.wait("x", types.StackStatusRollbackFailed)
	})
}

// An invalid fault is refused with the valid fields and values.
func TestRefusedFaults(t *testing.T) {
	scenario(t, func(w *account) {
		for body, want := range map[string]string{
			`{"stack":"a"}`:                       "nothing goes wrong",
			`{"stack":"[","operation":"create"}`:  "syntax error in pattern",
			`{"stack":"a","operation":"explode"}`: "is none of create, update",
			`{"stack":"a","reason":"no"}`:         "say which operation fails",
			`{"stak":"a","operation":"create"}`:   "unknown field",
		} {
			if got := w.fault("POST", body, 400); !strings.Contains(got, want) {
				t.Errorf("%s: %s", body, got)
			}
		}
		w.fault("PATCH", "", 400)
	})
}

func TestSlowStacks(t *testing.T) {
	scenarioIn(t, "", cloudformation.Options{Seconds: 10}, func(w *account) {
		w.fault("POST", `{"stack":"slow","seconds":3600}`, 200)
		w.fault("POST", `{"stack":"quick","seconds":-1}`, 200)
		for name, want := range map[string]time.Duration{"slow": time.Hour, "quick": 0, "usual": 10 * time.Second} {
			w.create(name, queue)
			time.Sleep(2 * time.Hour)
			all := w.stackEvents(name)
			if took := all[0].Timestamp.Sub(*all[len(all)-1].Timestamp); took != want {
				t.Errorf("%s took %s", name, took)
			}
		}
	})
}

// What DescribeStacks shows may be older than the events of a stack.
func TestLag(t *testing.T) {
	scenario(t, func(w *account) {
		for _, wrong := range []string{`{"lag":-1}`, `{"lag":61}`} {
			w.fault("POST", wrong, 400)
		}
		w.fault("POST", `{"stack":"late","lag":3}`, 200)
		shows := func(name string) types.Stack {
			t.Helper()
			out, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: &name})
			if err != nil {
				t.Fatal(err)
			}
			return out.Stacks[0]
		}
		for name, lag := range map[string]time.Duration{"late": 3 * time.Second, "usual": 0} {
			w.create(name, topic)
			for w.stackEvents(name)[0].ResourceStatus != types.ResourceStatusCreateComplete {
				time.Sleep(100 * time.Millisecond)
			}
			if got := shows(name); (got.StackStatus == types.StackStatusCreateComplete) != (lag == 0) {
				t.Errorf("%s is shown as %s when its events report the end", name, got.StackStatus)
			}
			time.Sleep(lag)
			if got := shows(name); got.StackStatus != types.StackStatusCreateComplete {
				t.Errorf("%s is shown as %s after %s", name, got.StackStatus, lag)
			}
		}
		w.fault("DELETE", "", 200)
		w.update("late", queue)
		if got := shows("late"); got.StackStatus != types.StackStatusUpdateInProgress {
			t.Errorf("without the fault it is shown as %s", got.StackStatus)
		}
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
func TestThrottling(t *testing.T) {
	scenario(t, func(w *account) {
		w.fault("POST", `{"throttle":2}`, 200)
		for range 2 {
			_, err := w.tryCreate("q", topic)
			w.refused(err, "Throttling", "Rate exceeded")
		}
		w.create("q", topic)
		w.fault("POST", `{"throttle":0.25}`, 200)
		refused := 0
		for range 100 {
			if _, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{}); err != nil {
				refused++
			}
		}
		if refused != 25 {
			t.Errorf("%d of 100 were refused", refused)
		}
		if got := w.service.Calls()["CreateStack"]; got != 1 {
			t.Errorf("%d creates counted", got)
		}
	})
}

// Each operation answers the given number of requests in a second, and at most the
// number of ten seconds at once.
func TestRate(t *testing.T) {
	scenario(t, func(w *account) {
		w.fault("POST", `{"rate":0.5}`, 200)
		requests := func(made, answered int) {
			t.Helper()
			got := 0
			for range made {
				if _, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{}); err == nil {
					got++
				} else {
					w.refused(err, "Throttling", "Rate exceeded")
				}
			}
			if got != answered {
				t.Errorf("%d of %d are answered, want %d", got, made, answered)
			}
		}
		requests(8, 5)
		w.create("q", topic)
		requests(1, 0)
		time.Sleep(4 * time.Second)
		requests(4, 2)
		time.Sleep(time.Hour)
		requests(6, 5)
		if got := w.service.Throttled(); got["DescribeStacks"] != 3+1+2+1 || len(got) != 1 {
			t.Errorf("%v were refused", got)
		}
	})
}

// An error may replace the request, or only its answer.
func TestLostAnswers(t *testing.T) {
	scenario(t, func(w *account) {
		w.fault("POST", `{"stack":"a","times":1,"error":{"code":"ServiceUnavailable","status":503,"action":"CreateStack"}}`, 200)
		_, err := w.tryCreate("a", topic)
		w.refused(err, "ServiceUnavailable", "")
		if _, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: aws.String("a")}); err == nil {
			t.Error("it was created")
		}
		w.fault("POST", `{"stack":"a","times":1,"error":{"code":"InternalFailure","status":500,"after":true}}`, 200)
		_, err = w.tryCreate("a", topic, createToken("t"))
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "InternalFailure" {
			t.Fatal(err)
		}
		w.create("a", topic, createToken("t"))
		w.wait("a", types.StackStatusCreateComplete)
	})
}

// Every status change is sent to EventBridge as AWS documents it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-stack-status-change.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-resource-status-change.html
func TestEvents(t *testing.T) {
	scenario(t, func(w *account) {
		id := w.up("t", topic, createToken("one"))
		w.mu.Lock()
		defer w.mu.Unlock()
		if want := len(w.stackEvents("t")); len(w.events) != want {
			t.Fatalf("%d events in the history, %d sent to EventBridge", want, len(w.events))
		}
		last := w.events[len(w.events)-1]
		if last.source != "aws.cloudformation" || last.kind != "CloudFormation Stack Status Change" || last.resources[0] != id {
			t.Errorf("%+v", last)
		}
		w.reads(asJSON(t, last.detail), `{"stack-id":"`+id+`","status-details":{"status":"CREATE_COMPLETE","status-reason":""},"client-request-token":"one"}`)
		before := w.events[len(w.events)-2]
		r, err := w.client.DescribeStackResource(w.Context(), &cfn.DescribeStackResourceInput{StackName: aws.String("t"), LogicalResourceId: aws.String("Topic")})
		if err != nil || before.kind != "CloudFormation Resource Status Change" {
			t.Fatalf("%+v %v", before, err)
		}
		w.reads(asJSON(t, before.detail), `{"stack-id":"`+id+`","logical-resource-id":"Topic","physical-resource-id":"`+*r.StackResourceDetail.PhysicalResourceId+
			`","status-details":{"status":"CREATE_COMPLETE","status-reason":""},"resource-type":"AWS::SNS::Topic","client-request-token":"one"}`)
	})
	scenario(t, func(w *account) {
		w.fault("POST", `{"drop_events":true}`, 200)
		w.up("t", topic)
		if len(w.events) > 0 {
			t.Errorf("%d events were sent to EventBridge", len(w.events))
		}
	})
}
