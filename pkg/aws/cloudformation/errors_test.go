package cloudformation_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Each answer of CloudFormation has its kind, and says what to do.
func TestKindsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, says string
		want       fault.Kind
		text       string
	}{
		{400, "ValidationError", "No updates are to be performed.", fault.Unchanged, "No updates"},
		{400, "ValidationError", "Stack [shop-vpc] does not exist", fault.Missing, "does not exist"},
		{400, "ValidationError", "Stack with id shop-vpc does not exist", fault.Missing, "does not exist"},
		{400, "ValidationError", "Stack:" + vpcID + " does not exist", fault.Missing, "does not exist"},
		{400, "ValidationError", "S3 error: The specified bucket does not exist", fault.Refused, "S3 error"},
		{400, "ValidationError", "Role arn:aws:iam::1:role/x is invalid or cannot be assumed", fault.Refused, "cannot be assumed"},
		{400, "ValidationError", "Parameters: [X] do not exist in the template", fault.Refused, "[X]"},
		{400, "ValidationError", "Stack:" + vpcID + " is in UPDATE_IN_PROGRESS state and can not be updated.", fault.Busy, "UPDATE_IN_PROGRESS"},
		{400, "ValidationError", "Stack:" + vpcID + " is in UPDATE_COMPLETE_CLEANUP_IN_PROGRESS state and can not be updated.", fault.Busy, ""},
		{400, "ValidationError", "Stack [shop-vpc] cannot be deleted while in status UPDATE_ROLLBACK_IN_PROGRESS", fault.Busy, ""},
		{400, "ValidationError", "Stack:" + vpcID + " is in ROLLBACK_COMPLETE state and can not be updated.", fault.Refused, "ROLLBACK_COMPLETE state"},
		{400, "ValidationError", "Stack:" + vpcID + " is in REVIEW_IN_PROGRESS state and can not be updated.", fault.Refused, ""},
		{400, "ValidationError", "Stack:" + vpcID + " is in DELETE_COMPLETE state and can not be updated.", fault.Missing, ""},
		{400, "ValidationError", "Stack:" + vpcID + " is in PARADISE_IN_PROGRESS state and can not be updated.", fault.Refused, ""},
		{400, "ValidationError", "Stack:" + vpcID + " is in UPDATE_COMPLETE state and can not continue rollback.", fault.Refused, ""},
		{400, "ValidationError", "Stack [shop-vpc] cannot be deleted while TerminationProtection is enabled", fault.Refused, "protect: false"},
		{400, "ValidationError", "This stack cannot be updated from [CREATE_FAILED] state because it contains [on-failure: DO_NOTHING].", fault.Refused, "delete it, and deploy again"},
		{400, "ValidationError", "Template format error: YAML not well-formed. (line 3, column 1)", fault.Refused, "line 3"},
		{400, "AlreadyExistsException", "Stack [shop-vpc] already exists", fault.Taken, "already exists"},
		{400, "TokenAlreadyExistsException", "Token already exists", fault.Unavailable, ""},
		{400, "Throttling", "Rate exceeded", fault.Throttled, "Rate exceeded"},
		{400, "ThrottlingException", "Rate exceeded", fault.Throttled, ""},
		{400, "ThrottledException", "", fault.Throttled, ""},
		{503, "RequestLimitExceeded", "Request limit exceeded.", fault.Throttled, ""},
		{429, "TooManyRequests", "", fault.Throttled, ""},
		{429, "TooManyRequestsException", "", fault.Throttled, ""},
		{400, "ValidationError", "Rate exceeded", fault.Throttled, ""},
		{400, "LimitExceededException", "Limit for stack has been exceeded", fault.Refused, "a quota of CloudFormation is used up: Limit for stack"},
		{400, "InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_NAMED_IAM]", fault.Refused, "capabilities: [CAPABILITY_NAMED_IAM]"},
		{403, "AccessDenied", "User: x is not authorized to perform: cloudformation:CreateStack", fault.Denied, "AccessDenied: User: x"},
		{400, "AccessDeniedException", "", fault.Denied, ""},
		{403, "UnauthorizedOperation", "", fault.Denied, ""},
		{403, "ExpiredToken", "The security token included in the request is expired", fault.Denied, ""},
		{403, "InvalidClientTokenId", "The security token included in the request is invalid.", fault.Denied, ""},
		{403, "SignatureDoesNotMatch", "", fault.Denied, ""},
		{500, "InternalFailure", "", fault.Unavailable, "InternalFailure"},
		{503, "ServiceUnavailable", "", fault.Unavailable, ""},
		{400, "RequestTimeout", "", fault.Unavailable, ""},
		{502, "NobodyKnows", "", fault.Unavailable, ""},
		{400, "NobodyKnows", "in so many words", fault.Refused, "NobodyKnows: in so many words"},
	} {
		w := newWire(t)
		w.answers["CreateStack"] = refuse(c.status, c.code, c.says)
		_, err := w.cloud().Begin(t.Context(), task(plan.Create))
		if !fault.Is(err, c.want) {
			t.Errorf("%d %s %q is %s, not %s", c.status, c.code, c.says, fault.KindOf(err), c.want)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, "create stack shop-vpc: ") || !strings.Contains(got, c.text) || strings.Contains(got, "RequestID") {
			t.Errorf("%d %s %q gives %q", c.status, c.code, c.says, got)
		}
	}
}

