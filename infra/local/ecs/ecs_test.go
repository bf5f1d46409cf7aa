package ecs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/ecs"
)

const before = "arn:aws:ecs:us-east-1:000000000000:service/"

// served starts a server with services by their ARNs, as properties.
func served(t *testing.T, takes time.Duration, all map[string]string) *sdk.Client {
	t.Helper()
	s := httptest.NewServer(&ecs.Service{Takes: takes, Find: func(_ *http.Request, kind, name string) (string, string, bool) {
		properties, ok := all[name]
		return properties, "stack", ok && kind == "AWS::ECS::Service"
	}})
	t.Cleanup(s.Close)
	return sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &s.URL, Retryer: aws.NopRetryer{}, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
	})})
}

// see describes services of a cluster.
func see(t *testing.T, client *sdk.Client, cluster *string, arns ...string) string {
	t.Helper()
	out, err := client.DescribeServices(t.Context(), &sdk.DescribeServicesInput{Cluster: cluster, Services: arns})
	if err != nil {
		return code(err)
	}
	text := ""
	for _, s := range out.Services {
		text += fmt.Sprintln(*s.ServiceName, *s.Status, s.SchedulingStrategy, s.DesiredCount, s.RunningCount)
	}
	for _, f := range out.Failures {
		text += fmt.Sprintln(*f.Arn, *f.Reason)
	}
	return text
}

// code is the code of an error of AWS; "" for none.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// A service has the tasks of its template until a request sets another number, and again after an update of its stack.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeServices.html
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html
func TestDesiredCount(t *testing.T) {
	all := map[string]string{before + "a/web": `{"DesiredCount": "2"}`, before + "default/one": `{}`, before + "a/daemon": `{"SchedulingStrategy": "DAEMON"}`}
	client := served(t, 0, all)
	if got, want := see(t, client, aws.String("a"), before+"a/web", before+"a/daemon", before+"a/nobody", before+"default/one"), "web ACTIVE REPLICA 2 2\ndaemon ACTIVE DAEMON 1 1\n"+before+"a/nobody MISSING\n"+before+"default/one MISSING\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := see(t, client, nil, before+"default/one"); got != "one ACTIVE REPLICA 1 1\n" {
		t.Errorf("of the cluster default: %s", got)
	}
	for _, c := range []struct {
		cluster, arn string
		n            int32
		want, code   string
	}{
		{"a", before + "a/web", 0, "web ACTIVE REPLICA 0 0\n", ""},
		{"a", before + "a/web", 5, "web ACTIVE REPLICA 5 5\n", ""},
		{"b", before + "a/web", 6, "web ACTIVE REPLICA 5 5\n", "ServiceNotFoundException"},
		{"a", before + "a/web", -1, "web ACTIVE REPLICA 5 5\n", "InvalidParameterException"},
		{"a", before + "a/daemon", 0, "web ACTIVE REPLICA 5 5\n", "InvalidParameterException"},
	} {
		_, err := client.UpdateService(t.Context(), &sdk.UpdateServiceInput{Cluster: &c.cluster, Service: &c.arn, DesiredCount: &c.n})
		if got := see(t, client, aws.String("a"), before+"a/web"); got != c.want || code(err) != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%s %d: %s, %v", c.arn, c.n, got, err)
		}
	}
	all[before+"a/web"] = `{"DesiredCount": 4}`
	if got := see(t, client, aws.String("a"), before+"a/web"); got != "web ACTIVE REPLICA 4 4\n" {
		t.Errorf("after an update of the Stack: %s", got)
	}
}

// A service says on what its tasks run, and its task definition how large they are.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeTaskDefinition.html
func TestTaskDefinition(t *testing.T) {
	s := httptest.NewServer(&ecs.Service{Find: func(_ *http.Request, kind, name string) (string, string, bool) {
		text := map[string]string{
			"AWS::ECS::Service " + before + "a/web": `{"TaskDefinition": "d", "CapacityProviderStrategy": [{"CapacityProvider": "FARGATE"}]}`, "AWS::ECS::Service " + before + "a/api": `{"TaskDefinition": "d", "LaunchType": "FARGATE"}`,
			"AWS::ECS::Service " + before + "a/old": `{}`, "AWS::ECS::TaskDefinition d": `{"Cpu": 256, "Memory": "512", "RuntimePlatform": {"CpuArchitecture": "ARM64"}, "EphemeralStorage": {"SizeInGiB": 30}}`,
		}[kind+" "+name]
		return text, "stack", text != ""
	}})
	t.Cleanup(s.Close)
	client := sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &s.URL, Retryer: aws.NopRetryer{}, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
	})})
	out, err := client.DescribeServices(t.Context(), &sdk.DescribeServicesInput{Cluster: aws.String("a"), Services: []string{before + "a/web", before + "a/api", before + "a/old"}})
	if err != nil || len(out.Services) != 3 {
		t.Fatal(out, err)
	}
	web, api, old := out.Services[0], out.Services[1], out.Services[2]
	if len(web.CapacityProviderStrategy) != 1 || aws.ToString(web.CapacityProviderStrategy[0].CapacityProvider)+" "+string(web.LaunchType)+string(api.LaunchType)+" "+aws.ToString(api.TaskDefinition)+" "+string(old.LaunchType) != "FARGATE FARGATE d EC2" {
		t.Errorf("%+v, %+v, %+v", web, api, old)
	}
	one, err := client.DescribeTaskDefinition(t.Context(), &sdk.DescribeTaskDefinitionInput{TaskDefinition: aws.String("d")})
	if err != nil {
		t.Fatal(err)
	}
	if d := one.TaskDefinition; aws.ToString(d.Cpu)+" "+aws.ToString(d.Memory)+" "+string(d.RuntimePlatform.CpuArchitecture) != "256 512 ARM64" || d.EphemeralStorage.SizeInGiB != 30 {
		t.Errorf("%+v", d)
	}
	if _, err := client.DescribeTaskDefinition(t.Context(), &sdk.DescribeTaskDefinitionInput{TaskDefinition: aws.String("nobody")}); code(err) != "ClientException" {
		t.Error(err)
	}
}

// Tasks take time to start and to stop.
func TestTakes(t *testing.T) {
	client := served(t, time.Hour, map[string]string{before + "a/web": `{"DesiredCount": 2}`})
	if _, err := client.UpdateService(t.Context(), &sdk.UpdateServiceInput{Cluster: aws.String("a"), Service: aws.String(before + "a/web"), DesiredCount: aws.Int32(0)}); err != nil {
		t.Fatal(err)
	}
	if got := see(t, client, aws.String("a"), before+"a/web"); got != "web ACTIVE REPLICA 0 2\n" {
		t.Error(got)
	}
}

// Other requests are refused.
func TestRefused(t *testing.T) {
	client := served(t, 0, map[string]string{before + "a/web": "{}"})
	if _, err := client.ListServices(t.Context(), &sdk.ListServicesInput{}); code(err) != "UnsupportedFeatureException" {
		t.Error(err)
	}
	if _, err := client.UpdateService(t.Context(), &sdk.UpdateServiceInput{Cluster: aws.String("a"), Service: aws.String(before + "a/web")}); code(err) != "UnsupportedFeatureException" {
		t.Error(err)
	}
	if got := see(t, client, aws.String("a"), make([]string, 11)...); got != "InvalidParameterException" {
		t.Error(got)
	}
}
