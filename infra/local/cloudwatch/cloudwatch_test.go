package cloudwatch_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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

// An alarm has its state since the request that has changed it, and not since one that sets the same state again.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricAlarm.html
func TestSince(t *testing.T) {
	client, _ := served(t)
	in := &sdk.SetAlarmStateInput{AlarmName: aws.String("errors"), StateValue: types.StateValueAlarm, StateReason: aws.String("a test")}
	since := func() *time.Time {
		out, err := client.DescribeAlarms(t.Context(), &sdk.DescribeAlarmsInput{AlarmNames: []string{"errors"}})
		if err != nil || len(out.MetricAlarms) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.MetricAlarms[0].StateTransitionedTimestamp
	}
	if at := since(); at != nil {
		t.Errorf("before it was set: %s", at)
	}
	var first time.Time
	for range 2 {
		if _, err := client.SetAlarmState(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		switch at := since(); {
		case at == nil || time.Since(*at) > time.Minute:
			t.Fatalf("since %v", at)
		case first.IsZero():
			first = *at
		case !at.Equal(first):
			t.Errorf("since %s, want %s", at, first)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// The history of an alarm has each change of its state since a time, newest first.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmHistory.html
func TestHistory(t *testing.T) {
	client, _ := served(t)
	begin := time.Now()
	for _, state := range []types.StateValue{types.StateValueAlarm, types.StateValueOk, types.StateValueOk} {
		in := &sdk.SetAlarmStateInput{AlarmName: aws.String("errors"), StateValue: state, StateReason: aws.String("a test")}
		if _, err := client.SetAlarmState(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	in := &sdk.DescribeAlarmHistoryInput{AlarmName: aws.String("errors"), HistoryItemType: types.HistoryItemTypeStateUpdate, ScanBy: types.ScanByTimestampDescending, StartDate: aws.Time(begin.Add(-time.Second))}
	out, err := client.DescribeAlarmHistory(t.Context(), in)
	if err != nil || len(out.AlarmHistoryItems) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	newest, oldest := out.AlarmHistoryItems[0], out.AlarmHistoryItems[1]
	if *newest.HistorySummary != "Alarm updated from ALARM to OK" || !strings.Contains(*oldest.HistoryData, `"newState":{"stateValue":"ALARM"}`) || !oldest.Timestamp.Before(*newest.Timestamp) {
		t.Errorf("%s, %s", *newest.HistorySummary, *oldest.HistoryData)
	}
	in.StartDate = aws.Time(time.Now().Add(time.Minute))
	if out, err := client.DescribeAlarmHistory(t.Context(), in); err != nil || len(out.AlarmHistoryItems) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	in.ScanBy = types.ScanByTimestampAscending
	if _, err := client.DescribeAlarmHistory(t.Context(), in); err == nil {
		t.Error("oldest first is answered")
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
	if _, err := client.SetAlarmState(t.Context(), &sdk.SetAlarmStateInput{AlarmName: aws.String("errors"), StateValue: types.StateValueInsufficientData, StateReason: aws.String("a test")}); err != nil {
		t.Fatal(err)
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
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), `"StateTransitionedTimestamp":1`) || !strings.Contains(string(text), `"StateValue":"INSUFFICIENT_DATA"`) {
		t.Errorf("in JSON: %s, %v", text, err)
	}
}
