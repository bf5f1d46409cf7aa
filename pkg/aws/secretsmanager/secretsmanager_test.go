package secretsmanager_test

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
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/stackwright/stackwright/pkg/aws/secretsmanager"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:hook-a-AbCdEf"

// A service keeps the last request, and answers with a text.
type service struct {
	got    map[string]any
	status int
	says   string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	if err := json.NewDecoder(r.Body).Decode(&s.got); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: s.status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(s.says))}, nil
}

func secrets(s *service) *secretsmanager.Secrets {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return secretsmanager.New(func(context.Context, project.Target) (secretsmanager.Client, error) { return client, nil })
}

// The current version of a secret is read, whether it is text or bytes.
func TestSecretValue(t *testing.T) {
	for says, want := range map[string]string{`{"SecretString":"s3cr3t"}`: "s3cr3t", `{"SecretBinary":"czNjcjN0"}`: "s3cr3t", `{}`: ""} {
		s := &service{status: http.StatusOK, says: says}
		got, err := secrets(s).SecretValue(t.Context(), project.Target{}, arn)
		if err != nil || string(got) != want || !maps.Equal(s.got, map[string]any{"SecretId": arn}) {
			t.Errorf("%s: sent %v, got %q, %v", says, s.got, got, err)
		}
	}
}

// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html#API_GetSecretValue_Errors
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   fault.Kind
	}{
		{400, "ResourceNotFoundException", fault.Refused}, {400, "DecryptionFailure", fault.Refused}, {400, "InvalidRequestException", fault.Refused},
		{400, "AccessDeniedException", fault.Denied}, {400, "ThrottlingException", fault.Throttled}, {500, "InternalServiceError", fault.Unavailable},
	} {
		s := &service{status: c.status, says: fmt.Sprintf(`{"__type":%q,"message":"it failed"}`, c.code)}
		_, err := secrets(s).SecretValue(t.Context(), project.Target{}, arn)
		if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), "read secret "+arn+": ") {
			t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
		}
	}
}
