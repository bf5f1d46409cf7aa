package hook

import (
	"context"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Topics are topics of SNS.
type Topics interface {
	// Publish publishes a message on a topic. A FIFO topic keeps the order of the messages of a group, and delivers one with
	// a key that it has seen within five minutes only once.
	Publish(ctx context.Context, in project.Target, topic, group, key string, message []byte) error
}

// publishType publishes a message on a topic.
func publishType() Type {
	return Type{
		Name: "publish", What: "the ARN of an SNS topic",
		Form:    pattern.New(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$`),
		Payload: true, Caller: publish{},
	}
}

// publish publishes a message on a topic. A topic that is not FIFO has no idempotency key, so the message has the token.
type publish struct{ instant }

// Call implements Caller.
func (publish) Call(ctx context.Context, s Services, c Call) (string, error) {
	message, err := c.Message.JSON()
	if err != nil {
		return "", err
	}
	return "", s.Topics.Publish(ctx, c.Target, c.On(), c.project(), c.Token, message)
}
