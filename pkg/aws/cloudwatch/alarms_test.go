package cloudwatch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/revision"
)

var (
	_ hook.Alarms     = (*cloudwatch.Alarms)(nil)
	_ revision.Alarms = (*cloudwatch.Alarms)(nil)
)

// A service keeps the last request, and gives the same answer to all.
type service struct {
	got    cbor.Value
	status int
	said   cbor.Map
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if s.got, err = cbor.Decode(body); err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/cbor"}, "Smithy-Protocol": {"rpc-v2-cbor"}}
	return &http.Response{StatusCode: s.status, Request: r, Header: header, Body: io.NopCloser(bytes.NewReader(cbor.Encode(s.said)))}, nil
}

func alarms(s *service) *cloudwatch.Alarms {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return cloudwatch.NewAlarms(func(context.Context, project.Target) (cloudwatch.Client, error) { return client, nil })
}

// alarm is an answer with one alarm in a list.
func alarm(list, name, state string) cbor.Map {
	return cbor.Map{list: cbor.List{cbor.Map{"AlarmName": cbor.String(name), "StateValue": cbor.String(state)}}}
}

// The state of an alarm is read, whatever its type. An alarm that does not exist has none.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func TestTypesOfAlarms(t *testing.T) {
	for _, c := range []struct {
		said cbor.Map
		want string
	}{
		{alarm("MetricAlarms", "errors", "OK"), "OK"}, {alarm("CompositeAlarms", "errors", "OK"), "OK"}, {alarm("LogAlarms", "errors", "OK"), "OK"},
		{alarm("MetricAlarms", "errors", "ALARM"), "ALARM"}, {alarm("CompositeAlarms", "errors", "INSUFFICIENT_DATA"), "INSUFFICIENT_DATA"}, {alarm("LogAlarms", "errors", "ALARM"), "ALARM"},
		{alarm("MetricAlarms", "other", "OK"), ""}, {cbor.Map{"MetricAlarms": cbor.List{}}, ""},
	} {
		s := &service{status: http.StatusOK, said: c.said}
		all, err := alarms(s).States(t.Context(), project.Target{Account: "000000000000", Region: "us-east-1"}, []string{"errors"})
		if err != nil || len(all) != 1 || all[0].State != c.want {
			t.Errorf("%v: %v, %v", c.said, all, err)
		}
		if got := fmt.Sprint(s.got); got != "map[AlarmNames:[errors] AlarmTypes:[CompositeAlarm MetricAlarm LogAlarm] MaxRecords:100]" {
			t.Errorf("sent %s", got)
		}
	}
}

// Alarms have the order of their names, each with its state and since when it has it. One that does not exist has no state, and no
// request names more than 100.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func TestStates(t *testing.T) {
	since := time.Date(2026, 11, 25, 7, 0, 0, 0, time.UTC)
	said := alarm("MetricAlarms", "errors", "ALARM")
	said["MetricAlarms"].(cbor.List)[0].(cbor.Map)["StateTransitionedTimestamp"] = &cbor.Tag{ID: 1, Value: cbor.Uint(since.Unix())}
	said["CompositeAlarms"] = alarm("CompositeAlarms", "calm", "OK")["CompositeAlarms"]
	s := &service{status: http.StatusOK, said: said}
	names := []string{"none", "errors", "calm"}
	for i := range 100 {
		names = append(names, fmt.Sprint("n", i))
	}
	all, err := alarms(s).States(t.Context(), project.Target{}, names)
	if err != nil || len(all) != 103 {
		t.Fatalf("%v, %v", all, err)
	}
	want := []project.Alarm{{Name: "none"}, {Name: "errors", State: "ALARM", Since: since}, {Name: "calm", State: "OK"}, {Name: "n0"}}
	for i, w := range want {
		if got := all[i]; got.Name != w.Name || got.State != w.State || !got.Since.Equal(w.Since) || got.OK() != (w.State == "OK") {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
	if got := fmt.Sprint(s.got.(cbor.Map)["AlarmNames"]); got != "[n97 n98 n99]" {
		t.Errorf("the last request names %s", got)
	}
	if all, err := alarms(s).States(t.Context(), project.Target{}, nil); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// An alarm has gone off if an item of its history says that it went into the state ALARM since then, and not before.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmHistory.html
func TestRaised(t *testing.T) {
	since := time.Date(2026, 11, 25, 7, 0, 0, 0, time.UTC)
	item := func(state string, at time.Time) cbor.Map {
		return cbor.Map{"Timestamp": &cbor.Tag{ID: 1, Value: cbor.Uint(at.Unix())}, "HistoryData": cbor.String(`{"oldState":{"stateValue":"ALARM"},"newState":{"stateValue":"` + state + `"}}`)}
	}
	late, early := since.Add(time.Minute), since.Add(-time.Minute)
	for name, c := range map[string]struct {
		items cbor.List
		want  time.Time
	}{
		"it went off":      {cbor.List{item("OK", late.Add(time.Minute)), item("ALARM", late)}, late},
		"it went off then": {cbor.List{item("ALARM", since)}, since},
		"it did before":    {cbor.List{item("OK", late), item("ALARM", early)}, time.Time{}},
		"it had no data":   {cbor.List{item("INSUFFICIENT_DATA", late)}, time.Time{}},
		"not understood":   {cbor.List{cbor.Map{"HistoryData": cbor.String("ALARM")}}, time.Time{}},
		"no history":       {cbor.List{}, time.Time{}},
	} {
		s := &service{status: http.StatusOK, said: cbor.Map{"AlarmHistoryItems": c.items}}
		if at, err := alarms(s).Raised(t.Context(), project.Target{}, "errors", since); err != nil || !at.Equal(c.want) {
			t.Errorf("%s: %s, %v", name, at, err)
		}
		if got := s.got.(cbor.Map); fmt.Sprintf("%s %s %s", got["AlarmName"], got["HistoryItemType"], got["ScanBy"]) != "errors StateUpdate TimestampDescending" || got["StartDate"] == nil {
			t.Errorf("sent %v", got)
		}
	}
	s := &service{status: 403, said: cbor.Map{"__type": cbor.String("com.amazonaws.cloudwatch#AccessDeniedException"), "message": cbor.String("no")}}
	if _, err := alarms(s).Raised(t.Context(), project.Target{}, "errors", since); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "allow cloudwatch:DescribeAlarmHistory on *") {
		t.Error(err)
	}
}

// A throttled request can be repeated, after an internal error nobody knows, and what is missing without a permission is named: it
// has to be for all resources.
func TestFaultsOfAlarms(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, text string
		want       fault.Kind
	}{
		{400, "ThrottlingException", "it failed", fault.Throttled}, {500, "InternalServiceFault", "it failed", fault.Unavailable}, {400, "InvalidNextToken", "it failed", fault.Refused},
		{403, "AccessDeniedException", "allow cloudwatch:DescribeAlarms on * ", fault.Denied},
	} {
		said := cbor.String("it failed")
		s := &service{status: c.status, said: cbor.Map{"__type": cbor.String("com.amazonaws.cloudwatch#" + c.code), "message": said, "Message": said}}
		_, err := alarms(s).States(t.Context(), project.Target{}, []string{"errors"})
		if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), "describe alarm errors: ") || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
		}
	}
}
