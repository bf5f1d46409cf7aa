package cloud_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
)

// recovering makes the function start record for which executions and sweeps it is
// called.
func recovering(t *testing.T, h *invocations) cloud.Options {
	opts := options("", h)
	opts.Definition = []byte(`{"StartAt":"By","States":{"By":{"Type":"Choice","Choices":[
		{"Variable":"$.run","StringEquals":"aaaaaaaaaaaaaaaaaaaa","Next":"Fail"},{"Variable":"$.run","StringEquals":"cccccccccccccccccccc","Next":"Succeed"}],"Default":"Wait"},
		"Wait":{"Type":"Wait","Seconds":600,"End":true},"Fail":{"Type":"Fail","Error":"Oh"},"Succeed":{"Type":"Succeed"}},"TimeoutSeconds":60}`)
	opts.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) {
		start := func(_ context.Context, e events.EventBridgeEvent) error {
			if trigger.IsSweep(e) {
				h.say("sweep")
				return nil
			}
			d, err := trigger.FailedExecution(e)
			if err != nil {
				t.Error(err)
			}
			h.say("%s %d", d.Run, d.Epoch)
			return nil
		}
		return lambda.InProcess(map[string]any{"start": start}, c.Host())
	}
	return opts
}

// The function start is called for executions that fail, time out or are stopped, and
// for no others.
func TestDeadExecutionsReachStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &invocations{}
		opts := recovering(t, h)
		opts.Sweep = -1
		c := open(t, opts)
		flows := sfn.NewFromConfig(c.Config())
		for _, in := range [][2]string{
			{"aaaaaaaaaaaaaaaaaaaa-1", `{"run":"aaaaaaaaaaaaaaaaaaaa","epoch":1}`},
			{"bbbbbbbbbbbbbbbbbbbb-2", `{"run":"bbbbbbbbbbbbbbbbbbbb","epoch":2}`},
			{"cccccccccccccccccccc-3", `{"run":"cccccccccccccccccccc","epoch":3}`},
			{"dddddddddddddddddddd-4", `{"run":"dddddddddddddddddddd","epoch":4}`},
		} {
			out, err := flows.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: &c.Machine, Name: &in[0], Input: &in[1]})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if in[0][0] != 'd' {
				continue
			}
			if _, err := flows.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: out.ExecutionArn}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		if want := "aaaaaaaaaaaaaaaaaaaa 1; dddddddddddddddddddd 4; bbbbbbbbbbbbbbbbbbbb 2"; h.String() != want {
			t.Errorf("start was called with %s, want %s", h, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The sweep invokes start at its interval.
func TestSweep(t *testing.T) {
	for want, every := range map[string]time.Duration{"sweep; sweep": 0, "sweep; sweep; sweep; sweep; sweep": 2 * time.Minute, "": -1} {
		synctest.Test(t, func(t *testing.T) {
			h := &invocations{}
			opts := recovering(t, h)
			opts.Sweep = every
			c := open(t, opts)
			time.Sleep(11 * time.Minute)
			if h.String() != want {
				t.Errorf("every %s: start was called with %q", every, h)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Injected failures apply only when the cloud is open, and only to the callers that they name.
func TestFail(t *testing.T) {
	opts := options("", &invocations{})
	opts.Fail = func(q gateway.Request) *gateway.Failure {
		if q.Service != "dynamodb" {
			return nil
		}
		return &gateway.Failure{Status: http.StatusBadRequest, Fault: gateway.Fault{Code: "ThrottlingException", Message: "later"}}
	}
	c := open(t, opts)
	cfg := c.Config()
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); err == nil {
		t.Error("nothing failed")
	}
	if _, err := sfn.NewFromConfig(cfg).ListStateMachines(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
