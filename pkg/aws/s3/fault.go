package s3

import (
	"errors"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
)

// kinds are the errors that S3 may answer with.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var kinds = map[string]fault.Kind{
	"NoSuchKey":             fault.Missing,
	"NoSuchVersion":         fault.Missing,
	"NotFound":              fault.Missing,
	"MethodNotAllowed":      fault.Missing, // the version is a delete marker
	"AccessDenied":          fault.Denied,
	"AllAccessDisabled":     fault.Denied,
	"ExpiredToken":          fault.Denied,
	"InvalidAccessKeyId":    fault.Denied,
	"InvalidToken":          fault.Denied,
	"SignatureDoesNotMatch": fault.Denied,
	"SlowDown":              fault.Throttled,
	"RequestLimitExceeded":  fault.Throttled,
	"Throttling":            fault.Throttled,
	"ThrottlingException":   fault.Throttled,
	"RequestTimeout":        fault.Unavailable,
	"InternalError":         fault.Unavailable,
	"ServiceUnavailable":    fault.Unavailable,
	"OperationAborted":      fault.Unavailable,
}

// fault says what err means to whoever was to do something with an object.
func (b *Bucket) fault(do, key string, err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if ok && api.ErrorCode() == "NoSuchBucket" {
		return fault.New(fault.Broken, "%s s3://%s/%s: there is no such bucket: deploy Stackwright, or set STACKWRIGHT_BUCKET: %w", do, b.name, key, err)
	}
	if ok {
		if kind, ok := kinds[api.ErrorCode()]; ok {
			return fault.New(kind, "%s s3://%s/%s: %w", do, b.name, key, err)
		}
	}
	kind := fault.Unavailable // no answer, or no sound one
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		switch status := answer.HTTPStatusCode(); {
		case status == http.StatusTooManyRequests:
			kind = fault.Throttled
		case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
			kind = fault.Invalid // such as a version that is none
		}
	}
	return fault.New(kind, "%s s3://%s/%s: %w", do, b.name, key, err)
}
