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

// crowded is a CloudFormation that has room for every other request.
type crowded struct{ asked int }

// Do is aws.HTTPClient.
func (c *crowded) Do(r *http.Request) (*http.Response, error) {
	c.asked++
	body, status := `<DescribeStacksResponse><DescribeStacksResult/></DescribeStacksResponse>`, http.StatusOK
	if c.asked%2 == 1 {
		body, status = `<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`, http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// What counts is how often CloudFormation was asked, not how often we asked it
// once or again.
func TestCounting(t *testing.T) {
	var log bytes.Buffer
	h := &App{meter: cloudwatch.New(slog.New(slog.NewJSONHandler(&log, nil)), "stackwright")}
	client := cloudformation.NewFromConfig(aws.Config{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, Retryer: retries, HTTPClient: &crowded{}}, yielding, counting)
	list := func(ctx context.Context) {
		if _, err := client.DescribeStacks(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	list(t.Context()) // on nobody's behalf
	ctx, done := h.acting(t.Context(), "one")
	list(ctx)
	list(ctx)
	done()
	for _, want := range []string{`"CloudFormationCalls":4`, `"CloudFormationThrottles":2`, `"run":"one"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log.String())
		}
	}
}
