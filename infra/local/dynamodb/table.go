package dynamodb

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// table holds items by partition. Both attributes of its key are strings.
type table struct {
	name       string
	definition json.RawMessage // as CreateTable gave it
	hash, sort string          // the names of the key's attributes
	partitions map[string]*partition
	count      int // of items
}

// key identifies an item: the values of the partition key and of the sort key.
type key struct{ hash, sort string }

// partition holds the items that share a partition key. No partition is empty.
type partition struct {
	sorts []string // the sort keys, in order
	items map[string]item
}

// item is what a table holds under a key. An item is never changed: a write replaces it.
type item struct {
	attributes attributes
	wire       json.RawMessage // the attributes in DynamoDB's JSON; its length is what limits count
}

func newItem(a attributes) item {
	wire := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if len(wire) > 1 {
			wire = append(wire, ',')
		}
		quoted, _ := json.Marshal(name) // a string always marshals
		wire = fmt.Appendf(wire, `%s:{"%s":%s}`, quoted, a[name].kind, a[name].content)
	}
	return item{a, append(wire, '}')}
}

// key reads the item's key from its attributes.
func (t *table) key(a attributes) (key, error) {
	hash, sort := a[t.hash].string(), a[t.sort].string()
	if hash == "" || sort == "" {
		return key{}, invalid("One or more parameter values were invalid: the key needs %s and %s, strings that are not empty", t.hash, t.sort)
	}
	return key{hash, sort}, nil
}

// exactKey reads a key from attributes that must be nothing else.
func (t *table) exactKey(a attributes) (key, error) {
	if len(a) != 2 {
		return key{}, invalid("The provided key element does not match the schema")
	}
	return t.key(a)
}

func (t *table) keyAttributes(k key) attributes {
	return attributes{t.hash: stringValue(k.hash), t.sort: stringValue(k.sort)}
}

func (t *table) get(k key) (item, bool) {
	p, ok := t.partitions[k.hash]
	if !ok {
		return item{}, false
	}
	i, ok := p.items[k.sort]
	return i, ok
}

func (t *table) put(k key, i item) {
	p, ok := t.partitions[k.hash]
	if !ok {
		p = &partition{items: map[string]item{}}
		t.partitions[k.hash] = p
	}
	if at, found := slices.BinarySearch(p.sorts, k.sort); !found {
		p.sorts = slices.Insert(p.sorts, at, k.sort)
		t.count++
	}
	p.items[k.sort] = i
}

func (t *table) delete(k key) {
	p, ok := t.partitions[k.hash]
	if !ok {
		return
	}
	at, found := slices.BinarySearch(p.sorts, k.sort)
	if !found {
		return
	}
	p.sorts = slices.Delete(p.sorts, at, at+1)
	delete(p.items, k.sort)
	t.count--
	if len(p.sorts) == 0 {
		delete(t.partitions, k.hash)
	}
}

// span is a range of sort keys in one partition.
type span struct {
	hash     string
	from, to string // both inclusive
	bounded  bool   // whether to is a bound
	backward bool
}

// within yields the keys of a span that come after the given one, in the span's direction.
func (t *table) within(s span, after *key) iter.Seq[key] {
	return func(yield func(key) bool) {
		p, ok := t.partitions[s.hash]
		if !ok {
			return
		}
		from, _ := slices.BinarySearch(p.sorts, s.from)
		to := len(p.sorts)
		if s.bounded {
			to = p.upTo(s.to)
		}
		if after != nil && !s.backward {
			from = max(from, p.upTo(after.sort))
		}
		if after != nil && s.backward {
			before, _ := slices.BinarySearch(p.sorts, after.sort)
			to = min(to, before)
		}
		if from >= to {
			return
		}
		sorts := slices.Clone(p.sorts[from:to])
		if s.backward {
			slices.Reverse(sorts)
		}
		for _, sort := range sorts {
			if !yield(key{s.hash, sort}) {
				return
			}
		}
	}
}

// upTo is the number of sort keys that are not greater than the given one.
func (p *partition) upTo(sort string) int {
	at, found := slices.BinarySearch(p.sorts, sort)
	if found {
		at++
	}
	return at
}

// all yields the keys of all items after the given one, in order.
func (t *table) all(after *key) iter.Seq[key] {
	return func(yield func(key) bool) {
		for _, hash := range slices.Sorted(maps.Keys(t.partitions)) {
			if after != nil && hash < after.hash {
				continue
			}
			start := after
			if after != nil && hash > after.hash {
				start = nil
			}
			for k := range t.within(span{hash: hash}, start) {
				if !yield(k) {
					return
				}
			}
		}
	}
}
