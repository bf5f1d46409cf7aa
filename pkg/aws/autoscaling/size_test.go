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
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.Groups = (*autoscaling.Groups)(nil)

// A request sets all three sizes.
func TestResize(t *testing.T) {
	s := &service{status: http.StatusOK}
	err := groups(s).Resize(t.Context(), project.Target{}, "web", suspend.Size{Min: 1, Max: 4, Desired: 2})
	if want := "Action=UpdateAutoScalingGroup&AutoScalingGroupName=web&DesiredCapacity=2&MaxSize=4&MinSize=1&Version=2011-01-01"; err != nil || s.got != want {
		t.Errorf("sent %s, want %s: %v", s.got, want, err)
	}
	if err := groups(s).Resize(t.Context(), project.Target{}, "web", suspend.Size{}); err != nil || !strings.Contains(s.got, "DesiredCapacity=0&MaxSize=0&MinSize=0") {
		t.Errorf("sent %s: %v", s.got, err)
	}
	s.got = ""
	for _, wrong := range []suspend.Size{{Min: -1}, {Max: 1 << 40}} {
		if err := groups(s).Resize(t.Context(), project.Target{}, "web", wrong); !fault.Is(err, fault.Broken) || s.got != "" {
			t.Errorf("%+v: sent %q, %v", wrong, s.got, err)
		}
	}
}

// Each refusal of a request to set sizes has its kind.
func TestResizeFaults(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"ScalingActivityInProgress": fault.Busy, "Throttling": fault.Throttled, "ResourceContention": fault.Throttled, "ValidationError": fault.Refused, "AccessDenied": fault.Denied,
	} {
		err := groups(&service{status: 400, code: code}).Resize(t.Context(), project.Target{}, "web", suspend.Size{})
		if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), "set the sizes of the Auto Scaling group web: ") {
			t.Errorf("%s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
		_, err = groups(&service{status: 400, code: code}).Groups(t.Context(), project.Target{}, []string{"web"})
		if code != "ScalingActivityInProgress" && fault.KindOf(err) != want {
			t.Errorf("describe, %s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
	}
	denied := autoscaling.New(func(context.Context, project.Target) (autoscaling.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	if err := denied.Resize(t.Context(), project.Target{Name: "eu"}, "web", suspend.Size{}); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
		t.Errorf("without a role: %v", err)
	}
	if _, err := denied.Groups(t.Context(), project.Target{Name: "eu"}, []string{"web"}); !fault.Is(err, fault.Denied) {
		t.Errorf("without a role: %v", err)
	}
}

// answers gives one answer after the other, and keeps the requests.
type answers struct {
	got  []string
	said []string
}

// Do is aws.HTTPClient.
func (a *answers) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	a.got = append(a.got, string(body))
	said := "<R><DescribeAutoScalingGroupsResult/></R>"
	if len(a.said) > 0 {
		said, a.said = a.said[0], a.said[1:]
	}
	return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

// Groups are read by their names, 50 with a request. Instances count as their weights say, and a group with a status is being deleted.
func TestGroups(t *testing.T) {
	group := func(name, rest string) string {
		return "<member><AutoScalingGroupName>" + name + "</AutoScalingGroupName><MinSize>1</MinSize><MaxSize>4</MaxSize><DesiredCapacity>2</DesiredCapacity>" + rest + "</member>"
	}
	list := "<R><DescribeAutoScalingGroupsResult><AutoScalingGroups>" +
		group("a", "<Instances><member><LifecycleState>InService</LifecycleState><InstanceType>m5.large</InstanceType></member><member><LifecycleState>Pending</LifecycleState><InstanceType>m5.large</InstanceType></member></Instances>") +
		group("b", "<Instances><member><LifecycleState>InService</LifecycleState><WeightedCapacity>3</WeightedCapacity></member></Instances>") +
		group("mixed", "<MixedInstancesPolicy/><Instances><member><LifecycleState>InService</LifecycleState><InstanceType>m5.large</InstanceType></member></Instances>") +
		group("two", "<Instances><member><LifecycleState>InService</LifecycleState><InstanceType>m5.large</InstanceType></member><member><LifecycleState>InService</LifecycleState><InstanceType>c5.large</InstanceType></member></Instances>") +
		group("c", "<Status>Delete in progress</Status>") + "</AutoScalingGroups></DescribeAutoScalingGroupsResult></R>"
	a := &answers{said: []string{list}}
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: a, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	var names []string
	for i := range 51 {
		names = append(names, fmt.Sprintf("g%02d", i))
	}
	got, err := autoscaling.New(func(context.Context, project.Target) (autoscaling.Client, error) { return client, nil }).Groups(t.Context(), project.Target{}, names)
	size := suspend.Size{Min: 1, Max: 4, Desired: 2}
	want := map[string]suspend.Group{"a": {Size: size, Instances: 2, InService: 1, Charged: "2 ec2 linux m5.large"}, "mixed": {Size: size, Instances: 1, InService: 1},
		"two": {Size: size, Instances: 2, InService: 2, Charged: "1 ec2 linux c5.large; 1 ec2 linux m5.large"}, "b": {Size: size, Instances: 3, InService: 3}, "c": {Size: size, Deleting: true, Charged: "nothing"}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if len(a.got) != 2 || !strings.Contains(a.got[0], "member.50=g49") || !strings.Contains(a.got[1], "member.1=g50") {
		t.Errorf("sent %q", a.got)
	}
}
