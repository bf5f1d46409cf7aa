package ecs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ecs"

	"github.com/stackwright/stackwright/pkg/aws/ecs"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.TaskServices = (*ecs.Services)(nil)

// A service keeps the requests, and answers them one after the other with what it is to say.
type service struct {
	got  []string
	said []string
	code string // of an error, instead

	failsThen bool // all but the first request fails
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	target := r.Header.Get("X-Amz-Target")
	s.got = append(s.got, target[strings.LastIndexByte(target, '.')+1:]+" "+string(body))
	said, status := "{}", http.StatusOK
	if len(s.said) > 0 {
		said, s.said = s.said[0], s.said[1:]
	}
	if s.failsThen && len(s.got) > 1 {
		s.code = "AccessDeniedException"
	}
	if s.code != "" {
		said, status = `{"__type": "`+s.code+`", "message": "it failed"}`, http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func services(s *service) *ecs.Services {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return ecs.New(func(context.Context, project.Target) (ecs.Client, error) { return client, nil })
}

const before = "arn:aws:ecs:eu-west-1:000000000000:service/"

// Services are read by their ARNs, ten of a cluster with a request. One that is being deleted does not exist. A daemon service, and one whose
// ARN does not name its cluster, cannot be stopped.
func TestServices(t *testing.T) {
	one := func(name, rest string) string {
		return `{"serviceArn": "` + before + name + `", "status": "ACTIVE", "desiredCount": 3, "runningCount": 2, "pendingCount": 1` + rest + `}`
	}
	s := &service{said: []string{`{"services": [` + one("a/web", `, "schedulingStrategy": "REPLICA"`) + "," + one("a/daemon", `, "schedulingStrategy": "DAEMON"`) + "," +
		strings.Replace(one("a/leaving", ""), "ACTIVE", "DRAINING", 1) + "," + strings.Replace(one("a/gone", ""), "ACTIVE", "INACTIVE", 1) + `]}`, "{}", `{"services": [` + one("b/api", "") + `]}`}}
	arns := []string{before + "b/api", before + "old"}
	for _, name := range []string{"web", "daemon", "leaving", "gone", "5", "6", "7", "8", "9", "10", "11"} {
		arns = append(arns, before+"a/"+name)
	}
	got, err := services(s).TaskServices(t.Context(), project.Target{}, arns)
	want := map[string]suspend.TaskService{ // nothing says on what they run
		before + "a/web": {Desired: 3, Running: 2, Present: 3}, before + "a/daemon": {Desired: 3, Running: 2, Present: 3, Fixed: "it is a daemon service, which has a task on each container instance"},
		before + "b/api": {Desired: 3, Running: 2, Present: 3}, before + "old": {Fixed: "its ARN has the old format, which does not name the cluster"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if len(s.got) != 3 || !strings.Contains(s.got[0], `"cluster":"a"`) || !strings.HasSuffix(s.got[0], `/a/10"]}`) || !strings.HasSuffix(s.got[1], `"services":["`+before+`a/11"]}`) || !strings.Contains(s.got[2], `"cluster":"b"`) {
		t.Errorf("sent %q", s.got)
	}
}

// Tasks on Fargate are charged by their size, and those on instances cost nothing beside these. What is not known has no price, and keeps no
// suspend from going on. A task definition is read once.
func TestCharged(t *testing.T) {
	const spot, small = `"capacityProviderStrategy": [{"capacityProvider": "FARGATE"}, {"capacityProvider": "FARGATE_SPOT"}]`, `{"cpu": "256", "memory": "512"`
	for _, c := range []struct{ service, definition, want string }{
		{`"launchType": "FARGATE"`, small + "}", "0.5 flat fargate-vcpu; 1 flat fargate-gb"},
		{`"launchType": "FARGATE"`, small + `, "runtimePlatform": {"cpuArchitecture": "ARM64", "operatingSystemFamily": "LINUX"}, "ephemeralStorage": {"sizeInGiB": 20}}`, "0.5 flat fargate-arm-vcpu; 1 flat fargate-arm-gb"},
		{`"capacityProviderStrategy": [{"capacityProvider": "FARGATE"}]`, small + "}", "0.5 flat fargate-vcpu; 1 flat fargate-gb"},
		{`"launchType": "FARGATE"`, small + `, "runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"}}`, ""},
		{`"launchType": "FARGATE"`, small + `, "ephemeralStorage": {"sizeInGiB": 21}}`, ""},
		{`"launchType": "FARGATE"`, `{"cpu": "256"}`, ""},
		{`"launchType": "FARGATE"`, "", ""},
		{`"launchType": "EC2"`, small + "}", "nothing"},
		{`"launchType": "EXTERNAL"`, small + "}", "nothing"},
		{`"launchType": "MANAGED_INSTANCES"`, small + "}", ""},
		{spot, small + "}", ""},
		{`"capacityProviderStrategy": [{"capacityProvider": "mine"}]`, small + "}", ""},
		{`"launchType": "EC2", "capacityProviderStrategy": [{"capacityProvider": "mine"}]`, small + "}", ""},
		{`"launchType": "FARGATE", "schedulingStrategy": "DAEMON"`, small + "}", ""},
		{`"launchType": "FARGATE", "desiredCount": 0`, small + "}", "nothing"},
	} {
		one := func(name string) string {
			return `{"serviceArn": "` + before + name + `", "status": "ACTIVE", "taskDefinition": "d", "desiredCount": 2, ` + c.service + `}`
		}
		s := &service{said: []string{`{"services": [` + one("a/web") + "," + one("a/api") + `]}`, `{"taskDefinition": ` + c.definition + `}`}, failsThen: c.definition == ""}
		got, err := services(s).TaskServices(t.Context(), project.Target{}, []string{before + "a/web", before + "a/api"})
		if err != nil || len(got) != 2 || got[before+"a/web"].Charged != c.want || got[before+"a/api"].Charged != c.want || len(s.got) > 2 {
			t.Errorf("%s of %s: %+v, want %q: %v, %q", c.service, c.definition, got, c.want, err, s.got)
		}
		if strings.Contains(c.want, "flat") && s.got[1] != `DescribeTaskDefinition {"taskDefinition":"d"}` {
			t.Errorf("sent %q", s.got)
		}
	}
}

// Without the cluster there are no services.
func TestNoCluster(t *testing.T) {
	got, err := services(&service{code: "ClusterNotFoundException"}).TaskServices(t.Context(), project.Target{}, []string{before + "a/web"})
	if err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A request names the cluster, and sets nothing but the desired count.
func TestScale(t *testing.T) {
	s := &service{}
	for _, n := range []int{0, 4} {
		if err := services(s).Scale(t.Context(), project.Target{}, before+"a/web", n); err != nil {
			t.Error(err)
		}
	}
	want := `[UpdateService {"cluster":"a","desiredCount":0,"service":"` + before + `a/web"} UpdateService {"cluster":"a","desiredCount":4,"service":"` + before + `a/web"}]`
	if fmt.Sprint(s.got) != want {
		t.Errorf("sent %v, want %s", s.got, want)
	}
	s.got = nil
	for n, arn := range map[int]string{-1: before + "a/web", 1 << 40: before + "a/web", 1: before + "old"} {
		if err := services(s).Scale(t.Context(), project.Target{}, arn, n); !fault.Is(err, fault.Broken) || s.got != nil {
			t.Errorf("%s %d: sent %q, %v", arn, n, s.got, err)
		}
	}
}

// Each refusal has its kind.
func TestFaults(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"ServiceNotFoundException": fault.Missing, "ServiceNotActiveException": fault.Missing, "ClusterNotFoundException": fault.Missing, "ThrottlingException": fault.Throttled,
		"ServerException": fault.Unavailable, "InvalidParameterException": fault.Refused, "AccessDeniedException": fault.Denied,
	} {
		err := services(&service{code: code}).Scale(t.Context(), project.Target{}, before+"a/web", 0)
		if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), "set the desired tasks of the ECS service "+before+"a/web: ") {
			t.Errorf("%s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
		if _, err = services(&service{code: code}).TaskServices(t.Context(), project.Target{}, []string{before + "a/web"}); code != "ClusterNotFoundException" && fault.KindOf(err) != want {
			t.Errorf("describe, %s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
	}
	denied := ecs.New(func(context.Context, project.Target) (ecs.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	if err := denied.Scale(t.Context(), project.Target{Name: "eu"}, before+"a/web", 0); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
		t.Errorf("without a role: %v", err)
	}
	if _, err := denied.TaskServices(t.Context(), project.Target{Name: "eu"}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("without a role: %v", err)
	}
}
