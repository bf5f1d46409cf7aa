package dynamodb

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/fault"
)

// get returns an item, or an empty one if it does not exist.
func (t *Table) get(ctx context.Context, k key) (item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.name, Key: k.attributes(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, t.fault("read", err)
	}
	return out.Item, nil
}

// A span is a range of items with one partition key.
type span struct {
	pk       string
	from, to string // sort keys, both inclusive
	newest   bool   // newest first
	most     int    // at most so many; 0 for all
	keys     bool   // read only the keys
}

// last sorts after every text that begins with a prefix: the parts of our keys that
// vary are ASCII.
const last = "\U0010FFFF"

// prefixed returns the span of the keys with a prefix.
func prefixed(pk, prefix string) span { return span{pk: pk, from: prefix, to: prefix + last} }

// query returns the items of a span, from all pages.
func (t *Table) query(ctx context.Context, s span) ([]item, error) {
	where := "#PK = :pk AND #SK BETWEEN :from AND :to"
	in := &dynamodb.QueryInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!s.newest),
		KeyConditionExpression: &where, ExpressionAttributeNames: words(where),
		ExpressionAttributeValues: item{
			":pk": &types.AttributeValueMemberS{Value: s.pk}, ":from": &types.AttributeValueMemberS{Value: s.from}, ":to": &types.AttributeValueMemberS{Value: s.to},
		},
	}
	if s.keys {
		in.ProjectionExpression = aws.String("#PK, #SK")
	}
	var items []item
	for {
		if s.most > 0 {
			in.Limit = aws.Int32(int32(min(s.most-len(items), 1000)))
		}
		out, err := t.client.Query(ctx, in)
		if err != nil {
			return nil, t.fault("query", err)
		}
		for _, i := range out.Items {
			items = append(items, i)
		}
		if len(out.LastEvaluatedKey) == 0 || s.most > 0 && len(items) >= s.most {
			return items, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// mostGot is the number of items in one BatchGetItem.
const mostGot = 100

// all returns the items with the given keys, by key. Items that do not exist are left
// out.
func (t *Table) all(ctx context.Context, keys []key) (map[key]item, error) {
	got := make(map[key]item, len(keys))
	seen := make(map[key]bool, len(keys))
	var unique []key // DynamoDB refuses a request that names an item twice
	for _, k := range keys {
		if !seen[k] {
			seen[k], unique = true, append(unique, k)
		}
	}
	for chunk := range slices.Chunk(unique, mostGot) {
		want := make([]map[string]types.AttributeValue, len(chunk))
		for i, k := range chunk {
			want[i] = k.attributes()
		}
		if err := t.batch(ctx, want, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// batch adds the items of at most 100 keys to got. DynamoDB may return only some of them
// in one answer.
func (t *Table) batch(ctx context.Context, want []map[string]types.AttributeValue, got map[key]item) error {
	for attempt := 0; len(want) > 0; attempt++ {
		if attempt > mostAttempts {
			return fault.New(fault.Throttled, "read table %s: DynamoDB did not return %d items", t.name, len(want))
		}
		if attempt > 0 {
			if err := pause(ctx, attempt); err != nil {
				return t.fault("read", err)
			}
		}
		out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{t.name: {Keys: want, ConsistentRead: aws.Bool(true)}},
		})
		if err != nil {
			return t.fault("read", err)
		}
		for _, i := range out.Responses[t.name] {
			got[item(i).key()] = i
		}
		want = out.UnprocessedKeys[t.name].Keys
	}
	return nil
}
