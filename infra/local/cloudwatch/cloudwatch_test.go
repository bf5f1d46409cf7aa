package cloudwatch_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/cloudwatch"
)

// served returns a client of a CloudWatch with the metric alarm errors and the composite alarm calm, and its address.
func served(t *testing.T) (*sdk.Client, string) {
	t.Helper()
	have := map[string]string{"errors": "AWS::CloudWatch::Alarm", "calm": "AWS::CloudWatch::CompositeAlarm"}
	server := httptest.NewServer(&cloudwatch.Service{
		Find:  func(_ *http.Request, kind, name string) bool { return have[name] == kind },
		Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
	})
	t.Cleanup(server.Close)
	return sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}}), server.URL
}

// described are the alarms of an answer, with their states.
func described(t *testing.T, client *sdk.Client, of ...types.AlarmType) string {
	t.Helper()
	out, err := client.DescribeAlarms(t.Context(), &sdk.DescribeAlarmsInput{AlarmNames: []string{"errors", "calm", "none"}, AlarmTypes: of})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range out.MetricAlarms {
		all = append(all, fmt.Sprint(*one.AlarmName, "=", one.StateValue, " ", *one.AlarmArn))
	}
	for _, one := range out.CompositeAlarms {
		all = append(all, fmt.Sprint(*one.AlarmName, "=", one.StateValue))
	}
	return strings.Join(all, "; ")
}

// Alarms are OK until a request sets their states. Without types, only metric alarms are described.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func TestStates(t *testing.T) {
	client, _ := served(t)
	const arn = " arn:aws:cloudwatch:us-east-1:000000000000:alarm:errors"
	if got := described(t, client); got != "errors=OK"+arn {
		t.Errorf("without types: %s", got)
	}
	in := &sdk.SetAlarmStateInput{AlarmName: aws.String("calm"), StateValue: types.StateValueAlarm, StateReason: aws.String("a test")}
	if _, err := client.SetAlarmState(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if got := described(t, client, types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm); got != "errors=OK"+arn+"; calm=ALARM" {
		t.Errorf("all types: %s", got)
	}
}

// What the emulator cannot do is refused, in the protocol of the request.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_SetAlarmState.html
func TestRefusals(t *testing.T) {
	client, url := served(t)
	_, missing := client.SetAlarmState(t.Context(), &sdk.SetAlarmStateInput{AlarmName: aws.String("none"), StateValue: types.StateValueOk, StateReason: aws.String("a test")})
	_, state := client.SetAlarmState(t.Context(), &sdk.SetAlarmStateInput{AlarmName: aws.String("calm"), StateValue: "FINE", StateReason: aws.String("a test")})
	_, reason := client.SetAlarmState(t.Context(), &sdk.SetAlarmStateInput{AlarmName: aws.String("calm"), StateValue: types.StateValueOk, StateReason: aws.String("")})
	_, all := client.DescribeAlarms(t.Context(), &sdk.DescribeAlarmsInput{})
	_, many := client.DescribeAlarms(t.Context(), &sdk.DescribeAlarmsInput{AlarmNames: make([]string, 101)})
	_, other := client.ListDashboards(t.Context(), &sdk.ListDashboardsInput{})
	for i, err := range []error{missing, state, reason, all, many, other} {
		want := []string{"ResourceNotFound", "ValidationError", "ValidationError", "ValidationError", "ValidationError", "UnknownOperationException"}[i]
		if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"AlarmNames": ["errors"]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "GraniteServiceVersion20100801.DescribeAlarms")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), `"StateValue":"OK"`) {
		t.Errorf("in JSON: %s, %v", text, err)
	}
}