// Of an answer that is not CloudFormation's, only a refusal is certain. A status 400 is none: AWS throttles with it.
func TestMalformedAnswers(t *testing.T) {
	for status, want := range map[int]fault.Kind{200: fault.Unavailable, 400: fault.Unavailable, 403: fault.Refused, 413: fault.Refused, 500: fault.Unavailable, 502: fault.Unavailable, 504: fault.Unavailable} {
		w := newWire(t)
		w.answers["CreateStack"] = func(_ urlValues) (int, string) { return status, "<html>Bad <b>proxy</html>" }
		if _, err := w.cloud().Begin(t.Context(), task(plan.Create)); !fault.Is(err, want) {
			t.Errorf("%d: %v is %s, not %s", status, err, fault.KindOf(err), want)
		}
	}
}

// Only CloudFormation's own throttling says that it gets too many requests: not that of STS, from which the credentials
// come, not that of S3, and not an answer that never came.
func TestRateExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // requests are retried after a pause
		throttled := refuse(400, "Throttling", "Rate exceeded")
		sts := &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"}}
		for name, c := range map[string]struct {
			prepare func(*wire, *sdk.Options)
			kind    fault.Kind
			want    bool
		}{
			"CloudFormation": {func(w *wire, _ *sdk.Options) { w.answers["CreateStack"] = throttled }, fault.Throttled, true},
			"in its own way": {func(w *wire, _ *sdk.Options) {
				w.answers["CreateStack"] = refuse(400, "ValidationError", "Rate exceeded")
			}, fault.Throttled, true},
			"STS":             {func(_ *wire, o *sdk.Options) { o.Credentials = noCredentials(sts) }, fault.Throttled, false},
			"no answer":       {func(w *wire, _ *sdk.Options) { w.broken = io.ErrUnexpectedEOF }, fault.Unavailable, false},
			"another refusal": {func(w *wire, _ *sdk.Options) { w.answers["CreateStack"] = refuse(400, "ValidationError", "no") }, fault.Refused, false},
		} {
			w := newWire(t)
			client := cloudformation.TargetClient{Client: sdk.New(w.client().Options(), func(o *sdk.Options) { c.prepare(w, o) })}
			cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) { return client, nil }, smallTemplates{})
			if _, err := cloud.Begin(t.Context(), task(plan.Create)); !fault.Is(err, c.kind) || action.IsRateExceeded(err) != c.want {
				t.Errorf("%s: %v is %s, and of CloudFormation: %t; want %s, %t", name, err, fault.KindOf(err), action.IsRateExceeded(err), c.kind, c.want)
			}
		}
		w := newWire(t)
		slow := fault.New(fault.Throttled, "read s3://bucket/templates/t: SlowDown")
		cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) {
			return cloudformation.TargetClient{}, slow
		}, smallTemplates{})
		if _, err := cloud.Begin(t.Context(), task(plan.Create)); !fault.Is(err, fault.Throttled) || action.IsRateExceeded(err) {
			t.Errorf("throttling before the request: %v", err)
		}
		w.answers["DescribeStacks"] = throttled
		if _, err := w.cloud().Live(t.Context(), task(plan.Create).Location()); !action.IsRateExceeded(err) {
			t.Errorf("a throttled read: %v", err)
		}
	})
}

// noCredentials fails with an error, as the provider of an assumed role does.
func noCredentials(err error) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, err })
}
