package dynamodb

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/server"
)

// Minidyn keeps the secondary indexes. A search of one is given every item that it may find, and costs as much.

func (t *Tables) queryIndex(ctx context.Context, of *table, in *server.QueryInput) (any, error) {
	index := aws.ToString(in.IndexName)
	places, err := of.inSearch(index, in.ExclusiveStartKey, func(a attributes) bool {
		c := condition{of, of.indexes[index], in.ExpressionAttributeNames, in.ExpressionAttributeValues}
		s, ok := c.span(aws.ToString(in.KeyConditionExpression))
		hash, has := of.text(c.keys.hash, a[c.keys.hash])
		return !ok || has && hash == s.hash
	})
	if err != nil {
		return nil, err
	}
	return t.indexed(ctx, places, func(limit *int32) ([]attributes, attributes, error) {
		shorter := *in
		if limit != nil {
			shorter.Limit = limit
		}
		out, err := t.engine.Query(ctx, &shorter)
		if err != nil {
			return nil, nil, err
		}
		return out.Items, out.LastEvaluatedKey, nil
	})
}

func (t *Tables) scanIndex(ctx context.Context, of *table, in *server.ScanInput) (any, error) {
	places, err := of.inSearch(aws.ToString(in.IndexName), in.ExclusiveStartKey, func(attributes) bool { return true })
	if err != nil {
		return nil, err
	}
	return t.indexed(ctx, places, func(limit *int32) ([]attributes, attributes, error) {
		shorter := *in
		if limit != nil {
			shorter.Limit = limit
		}
		out, err := t.engine.Scan(ctx, &shorter)
		if err != nil {
			return nil, nil, err
		}
		return out.Items, out.LastEvaluatedKey, nil
	})
}

// inSearch are the places that a search of an index may find. The key that it begins behind is one of them, whether its
// item is there or not: minidyn looks for it. There are none where there is no table (nil), or no index asked for.
func (t *table) inSearch(index string, start attributes, may func(attributes) bool) ([]place, error) {
	if t == nil || index == "" {
		return nil, nil
	}
	if _, ok := t.indexes[index]; !ok {
		return nil, invalid("The table does not have the specified index: " + index)
	}
	after, err := t.start(start)
	if err != nil {
		return nil, err
	}
	var places []place
	for k := range t.behind(nil) {
		is, _ := t.get(k)
		if !may(is.attributes) {
			continue
		}
		places = append(places, place{table: t, key: k, is: is, there: true})
		if after != nil && *after == k {
			after = nil
		}
	}
	if after != nil {
		places = append(places, place{table: t, key: *after, is: item{attributes: start}, there: true})
	}
	return places, nil
}

// indexed asks once, and again with a limit if the answer is too long for a page.
func (t *Tables) indexed(ctx context.Context, places []place, ask func(limit *int32) ([]attributes, attributes, error)) (any, error) {
	var out page
	err := t.holding(ctx, places, func() error {
		items, last, err := ask(nil)
		if err != nil {
			return err
		}
		if fit := fitting(items); fit < len(items) {
			if items, last, err = ask(aws.Int32(int32(fit))); err != nil {
				return err
			}
		}
		out = page{Items: []json.RawMessage{}, Count: len(items), ScannedCount: len(items), LastEvaluatedKey: wire(last)}
		for _, a := range items {
			out.Items = append(out.Items, wireItem(a))
		}
		return nil
	})
	return out, err
}

func fitting(items []attributes) int {
	size := 0
	for i, a := range items {
		if size += len(wire(a)); size > maxPage && i > 0 {
			return i
		}
	}
	return len(items)
}
