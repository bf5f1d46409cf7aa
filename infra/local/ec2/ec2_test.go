package ec2_test

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
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/ec2"
)

// A transport calls a handler, without a network.
type transport struct{ http.Handler }

// Do is aws.HTTPClient.
func (s transport) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// served returns a client of an account with the instance i-1, which is stopped and started within a minute, and the volume vol-1, whose snapshots take as long. Those of vol-2
// fail.
func served() *sdk.Client {
	s := &ec2.Service{Takes: time.Minute, Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" }, Find: func(_ *http.Request, kind, name string) (string, string, bool) {
		return map[string]string{"i-1": `{"InstanceType": "t3.micro", "Tenancy": "dedicated"}`, "i-small": `{}`}[name], "stack", kind == "AWS::EC2::Instance" && (name == "i-1" || name == "i-small") || kind == "AWS::EC2::Volume" && (name == "vol-1" || name == "vol-2")
	}}
	s.FailSnapshot("vol-2")
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

// An instance is running, stopping, stopped, pending, and running again. In between it cannot be changed back, and what is requested twice
// changes nothing.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, ids := served(), []string{"i-1"}
		is := func() string {
			out, err := client.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("instance-id"), Values: []string{"i-1", "nobody"}}}})
			if err != nil || len(out.Reservations) != 1 || len(out.Reservations[0].Instances) != 1 {
				t.Fatal(out, err)
			}
			return string(out.Reservations[0].Instances[0].State.Name)
		}
		stop := func() string {
			_, err := client.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: ids})
			return code(err)
		}
		start := func() string {
			_, err := client.StartInstances(t.Context(), &sdk.StartInstancesInput{InstanceIds: ids})
			return code(err)
		}
		var got []string
		for _, do := range []func() string{start, stop, start, stop, func() string { time.Sleep(time.Minute); return "" }, stop, start, stop, func() string { time.Sleep(time.Minute); return "" }} {
			got = append(got, do()+" "+is())
		}
		want := []string{" running", " stopping", "IncorrectInstanceState stopping", " stopping", " stopped", " stopped", " pending", "IncorrectInstanceState pending", " running"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// An instance has the type and the tenancy of its template, and is billed as Linux.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html
func TestDescribed(t *testing.T) {
	out, err := served().DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("instance-id"), Values: []string{"i-1", "i-small"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			got = append(got, fmt.Sprint(i.InstanceType, " ", i.Placement.Tenancy, " ", aws.ToString(i.UsageOperation)))
		}
	}
	if want := []string{"t3.micro dedicated RunInstances", "m1.small default RunInstances"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What does not exist is refused, and so are other requests.
func TestRefused(t *testing.T) {
	client := served()
	_, stop := client.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: []string{"i-1", "i-2"}})
	_, all := client.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{})
	_, other := client.RebootInstances(t.Context(), &sdk.RebootInstancesInput{InstanceIds: []string{"i-1"}})
	if got := code(stop) + " " + code(all) + " " + code(other); got != "InvalidInstanceID.NotFound InvalidParameterValue InvalidAction" {
		t.Errorf("%s: %v, %v, %v", got, stop, all, other)
	}
}
