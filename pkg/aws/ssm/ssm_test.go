package ssm_test

import (
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

// A service keeps the last request, and answers with an error code, if it has one.
type service struct {
	got    map[string]any
	status int
	code   string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	if err := json.NewDecoder(r.Body).Decode(&s.got); err != nil {
		return nil, err
	}
	text := `{"Version":2,"Tier":"Standard"}`
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
