package ec2_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.Machines = (*ec2.Instances)(nil)

// A service keeps the requests, and answers them one after the other with what it is to say.
type service struct {
	got  []string
	said []string
	code string // of an error, instead
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = append(s.got, string(body))
	said, status := "<R/>", http.StatusOK
	if len(s.said) > 0 {
		said, s.said = s.said[0], s.said[1:]
	}
	if s.code != "" {
		said, status = "<Response><Errors><Error><Code>"+s.code+"</Code><Message>it failed</Message></Error></Errors></Response>", http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func instances(s *service) *ec2.Instances {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return ec2.New(func(context.Context, project.Target) (ec2.Client, error) { return client, nil })
}

// Instances are read by a filter, all pages. Those that are terminated do not exist; those of an Auto Scaling group belong to it; Spot
// Instances, and those with an instance store as root, cannot be stopped.
func TestInstances(t *testing.T) {
	one := func(id, state, rest string) string {
		return "<item><instancesSet><item><instanceId>" + id + "</instanceId><instanceState><name>" + state + "</name></instanceState>" + rest + "</item></instancesSet></item>"
	}
	page := func(next string, all ...string) string {
		return "<R><reservationSet>" + strings.Join(all, "") + "</reservationSet>" + next + "</R>"
	}
	s := &service{said: []string{
		page("<nextToken>more</nextToken>", one("i-1", "running", "<rootDeviceType>ebs</rootDeviceType>"), one("i-2", "stopped", ""), one("i-3", "terminated", ""), one("i-4", "shutting-down", "")),
		page("", one("i-5", "running", "<tagSet><item><key>aws:autoscaling:groupName</key><value>web</value></item></tagSet>"), one("i-6", "running", "<rootDeviceType>instance-store</rootDeviceType>"), one("i-7", "running", "<instanceLifecycle>spot</instanceLifecycle>")),
	}}
	var ids []string
	for i := range 101 {
		ids = append(ids, fmt.Sprintf("i-%d", i))
	}
	got, err := instances(s).Machines(t.Context(), project.Target{}, ids)
	want := map[string]suspend.Machine{
		"i-1": {Status: "running"}, "i-2": {Status: "stopped"}, "i-5": {Status: "running", Member: true},
		"i-6": {Status: "running", Fixed: "its root volume is in the instance store"}, "i-7": {Status: "running", Fixed: "it is a Spot Instance"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if len(s.got) != 3 || !strings.Contains(s.got[0], "Filter.1.Value.100=i-99&") || strings.Contains(s.got[0], "NextToken") || !strings.Contains(s.got[1], "NextToken=more") || !strings.Contains(s.got[2], "Filter.1.Value.1=i-100&") {
		t.Errorf("sent %q", s.got)
	}
}

// An instance on demand is charged by its type, and by the operating system that it is billed for. One that is charged otherwise, or goes on
// being charged when it is stopped, has no known price.
func TestCharged(t *testing.T) {
	const linux = "<usageOperation>RunInstances</usageOperation>"
	for rest, want := range map[string]string{
		linux: "1 ec2 linux m5.large",
		"<usageOperation>RunInstances:0010</usageOperation>": "1 ec2 rhel m5.large",
		"<usageOperation>RunInstances:0002</usageOperation>": "1 ec2 windows m5.large",
		"<usageOperation>RunInstances:0800</usageOperation>": "1 ec2 linux m5.large",
		"<usageOperation>RunInstances:0006</usageOperation>": "",
		"": "",
		linux + "<placement><tenancy>default</tenancy></placement>":                      "1 ec2 linux m5.large",
		linux + "<placement><tenancy>dedicated</tenancy></placement>":                    "",
		linux + "<capacityReservationId>cr-1</capacityReservationId>":                    "",
		linux + "<instanceLifecycle>capacity-block</instanceLifecycle>":                  "",
		linux + "<placement><availabilityZone>us-east-1a</availabilityZone></placement>": "1 ec2 linux m5.large",
	} {
		s := &service{said: []string{"<R><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId><instanceType>m5.large</instanceType><instanceState><name>running</name></instanceState>" + rest + "</item></instancesSet></item></reservationSet></R>"}}
		if got, err := instances(s).Machines(t.Context(), project.Target{}, []string{"i-1"}); err != nil || got["i-1"].Charged != want {
			t.Errorf("%s: %+v, want %q: %v", rest, got, want, err)
		}
	}
}

// A request names one instance, and nothing else.
func TestStopAndStart(t *testing.T) {
	s := &service{}
	a, b := instances(s).StopMachine(t.Context(), project.Target{}, "i-1"), instances(s).StartMachine(t.Context(), project.Target{}, "i-1")
	want := "[Action=StopInstances&InstanceId.1=i-1&Version=2016-11-15 Action=StartInstances&InstanceId.1=i-1&Version=2016-11-15]"
	if a != nil || b != nil || fmt.Sprint(s.got) != want {
		t.Errorf("sent %v, want %s: %v, %v", s.got, want, a, b)
	}
}

// Each refusal has its kind.
func TestFaults(t *testing.T) {
	in := project.Target{Name: "eu", Account: "000000000000", Region: "eu-west-1"}
	for code, want := range map[string]fault.Kind{
		"IncorrectInstanceState": fault.Busy, "InsufficientInstanceCapacity": fault.Busy, "InvalidInstanceID.NotFound": fault.Missing, "RequestLimitExceeded": fault.Throttled,
		"InternalError": fault.Unavailable, "OperationNotPermitted": fault.Refused, "UnauthorizedOperation": fault.Denied,
	} {
		i := instances(&service{code: code})
		for do, err := range map[string]error{"stop": i.StopMachine(t.Context(), in, "i-1"), "start": i.StartMachine(t.Context(), in, "i-1")} {
			if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), do+" the EC2 instance i-1: ") {
				t.Errorf("%s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
			}
			if want == fault.Denied && !strings.Contains(err.Error(), "on arn:aws:ec2:eu-west-1:000000000000:instance/i-1 ") {
				t.Error(err)
			}
		}
		if _, err := i.Machines(t.Context(), in, []string{"i-1"}); fault.KindOf(err) != want {
			t.Errorf("describe, %s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
	}
	denied := ec2.New(func(context.Context, project.Target) (ec2.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	_, err := denied.Machines(t.Context(), in, nil)
	for _, err := range []error{err, denied.StopMachine(t.Context(), in, "i-1"), denied.StartMachine(t.Context(), in, "i-1")} {
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
			t.Errorf("without a role: %v", err)
		}
	}
}
