package autoscaling_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/autoscaling"
)

// served returns a client of an Auto Scaling with the group web.
func served(t *testing.T) *sdk.Client {
	return servedWith(t, func() string { return `{"MinSize": "1", "MaxSize": 3}` })
}

// servedWith is the same with properties of the group.
func servedWith(t *testing.T, properties func() string) *sdk.Client {
	t.Helper()
	server := httptest.NewServer(&autoscaling.Service{
		Find: func(_ *http.Request, kind, name string) (string, string, bool) {
			return properties(), "web", kind == "AWS::AutoScaling::AutoScalingGroup" && name == "web"
		},
		Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
	})
	t.Cleanup(server.Close)
	return sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
}

// suspended are the processes of web that are suspended.
func suspended(t *testing.T, client *sdk.Client) string {
	t.Helper()
	out, err := client.DescribeAutoScalingGroups(t.Context(), &sdk.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"none", "web"}})
	if err != nil || len(out.AutoScalingGroups) != 1 || *out.AutoScalingGroups[0].AutoScalingGroupName != "web" {
		t.Fatal(out, err)
	}
	var all []string
	for _, p := range out.AutoScalingGroups[0].SuspendedProcesses {
		all = append(all, *p.ProcessName)
	}
	return strings.Join(all, " ")
}

// Processes that a request names are suspended or resumed, and all if it names none. A repetition changes nothing.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_SuspendProcesses.html
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_ResumeProcesses.html
func TestProcesses(t *testing.T) {
	client, web := served(t), aws.String("web")
	suspend := func(all ...string) {
		if _, err := client.SuspendProcesses(t.Context(), &sdk.SuspendProcessesInput{AutoScalingGroupName: web, ScalingProcesses: all}); err != nil {
			t.Fatal(err)
		}
	}
	resume := func(all ...string) {
		if _, err := client.ResumeProcesses(t.Context(), &sdk.ResumeProcessesInput{AutoScalingGroupName: web, ScalingProcesses: all}); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		do   func()
		want string
	}{
		{func() {}, ""}, {func() { suspend("Terminate", "Launch") }, "Launch Terminate"}, {func() { suspend("Launch") }, "Launch Terminate"}, {func() { resume("Launch") }, "Terminate"},
		{func() { resume("Launch") }, "Terminate"}, {func() { resume() }, ""},
		{func() { suspend() }, "AZRebalance AddToLoadBalancer AlarmNotification HealthCheck InstanceRefresh Launch ReplaceUnhealthy ScheduledActions Terminate"},
	} {
		if c.do(); suspended(t, client) != c.want {
			t.Errorf("%d: suspended are %s, want %s", i, suspended(t, client), c.want)
		}
	}
}

// A group that does not exist, and what the emulator cannot do, is refused.
func TestRefusals(t *testing.T) {
	client := served(t)
	_, missing := client.SuspendProcesses(t.Context(), &sdk.SuspendProcessesInput{AutoScalingGroupName: aws.String("none")})
	_, process := client.ResumeProcesses(t.Context(), &sdk.ResumeProcessesInput{AutoScalingGroupName: aws.String("web"), ScalingProcesses: []string{"Sleep"}})
	_, all := client.DescribeAutoScalingGroups(t.Context(), &sdk.DescribeAutoScalingGroupsInput{})
	_, other := client.DescribeScalingActivities(t.Context(), &sdk.DescribeScalingActivitiesInput{})
	for i, err := range []error{missing, process, all, other} {
		want := []string{"ValidationError", "ValidationError", "ValidationError", "InvalidAction"}[i]
		if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
}

// The instances of a group have the type of its launch template or launch configuration, if a stack has that.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Instance.html
func TestInstanceTypes(t *testing.T) {
	for properties, want := range map[string]string{
		`{"MinSize": "1", "MaxSize": "1", "LaunchTemplate": {"LaunchTemplateId": "lt-1"}}`:  "m5.large",
		`{"MinSize": "1", "MaxSize": "1", "LaunchConfigurationName": "config"}`:             "c5.large",
		`{"MinSize": "1", "MaxSize": "1", "LaunchTemplate": {"LaunchTemplateId": "other"}}`: "",
	} {
		has := map[string]string{"AWS::AutoScaling::AutoScalingGroup web": properties, "AWS::EC2::LaunchTemplate lt-1": `{"LaunchTemplateData": {"InstanceType": "m5.large"}}`, "AWS::AutoScaling::LaunchConfiguration config": `{"InstanceType": "c5.large"}`}
		server := httptest.NewServer(&autoscaling.Service{
			Find: func(_ *http.Request, kind, name string) (string, string, bool) {
				text, ok := has[kind+" "+name]
				return text, "web", ok
			},
			Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
		})
		client := sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
		out, err := client.DescribeAutoScalingGroups(t.Context(), &sdk.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"web"}})
		if err != nil || len(out.AutoScalingGroups) != 1 || len(out.AutoScalingGroups[0].Instances) != 1 || aws.ToString(out.AutoScalingGroups[0].Instances[0].InstanceType) != want {
			t.Errorf("%s: %v, %v", properties, out, err)
		}
		server.Close()
	}
}
