package dynamodb

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A deliveryItem says of a destination that events of a run are delivered to which of them is being delivered, and in which thread.
type deliveryItem struct {
	Holder  string `json:"holder"`           // the ID of the event that is being delivered
	Until   int64  `json:"until"`            // until when nobody else may deliver, in Unix milliseconds
	Thread  string `json:"thread,omitempty"` // of a chat
	Expires int64  `json:"expires"`
}

// A deliveredItem says that an event was delivered.
type deliveredItem struct {
	Expires int64 `json:"expires"`
}

func deliveryKey(id, destination string) key { return key{"DELIVERIES#" + id, destination} }

// deliveredKey is that of an event. The name of a destination has no "#".
func deliveredKey(id, destination, event string) key {
	return key{"DELIVERIES#" + id, destination + "#" + event}
}

// ClaimDelivery lets the caller deliver an event of a run to a destination until a time, if nobody else delivers an event of the run
// there. It returns the thread in which the run is shown there. done is whether the event was delivered already. The error is of kind
// Busy if somebody else delivers.
func (t *Table) ClaimDelivery(ctx context.Context, id, destination, event string, until time.Time) (thread string, done bool, err error) {
	now := time.Now()
	failed, err := t.write(ctx,
		write{key: deliveredKey(id, destination, event), where: "attribute_not_exists(#PK)"},
		write{
			key:   deliveryKey(id, destination),
			set:   values{"holder": event, "until": until.UnixMilli(), "expires": now.Add(retention).Unix()},
			where: "attribute_not_exists(#PK) OR #until <= :now OR #holder = :event",
			with:  values{"now": now.UnixMilli(), "event": event},
		})
	switch {
	case err != nil:
		return "", false, err
	case failed == 0:
		return "", true, nil
	case failed != held:
		return "", false, fault.New(fault.Busy, "another event of run %s is being delivered to %s", id, destination)
	}
	got, err := t.get(ctx, deliveryKey(id, destination))
	if err != nil {
		return "", false, err
	}
	var i deliveryItem
	err = decode(got, &i)
	return i.Thread, false, err
}

// Delivered records that an event was delivered, and the thread of the run if it is not empty. Others may then deliver.
func (t *Table) Delivered(ctx context.Context, id, destination, event, thread string) error {
	free := values{"until": time.Now().UnixMilli()}
	if thread != "" {
		free["thread"] = thread
	}
	_, err := t.write(ctx,
		write{key: deliveredKey(id, destination, event), put: deliveredItem{time.Now().Add(retention).Unix()}},
		write{key: deliveryKey(id, destination), set: free})
	return err
}

// ReleaseDelivery lets others deliver after an event was not delivered.
func (t *Table) ReleaseDelivery(ctx context.Context, id, destination, event string) error {
	_, err := t.write(ctx, write{
		key: deliveryKey(id, destination), set: values{"until": time.Now().UnixMilli()},
		where: "#holder = :event", with: values{"event": event},
	})
	return err
}
