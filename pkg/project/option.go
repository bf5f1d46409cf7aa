package project

import (
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

// KeepsFailed reports whether a creation of the stack that fails is not rolled back.
func (n Node) KeepsFailed() bool { return n.DisableRollback || n.OnFailure == KeepFailed }
