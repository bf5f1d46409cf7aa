package project

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// MaxNotifications is how many topics a stack may have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
const MaxNotifications = 5

// TopicARN is the form of the ARN of an SNS topic. Its group is the region.
var TopicARN = pattern.New(`^arn:aws[a-z-]*:sns:([a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$`)

// A FailedCreation is what CloudFormation does with a stack whose creation fails. The zero FailedCreation rolls it back: CloudFormation
// deletes its resources.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
type FailedCreation string

// What else CloudFormation can do.
const (
	KeepFailed   FailedCreation = "DO_NOTHING" // the stack stays with its resources, and can be updated
	DeleteFailed FailedCreation = "DELETE"     // the stack is deleted
)

// What CloudFormation accepts as rollback triggers.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_RollbackConfiguration.html
const (
	MaxTriggers          = 5
	MaxMonitoringMinutes = 180
)

// AlarmARN is the form of the ARN of an alarm of CloudWatch.
var AlarmARN = pattern.New(`^arn:aws[a-z-]*:cloudwatch:[a-z0-9-]+:[0-9]{12}:alarm:.{1,255}$`)

// RollbackTriggers are alarms that make CloudFormation roll an operation back, and for how long it watches them after the resources
// are deployed. They belong to the request: another value alone changes no stack.
type RollbackTriggers struct {
	Alarms          []string `json:"alarms,omitempty"`           // ARNs, sorted
	CompositeAlarms []string `json:"composite_alarms,omitempty"` // ARNs, sorted
	Minutes         int      `json:"minutes,omitempty"`
}

// IsZero reports whether there are none.
func (r RollbackTriggers) IsZero() bool {
	return len(r.Alarms) == 0 && len(r.CompositeAlarms) == 0 && r.Minutes == 0
}

// String lists the triggers for people; it is empty if there are none.
func (r RollbackTriggers) String() string {
	all := slices.Concat(r.Alarms, r.CompositeAlarms)
	if r.Minutes > 0 {
		all = append(all, strconv.Itoa(r.Minutes)+"m")
	}
	return strings.Join(all, ", ")
}

// A StackPolicy says which resources of a stack an update may change. The zero StackPolicy is none.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
type StackPolicy struct {
	Body   string `json:"body"`   // JSON without white space
	Digest string `json:"digest"` // of Body, in hex
}

// NewStackPolicy returns the policy of a body.
func NewStackPolicy(body string) StackPolicy {
	sum := sha256.Sum256([]byte(body))
	return StackPolicy{body, hex.EncodeToString(sum[:])}
}

// MaxRetained is the most characters of the IDs of the resources that a stack retains, with commas: they are arguments of a step.
const MaxRetained = 2500

// AllowAll is the body of the policy that allows every update. CloudFormation removes no policy; this one has the effect of none.
const AllowAll = `{"Statement":[{"Action":"Update:*","Effect":"Allow","Principal":"*","Resource":"*"}]}`

// ResourceType is the form of a type of resources that a request may name: a type, or the first parts of types and a star.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (ResourceTypes)
var ResourceType = pattern.New(`^[A-Za-z0-9]{1,64}(?:::[A-Za-z0-9@_-]{1,64})*::(?:\*|[A-Za-z0-9@_-]{1,64})$`)

// MayHave reports whether a request for the stack may contain resources of a type.
func (n Node) MayHave(kind string) bool {
	return len(n.ResourceTypes) == 0 || slices.ContainsFunc(n.ResourceTypes, func(allowed string) bool {
		start, all := strings.CutSuffix(allowed, "*")
		return allowed == kind || all && strings.HasPrefix(kind, start)
	})
}

// Keeps lists the parameters whose values an update of a stack keeps, of those that the stack has.
func (n Node) Keeps(live map[string]string) []string {
	var all []string
	for _, name := range n.IgnoreChanges {
		if _, has := live[name]; has {
			all = append(all, name)
		}
	}
	return all
}

// KeepsFailed reports whether a creation of the stack that fails is not rolled back.
func (n Node) KeepsFailed() bool { return n.DisableRollback || n.OnFailure == KeepFailed }
