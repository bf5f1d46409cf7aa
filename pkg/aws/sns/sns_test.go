package sns_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/stackwright/stackwright/pkg/aws/sns"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A service keeps the last request, and answers with an error code, if it has one.
type service struct {
	got    url.Values
	status int
	code   string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if s.got, err = url.ParseQuery(string(sent)); err != nil {
		return nil, err
	}
	text := `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>`
	if s.code != "" {
		text = fmt.Sprintf(`<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>%s</Code><Message>it failed</Message></Error></ErrorResponse>`, s.code)
	}
	return &http.Response{StatusCode: s.status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func topics(s *service) *sns.Topics {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return sns.New(func(context.Context, project.Target) (sns.Client, error) { return client, nil })
}

// Only a FIFO topic gets a group and a key: they are parameters of FIFO topics.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
func TestPublish(t *testing.T) {
	const topic = "arn:aws:sns:us-east-1:000000000000:hook"
	for on, want := range map[string]string{topic: " ", topic + ".fifo": "shop@prod token"} {
		s := &service{status: http.StatusOK}
		if err := topics(s).Publish(t.Context(), project.Target{}, on, "shop@prod", "token", []byte(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		if got := s.got.Get("MessageGroupId") + " " + s.got.Get("MessageDeduplicationId"); got != want || s.got.Get("TopicArn") != on || s.got.Get("Message") != `{"a":1}` {
			t.Errorf("%s: sent %v", on, s.got)
		}
	}
}

// A refusal is final, a throttled request has had no effect, and after an internal error nobody knows.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html#API_Publish_Errors
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   fault.Kind
	}{
		{404, "NotFound", fault.Refused}, {400, "InvalidParameter", fault.Refused}, {400, "KMSDisabled", fault.Refused},
		{403, "AuthorizationError", fault.Denied}, {400, "KMSThrottling", fault.Throttled}, {429, "Throttled", fault.Throttled}, {500, "InternalError", fault.Unavailable},
	} {
		err := topics(&service{status: c.status, code: c.code}).Publish(t.Context(), project.Target{}, "topic", "", "", []byte("x"))
		if fault.KindOf(err) != c.want || !strings.Contains(fmt.Sprint(err), "publish on topic: ") {
			t.Errorf("%s: %v is of kind %s, want %s", c.code, err, fault.KindOf(err), c.want)
		}
	}
}
