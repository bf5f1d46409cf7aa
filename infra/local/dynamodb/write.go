package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// target is what a request writes to: a table, and a key there or a whole item.
type target struct {
	table *string
	key   attributes
	// of an update; minidyn does not carry out its REMOVE of whole attributes
	removed []string
	// of an action of a transaction: whether it asks to be told what is there if its condition does not hold
	tell bool
}

// written is a target with its place.
type written struct {
	target
	place
}

// change has minidyn carry out a request on the targets, and stores what comes of it, if it succeeds or if what fails
// may be done in part. It returns what was there before.
func (t *Tables) change(ctx context.Context, targets []target, partial bool, do func() error) ([]written, error) {
	var all []written
	var places []place
	for _, to := range targets {
		if p, ok := t.at(to.table, to.key); ok {
			all, places = append(all, written{to, p}), append(places, p)
		}
	}
	err := t.holding(ctx, places, func() error {
		err := do()
		if err != nil && !partial {
			return err
		}
		return errors.Join(err, t.keep(ctx, all, partial))
	})
	return all, err
}

// keep looks at everything before it stores anything.
func (t *Tables) keep(ctx context.Context, all []written, partial bool) error {
	after := make([]item, len(all))
	for i, w := range all {
		left, err := t.left(ctx, w.place, w.target.key)
		if err != nil {
			return err
		}
		for _, name := range w.removed {
			delete(left, name)
		}
		after[i] = newItem(left)
	}
	if err := oversize(all, after, partial); err != nil {
		return err
	}
	for i, w := range all {
		w.store(after[i])
	}
	return nil
}

// changed is the answer to a write of one item.
type changed struct {
	Attributes json.RawMessage `json:",omitempty"`
}

func (t *Tables) putItem(ctx context.Context, in *server.PutItemInput) (any, error) {
	all, err := t.change(ctx, []target{{table: in.TableName, key: in.Item}}, false, func() error {
		_, err := t.engine.PutItem(ctx, in)
		return err
	})
	return old(in.ReturnValues, all), refused(err, in.ReturnValuesOnConditionCheckFailure, all)
}

func (t *Tables) deleteItem(ctx context.Context, in *server.DeleteItemInput) (any, error) {
	all, err := t.change(ctx, []target{{table: in.TableName, key: in.Key}}, false, func() error {
		_, err := t.engine.DeleteItem(ctx, in)
		return err
	})
	return old(in.ReturnValues, all), refused(err, in.ReturnValuesOnConditionCheckFailure, all)
}

// old answers with what was there before a put or a deletion, to whom asks for it.
func old(asked types.ReturnValue, all []written) changed {
	if asked != types.ReturnValueAllOld || len(all) == 0 {
		return changed{}
	}
	return changed{all[0].is.wire}
}

func (t *Tables) updateItem(ctx context.Context, in *server.UpdateItemInput) (any, error) {
	var out *server.UpdateItemOutput
	to := target{table: in.TableName, key: in.Key, removed: removed(in.UpdateExpression, in.ExpressionAttributeNames)}
	all, err := t.change(ctx, []target{to}, false, func() (err error) {
		out, err = t.engine.UpdateItem(ctx, in)
		return err
	})
	if err != nil {
		return nil, refused(err, in.ReturnValuesOnConditionCheckFailure, all)
	}
	return changed{wire(returned(in.ReturnValues, out.Attributes, all))}, nil
}

// returned are the attributes that minidyn returns of an update, without what the update removed, or with it where it
// is asked for what there was before.
func returned(asked types.ReturnValue, out attributes, all []written) attributes {
	for _, w := range all {
		for _, name := range w.removed {
			was, there := w.is.attributes[name]
			switch {
			case asked == types.ReturnValueUpdatedOld && there:
				out[name] = was
			case asked == types.ReturnValueAllNew:
				delete(out, name)
			}
		}
	}
	return out
}

// conditionFailed is a condition that did not hold, and what was there if that was asked for.
type conditionFailed struct {
	error
	item json.RawMessage
}

func (f conditionFailed) Unwrap() error { return f.error }

func refused(err error, asked types.ReturnValuesOnConditionCheckFailure, all []written) error {
	var failed *types.ConditionalCheckFailedException
	if asked == types.ReturnValuesOnConditionCheckFailureAllOld && errors.As(err, &failed) && len(all) > 0 {
		return conditionFailed{err, all[0].is.wire}
	}
	return err
}

func (t *Tables) batchWriteItem(ctx context.Context, in *server.BatchWriteItemInput) (any, error) {
	var targets []target
	for name, requests := range in.RequestItems {
		for _, q := range requests {
			switch {
			case q.PutRequest != nil:
				targets = append(targets, target{table: &name, key: q.PutRequest.Item})
			case q.DeleteRequest != nil:
				targets = append(targets, target{table: &name, key: q.DeleteRequest.Key})
			}
		}
	}
	_, err := t.change(ctx, targets, true, func() error {
		_, err := t.engine.BatchWriteItem(ctx, in)
		return err
	})
	return map[string]any{"UnprocessedItems": map[string]any{}}, err
}

func (t *Tables) transactWriteItems(ctx context.Context, in *server.TransactWriteItemsInput) (any, error) {
	if n := len(in.TransactItems); n > maxActions {
		return nil, invalid(fmt.Sprintf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d (it has %d)", maxActions, n))
	}
	targets := make([]target, len(in.TransactItems))
	for i, action := range in.TransactItems {
		targets[i] = targetOf(action)
	}
	_, err := t.change(ctx, targets, false, func() error {
		_, err := t.engine.TransactWriteItems(ctx, in)
		return err
	})
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return nil, transactionCancelled{cancelled, t.told(targets)}
	}
	return struct{}{}, err
}

func targetOf(action server.TransactWriteItem) target {
	const all = types.ReturnValuesOnConditionCheckFailureAllOld
	switch a := action; {
	case a.Put != nil:
		return target{table: a.Put.TableName, key: a.Put.Item, tell: a.Put.ReturnValuesOnConditionCheckFailure == all}
	case a.Update != nil:
		return target{
			table: a.Update.TableName, key: a.Update.Key, tell: a.Update.ReturnValuesOnConditionCheckFailure == all,
			removed: removed(a.Update.UpdateExpression, a.Update.ExpressionAttributeNames),
		}
	case a.Delete != nil:
		return target{table: a.Delete.TableName, key: a.Delete.Key, tell: a.Delete.ReturnValuesOnConditionCheckFailure == all}
	case a.ConditionCheck != nil:
		return target{table: a.ConditionCheck.TableName, key: a.ConditionCheck.Key, tell: a.ConditionCheck.ReturnValuesOnConditionCheckFailure == all}
	}
	return target{table: aws.String("")}
}

// told is, for each action that asks for it, what is there.
func (t *Tables) told(targets []target) []json.RawMessage {
	out := make([]json.RawMessage, len(targets))
	for i, to := range targets {
		if p, ok := t.at(to.table, to.key); ok && to.tell {
			out[i] = p.is.wire
		}
	}
	return out
}

// transactionCancelled is a transaction of which a condition did not hold, and what is there under each of its actions.
type transactionCancelled struct {
	*types.TransactionCanceledException
	items []json.RawMessage
}
