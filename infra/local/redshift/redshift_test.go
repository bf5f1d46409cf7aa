package redshift_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshift/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/redshift"
)

// A transport calls a handler, without a network.
type transport struct{ http.Handler }

// Do is aws.HTTPClient.
func (s transport) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// served returns a client of an account with clusters, which are paused and resumed within a minute. They belong to the stack that stack names.
func served(stack *string) *sdk.Client {
	all := map[string]string{"one": `{"NodeType": "ra3.large", "NumberOfNodes": 2}`, "hsm": `{"HsmConfigurationIdentifier": "module"}`, "unsaved": `{"AutomatedSnapshotRetentionPeriod": 0}`}
	s := &redshift.Service{
		Takes: time.Minute, Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
		Find: func(_ *http.Request, kind, name string) (string, string, bool) {
			properties, ok := all[name]
			return properties, *stack, ok && kind == "AWS::Redshift::Cluster"
		},
	}
	return sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: transport{s}, Retryer: aws.NopRetryer{}, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
	})})
}

// code is the code of an error of AWS; "" for none.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// see describes a cluster.
func see(t *testing.T, c *sdk.Client, id string) types.Cluster {
	t.Helper()
	out, err := c.DescribeClusters(t.Context(), &sdk.DescribeClustersInput{ClusterIdentifier: &id})
	if err != nil || len(out.Clusters) != 1 || aws.ToString(out.Clusters[0].ClusterIdentifier) != id {
		t.Fatal(out, err)
	}
	return out.Clusters[0]
}

// A cluster is available, pausing, paused, resuming, and available again, and refuses what is not possible in its status. One of another stack
// is available.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_PauseCluster.html
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_ResumeCluster.html
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stack := "first"
		client := served(&stack)
		pause := func() string {
			_, err := client.PauseCluster(t.Context(), &sdk.PauseClusterInput{ClusterIdentifier: aws.String("one")})
			return code(err)
		}
		resume := func() string {
			_, err := client.ResumeCluster(t.Context(), &sdk.ResumeClusterInput{ClusterIdentifier: aws.String("one")})
			return code(err)
		}
		wait := func() string { time.Sleep(time.Minute); return "" }
		var got []string
		for _, do := range []func() string{resume, pause, resume, pause, wait, pause, resume, pause, wait, pause} {
			got = append(got, do()+" "+aws.ToString(see(t, client, "one").ClusterStatus))
		}
		want := []string{"InvalidClusterState available", " pausing", "InvalidClusterState pausing", "InvalidClusterState pausing", " paused", "InvalidClusterState paused", " resuming", "InvalidClusterState resuming", " available", " pausing"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", got, want)
		}
		stack = "second"
		if is := see(t, client, "one"); aws.ToString(is.ClusterStatus) != "available" || aws.ToString(is.NodeType) != "ra3.large" || aws.ToInt32(is.NumberOfNodes) != 2 || aws.ToInt32(is.AutomatedSnapshotRetentionPeriod) != 1 {
			t.Errorf("another stack has %+v", is)
		}
	})
}

// What does not exist, a cluster that cannot be paused, and what the emulator cannot do, is refused.
// https://docs.aws.amazon.com/redshift/latest/mgmt/rs-mgmt-pause-resume-cluster.html
func TestRefused(t *testing.T) {
	stack := "first"
	client := served(&stack)
	var got []string
	for _, id := range []string{"nobody", "hsm", "unsaved"} {
		_, err := client.PauseCluster(t.Context(), &sdk.PauseClusterInput{ClusterIdentifier: &id})
		got = append(got, code(err))
	}
	_, all := client.DescribeClusters(t.Context(), &sdk.DescribeClustersInput{})
	_, other := client.RebootCluster(t.Context(), &sdk.RebootClusterInput{ClusterIdentifier: aws.String("one")})
	got = append(got, code(all), code(other))
	if want := "[ClusterNotFound UnsupportedOperation UnsupportedOperation InvalidParameterValue InvalidAction]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if is := see(t, client, "hsm"); is.HsmStatus == nil || aws.ToString(is.HsmStatus.HsmConfigurationIdentifier) != "module" {
		t.Errorf("the module is %+v", is.HsmStatus)
	}
}
