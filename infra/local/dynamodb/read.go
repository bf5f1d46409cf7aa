package dynamodb

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/server"
)

// found is one item as it is answered.
type found struct {
	Item json.RawMessage `json:",omitempty"`
}

// getItem has minidyn refuse what is wrong; only a projection needs minidyn to have the item.
func (t *Tables) getItem(ctx context.Context, in *server.GetItemInput) (any, error) {
	var places []place
	p, ok := t.at(in.TableName, in.Key)
	if ok && aws.ToString(in.ProjectionExpression) != "" {
		places = append(places, p)
	}
	out := found{p.is.wire}
	err := t.holding(ctx, places, func() error {
		got, err := t.engine.GetItem(ctx, in)
		if err == nil && len(places) > 0 {
			out.Item = wire(got.Item)
		}
		return err
	})
	return out, err
}

func (t *Tables) batchGetItem(ctx context.Context, in *server.BatchGetItemInput) (any, error) {
	var places []place
	for name, of := range in.RequestItems {
		for _, k := range of.Keys {
			if p, ok := t.at(&name, k); ok {
				places = append(places, p)
			}
		}
	}
	responses := map[string][]json.RawMessage{}
	err := t.holding(ctx, places, func() error {
		out, err := t.engine.BatchGetItem(ctx, in)
		if err != nil {
			return err
		}
		for name, items := range out.Responses {
			responses[name] = make([]json.RawMessage, len(items))
			for i, a := range items {
				responses[name][i] = wire(a)
			}
		}
		return nil
	})
	return map[string]any{"Responses": responses, "UnprocessedKeys": map[string]any{}}, err
}

func (t *Tables) transactGetItems(ctx context.Context, in *server.TransactGetItemsInput) (any, error) {
	var places []place
	for _, of := range in.TransactItems {
		if of.Get == nil {
			continue // minidyn refuses it
		}
		if p, ok := t.at(of.Get.TableName, of.Get.Key); ok {
			places = append(places, p)
		}
	}
	var responses []found
	err := t.holding(ctx, places, func() error {
		out, err := t.engine.TransactGetItems(ctx, in)
		if err != nil {
			return err
		}
		for _, response := range out.Responses {
			responses = append(responses, found{wire(response.Item)})
		}
		return nil
	})
	return map[string]any{"Responses": responses}, err
}
