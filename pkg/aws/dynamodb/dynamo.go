// Package dynamodb stores runs, records and locks in one DynamoDB table.
//
// The table has the string keys PK and SK, and its time to live is the attribute
// "expires". Every write except those of budgets is a transaction, so that its
// conditions hold together, and so that DynamoDB recognises a request that the SDK
// repeats because its answer was lost. Every read is strongly consistent.
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

// client is the part of the SDK's DynamoDB client that this package uses.
type client interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// A Table is an engine.Store in an existing DynamoDB table.
type Table struct {
	client client
	name   string
	views  views
}

// New returns the store in the table of the given name. It makes no request.
func New(c client, table string) *Table {
	return &Table{client: c, name: table, views: views{runs: make(map[string]*view)}}
}

// retention is how long a run stays in the table after its end.
const retention = 90 * 24 * time.Hour

// A key names an item.
type key struct{ pk, sk string }

// The keys of the table. They are made of words, so that people can read them too.
func runKey(id string) key              { return key{"RUN#" + id, "RUN"} }
func stepKey(id string, number int) key { return key{"RUN#" + id, fmt.Sprintf("STEP#%05d", number)} }
func selectedKey(id string, n int) key {
	return key{"RUN#" + id, fmt.Sprintf("%s%05d", selectedPrefix, n)}
}
func openKey(id string) key         { return key{"OPEN", "RUN#" + id} }
func expiringKey(id string) key     { return key{"EXPIRING", "RUN#" + id} }
func lockKey(project string) key    { return key{"PROJECT#" + project, "LOCK"} }
func projectKey(project string) key { return key{"PROJECTS", project} }
func recordKey(project, node string) key {
	return key{"PROJECT#" + project, recordPrefix + node}
}
func ownerKey(stackID string) key { return key{ownerPrefix + stackID, "OWNER"} }
func listKey(project string, requested time.Time, id string) key {
	return key{"PROJECT#" + project, "RUN#" + stamp(requested) + "#" + id}
}
func eventKey(id string, now time.Time, nonce string) key {
	return key{"RUN#" + id, eventPrefix + stamp(now) + "#" + nonce}
}

func commandKey(id, request string) key { return key{"RUN#" + id, commandPrefix + request} }

const (
	ownerPrefix    = "ADOPTED#"
	commandPrefix  = "COMMAND#"
	eventPrefix    = "EVENT#" // the next one in the order of keys
	recordPrefix   = "STACK#"
	needsPrefix    = "NEEDS#"
	selectedPrefix = "SELECTED#" // before the steps, in one range of keys with them and the run
	stepPrefix     = "STEP#"
)

// stamp formats a time so that the alphabetical order of stamps is their order in time.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

// attributes returns the key as attributes of an item.
func (k key) attributes() item {
	return item{"PK": &types.AttributeValueMemberS{Value: k.pk}, "SK": &types.AttributeValueMemberS{Value: k.sk}}
}

// key returns the key of an item.
func (i item) key() key { return key{i.text("PK"), i.text("SK")} }

// item is an item as DynamoDB stores it.
type item map[string]types.AttributeValue

// text returns a string attribute, or "".
func (i item) text(name string) string {
	if s, ok := i[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// texts returns a string attribute of each item.
func texts(items []item, name string) []string {
	all := make([]string, len(items))
	for n, i := range items {
		all[n] = i.text(name)
	}
	return all
}

// live is the condition that a run has not ended.
const live = "#state IN (:pending, :queued, :running, :waiting)"

// words lists the attributes that expressions name as #name, because DynamoDB reserves
// many of these words.
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
