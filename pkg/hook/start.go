package hook

import (
	"context"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Machines are state machines of Step Functions.
type Machines interface {
	// StartExecution starts an execution, unless one of the name was started before. It returns its ARN.
	StartExecution(ctx context.Context, in project.Target, machine, name string, input []byte) (execution string, err error)

	// ExecutionEnded reports whether an execution has ended. The error is of kind Refused if it did not succeed, or does
	// not exist.
	ExecutionEnded(ctx context.Context, in project.Target, execution string) (bool, error)

	// StopExecution stops an execution. It is no error if it has ended.
	StopExecution(ctx context.Context, in project.Target, execution, why string) error
}

// startType starts an execution of a state machine.
func startType() Type {
	return Type{
		Name: "start", What: "the ARN of a state machine of the type STANDARD",
		Form:    pattern.New(`^arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:stateMachine:[A-Za-z0-9_-]{1,80}$`),
		Payload: true, Caller: start{},
	}
}

// start starts an execution whose name is the token, and waits for its end. A name has up to 80 characters, and a token up to
// 70.
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
type start struct{}

// Call implements Caller.
func (start) Call(ctx context.Context, s Services, c Call) (string, error) {
	input, err := c.Message.JSON()
	if err != nil {
		return "", err
	}
	return s.Machines.StartExecution(ctx, c.Target, c.On(), c.Token, input)
}

// Ended implements Caller.
func (start) Ended(ctx context.Context, s Services, c Call) (bool, error) {
	return s.Machines.ExecutionEnded(ctx, c.Target, c.Started)
}

// Stop implements Caller.
func (start) Stop(ctx context.Context, s Services, c Call) error {
	return s.Machines.StopExecution(ctx, c.Target, c.Started, "stopped by Stackwright")
}
