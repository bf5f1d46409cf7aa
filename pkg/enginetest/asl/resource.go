package asl

import (
	"regexp"
	"strings"
)

// A Resource is what a Task calls.
type Resource string

var (
	functionName = regexp.MustCompile(`^(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9-_]{1,64}(:(\$LATEST|[A-Za-z0-9-_]+))?$`)
	integration  = regexp.MustCompile(`^arn:aws[a-z-]*:states:::lambda:invoke(\.waitForTaskToken)?$`)
)

const (
	waitForTaskToken = ".waitForTaskToken"
	invoke           = "arn:aws:states:::lambda:invoke"
	invokeWithToken  = invoke + waitForTaskToken
)

func (r Resource) valid() bool {
	return integration.MatchString(string(r)) || functionName.MatchString(string(r))
}

// Direct says whether the resource is a function itself, whose result is the task's.
func (r Resource) Direct() bool { return !integration.MatchString(string(r)) }

// Waits says whether the task waits for its token to be answered.
func (r Resource) Waits() bool { return strings.HasSuffix(string(r), waitForTaskToken) }
