package dynamodb

import (
	"encoding/json"
	"iter"
)

func (t *Tables) getItem(in struct {
	TableName      string
	Key            attributes
	ConsistentRead bool
}) (any, error) {
	var out struct {
		Item json.RawMessage `json:",omitempty"`
	}
	found, k, err := t.locate(in.TableName, in.Key)
	if err != nil {
		return nil, err
	}
	i, _ := found.get(k)
	out.Item = i.wire
	return out, nil
}

func (t *Tables) locate(name string, at attributes) (*table, key, error) {
	found, err := t.table(name)
	if err != nil {
		return nil, key{}, err
	}
	k, err := found.exactKey(at)
	return found, k, err
}

func (t *Tables) batchGetItem(in struct {
	RequestItems map[string]struct {
		Keys           []attributes
		ConsistentRead bool
	}
}) (any, error) {
	responses, total := map[string][]json.RawMessage{}, 0
	for name, of := range in.RequestItems {
		responses[name] = []json.RawMessage{}
		seen := map[key]bool{}
		for _, at := range of.Keys {
			found, k, err := t.locate(name, at)
			if err != nil {
				return nil, err
			}
			if seen[k] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			seen[k] = true
			if i, ok := found.get(k); ok {
				responses[name] = append(responses[name], i.wire)
			}
		}
		total += len(of.Keys)
	}
	if total == 0 || total > maxKeys {
		return nil, invalid("a BatchGetItem has 1 to %d keys, not %d", maxKeys, total)
	}
	return map[string]any{"Responses": responses, "UnprocessedKeys": map[string]any{}}, nil
}

// search is what Query and Scan have in common.
type search struct {
	TableName         string
	Limit             *int
	ExclusiveStartKey attributes
	ConsistentRead    bool
}

// start is the key after which the search begins, or nil. An item with this key need not exist.
func (in search) start(t *table) (*key, error) {
	if in.Limit != nil && *in.Limit < 1 {
		return nil, invalid("Limit must be greater than or equal to 1")
	}
	if in.ExclusiveStartKey == nil {
		return nil, nil
	}
	k, err := t.exactKey(in.ExclusiveStartKey)
	if err != nil {
		return nil, invalid("The provided starting key is invalid")
	}
	return &k, nil
}

type query struct {
	search
	placeholders
	KeyConditionExpression string
	ProjectionExpression   string
	ScanIndexForward       *bool
}

func (t *Tables) query(in query) (any, error) {
	found, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	p, err := newParser(in.placeholders)
	if err != nil {
		return nil, err
	}
	s, selects, err := p.keyCondition(in.KeyConditionExpression, found)
	if err != nil {
		return nil, err
	}
	names, err := p.projection(in.ProjectionExpression)
	if err != nil {
		return nil, err
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	after, err := in.start(found)
	if err != nil || after != nil && after.hash != s.hash {
		return nil, invalid("The provided starting key is invalid")
	}
	s.backward = in.ScanIndexForward != nil && !*in.ScanIndexForward
	return found.page(found.within(s, after), in.Limit, selects, names), nil
}

func (t *Tables) scan(in search) (any, error) {
	found, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	after, err := in.start(found)
	if err != nil {
		return nil, err
	}
	return found.page(found.all(after), in.Limit, func(attributes) bool { return true }, nil), nil
}

// page is the answer to a Query or a Scan.
type page struct {
	Items            []json.RawMessage
	Count            int
	ScannedCount     int
	LastEvaluatedKey attributes `json:",omitempty"`
}

// page holds the first items of the candidates that are selected, up to the limit of items and of bytes.
func (t *table) page(candidates iter.Seq[key], limit *int, selects condition, names []string) page {
	out, size, last := page{Items: []json.RawMessage{}}, 0, key{}
	for k := range candidates {
		i, _ := t.get(k)
		if !selects(i.attributes) {
			continue
		}
		if size += len(i.wire); size > maxPage && out.Count > 0 {
			out.LastEvaluatedKey = t.keyAttributes(last)
			break
		}
		out.Items, last = append(out.Items, i.projected(names)), k
		if out.Count++; limit != nil && out.Count == *limit {
			out.LastEvaluatedKey = t.keyAttributes(last)
			break
		}
	}
	out.ScannedCount = out.Count
	return out
}

// projected is the item with the named attributes only; without names it is the whole item.
func (i item) projected(names []string) json.RawMessage {
	if names == nil {
		return i.wire
	}
	left := attributes{}
	for _, name := range names {
		if v, ok := i.attributes[name]; ok {
			left[name] = v
		}
	}
	return newItem(left).wire
}
