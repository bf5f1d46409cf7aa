package dynamodb

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// table holds items by partition. Minidyn knows its definition, and nothing of what it holds.
type table struct {
	name    string
	keys    schema
	indexes map[string]schema
	types   map[string]types.ScalarAttributeType // of the attributes of keys
	ttl     string                               // the attribute, or ""
	parts   map[string]*partition                // by partition key; none is empty
	count   int                                  // of items
}

// schema names the attributes of a key; sort is "" where there is none.
type schema struct{ hash, sort string }

// key names an item: the values of its key's attributes, as text.
type key struct{ hash, sort string }

// partition holds the items of one partition key.
type partition struct {
	sorts []string // in order
	items map[string]item
}

// redefine takes over what minidyn says of the table, and the types that a request has given.
func (t *table) redefine(is *types.TableDescription, given []types.AttributeDefinition) {
	t.keys, t.indexes = schemaOf(is.KeySchema), map[string]schema{}
	for _, index := range is.GlobalSecondaryIndexes {
		t.indexes[aws.ToString(index.IndexName)] = schemaOf(index.KeySchema)
	}
	for _, index := range is.LocalSecondaryIndexes {
		t.indexes[aws.ToString(index.IndexName)] = schemaOf(index.KeySchema)
	}
	for _, attribute := range given {
		t.types[aws.ToString(attribute.AttributeName)] = attribute.AttributeType
	}
}

func schemaOf(elements []types.KeySchemaElement) schema {
	var s schema
	for _, element := range elements {
		if element.KeyType == types.KeyTypeHash {
			s.hash = aws.ToString(element.AttributeName)
		} else {
			s.sort = aws.ToString(element.AttributeName)
		}
	}
	return s
}

// complete puts into a description of a table what minidyn does not know: how many items there are, and that table and
// indexes can be used as soon as they are made.
func (t *table) complete(is *types.TableDescription) {
	is.TableStatus = types.TableStatusActive
	is.ItemCount = aws.Int64(int64(t.count))
	for i, index := range is.GlobalSecondaryIndexes {
		is.GlobalSecondaryIndexes[i].IndexStatus = types.IndexStatusActive
		is.GlobalSecondaryIndexes[i].ItemCount = aws.Int64(t.inIndex(aws.ToString(index.IndexName)))
	}
	for i, index := range is.LocalSecondaryIndexes {
		is.LocalSecondaryIndexes[i].ItemCount = aws.Int64(t.inIndex(aws.ToString(index.IndexName)))
	}
}

func (t *table) inIndex(name string) int64 {
	var count int64
	for _, part := range t.parts {
		for _, item := range part.items {
			if _, ok := t.key(t.indexes[name], item.attributes); ok {
				count++
			}
		}
	}
	return count
}

// key reads a key from attributes, as minidyn does: an attribute of the wrong type is as good as none.
func (t *table) key(s schema, a attributes) (key, bool) {
	hash, ok := t.text(s.hash, a[s.hash])
	if !ok || s.sort == "" {
		return key{hash: hash}, ok
	}
	sort, ok := t.text(s.sort, a[s.sort])
	return key{hash, sort}, ok
}

// text is the value of a key's attribute, if it has the attribute's type.
func (t *table) text(attribute string, v *server.AttributeValue) (string, bool) {
	switch kind := t.types[attribute]; {
	case v == nil:
		return "", false
	case kind == types.ScalarAttributeTypeS && v.S != nil:
		return *v.S, true
	case kind == types.ScalarAttributeTypeN && v.N != nil:
		return *v.N, true
	case kind == types.ScalarAttributeTypeB && v.B != nil:
		return string(v.B), true
	}
	return "", false
}

// only is the part of the attributes that the schema names.
func (s schema) only(a attributes) attributes {
	out := attributes{}
	for _, name := range []string{s.hash, s.sort} {
		if value, ok := a[name]; ok && name != "" {
			out[name] = value
		}
	}
	return out
}

func (t *table) get(k key) (item, bool) {
	part, ok := t.parts[k.hash]
	if !ok {
		return item{}, false
	}
	is, ok := part.items[k.sort]
	return is, ok
}

func (t *table) put(k key, is item) {
	part, ok := t.parts[k.hash]
	if !ok {
		part = &partition{items: map[string]item{}}
		t.parts[k.hash] = part
	}
	if at, found := slices.BinarySearch(part.sorts, k.sort); !found {
		part.sorts = slices.Insert(part.sorts, at, k.sort)
		t.count++
	}
	part.items[k.sort] = is
}

func (t *table) delete(k key) {
	part, ok := t.parts[k.hash]
	if !ok {
		return
	}
	at, found := slices.BinarySearch(part.sorts, k.sort)
	if !found {
		return
	}
	part.sorts = slices.Delete(part.sorts, at, at+1)
	delete(part.items, k.sort)
	t.count--
	if len(part.sorts) == 0 {
		delete(t.parts, k.hash)
	}
}
