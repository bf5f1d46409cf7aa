package dynamodb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/truora/minidyn/server"
)

// Minidyn copies a whole table for each transaction and evaluates a condition on every item of it for each query. So it
// has the tables' definitions only; for each request it is given the items that the request may touch, is asked, and
// forgets them. What a request costs then depends on what it touches, and nothing changes before it has succeeded.

// place is where a request touches a table.
type place struct {
	table *table
	key   key
	is    item // what was there
	there bool
}

// at is the place of a key, or of a whole item. Where there is no such table, or the key is not one of its, there is
// none, and minidyn will say so.
func (t *Tables) at(name *string, a attributes) (place, bool) {
	table, ok := t.tables[aws.ToString(name)]
	if !ok {
		return place{}, false
	}
	k, ok := table.key(table.keys, a)
	if !ok {
		return place{}, false
	}
	is, there := table.get(k)
	return place{table: table, key: k, is: is, there: there}, true
}

// holding has minidyn hold the items that are there at the places while do asks it.
func (t *Tables) holding(ctx context.Context, places []place, do func() error) (err error) {
	held := map[*table]map[string]key{}
	defer func() {
		for table := range held {
			if e := t.engine.ClearTable(table.name); e != nil && err == nil {
				err = fmt.Errorf("forget the items of %s: %w", table.name, e)
			}
		}
	}()
	for _, p := range places {
		if held[p.table] == nil {
			held[p.table] = map[string]key{}
		}
		// Minidyn joins a key with a dot, and takes (a.b, c) for (a, b.c).
		joined := p.key.hash + "." + p.key.sort
		if other, ok := held[p.table][joined]; ok && other != p.key {
			return invalid(fmt.Sprintf("one request cannot touch both (%s, %s) and (%s, %s) here: touch them one after the other",
				other.hash, other.sort, p.key.hash, p.key.sort))
		}
		held[p.table][joined] = p.key
		if !p.there {
			continue
		}
		if _, err := t.engine.PutItem(ctx, &server.PutItemInput{TableName: &p.table.name, Item: p.is.attributes}); err != nil {
			return fmt.Errorf("hold an item of %s: %w", p.table.name, err)
		}
	}
	return do()
}

// left is what minidyn has at a place after it was asked; nil if nothing.
func (t *Tables) left(ctx context.Context, p place, a attributes) (attributes, error) {
	out, err := t.engine.GetItem(ctx, &server.GetItemInput{TableName: &p.table.name, Key: p.table.keys.only(a)})
	if err != nil {
		return nil, fmt.Errorf("look at an item of %s: %w", p.table.name, err)
	}
	return out.Item, nil
}

// store makes what minidyn was left with what the table holds.
func (p place) store(is item) {
	if len(is.attributes) == 0 {
		p.table.delete(p.key)
		return
	}
	p.table.put(p.key, is)
}

// invalid is a request that DynamoDB would not carry out.
func invalid(message string) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: message}
}
