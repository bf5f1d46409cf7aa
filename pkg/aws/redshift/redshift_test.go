package redshift_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"

	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.Machines = (*redshift.Clusters)(nil)

// A service keeps the requests. It describes clusters by their identifiers, and fails with a code if it has one.
type service struct {
	got  []string
	has  map[string]string
	code string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = append(s.got, string(body))
	form, _ := url.ParseQuery(string(body))
	action, status, code := form.Get("Action"), http.StatusOK, s.code
	one, exists := s.has[form.Get("ClusterIdentifier")]
	said := "<R><" + action + "Result><Clusters><Cluster>" + one + "</Cluster></Clusters></" + action + "Result></R>"
	if code == "" && action == "DescribeClusters" && !exists {
		code = "ClusterNotFound"
	}
	if code != "" {
		said, status = "<ErrorResponse><Error><Code>"+code+"</Code><Message>it failed</Message></Error></ErrorResponse>", http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func clusters(s *service) *redshift.Clusters {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return redshift.New(func(context.Context, project.Target) (redshift.Client, error) { return client, nil })
}

// Each cluster is read by its identifier. One that does not exist is left out, and one that cannot be paused has the reason.
func TestClusters(t *testing.T) {
	s := &service{has: map[string]string{
		"a": "<ClusterStatus>available</ClusterStatus><NodeType>ra3.large</NodeType><NumberOfNodes>2</NumberOfNodes><AutomatedSnapshotRetentionPeriod>1</AutomatedSnapshotRetentionPeriod>",
		"b": "<ClusterStatus>paused</ClusterStatus>", "c": "<ClusterStatus>available</ClusterStatus><AutomatedSnapshotRetentionPeriod>0</AutomatedSnapshotRetentionPeriod>",
		"d": "<ClusterStatus>available</ClusterStatus><HsmStatus><HsmConfigurationIdentifier>m</HsmConfigurationIdentifier></HsmStatus>",
	}}
	got, err := clusters(s).Machines(t.Context(), project.Target{}, []string{"a", "b", "c", "nobody", "d"})
	want := map[string]suspend.Machine{
		"a": {Status: "available", Charged: "2 flat redshift-ra3.large"}, "b": {Status: "paused"},
		"c": {Status: "available", Fixed: "its automated snapshots are turned off"}, "d": {Status: "available", Fixed: "it uses a hardware security module"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || len(s.got) != 5 {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
}

// A request names one cluster, and nothing else.
func TestPauseAndResume(t *testing.T) {
	s := &service{}
	a, b := clusters(s).StopMachine(t.Context(), project.Target{}, "a"), clusters(s).StartMachine(t.Context(), project.Target{}, "a")
	want := "[Action=PauseCluster&ClusterIdentifier=a&Version=2012-12-01 Action=ResumeCluster&ClusterIdentifier=a&Version=2012-12-01]"
	if a != nil || b != nil || fmt.Sprint(s.got) != want {
		t.Errorf("sent %v, want %s: %v, %v", s.got, want, a, b)
	}
}

// Each refusal has its kind.
func TestFaults(t *testing.T) {
	in := project.Target{Name: "eu", Account: "000000000000", Region: "eu-west-1"}
	for code, want := range map[string]fault.Kind{
		"InvalidClusterState": fault.Busy, "InsufficientClusterCapacity": fault.Busy, "ClusterNotFound": fault.Missing, "Throttling": fault.Throttled,
		"InternalFailure": fault.Unavailable, "UnsupportedOperation": fault.Refused, "AccessDenied": fault.Denied,
	} {
		c := clusters(&service{code: code})
		for do, err := range map[string]error{"pause": c.StopMachine(t.Context(), in, "a"), "resume": c.StartMachine(t.Context(), in, "a")} {
			if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), do+" the Redshift cluster a: ") {
				t.Errorf("%s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
			}
			if want == fault.Denied && !strings.Contains(err.Error(), "on arn:aws:redshift:eu-west-1:000000000000:cluster:a ") {
				t.Error(err)
			}
		}
		if _, err := c.Machines(t.Context(), in, []string{"a"}); fault.KindOf(err) != want && want != fault.Missing {
			t.Errorf("describe, %s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
	}
	denied := redshift.New(func(context.Context, project.Target) (redshift.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	_, err := denied.Machines(t.Context(), in, nil)
	for _, err := range []error{err, denied.StopMachine(t.Context(), in, "a"), denied.StartMachine(t.Context(), in, "a")} {
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
			t.Errorf("without a role: %v", err)
		}
	}
}
