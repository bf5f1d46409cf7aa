package declared

import "github.com/stackwright/stackwright/pkg/lib/pattern"

// The forms of names; package project has those of projects, environments and
// targets. A stack's name becomes part of its physical name,
// in which slashes are hyphens.
var (
	StackName    = pattern.New(`^[A-Za-z0-9][-A-Za-z0-9]*(/[A-Za-z0-9][-A-Za-z0-9]*)*$`)
	VariableName = pattern.New(`^[A-Za-z][-_A-Za-z0-9]{0,63}$`)
	ScheduleName = pattern.New(`^[A-Za-z0-9][-_A-Za-z0-9]{0,31}$`)
	// UncheckedName is a resource type, or a property of one: TYPE.PROPERTY, with dots between the parts of its path.
	UncheckedName = pattern.New(`^[A-Za-z0-9]+(::[A-Za-z0-9]+){2}(\.[^.\s$]+)*$`)

	OutputName = pattern.New(`^[A-Za-z0-9]{1,255}$`)
)

// Limits of a project. Those of a stack are CloudFormation's.
const (
	MaxStacks     = 10_000
	MaxName       = 128 // characters of a stack's name
	MaxSchedules  = 50  // of an environment
	MaxDays       = 366 // of a calendar: days and intervals
	MaxMoved      = 1_000
	MaxLimits     = 50 // prefixes under max_parallel:, and groups
	MaxParameters = 200
	MaxTags       = 50
	MaxValue      = 4096     // bytes of a parameter's value
	MaxWritten    = 64 << 10 // bytes of a value as it is written, with its references
)

// NotUnchecked says what is expected of a name that is not like UncheckedName.
const NotUnchecked = "expected a resource type or a property of one: write AWS::SQS::Queue, or AWS::SQS::Queue.Property"
