package cloudwatch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ hook.Alarms = (*cloudwatch.Alarms)(nil)

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

// Only an alarm in the state OK is OK, whatever its type. An alarm that does not exist is a refusal.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func TestAlarmOK(t *testing.T) {
	for _, c := range []struct {
		said cbor.Map
		ok   bool
		want fault.Kind
	}{
		{alarm("MetricAlarms", "errors", "OK"), true, ""}, {alarm("CompositeAlarms", "errors", "OK"), true, ""}, {alarm("LogAlarms", "errors", "OK"), true, ""},
		{alarm("MetricAlarms", "errors", "ALARM"), false, ""}, {alarm("CompositeAlarms", "errors", "INSUFFICIENT_DATA"), false, ""}, {alarm("LogAlarms", "errors", "ALARM"), false, ""},
		{alarm("MetricAlarms", "other", "OK"), false, fault.Refused}, {cbor.Map{"MetricAlarms": cbor.List{}}, false, fault.Refused},
	} {
		s := &service{status: http.StatusOK, said: c.said}
		ok, err := alarms(s).AlarmOK(t.Context(), project.Target{Account: "000000000000", Region: "us-east-1"}, "errors")
		if ok != c.ok || fault.KindOf(err) != c.want {
			t.Errorf("%v: %t, %v", c.said, ok, err)
		}
		if got := fmt.Sprint(s.got); got != "map[AlarmNames:[errors] AlarmTypes:[CompositeAlarm MetricAlarm LogAlarm]]" {
			t.Errorf("sent %s", got)
		}
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
		_, err := alarms(s).AlarmOK(t.Context(), project.Target{}, "errors")
		if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), "describe alarm errors: ") || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
		}
	}
}
