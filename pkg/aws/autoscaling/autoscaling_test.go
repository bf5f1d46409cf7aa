package autoscaling_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/stackwright/stackwright/pkg/aws/autoscaling"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ hook.ScalingGroups = (*autoscaling.Groups)(nil)

// A service keeps the last request, and gives the same answer to all.
type service struct {
	got    string
	status int
	code   string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = string(body)
	said := "<R/>"
	if s.code != "" {
		said = "<ErrorResponse><Error><Code>" + s.code + "</Code><Message>it failed</Message></Error></ErrorResponse>"
	}
	return &http.Response{StatusCode: s.status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func groups(s *service) *autoscaling.Groups {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return autoscaling.New(func(context.Context, project.Target) (autoscaling.Client, error) { return client, nil })
}

// A request names the group and the processes; without processes, it is about all.
func TestProcesses(t *testing.T) {
	s := &service{status: http.StatusOK}
	for _, c := range []struct {
		do        func(context.Context, project.Target, string, []string) error
		processes []string
		want      string
	}{
		{groups(s).SuspendProcesses, []string{"Launch", "Terminate"}, "Action=SuspendProcesses&AutoScalingGroupName=web&ScalingProcesses.member.1=Launch&ScalingProcesses.member.2=Terminate&Version=2011-01-01"},
		{groups(s).ResumeProcesses, []string{"Launch"}, "Action=ResumeProcesses&AutoScalingGroupName=web&ScalingProcesses.member.1=Launch&Version=2011-01-01"},
		{groups(s).SuspendProcesses, nil, "Action=SuspendProcesses&AutoScalingGroupName=web&Version=2011-01-01"},
		{groups(s).ResumeProcesses, nil, "Action=ResumeProcesses&AutoScalingGroupName=web&Version=2011-01-01"},
	} {
		if err := c.do(t.Context(), project.Target{}, "web", c.processes); err != nil || s.got != c.want {
			t.Errorf("sent %s, want %s: %v", s.got, c.want, err)
		}
	}
}

// A throttled request can be repeated, after an internal error nobody knows, and a refusal says which group.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, text string
		want       fault.Kind
	}{
		{400, "Throttling", "it failed", fault.Throttled}, {500, "ResourceContention", "it failed", fault.Throttled}, {500, "InternalFailure", "it failed", fault.Unavailable},
		{400, "ValidationError", "it failed", fault.Refused},
		{403, "AccessDenied", "on arn:aws:autoscaling:eu-west-1:000000000000:autoScalingGroup:*:autoScalingGroupName/web ", fault.Denied},
	} {
		s, in := &service{status: c.status, code: c.code}, project.Target{Account: "000000000000", Region: "eu-west-1"}
		for do, err := range map[string]error{"suspend": groups(s).SuspendProcesses(t.Context(), in, "web", nil), "resume": groups(s).ResumeProcesses(t.Context(), in, "web", nil)} {
			if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), do+" processes of the Auto Scaling group web: ") || !strings.Contains(fmt.Sprint(err), c.text) {
				t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
			}
		}
	}
	denied := autoscaling.New(func(context.Context, project.Target) (autoscaling.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	for _, do := range []func(context.Context, project.Target, string, []string) error{denied.SuspendProcesses, denied.ResumeProcesses} {
		if err := do(t.Context(), project.Target{Name: "eu"}, "web", nil); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
			t.Errorf("without a role: %v", err)
		}
	}
}
