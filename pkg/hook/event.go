package hook

import (
	"context"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Buses are event buses of EventBridge.
type Buses interface {
	// PutEvent puts an event on a bus. The detail is JSON.
	PutEvent(ctx context.Context, in project.Target, bus, source, kind string, detail []byte) error
}

// EventSource is the source of the events of hooks. Those about runs have another one.
const EventSource = "stackwright.hook"

// eventType puts an event on a bus.
func eventType() Type {
	return Type{
		Name: "event", What: "the ARN of an event bus",
		Form:    pattern.New(`^arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/[A-Za-z0-9._/-]{1,256}$`),
		Payload: true, Caller: event{},
	}
}

// event puts an event on a bus. EventBridge has no idempotency key, so the event has the token in its detail.
type event struct{ instant }

// Call implements Caller.
func (event) Call(ctx context.Context, s Services, c Call) (string, error) {
	detail, err := c.Message.JSON()
	if err != nil {
		return "", err
	}
	return "", s.Buses.PutEvent(ctx, c.Target, c.On(), EventSource, c.Message.Hook, detail)
}
