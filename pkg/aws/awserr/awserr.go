// Package awserr turns the errors of requests to AWS into faults that say what to do.
package awserr

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Kinds are the kinds of the error codes that one service has besides the common
// ones. Under Other stands the kind of its remaining refusals (HTTP status 4xx);
// it is fault.Broken if nothing stands there.
type Kinds map[string]fault.Kind

// Other is the key of all error codes that are not listed.
const Other = ""

// AWS names the permission that is missing in most of its answers, as in "User:
// arn:… is not authorized to perform: iam:PassRole on resource: arn:…".
var denial = regexp.MustCompile(`not authorized to perform: ([\w-]+:\w+)(?: on resource: (\S+))?`)

// The error codes that AWS services have in common.
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
var (
	forbidden = []string{
		"AccessDenied", "AccessDeniedException", "AllAccessDisabled", "AuthFailure", "Forbidden", "KMSAccessDeniedException",
		"NotAuthorized", "OptInRequired", "UnauthorizedOperation",
	}
	credentials = []string{
		"ExpiredToken", "ExpiredTokenException", "IncompleteSignature", "IncompleteSignatureException", "InvalidAccessKeyId",
		"InvalidClientTokenId", "InvalidSignatureException", "InvalidToken", "MissingAuthenticationToken",
		"MissingAuthenticationTokenException", "RequestExpired", "SignatureDoesNotMatch", "UnrecognizedClientException",
	}
	throttled = []string{
		"RequestLimitExceeded", "RequestThrottled", "RequestThrottledException", "SlowDown", "ThrottledException", "Throttling",
		"ThrottlingException", "TooManyRequests", "TooManyRequestsException",
	}
	unavailable = []string{
		"InternalError", "InternalFailure", "InternalServerError", "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
		"ServiceUnavailableException",
	}
)

// Fault returns the fault of a request that failed with err, and nil if err is
// nil. do says what the request was to do, as in "read s3://bucket/key"; resource
// names what it was about, for the grant of a missing permission. err stays
// reachable through errors.As.
func Fault(do, resource string, err error, own Kinds) error {
	if err == nil {
		return nil
	}
	kind, text := own.classify(err)
	switch {
	case kind == fault.Denied && Is(err, forbidden...):
		action := Action(err)
		if m := denial.FindStringSubmatch(text); m != nil {
			action, resource = m[1], cmp.Or(strings.TrimRight(m[2], ".,"), resource)
		}
		text = fmt.Sprintf("AWS denies %s (%s): allow %s on %s in the policy of the role or user that sends the request", action, text, action, resource)
	case kind == fault.Denied && Is(err, credentials...):
		text = fmt.Sprintf("AWS does not accept the credentials (%s): get new ones (aws sso login), or set another AWS_PROFILE", text)
	}
	return fault.As(kind, &failure{do + ": " + text, err})
}

// A failure replaces the text of an SDK error.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// classify returns the kind of err, and what happened in one clause.
func (k Kinds) classify(err error) (fault.Kind, string) {
	if _, ok := errors.AsType[smithy.InvalidParamsError](err); ok {
		return fault.Broken, err.Error() // it was never sent
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok && Status(err) == 0 {
		return fault.Unavailable, unanswered(err)
	}
	if !ok {
		kind := k.ofStatus(err)
		if Status(err) == http.StatusBadRequest { // AWS throttles with it too: without a code, it is no verdict
			kind = fault.Unavailable
		}
		return kind, fmt.Sprintf("HTTP status %d, with an answer that AWS does not give: check the proxies and gateways in between", Status(err))
	}
	text := strings.TrimSuffix(fmt.Sprintf("%s: %s", api.ErrorCode(), api.ErrorMessage()), ": ")
	if kind, ok := k[api.ErrorCode()]; ok && api.ErrorCode() != Other {
		return kind, text
	}
	return KindOf(api.ErrorCode(), k.ofStatus(err)), text
}

// KindOf returns the kind of a common error code, and other for any other code.
func KindOf(code string, other fault.Kind) fault.Kind {
	switch {
	case slices.Contains(forbidden, code), slices.Contains(credentials, code):
		return fault.Denied
	case slices.Contains(throttled, code):
		return fault.Throttled
	case slices.Contains(unavailable, code):
		return fault.Unavailable
	}
	return other
}

// ofStatus returns the kind of an answer whose error code nobody knows.
func (k Kinds) ofStatus(err error) fault.Kind {
	switch status := Status(err); {
	case status == http.StatusTooManyRequests:
		return fault.Throttled
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return cmp.Or(k[Other], fault.Broken)
	}
	return fault.Unavailable // it may or may not have been done
}

// unanswered says why there was no answer.
func unanswered(err error) string {
	// The SDK has no type for credentials that it cannot find or refresh.
	if text := err.Error(); strings.Contains(text, "get identity: ") || strings.Contains(text, "failed to refresh cached credentials") {
		return "there are no AWS credentials, or they cannot be refreshed: log in to AWS (aws sso login), or set AWS_PROFILE"
	}
	if cause, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Sprintf("AWS cannot be reached (%v): check the network, and AWS_ENDPOINT_URL if it is set", cause)
	}
	return "AWS did not answer: " + err.Error()
}

// Answer returns the error code and message of AWS's answer, or "" if there was
// none.
func Answer(err error) (code, message string) {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode(), api.ErrorMessage()
	}
	return "", ""
}

// Is reports whether AWS answered with one of some error codes.
func Is(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// Status is the HTTP status of the answer, or 0 if there was none.
func Status(err error) int {
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.Response != nil {
		return r.HTTPStatusCode()
	}
	return 0
}

// prefixes are those of IAM's actions, where they differ from the SDK's service.
var prefixes = map[string]string{"SFN": "states", "EventBridge": "events"}

// actions are those of requests that have no action of their own.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
var actions = map[string]string{
	"dynamodb:TransactWriteItems": "dynamodb:PutItem, dynamodb:UpdateItem and dynamodb:DeleteItem",
	"s3:HeadObject":               "s3:GetObject and s3:GetObjectVersion",
}

// Service returns the service that err is about, as the SDK calls it: "CloudFormation". A request that needed credentials of
// another service and did not get them is about that one: "STS". It is "" if no request was sent.
func Service(err error) string {
	service := ""
	for {
		op, ok := errors.AsType[*smithy.OperationError](err)
		if !ok {
			return service
		}
		service, err = op.ServiceID, op.Err
	}
}

// Action names the permission that a request needs, as in "s3:GetObject".
func Action(err error) string {
	op, ok := errors.AsType[*smithy.OperationError](err)
	if !ok {
		return "the request"
	}
	action := cmp.Or(prefixes[op.ServiceID], strings.ToLower(op.ServiceID)) + ":" + op.OperationName
	return cmp.Or(actions[action], action)
}
