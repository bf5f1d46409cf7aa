package scheduler

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
)

// is reports whether Scheduler answered with one of the given codes.
func is(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// classify says what err means to whoever was to do something.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/CommonErrors.html
func (s *Schedules) classify(do string, err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	kind := fault.Unavailable // no answer, or no sound one; of two changes at once, too
	switch {
	case is(err, "ValidationException"):
		return fault.New(fault.Invalid, "%s: EventBridge Scheduler does not take it: mend it in the project: %w", do, err)
	case is(err, "ServiceQuotaExceededException"):
		return fault.New(fault.Refused, "%s: the account has as many schedules as it may: raise its quota, or remove some: %w", do, err)
	case is(err, "ResourceNotFoundException"):
		return fault.New(fault.Broken, "%s: there is no schedule group %s: deploy Stackwright, or set STACKWRIGHT_SCHEDULE_GROUP: %w", do, s.group.Name, err)
	case is(err, "ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"):
		kind = fault.Throttled
	case is(err, "AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "MissingAuthenticationToken", "InvalidSignatureException", "IncompleteSignature"):
		kind = fault.Denied
	case is(err, "ConflictException"):
	case ok && answer.HTTPStatusCode() == http.StatusTooManyRequests:
		kind = fault.Throttled
	case ok && answer.HTTPStatusCode() >= http.StatusBadRequest && answer.HTTPStatusCode() < http.StatusInternalServerError:
		kind = fault.Broken // it does not understand what we ask
	}
	return fault.New(kind, "%s: %w", do, err)
}
