package hook

import (
	"context"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Functions are Lambda functions.
type Functions interface {
	// Invoke calls a function with an input, and waits for its end. The error is of kind Refused if the function returns
	// one.
	Invoke(ctx context.Context, in project.Target, function string, input []byte) error
}

// invokeType calls a Lambda function.
func invokeType() Type {
	return Type{
		Name: "invoke", What: "the ARN of a Lambda function, with or without a version or an alias",
		Form:    pattern.New(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9_$-]{1,128})?$`),
		Payload: true, Caller: invoke{},
	}
}

// invoke calls a function, and waits for its answer. Lambda has no idempotency key, so the function gets the token in its
// input.
type invoke struct{ instant }

// Call implements Caller.
func (invoke) Call(ctx context.Context, s Services, c Call) (string, error) {
	input, err := c.Message.JSON()
	if err != nil {
		return "", err
	}
	return "", s.Functions.Invoke(ctx, c.Target, c.On(), input)
}
