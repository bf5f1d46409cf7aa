package project

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// A Limit is a number of stacks of a set: of those of a group, of the targets of a rollout, or of the stacks whose names begin
// with a prefix. The empty prefix is that of all stacks.
type Limit struct {
	Prefix  string `json:"prefix,omitempty"` // empty for a group and a rollout
	Group   string `json:"group,omitempty"`
	Rollout string `json:"rollout,omitempty"` // the stack that is rolled out
	Most    int    `json:"most"`
}

// Compare orders limits, those of groups and then those of rollouts last. Limits of the same stacks are equal.
func (l Limit) Compare(other Limit) int {
	return cmp.Or(strings.Compare(l.Rollout, other.Rollout), strings.Compare(l.Group, other.Group), strings.Compare(l.Prefix, other.Prefix))
}

// Limits reports whether l is for a stack with the given name, group and rollout.
func (l Limit) Limits(stack, group, rollout string) bool {
	switch {
	case l.Rollout != "":
		return rollout == l.Rollout
	case l.Group != "":
		return group == l.Group
	}
	return strings.HasPrefix(stack, l.Prefix)
}

// All reports whether l is for all stacks.
func (l Limit) All() bool { return l.Rollout == "" && l.Group == "" && l.Prefix == "" }

// A Rollout is the rollout that a node is part of: how a stack is deployed to its targets.
type Rollout struct {
	Stack  string   `json:"stack"`            // in the project
	Wave   int      `json:"wave,omitempty"`   // in which the node is deployed, from 0
	Bake   Timeout  `json:"bake,omitempty"`   // how long the next wave waits after this one
	Alarms []string `json:"alarms,omitempty"` // names of alarms of CloudWatch in each target, which stop the rollout
}

// MaxAlarms is how many alarms a rollout may have.
const MaxAlarms = 5

// AlarmName is the form of the name of an alarm of CloudWatch, without colons, so that it is no ARN.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
var AlarmName = pattern.New(`^[^\x00-\x1f\x7f:]{1,255}$`)

// A Share is a number of stacks, or a percentage of them.
type Share struct {
	N       int
	Percent bool
}

// shareForm is the form of a share.
var shareForm = pattern.New(`^(0|[1-9][0-9]{0,5})%?$`)

// ParseShare reads a share, such as 2 or 10%.
func ParseShare(text string) (Share, error) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err == nil && percent && n > 100 {
		return Share{}, fault.New(fault.Invalid, "%q: a percentage is at most 100%%: write for example 10%%", text)
	}
	if err != nil || !shareForm.MatchString(text) {
		return Share{}, fault.New(fault.Invalid, "%q is neither a number nor a percentage: write for example 2 or 10%%", text)
	}
	return Share{n, percent}, nil
}

// Of returns how many of so many stacks the share is, rounded down, as for StackSets.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackSetOperationPreferences.html
func (s Share) Of(stacks int) int {
	if s.Percent {
		return stacks * s.N / 100
	}
	return s.N
}
