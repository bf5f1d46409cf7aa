// Package wire builds the Lambda functions: it connects the engine to its adapters.
package wire

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// An Environment names the resources of the installation that a function belongs to.
type Environment struct {
	Table        string // of DynamoDB
	Bucket       string
	StateMachine string // its ARN
	Account      string // twelve digits
	Region       string
	Bus          string // the name of an event bus
	Stack        string // CloudFormation's name for the installation; may be empty
	Execution    string // ARN of the role that CloudFormation assumes in the installation's own account; may be empty
	Limits       budget.Limits
	Schedules    scheduler.Group // empty if there is none
}

// The variables that an Environment is read from.
const (
	envTable        = "STACKWRIGHT_TABLE"
	envBucket       = "STACKWRIGHT_BUCKET"
	envStateMachine = "STACKWRIGHT_STATE_MACHINE"
	envAccount      = "STACKWRIGHT_ACCOUNT"
	envRegion       = "AWS_REGION" // Lambda sets it
	envBus          = "STACKWRIGHT_BUS"
	envStack        = "STACKWRIGHT_STACK"
	envExecution    = "STACKWRIGHT_EXECUTION_ROLE"
)

// forms are the required variables and their patterns.
var forms = []struct {
	name string
	form *regexp.Regexp
	what string
}{
	{envTable, regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`), "the name of the DynamoDB table"},
	{envBucket, regexp.MustCompile(`^[a-z0-9.-]{3,63}$`), "the name of the S3 bucket"},
	{envStateMachine, regexp.MustCompile(`^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:stateMachine:.+$`), "the ARN of the state machine"},
	{envAccount, regexp.MustCompile(`^\d{12}$`), "the twelve digits of the account"},
	{envRegion, regexp.MustCompile(`^[a-z0-9-]+$`), "the region"},
}

// FromEnv reads an Environment. One error of kind fault.Invalid names every
// variable that is missing or malformed.
func FromEnv(getenv func(string) string) (Environment, error) {
	var wrong []string
	for _, f := range forms {
		switch v := getenv(f.name); {
		case v == "":
			wrong = append(wrong, f.name+" is missing: set it to "+f.what)
		case !f.form.MatchString(v):
			wrong = append(wrong, f.name+" is not "+f.what+": "+v)
		}
	}
	limits, malformed := limitsFrom(getenv)
	group, misnamed := groupFrom(getenv)
	if wrong = append(append(wrong, malformed...), misnamed...); len(wrong) > 0 {
		return Environment{}, fault.New(fault.Invalid, "environment: %s", strings.Join(wrong, "; "))
	}
	return Environment{
		Table: getenv(envTable), Bucket: getenv(envBucket), StateMachine: getenv(envStateMachine),
		Account: getenv(envAccount), Region: getenv(envRegion), Bus: cmp.Or(getenv(envBus), "default"),
		Stack: getenv(envStack), Execution: getenv(envExecution), Limits: limits, Schedules: group,
	}, nil
}
