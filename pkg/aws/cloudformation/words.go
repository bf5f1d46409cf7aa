package cloudformation

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// CloudFormation tells most of what it refuses by a ValidationError, so that
// only its words say what is meant. They are read here and nowhere else.
var (
	// "Stack with id shop-vpc does not exist", "Stack [shop-vpc] does not exist".
	// Buckets, roles and parameters that do not exist are something else.
	absent = regexp.MustCompile(`^Stack(?: with id |:| )\[?[^\s\]]+\]? does not exist`)

	// "Stack:arn:… is in UPDATE_IN_PROGRESS state and can not be updated.",
	// "Stack [shop-vpc] cannot be deleted while in status UPDATE_IN_PROGRESS"
	standing = regexp.MustCompile(`^Stack.*\b(?:is in|in status) ([A-Z_]+)\b`)

	// "Requires capabilities : [CAPABILITY_NAMED_IAM]"
	required = regexp.MustCompile(`\[([A-Z_, ]+)\]`)

	// "Resource creation cancelled", "Resource update cancelled": what was
	// still going on when something else failed.
	cancelled = regexp.MustCompile(`^Resource \w+ cancell?ed\.?$`)
)

const (
	nothingToDo   = "No updates are to be performed"
	rateExceeded  = "Rate exceeded"
	protected     = "TerminationProtection is enabled"
	doNothing     = "[on-failure: DO_NOTHING]" // such a stack takes no update
	userInitiated = "User Initiated"
)

// kinds are the error codes that say by themselves what is meant.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
var kinds = map[string]fault.Kind{
	"AlreadyExistsException":      fault.Taken,
	"TokenAlreadyExistsException": fault.Unavailable, // it was asked for before: what is heard of it decides

	"Throttling":                fault.Throttled,
	"ThrottlingException":       fault.Throttled,
	"ThrottledException":        fault.Throttled,
	"RequestThrottled":          fault.Throttled,
	"RequestThrottledException": fault.Throttled,
	"RequestLimitExceeded":      fault.Throttled,
	"TooManyRequests":           fault.Throttled,
	"TooManyRequestsException":  fault.Throttled,

	"AccessDenied":                fault.Denied,
	"AccessDeniedException":       fault.Denied,
	"AuthFailure":                 fault.Denied,
	"ExpiredToken":                fault.Denied,
	"ExpiredTokenException":       fault.Denied,
	"IncompleteSignature":         fault.Denied,
	"InvalidClientTokenId":        fault.Denied,
	"MissingAuthenticationToken":  fault.Denied,
	"NotAuthorized":               fault.Denied,
	"OptInRequired":               fault.Denied,
	"RequestExpired":              fault.Denied,
	"SignatureDoesNotMatch":       fault.Denied,
	"UnauthorizedOperation":       fault.Denied,
	"UnrecognizedClientException": fault.Denied,

	"InternalFailure":         fault.Unavailable,
	"InternalError":           fault.Unavailable,
	"InternalServerError":     fault.Unavailable,
	"ServiceUnavailable":      fault.Unavailable,
	"RequestTimeout":          fault.Unavailable,
	"RequestTimeoutException": fault.Unavailable,
}

// understood gives what came back from CloudFormation its kind, with what was
// asked for before it and what to do behind it. It leaves nil alone.
func understood(asked string, err error) error {
	if err == nil {
		return nil
	}
	if _, bad := errors.AsType[smithy.InvalidParamsError](err); bad {
		return fault.New(fault.Broken, "%s: %w", asked, err) // it was never sent, and never will be
	}
	said, ok := errors.AsType[smithy.APIError](err)
	status := httpStatus(err)
	refused := status >= 400 && status < 500
	if !ok && refused {
		return fault.New(fault.Refused, "%s: HTTP status %d, and not in CloudFormation's words: see what stands between it and us", asked, status)
	}
	if !ok { // there was no answer, or none that can be read
		return fault.New(fault.Unavailable, "%s: %w", asked, err)
	}
	kind, words := meant(said.ErrorCode(), said.ErrorMessage())
	if kind == fault.Refused && !refused {
		kind = fault.Unavailable // it broke over what was asked, which may or may not be done
	}
	return fault.New(kind, "%s: %s", asked, words)
}

// meant tells the kind of an error from its code and words, and adds to the
// words what a person should know.
func meant(code, words string) (fault.Kind, string) {
	full := words
	if code != "ValidationError" {
		full = strings.TrimSuffix(fmt.Sprintf("%s: %s", code, words), ": ")
	}
	if kind, ok := kinds[code]; ok {
		return kind, full
	}
	switch {
	case strings.HasPrefix(words, rateExceeded):
		return fault.Throttled, full
	case strings.HasPrefix(words, nothingToDo):
		return fault.Unchanged, words
	case absent.MatchString(words):
		return fault.Missing, words
	case standing.MatchString(words):
		return stands(plan.Status(standing.FindStringSubmatch(words)[1])), words
	case strings.Contains(words, protected):
		return fault.Refused, words + ": deploy it with protect: false first"
	case strings.Contains(words, doNothing):
		return fault.Refused, words + ": delete it, and deploy again"
	case code == "LimitExceededException":
		return fault.Refused, "a quota of CloudFormation is used up: " + words + ": have it raised in Service Quotas, or delete what is not needed"
	case code == "InsufficientCapabilitiesException":
		return fault.Refused, words + ": " + grant(words)
	}
	return fault.Refused, full
}

// stands tells what a refusal for the sake of a stack's status means.
func stands(s plan.Status) fault.Kind {
	switch {
	case s.Busy(), s.Cleaning():
		return fault.Busy
	case s.Gone():
		return fault.Missing
	}
	return fault.Refused
}

// grant says how the capabilities that are asked for are given.
func grant(words string) string {
	if m := required.FindStringSubmatch(words); m != nil {
		return "say capabilities: [" + m[1] + "] in the project if the template may do that"
	}
	return "say in the project which capabilities the template may have"
}

// httpStatus is that of the answer, or 0 if there was none.
func httpStatus(err error) int {
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.Response != nil {
		return r.HTTPStatusCode()
	}
	return 0
}

// unbegun is the kind of an error that came before anything was begun: what
// nobody could answer may simply be asked again.
func unbegun(err error) error {
	if fault.Is(err, fault.Unavailable) {
		return fault.As(fault.Throttled, err)
	}
	return err
}

// genuine reports whether an event's reason says why something failed, and not
// only that it was given up because something else did.
func genuine(reason string) bool { return reason != "" && !cancelled.MatchString(reason) }

// summary is what the stack's own event says of why its work did not succeed.
func summary(s types.ResourceStatus, reason string) string {
	switch {
	case reason != userInitiated:
		return reason
	case s == types.ResourceStatusDeleteInProgress:
		return "somebody deleted it (" + reason + ")"
	case s == types.ResourceStatusUpdateRollbackInProgress, s == types.ResourceStatusRollbackInProgress:
		return "somebody cancelled it (" + reason + ")"
	}
	return "somebody else changed it (" + reason + ")"
}
