package sagemaker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sagemaker"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/sagemaker"
)

// A transport calls a handler, without a network.
type transport struct{ http.Handler }

// Do is aws.HTTPClient.
func (s transport) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// served returns a client of an account with the notebook instance Lab, which is stopped and started within a minute. It belongs to the stack that
// stack names.
func served(stack *string) *sdk.Client {
	s := &sagemaker.Service{
		Takes: time.Minute, Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
		Having: func(_ *http.Request, kind string) []string {
			return []string{"arn:aws:sagemaker:us-east-1:000000000000:notebook-instance/lab"}
		},
		Find: func(_ *http.Request, kind, name string) (string, string, bool) {
			return `{"InstanceType": "ml.t3.medium", "NotebookInstanceName": "Lab"}`, *stack, kind == "AWS::SageMaker::NotebookInstance" && name == "arn:aws:sagemaker:us-east-1:000000000000:notebook-instance/lab"
		},
	}
	return sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: transport{s}, Retryer: aws.NopRetryer{}, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
	})})
}

// says is the code and the text of an error of AWS; "" for none.
func says(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		text, _, _ := strings.Cut(api.ErrorMessage(), " for Notebook Instance")
		return api.ErrorCode() + ": " + text
	}
	return ""
}

// A notebook instance is in service, stopping, stopped, pending, and in service again, and refuses what is not possible in its status. One of
// another stack is in service.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopNotebookInstance.html
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StartNotebookInstance.html
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stack := "first"
		client, name := served(&stack), aws.String("Lab")
		is := func() string {
			out, err := client.DescribeNotebookInstance(t.Context(), &sdk.DescribeNotebookInstanceInput{NotebookInstanceName: name})
			if err != nil || out.InstanceType != "ml.t3.medium" || aws.ToString(out.NotebookInstanceArn) != "arn:aws:sagemaker:us-east-1:000000000000:notebook-instance/lab" {
				t.Fatal(out, err)
			}
			return string(out.NotebookInstanceStatus)
		}
		stop := func() string {
			_, err := client.StopNotebookInstance(t.Context(), &sdk.StopNotebookInstanceInput{NotebookInstanceName: name})
			return says(err)
		}
		start := func() string {
			_, err := client.StartNotebookInstance(t.Context(), &sdk.StartNotebookInstanceInput{NotebookInstanceName: name})
			return says(err)
		}
		pass := func() string { time.Sleep(time.Minute); return "" }
		const stopping, starting = " not in ([InService]). Unable to transition to (Stopping)", " not in ([Stopped, Failed]). Unable to transition to (Pending)"
		want := []string{
			"ValidationException: Status (InService)" + starting + " InService", " Stopping", "ValidationException: Status (Stopping)" + starting + " Stopping", " Stopped",
			"ValidationException: Status (Stopped)" + stopping + " Stopped", " Pending", "ValidationException: Status (Pending)" + stopping + " Pending", " InService",
		}
		var got []string
		for _, do := range []func() string{start, stop, start, pass, stop, start, stop, pass} {
			got = append(got, do()+" "+is())
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
		stop()
		if stack = "second"; is() != "InService" {
			t.Error("a notebook instance of another stack is stopped")
		}
	})
}

// An ARN has the name in lower case, which no request finds. A list has both.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListNotebookInstances.html
func TestCapitals(t *testing.T) {
	stack := "first"
	client := served(&stack)
	_, err := client.DescribeNotebookInstance(t.Context(), &sdk.DescribeNotebookInstanceInput{NotebookInstanceName: aws.String("lab")})
	if says(err) != "ValidationException: RecordNotFound" {
		t.Error(err)
	}
	out, err := client.ListNotebookInstances(t.Context(), &sdk.ListNotebookInstancesInput{})
	if err != nil || len(out.NotebookInstances) != 1 || *out.NotebookInstances[0].NotebookInstanceName != "Lab" || !strings.HasSuffix(*out.NotebookInstances[0].NotebookInstanceArn, "/lab") || out.NotebookInstances[0].NotebookInstanceStatus != "InService" {
		t.Errorf("%+v, %v", out, err)
	}
}

// What does not exist is refused, and so are other requests.
func TestRefused(t *testing.T) {
	stack := "first"
	client := served(&stack)
	_, stop := client.StopNotebookInstance(t.Context(), &sdk.StopNotebookInstanceInput{NotebookInstanceName: aws.String("nobody")})
	_, other := client.DeleteNotebookInstance(t.Context(), &sdk.DeleteNotebookInstanceInput{NotebookInstanceName: aws.String("Lab")})
	if says(stop) != "ValidationException: RecordNotFound" || !strings.HasPrefix(says(other), "UnknownOperationException: ") {
		t.Errorf("%v, %v", stop, other)
	}
}
