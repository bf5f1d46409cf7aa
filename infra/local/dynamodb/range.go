package dynamodb

import (
	"iter"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/server"
)

// start is the key behind which a search begins, or nil. Its item need not be there any more.
func (t *table) start(a attributes) (*key, error) {
	if len(a) == 0 {
		return nil, nil
	}
	k, ok := t.key(t.keys, a)
	if !ok {
		return nil, invalid("The provided starting key is invalid")
	}
	return &k, nil
}

// within are the keys of a span behind a key, in order or in the opposite order.
func (t *table) within(s span, after *key, forward bool) iter.Seq[key] {
	part, ok := t.parts[s.hash]
	if !ok {
		return func(func(key) bool) {}
	}
	from, _ := slices.BinarySearch(part.sorts, s.from)
	to := len(part.sorts)
	if s.bounded {
		to = part.upTo(s.to)
	}
	if after != nil && forward {
		from = max(from, part.upTo(after.sort))
	}
	if after != nil && !forward {
		at, _ := slices.BinarySearch(part.sorts, after.sort)
		to = min(to, at)
	}
	return func(yield func(key) bool) {
		for i := range to - from {
			at := from + i
			if !forward {
				at = to - 1 - i
			}
			if !yield(key{s.hash, part.sorts[at]}) {
				return
			}
		}
	}
}

// upTo is the number of sort keys up to and with the given one.
func (p *partition) upTo(sort string) int {
	at, found := slices.BinarySearch(p.sorts, sort)
	if found {
		at++
	}
	return at
}

// behind are the keys of all items behind a key, or all keys, in order.
func (t *table) behind(after *key) iter.Seq[key] {
	hashes := slices.Sorted(maps.Keys(t.parts))
	if after != nil {
		at, _ := slices.BinarySearch(hashes, after.hash)
		hashes = hashes[at:]
	}
	return func(yield func(key) bool) {
		for _, hash := range hashes {
			var here *key
			if after != nil && hash == after.hash {
				here = after
			}
			for k := range t.within(span{hash: hash}, here, true) {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// places are where the items of the keys are.
func (t *table) places(keys []key) []place {
	out := make([]place, len(keys))
	for i, k := range keys {
		is, there := t.get(k)
		out[i] = place{table: t, key: k, is: is, there: there}
	}
	return out
}

// named are the keys of items.
func (t *table) named(items []attributes) []key {
	out := make([]key, len(items))
	for i, a := range items {
		out[i], _ = t.key(t.keys, a) // they come from the table
	}
	return out
}

// blank is an item that has a key of the right types and nothing else.
func (t *table) blank() place {
	a := attributes{}
	for name, kind := range t.types {
		switch kind {
		case "N":
			a[name] = &server.AttributeValue{N: aws.String("0")}
		case "B":
			a[name] = &server.AttributeValue{B: []byte{0}}
		default:
			a[name] = &server.AttributeValue{S: aws.String("")}
		}
	}
	k, _ := t.key(t.keys, a)
	return place{table: t, key: k, is: item{attributes: a}, there: true}
}
