package wire

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
)

// throttling is a CloudFormation that throttles every other request.
type throttling struct{ requests int }

// Do is aws.HTTPClient.
func (c *throttling) Do(r *http.Request) (*http.Response, error) {
	c.requests++
	body, status := `<DescribeStacksResponse><DescribeStacksResult/></DescribeStacksResponse>`, http.StatusOK
	if c.requests%2 == 1 {
		body, status = `<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`, http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// A request that is sent twice because it was throttled counts twice.
func TestEveryAttemptIsCounted(t *testing.T) {
	var log bytes.Buffer
	h := &App{meter: cloudwatch.New(slog.New(slog.NewJSONHandler(&log, nil)), "stackwright")}
	client := cloudformation.NewFromConfig(aws.Config{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, Retryer: retries, HTTPClient: &throttling{}}, fewerRetries, counting)
	list := func(ctx context.Context) {
		if _, err := client.DescribeStacks(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	list(t.Context()) // for no run
	ctx, done := h.forRun(t.Context(), "one")
	list(ctx)
	list(ctx)
	done()
	for _, want := range []string{`"CloudFormationCalls":4`, `"CloudFormationThrottles":2`, `"run":"one"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log.String())
		}
	}
}
