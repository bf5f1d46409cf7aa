package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A stack may depend on 10,000 others with names of 128 characters: 1.3 MB, and an item has
// at most 400 KB. So the item of a record holds the first names, and items of their own,
// which are written in the same transaction, hold the others.

// recordItem is a record as the table stores it.
type recordItem struct {
	Version int `json:"version"`
	plan.Record
	Parts int `json:"parts,omitempty"` // how many further items hold the rest of Needs
}

// needsItem is a part of the Needs of a record.
type needsItem struct {
	Needs []string `json:"needs"`
}

// mostNeeds is how many bytes of names one item holds.
const mostNeeds = 64 << 10

// needsKey is the key of a part of the Needs of a record.
func needsKey(record key, part int) key {
	return key{record.pk, needsPrefix + strings.TrimPrefix(record.sk, recordPrefix) + fmt.Sprintf("#%03d", part)}
}

// splitNeeds splits names into lists that fit into one item each. The first one may be
// empty, there is always one.
func splitNeeds(names []string) [][]string {
	var lists [][]string
	begin, bytes := 0, 0
	for i, name := range names {
		if bytes += len(name); bytes > mostNeeds {
			lists = append(lists, names[begin:i])
			begin, bytes = i, len(name)
		}
	}
	return append(lists, names[begin:])
}

// storing returns the writes that store a record in place of one that has the given number
// of parts. The first write is that of the record: it has the condition that the number is
// right.
func storing(at key, r plan.Record, parts int) []write {
	lists := splitNeeds(r.Needs)
	r.Needs = lists[0]
	writes := []write{hasParts(write{key: at, put: recordItem{run.Version, r, len(lists) - 1}}, parts)}
	for i, names := range lists[1:] {
		writes = append(writes, write{key: needsKey(at, i), put: needsItem{names}})
	}
	return append(writes, deletingParts(at, len(lists)-1, parts)...)
}

// forgetting returns the writes that delete a record that has the given number of parts.
func forgetting(at key, parts int) []write {
	return append([]write{hasParts(write{key: at, delete: true}, parts)}, deletingParts(at, 0, parts)...)
}

// hasParts adds the condition that the stored record has the given number of parts, or does
// not exist.
func hasParts(w write, parts int) write {
	w.where = "attribute_not_exists(#parts)"
	if parts > 0 {
		w.where, w.with = "#parts = :parts", values{"parts": parts}
	}
	return w
}

// deletingParts returns the deletions of the parts from a number to another.
func deletingParts(at key, from, to int) []write {
	var writes []write
	for i := from; i < to; i++ {
		writes = append(writes, write{key: needsKey(at, i), delete: true})
	}
	return writes
}

// bytesOf estimates the bytes of what a transaction writes of a record.
func bytesOf(r *plan.Record) int {
	if r == nil {
		return 0
	}
	bytes := 2000
	for _, name := range r.Needs {
		bytes += len(name) + 1
	}
	return bytes
}

// parts returns how many parts a stored record has.
func (t *Table) parts(ctx context.Context, at key) (int, error) {
	i, err := t.get(ctx, at)
	if err != nil {
		return 0, err
	}
	var r recordItem
	return r.Parts, decode(i, &r)
}

// decodeRecords reads records, by node, with the parts that they have.
func (t *Table) decodeRecords(ctx context.Context, items iter.Seq[item]) (map[string]plan.Record, error) {
	records := make(map[string]plan.Record)
	var keys []key
	split := make(map[string][]key) // by node
	for i := range items {
		var r recordItem
		if err := decodeVersioned(i, &r, "the record of stack "+strings.TrimPrefix(i.text("SK"), recordPrefix)); err != nil {
			return nil, err
		}
		for part := range r.Parts {
			k := needsKey(i.key(), part)
			keys, split[r.Node] = append(keys, k), append(split[r.Node], k)
		}
		records[r.Node] = r.Record
	}
	if len(keys) == 0 {
		return records, nil
	}
	parts, err := t.all(ctx, keys)
	if err != nil {
		return nil, err
	}
	for node, keys := range split {
		r := records[node]
		for _, k := range keys {
			var p needsItem
			if err := decode(parts[k], &p); err != nil {
				return nil, err
			}
			if len(p.Needs) == 0 {
				return nil, fault.New(fault.Unavailable, "the record of %s has changed while it was read", node)
			}
			r.Needs = append(r.Needs, p.Needs...)
		}
		records[node] = r
	}
	return records, nil
}
