package sagemaker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sagemaker"

	"github.com/stackwright/stackwright/pkg/aws/sagemaker"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.Machines = (*sagemaker.Notebooks)(nil)

// A service keeps the requests. It lists notebook instances on pages of one, describes notebook instances by their names, and fails with a code and a text if it has them.
type service struct {
	got        []string
	has        map[string]string
	code, text string
	deniesList bool
}

// list is the answer to ListNotebookInstances.
func (s *service) list(after string) string {
	for _, name := range slices.Sorted(maps.Keys(s.has)) {
		if name > after {
			return `{"NotebookInstances": [{"NotebookInstanceName": "` + name + `", "NotebookInstanceArn": "` + before + strings.ToLower(name) + `"}], "NextToken": "` + name + `"}`
		}
	}
	return `{"NotebookInstances": []}`
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	target := r.Header.Get("X-Amz-Target")
	s.got = append(s.got, target[strings.LastIndexByte(target, '.')+1:]+" "+string(body))
	said, status, code, text := "{}", http.StatusOK, s.code, s.text
	var in struct{ NotebookInstanceName, NextToken string }
	err = errors.Join(err, json.Unmarshal(body, &in))
	if one, exists := s.has[in.NotebookInstanceName]; strings.Contains(target, ".List") {
		if said = s.list(in.NextToken); text == "RecordNotFound" {
			code = ""
		}
		if s.deniesList {
			code, text = "AccessDeniedException", "no"
		}
	} else if said = cmp.Or(one, "{}"); !exists && s.has != nil && code == "" {
		code, text = "ValidationException", "RecordNotFound"
	}
	if code != "" {
		said, status = `{"__type": "`+code+`", "message": "`+text+`"}`, http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func notebooks(s *service) *sagemaker.Notebooks {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return sagemaker.New(func(context.Context, project.Target) (sagemaker.Client, error) { return client, nil })
}

const before = "arn:aws:sagemaker:eu-west-1:000000000000:notebook-instance/"

// Each notebook instance is read by the name in its ARN. One that does not exist, or is being deleted, is left out.
func TestNotebooks(t *testing.T) {
	s := &service{has: map[string]string{
		"a": `{"NotebookInstanceStatus": "InService", "InstanceType": "ml.t3.medium"}`, "b": `{"NotebookInstanceStatus": "Stopped"}`,
		"c": `{"NotebookInstanceStatus": "Deleting"}`, "d": `{"NotebookInstanceStatus": "Failed", "FailureReason": "no capacity"}`,
	}}
	got, err := notebooks(s).Machines(t.Context(), project.Target{}, []string{before + "a", "b", before + "c", before + "nobody", before + "d"})
	want := map[string]suspend.Machine{
		before + "a": {Status: "InService", Charged: "1 flat sagemaker-notebook-ml.t3.medium"}, "b": {Status: "Stopped"}, before + "d": {Status: "Failed", Why: "no capacity"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || len(s.got) != 5+len(s.has)+1 {
		t.Errorf("got %+v, want %+v, sent %q: %v", got, want, s.got, err)
	}
}

// A request names one notebook instance, and nothing else.
func TestStopAndStart(t *testing.T) {
	s := &service{}
	a, b := notebooks(s).StopMachine(t.Context(), project.Target{}, before+"a"), notebooks(s).StartMachine(t.Context(), project.Target{}, before+"a")
	want := `[StopNotebookInstance {"NotebookInstanceName":"a"} StartNotebookInstance {"NotebookInstanceName":"a"}]`
	if a != nil || b != nil || fmt.Sprint(s.got) != want {
		t.Errorf("sent %v, want %s: %v, %v", s.got, want, a, b)
	}
}

// SageMaker writes the names of notebook instances in lower case into their ARNs. If it has none of that name, each request is about the one that has the ARN.
func TestCapitals(t *testing.T) {
	in := project.Target{Account: "000000000000", Region: "eu-west-1"}
	s := &service{has: map[string]string{"Another": `{}`, "MyLab": `{"NotebookInstanceStatus": "InService"}`, "MyLab2": `{}`}}
	got, err := notebooks(s).Machines(t.Context(), in, []string{before + "mylab"})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(map[string]suspend.Machine{before + "mylab": {Status: "InService"}}) {
		t.Errorf("%+v, %q, %v", got, s.got, err)
	}
	for do, err := range map[string]error{"Stop": notebooks(s).StopMachine(t.Context(), in, before+"mylab"), "Start": notebooks(s).StartMachine(t.Context(), in, before+"mylab")} {
		if want := do + `NotebookInstance {"NotebookInstanceName":"MyLab"}`; err != nil || !slices.Contains(s.got, want) {
			t.Errorf("%q has no %s: %v", s.got, want, err)
		}
	}
	if err := notebooks(s).StopMachine(t.Context(), in, before+"nobody"); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
	s.deniesList = true
	if _, err := notebooks(s).Machines(t.Context(), in, []string{before + "mylab"}); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "sagemaker:ListNotebookInstances on *") {
		t.Errorf("one that may exist is left out without an error: %v", err)
	}
}

// Partitions other than aws have other ARNs.
func TestPartition(t *testing.T) {
	denied := notebooks(&service{code: "AccessDeniedException", text: "no"})
	if err := denied.StopMachine(t.Context(), project.Target{Account: "000000000000", Region: "cn-north-1"}, "a"); err == nil || !strings.Contains(err.Error(), "arn:aws-cn:sagemaker:cn-north-1:") {
		t.Error(err)
	}
}

// Each refusal has its kind. SageMaker says with a text what a ValidationException is about.
func TestFaults(t *testing.T) {
	in := project.Target{Name: "eu", Account: "000000000000", Region: "eu-west-1"}
	for said, want := range map[string]fault.Kind{
		"ValidationException RecordNotFound": fault.Missing,
		"ValidationException Status (Pending) not in ([InService]). Unable to transition to (Stopping) for Notebook Instance (arn)": fault.Busy,
		"ValidationException 1 validation error detected": fault.Refused, "ResourceLimitExceeded it is reached": fault.Refused, "ThrottlingException slow": fault.Throttled,
		"InternalFailure it failed": fault.Unavailable, "AccessDeniedException you may not": fault.Denied,
	} {
		code, text, _ := strings.Cut(said, " ")
		n := notebooks(&service{code: code, text: text})
		for do, err := range map[string]error{"stop": n.StopMachine(t.Context(), in, before+"A"), "start": n.StartMachine(t.Context(), in, before+"A")} {
			if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), do+" the SageMaker notebook instance A: ") {
				t.Errorf("%s: %v is of kind %s, want %s", said, err, fault.KindOf(err), want)
			}
			if want == fault.Denied && !strings.Contains(err.Error(), "on "+before+"a ") {
				t.Error(err)
			}
		}
		if _, err := n.Machines(t.Context(), in, []string{before + "a"}); fault.KindOf(err) != want && want != fault.Missing {
			t.Errorf("describe, %s: %v is of kind %s, want %s", said, err, fault.KindOf(err), want)
		}
	}
	denied := sagemaker.New(func(context.Context, project.Target) (sagemaker.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	_, err := denied.Machines(t.Context(), in, nil)
	for _, err := range []error{err, denied.StopMachine(t.Context(), in, "a"), denied.StartMachine(t.Context(), in, "a")} {
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
			t.Errorf("without a role: %v", err)
		}
	}
}
