package dynamodb

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
)

// contention are the reasons for which a transaction is cancelled that have
// passed by the time it is tried again. The SDK does not try again.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
var contention = []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}

// verdict says of a transaction's error which condition did not hold, if that
// is what happened, or else whether it is to be tried again.
func verdict(err error) (failed int, again bool) {
	if _, ok := errors.AsType[*types.TransactionInProgressException](err); ok {
		return held, true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return held, false
	}
	failed = held
	for i, reason := range cancelled.CancellationReasons {
		switch code := aws.ToString(reason.Code); {
		case slices.Contains(contention, code):
			return held, true
		case code == "ConditionalCheckFailed" && failed == held:
			failed = i
		}
	}
	return failed, false
}

// kinds are the errors that DynamoDB may answer with.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var kinds = map[string]fault.Kind{
	"ProvisionedThroughputExceededException": fault.Throttled,
	"ThrottlingException":                    fault.Throttled,
	"RequestLimitExceeded":                   fault.Throttled,
	"LimitExceededException":                 fault.Throttled,
	"TransactionConflictException":           fault.Throttled,
	"TransactionInProgressException":         fault.Unavailable,
	"InternalServerError":                    fault.Unavailable,
	"InternalFailure":                        fault.Unavailable,
	"ServiceUnavailable":                     fault.Unavailable,
	"ServiceUnavailableException":            fault.Unavailable,
	"RequestTimeout":                         fault.Unavailable,
	"RequestTimeoutException":                fault.Unavailable,
	"AccessDeniedException":                  fault.Denied,
	"UnrecognizedClientException":            fault.Denied,
	"MissingAuthenticationTokenException":    fault.Denied,
	"IncompleteSignatureException":           fault.Denied,
	"InvalidSignatureException":              fault.Denied,
	"ExpiredTokenException":                  fault.Denied,
	"KMSAccessDeniedException":               fault.Denied,
	"ResourceNotFoundException":              fault.Missing,
}

// fault says what err means to whoever was to do something.
func (t *Table) fault(do string, err error) error {
	if err == nil {
		return nil
	}
	kind := kindOf(err)
	if kind == fault.Missing {
		// The engine takes Missing for "what you named is not there".
		return fault.New(fault.Broken, "%s: there is no table %s: deploy Stackwright, or set STACKWRIGHT_TABLE: %w", do, t.name, err)
	}
	return fault.New(kind, "%s table %s: %w", do, t.name, err)
}

func kindOf(err error) fault.Kind {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		if _, again := verdict(cancelled); again {
			return fault.Throttled
		}
		return fault.Broken // an item is too large, or the request is not sound
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if kind, ok := kinds[api.ErrorCode()]; ok {
			return kind
		}
	}
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		if status := answer.HTTPStatusCode(); status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
			return fault.Broken // DynamoDB does not understand what we ask
		}
		return fault.Unavailable
	}
	if _, ok := errors.AsType[smithy.InvalidParamsError](err); ok {
		return fault.Broken
	}
	return fault.Unavailable // no answer
}
