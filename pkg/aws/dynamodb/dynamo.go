// Package dynamodb keeps runs, records and locks in one DynamoDB table.
//
// The table has the string keys PK and SK, and its time to live is the
// attribute "expires". Every write but those of budgets is a transaction, so
// that its conditions hold together, and so that a request that the SDK repeats
// because its answer was lost is recognised by DynamoDB. Every read is strongly
// consistent.
package dynamodb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/engine"
)

var _ engine.Store = (*Table)(nil)

// client is the part of the SDK's DynamoDB client that is used here.
type client interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// A Table is an engine.Store in a DynamoDB table that is there.
type Table struct {
	client client
	name   string
}

// New returns the store in the table of the given name. It asks for nothing.
func New(c client, table string) *Table { return &Table{client: c, name: table} }

// kept is how long a run that is over is kept.
const kept = 90 * 24 * time.Hour

// A key names an item.
type key struct{ pk, sk string }

// The keys of the table. Whoever reads it by hand finds what he looks for by
// these words.
func runKey(id string) key              { return key{"RUN#" + id, "RUN"} }
func stepKey(id string, number int) key { return key{"RUN#" + id, fmt.Sprintf("STEP#%05d", number)} }
func openKey(id string) key             { return key{"OPEN", "RUN#" + id} }
func lockKey(project string) key        { return key{"PROJECT#" + project, "LOCK"} }
func projectKey(project string) key     { return key{"PROJECTS", project} }
func recordKey(project, node string) key {
	return key{"PROJECT#" + project, recordPrefix + node}
}
func listKey(project string, asked time.Time, id string) key {
	return key{"PROJECT#" + project, "RUN#" + stamp(asked) + "#" + id}
}
func eventKey(id string, now time.Time, nonce string) key {
	return key{"RUN#" + id, "EVENT#" + stamp(now) + "#" + nonce}
}

func commandKey(id, request string) key { return key{"RUN#" + id, "COMMAND#" + request} }

const (
	recordPrefix = "STACK#"
	stepPrefix   = "STEP#"
)

// stamp writes a time so that the order of the letters is that of time.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

// attributes is the key as an item bears it.
func (k key) attributes() item {
	return item{"PK": &types.AttributeValueMemberS{Value: k.pk}, "SK": &types.AttributeValueMemberS{Value: k.sk}}
}

// of returns the key that an item bears.
func (i item) key() key { return key{i.text("PK"), i.text("SK")} }

// item is an item as DynamoDB has it.
type item map[string]types.AttributeValue

// text returns a string attribute, or "".
func (i item) text(name string) string {
	if s, ok := i[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// live lists the states of a run that is not over, as a condition.
const live = "#state IN (:pending, :queued, :running, :waiting)"

// words names the attributes that expressions speak of as #name: many of our
// names are reserved words of DynamoDB.
func words(expressions ...string) map[string]string {
	names := make(map[string]string)
	for _, e := range expressions {
		for _, word := range strings.FieldsFunc(e, func(r rune) bool { return strings.ContainsRune(" ,()=<>+", r) }) {
			if name, ok := strings.CutPrefix(word, "#"); ok {
				names[word] = name
			}
		}
	}
	return names
}
