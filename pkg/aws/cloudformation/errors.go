package cloudformation

import (
	"net/http"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/plan"
)

// CloudFormation answers most refused requests with a ValidationError, so that only
// the message says what is wrong. Messages are matched in this file only.
var (
	// "Stack with id shop-vpc does not exist", "Stack [shop-vpc] does not exist".
	// "Stack for orders does not exist": no stack has the resource.
	// Missing buckets, roles and parameters are other errors.
	absent = pattern.New(`^Stack(?: with id |:| for | )\[?[^\s\]]+\]? does not exist`)

	// "Stack:arn:… is in UPDATE_IN_PROGRESS state and can not be updated.",
	// "Stack [shop-vpc] cannot be deleted while in status UPDATE_IN_PROGRESS"
	inStatus = pattern.New(`^Stack.*\b(?:is in|in status) ([A-Z_]+)\b`)

	// "Requires capabilities : [CAPABILITY_NAMED_IAM]"
	required = pattern.New(`\[([A-Z_, ]+)\]`)

	// "Resource creation cancelled", "Resource update cancelled": the resource was
	// in progress when another one failed.
	cancelled = pattern.New(`^Resource \w+ cancell?ed\.?$`)
)

const (
	notImported   = "is not imported by any stack"
	noTemplate    = "Template not yet available"
	detecting     = "Drift detection is already in progress"
	nothingToDo   = "No updates are to be performed"
	rateExceeded  = "Rate exceeded"
	protected     = "TerminationProtection is enabled"
	doNothing     = "[on-failure: DO_NOTHING]" // such a stack accepts no update
	userInitiated = "User Initiated"
)

// kinds are the error codes of CloudFormation.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
var kinds = awserr.Kinds{
	"AlreadyExistsException":         fault.Taken,
	"ChangeSetNotFound":              fault.Missing,
	"InvalidChangeSetStatus":         fault.Busy,
	"StackRefactorNotFoundException": fault.Missing,
	"TokenAlreadyExistsException":    fault.Unavailable, // it was sent before: the stack's events decide
	awserr.Other:                     fault.Refused,
}

// requestFault returns the fault of a request to CloudFormation, with what to do
// about it, and nil if err is nil.
func requestFault(do string, err error) error {
	f := faultOf(do, err)
	if fault.Is(f, fault.Throttled) && awserr.Service(err) == sdk.ServiceID { // and not STS, of which the credentials are
		return action.RateExceeded(f)
	}
	return f
}

func faultOf(do string, err error) error {
	code, message := awserr.Answer(err)
	if code != "" && awserr.Status(err) < http.StatusInternalServerError {
		if kind, text := meaning(code, message); kind != "" {
			return fault.New(kind, "%s: %s", do, text)
		}
	}
	return awserr.Fault(do, "the stacks of the project", err, kinds)
}

// meaning returns the kind that only the message of an error shows, and the message
// with what to do; "" if the code alone decides.
func meaning(code, message string) (kind fault.Kind, text string) {
	switch {
	case code == "LimitExceededException":
		return fault.Refused, "a quota of CloudFormation is used up: " + message + ": raise it in Service Quotas, or delete stacks"
	case code == "InsufficientCapabilitiesException":
		return fault.Refused, message + ": " + grant(message)
	case code != "ValidationError":
		return "", ""
	case strings.HasPrefix(message, rateExceeded):
		return fault.Throttled, message
	case strings.HasPrefix(message, nothingToDo):
		return fault.Unchanged, message
	case absent.MatchString(message), strings.HasPrefix(message, noTemplate), strings.Contains(message, notImported):
		return fault.Missing, message
	case strings.HasPrefix(message, detecting): // somebody else detects it, or the task itself did before a crash
		return fault.Busy, message
	case inStatus.MatchString(message):
		return refusedIn(plan.Status(inStatus.FindStringSubmatch(message)[1])), message
	case strings.Contains(message, protected):
		return fault.Refused, message + ": deploy it with protect: false first"
	case strings.Contains(message, doNothing):
		return fault.Refused, message + ": delete it, and deploy again"
	}
	return fault.Refused, message
}

// refusedIn returns the kind of a refusal because of a stack's status.
func refusedIn(s plan.Status) fault.Kind {
	switch {
	case s.Busy(), s.Cleaning():
		return fault.Busy
	case s.Gone():
		return fault.Missing
	}
	return fault.Refused
}

// grant says how to grant the required capabilities.
func grant(message string) string {
	if m := required.FindStringSubmatch(message); m != nil {
		return "set capabilities: [" + m[1] + "] in the project if the template may do that"
	}
	return "set in the project which capabilities the template may have"
}

// notStarted returns the fault of a request that starts nothing: if its outcome is
// unknown, it can be sent again.
func notStarted(err error) error {
	if fault.Is(err, fault.Unavailable) {
		return fault.As(fault.Throttled, err)
	}
	return err
}

// genuine reports whether an event's reason says why a resource failed, and not
// only that CloudFormation gave it up because another one failed.
func genuine(reason string) bool { return reason != "" && !cancelled.MatchString(reason) }

// summary returns the reason in the stack's own event.
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
