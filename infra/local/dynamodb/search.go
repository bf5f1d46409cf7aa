package dynamodb

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/server"
)

// page is the answer to a Query or a Scan.
type page struct {
	Items            []json.RawMessage
	Count            int
	ScannedCount     int             // before the filter; these make the page full
	LastEvaluatedKey json.RawMessage `json:",omitempty"`
}

// handful is how many items of a search minidyn is given at once: it sorts all that it has for each that it gets.
const handful = 100

// query answers from one partition.
func (t *Tables) query(ctx context.Context, in *server.QueryInput) (any, error) {
	table, ok := t.tables[aws.ToString(in.TableName)]
	if !ok || aws.ToString(in.IndexName) != "" || aws.ToString(in.KeyConditionExpression) == "" {
		return t.queryIndex(ctx, table, in)
	}
	whole := *in // but for what says which page
	whole.ExclusiveStartKey, whole.Limit = nil, nil
	if _, err := t.engine.Query(ctx, &whole); err != nil {
		return nil, err // what is wrong with it whatever the table holds
	}
	s, ok := condition{table, table.keys, in.ExpressionAttributeNames, in.ExpressionAttributeValues}.span(*in.KeyConditionExpression)
	if !ok {
		return nil, t.unselective(ctx, table, &whole)
	}
	after, err := table.start(in.ExclusiveStartKey)
	if err != nil || after != nil && after.hash != s.hash {
		return nil, invalid("The provided starting key is invalid")
	}
	selection := keyConditionOnly(whole)
	b := &book{table: table, limit: int(aws.ToInt32(in.Limit))}
	forward := in.ScanIndexForward == nil || *in.ScanIndexForward
	if err := b.read(table.within(s, after, forward), func(few []key) ([]key, error) {
		places := table.places(few)
		for i, p := range places {
			places[i].is = item{attributes: table.keys.only(p.is.attributes)} // a key condition is of nothing else
		}
		items, err := t.asked(ctx, places, t.queried(ctx, &selection))
		return table.named(items), err
	}); err != nil {
		return nil, err
	}
	if aws.ToString(in.FilterExpression)+aws.ToString(in.ProjectionExpression) == "" {
		return b.page(nil)
	}
	return b.page(func(few []key) ([]attributes, error) { return t.asked(ctx, table.places(few), t.queried(ctx, &whole)) })
}

// scan answers from one partition after the other.
func (t *Tables) scan(ctx context.Context, in *server.ScanInput) (any, error) {
	table, ok := t.tables[aws.ToString(in.TableName)]
	if !ok || aws.ToString(in.IndexName) != "" {
		return t.scanIndex(ctx, table, in)
	}
	whole := *in
	whole.ExclusiveStartKey, whole.Limit = nil, nil
	if _, err := t.engine.Scan(ctx, &whole); err != nil {
		return nil, err
	}
	after, err := table.start(in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	b := &book{table: table, limit: int(aws.ToInt32(in.Limit))}
	if err := b.read(table.behind(after), func(few []key) ([]key, error) { return few, nil }); err != nil {
		return nil, err
	}
	if aws.ToString(in.FilterExpression)+aws.ToString(in.ProjectionExpression) == "" {
		return b.page(nil)
	}
	return b.page(func(few []key) ([]attributes, error) {
		return t.asked(ctx, table.places(few), func() ([]attributes, error) {
			out, err := t.engine.Scan(ctx, &whole)
			if err != nil {
				return nil, err
			}
			return out.Items, nil
		})
	})
}

func (t *Tables) queried(ctx context.Context, in *server.QueryInput) func() ([]attributes, error) {
	return func() ([]attributes, error) {
		out, err := t.engine.Query(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.Items, nil
	}
}

// unselective says what is wrong with a query that does not say which partition. Minidyn reads the condition only where
// it has an item.
func (t *Tables) unselective(ctx context.Context, table *table, in *server.QueryInput) error {
	err := t.holding(ctx, []place{table.blank()}, func() error {
		_, err := t.engine.Query(ctx, in)
		return err
	})
	if err != nil {
		return err
	}
	return invalid("Query condition missed key schema element: " + table.keys.hash)
}

// keyConditionOnly is a query without filter and projection, and without the names and values that only these use.
func keyConditionOnly(in server.QueryInput) server.QueryInput {
	in.FilterExpression, in.ProjectionExpression = nil, nil
	in.ExpressionAttributeNames = used(in.ExpressionAttributeNames, *in.KeyConditionExpression)
	in.ExpressionAttributeValues = used(in.ExpressionAttributeValues, *in.KeyConditionExpression)
	return in
}

// used are the placeholders that occur in an expression, as minidyn looks for them.
func used[T any](all map[string]T, expression string) map[string]T {
	out := map[string]T{}
	for placeholder, value := range all {
		if strings.Contains(expression, placeholder) {
			out[placeholder] = value
		}
	}
	return out
}

// book is a search in progress: the items that a page has room for.
type book struct {
	table *table
	limit int // of items, or 0
	keys  []key
	size  int // of their items, in bytes
	full  bool
}

// read takes those of the candidates that match, until the page is full.
func (b *book) read(candidates iter.Seq[key], match func([]key) ([]key, error)) error {
	var few []key
	for k := range candidates {
		few = append(few, k)
		if len(few) < handful && (b.limit == 0 || len(b.keys)+len(few) < b.limit) {
			continue
		}
		if err := b.take(few, match); err != nil || b.full {
			return err
		}
		few = few[:0]
	}
	return b.take(few, match)
}

func (b *book) take(few []key, match func([]key) ([]key, error)) error {
	matching, err := match(few)
	if err != nil {
		return err
	}
	for _, k := range matching {
		is, _ := b.table.get(k)
		if b.size += len(is.wire); b.size > maxPage && len(b.keys) > 0 {
			b.full = true
			return nil
		}
		b.keys = append(b.keys, k)
		if len(b.keys) == b.limit {
			b.full = true
			return nil
		}
	}
	return nil
}

// asked has minidyn hold a few items and answer with those that it selects.
func (t *Tables) asked(ctx context.Context, few []place, ask func() ([]attributes, error)) (items []attributes, err error) {
	if len(few) == 0 {
		return nil, nil
	}
	err = t.holding(ctx, few, func() error {
		items, err = ask()
		return err
	})
	return items, err
}

// page answers with the items as they are, or as refine makes them, which gets those of one partition at a time.
func (b *book) page(refine func([]key) ([]attributes, error)) (page, error) {
	out := page{Items: []json.RawMessage{}, ScannedCount: len(b.keys)}
	for rest := b.keys; len(rest) > 0; {
		n := 1
		for n < min(len(rest), handful) && rest[n].hash == rest[0].hash {
			n++
		}
		few := rest[:n]
		rest = rest[n:]
		if refine == nil {
			for _, k := range few {
				is, _ := b.table.get(k)
				out.Items = append(out.Items, is.wire)
			}
			continue
		}
		refined, err := refine(few)
		if err != nil {
			return page{}, err
		}
		for _, a := range refined {
			out.Items = append(out.Items, wireItem(a))
		}
	}
	out.Count = len(out.Items)
	if b.full {
		last, _ := b.table.get(b.keys[len(b.keys)-1])
		out.LastEvaluatedKey = wire(b.table.keys.only(last.attributes))
	}
	return out, nil
}

// wireItem is wire, of an item of which a projection may have left nothing.
func wireItem(a attributes) json.RawMessage {
	if text := wire(a); text != nil {
		return text
	}
	return json.RawMessage("{}")
}
