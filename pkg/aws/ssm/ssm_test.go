package ssm_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/stackwright/stackwright/pkg/aws/ssm"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A service keeps the last request, and answers with a text, or with an error code, if it has one.
type service struct {
	said   string
	got    map[string]any
	status int
	code   string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	if err := json.NewDecoder(r.Body).Decode(&s.got); err != nil {
		return nil, err
	}
	text := cmp.Or(s.said, `{"Version":2,"Tier":"Standard"}`)
	if s.code != "" {
		text = fmt.Sprintf(`{"__type":%q,"message":"it failed"}`, s.code)
	}
	return &http.Response{StatusCode: s.status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func parameters(s *service) *ssm.Parameters {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return ssm.New(func(context.Context, project.Target) (ssm.Client, error) { return client, nil })
}

// A parameter is overwritten, always as plain text: the request has the type, so that the parameter store refuses to overwrite a
// secret.
func TestPutParameter(t *testing.T) {
	s := &service{status: http.StatusOK}
	if err := parameters(s).PutParameter(t.Context(), project.Target{}, "/shop/url", "x"); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"Name": "/shop/url", "Value": "x", "Type": "String", "Overwrite": true}; !maps.Equal(s.got, want) {
		t.Errorf("sent %v", s.got)
	}
}

// A refusal is final, a throttled request has had no effect, and after an internal error nobody knows.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html#API_PutParameter_Errors
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   fault.Kind
	}{
		{400, "HierarchyTypeMismatchException", fault.Refused}, {400, "ParameterLimitExceeded", fault.Refused}, {400, "ParameterPatternMismatchException", fault.Refused},
		{400, "AccessDeniedException", fault.Denied}, {400, "TooManyUpdates", fault.Throttled}, {400, "ThrottlingException", fault.Throttled}, {500, "InternalServerError", fault.Unavailable},
	} {
		err := parameters(&service{status: c.status, code: c.code}).PutParameter(t.Context(), project.Target{}, "/a/b", "x")
		if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), "set parameter /a/b: ") {
			t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
		}
	}
}

// Plain parameters are read by name and version. A secure string is known as one, without what is in it.
func TestStoredParameters(t *testing.T) {
	s := &service{status: http.StatusOK, said: `{"Parameters": [
		{"Name": "/shop/size", "Type": "String", "Value": "small", "Version": 4},
		{"Name": "/shop/size", "Selector": ":3", "Type": "String", "Value": "large", "Version": 3},
		{"Name": "zones", "Type": "StringList", "Value": "a,b", "Version": 1},
		{"Name": "/shop/key", "Type": "SecureString", "Value": "AQICAHi", "Version": 1}], "InvalidParameters": ["/none"]}`}
	names := []string{"/shop/size", "/shop/size:3", "zones", "/shop/key", "/none"}
	got, err := parameters(s).StoredParameters(t.Context(), project.Target{}, names)
	want := map[string]project.StoredParameter{"/shop/size": {Value: "small"}, "/shop/size:3": {Value: "large"}, "zones": {Value: "a,b"}, "/shop/key": {Secure: true}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if fmt.Sprint(s.got) != "map[Names:[/shop/size /shop/size:3 zones /shop/key /none] WithDecryption:false]" {
		t.Errorf("sent %v", s.got)
	}
}

// One request reads ten parameters at most.
func TestManyStoredParameters(t *testing.T) {
	s := &service{status: http.StatusOK, said: `{"Parameters": []}`}
	var names []string
	for i := range 23 {
		names = append(names, fmt.Sprintf("/p/%d", i))
	}
	if _, err := parameters(s).StoredParameters(t.Context(), project.Target{}, names); err != nil || fmt.Sprint(s.got["Names"]) != "[/p/20 /p/21 /p/22]" {
		t.Errorf("%v, the last request: %v", err, s.got)
	}
	s.status, s.code = 400, "AccessDeniedException"
	if _, err := parameters(s).StoredParameters(t.Context(), project.Target{}, names); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}
