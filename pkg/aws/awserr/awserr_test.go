package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
)

// An answerer answers every request in the same way.
type answerer struct {
	status int
	body   string
	err    error
}

// Do is aws.HTTPClient.
func (a answerer) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}, a.err
}

// failing returns the SDK's error for an answer.
func failing(t *testing.T, a answerer, p aws.CredentialsProvider) error {
	t.Helper()
	client := sfn.NewFromConfig(aws.Config{Region: "us-east-1", Credentials: p, HTTPClient: a, RetryMaxAttempts: 1})
	_, err := client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: aws.String("arn")})
	if err == nil {
		t.Fatalf("%+v is no failure", a)
	}
	return err
}

// Each failure says what happened and what to do, without the words of the SDK.
func TestFault(t *testing.T) {
	keys := credentials.NewStaticCredentialsProvider("id", "secret", "")
	none := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no EC2 IMDS role found")
	})
	answer := func(status int, code string) answerer {
		return answerer{status: status, body: `{"__type":"` + code + `","message":"m"}`}
	}
	for name, c := range map[string]struct {
		answer answerer
		keys   aws.CredentialsProvider
		kind   fault.Kind
		text   string
	}{
		"no permission": {answer(400, "AccessDeniedException"), keys, fault.Denied,
			"start x: AWS denies states:StartExecution (AccessDeniedException: m): allow states:StartExecution on arn:x in the policy of the role or user that sends the request"},
		"another permission": {answerer{status: 400, body: `{"__type":"AccessDeniedException","message":"User: u is not authorized to perform: iam:PassRole on resource: arn:r."}`}, keys, fault.Denied,
			"start x: AWS denies iam:PassRole (AccessDeniedException: User: u is not authorized to perform: iam:PassRole on resource: arn:r.): allow iam:PassRole on arn:r in the policy of the role or user that sends the request"},
		"expired credentials": {answer(400, "ExpiredTokenException"), keys, fault.Denied,
			"start x: AWS does not accept the credentials (ExpiredTokenException: m): get new ones (aws sso login), or set another AWS_PROFILE"},
		"no credentials": {answerer{}, none, fault.Unavailable,
			"start x: there are no AWS credentials, or they cannot be refreshed: log in to AWS (aws sso login), or set AWS_PROFILE"},
		"no network": {answerer{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}}, keys, fault.Unavailable,
			"start x: AWS cannot be reached (dial tcp: connection refused): check the network, and AWS_ENDPOINT_URL if it is set"},
		"throttled":          {answer(400, "ThrottlingException"), keys, fault.Throttled, "start x: ThrottlingException: m"},
		"too many":           {answer(429, "Unheard"), keys, fault.Throttled, "start x: Unheard: m"},
		"known to a service": {answer(400, "OwnException"), keys, fault.Taken, "start x: OwnException: m"},
		"unknown refusal":    {answer(400, "Unheard"), keys, fault.Invalid, "start x: Unheard: m"},
		"unknown failure":    {answer(502, "Unheard"), keys, fault.Unavailable, "start x: Unheard: m"},
		"internal failure":   {answer(400, "InternalFailure"), keys, fault.Unavailable, "start x: InternalFailure: m"},
		"unreadable": {answerer{status: 400, body: "<html>"}, keys, fault.Unavailable,
			"start x: HTTP status 400, with an answer that AWS does not give: check the proxies and gateways in between"},
	} {
		cause := failing(t, c.answer, c.keys)
		err := awserr.Fault("start x", "arn:x", cause, awserr.Kinds{"OwnException": fault.Taken, awserr.Other: fault.Invalid})
		if !fault.Is(err, c.kind) || err.Error() != c.text || !errors.Is(err, cause) {
			t.Errorf("%s is %s:\n got %v\nwant %s", name, fault.KindOf(err), err, c.text)
		}
	}
	if err := awserr.Fault("start x", "arn:x", nil, nil); err != nil {
		t.Error(err)
	}
	if err := awserr.Fault("start x", "arn:x", smithy.InvalidParamsError{}, nil); !fault.Is(err, fault.Broken) {
		t.Error(err)
	}
}

// The service is the one whose request failed, also if another one needed it.
func TestService(t *testing.T) {
	inner := &smithy.OperationError{ServiceID: "STS", Err: errors.New("slow")}
	for want, err := range map[string]error{
		"STS": &smithy.OperationError{ServiceID: "CloudFormation", Err: fmt.Errorf("get identity: %w", inner)},
		"S3":  fmt.Errorf("read: %w", &smithy.OperationError{ServiceID: "S3", Err: errors.New("slow")}),
		"":    errors.New("slow"),
	} {
		if got := awserr.Service(err); got != want {
			t.Errorf("%v is about %q, want %q", err, got, want)
		}
	}
}

// A transaction has no permission of its own.
func TestAction(t *testing.T) {
	for want, op := range map[string][2]string{
		"s3:GetObject":     {"S3", "GetObject"},
		"events:PutEvents": {"EventBridge", "PutEvents"},
		"dynamodb:PutItem, dynamodb:UpdateItem and dynamodb:DeleteItem": {"DynamoDB", "TransactWriteItems"},
	} {
		if got := awserr.Action(&smithy.OperationError{ServiceID: op[0], OperationName: op[1]}); got != want {
			t.Errorf("%v needs %s, want %s", op, got, want)
		}
	}
}
