package dynamodb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// DynamoDB's own limits. Without them here, an adapter would meet them for the first time in production.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxActions     = 100       // of a transaction
	maxKeys        = 100       // of a BatchGetItem
	maxItem        = 400_000   // bytes; measured on DynamoDB's JSON, which is a little longer than what DynamoDB counts
	maxTransaction = 4_000_000 // bytes of all the items that a transaction writes or checks
	maxPage        = 1 << 20   // bytes of items in one answer to Query or Scan
)

// operations are those that Stackwright, its tests and the documentation use.
var operations = map[string]func(*Tables, []byte) (any, error){
	"CreateTable":        decoded((*Tables).createTable),
	"DescribeTable":      decoded((*Tables).describeTable),
	"ListTables":         decoded((*Tables).listTables),
	"PutItem":            decoded((*Tables).putItem),
	"DeleteItem":         decoded((*Tables).deleteItem),
	"UpdateItem":         decoded((*Tables).updateItem),
	"TransactWriteItems": decoded((*Tables).transactWriteItems),
	"GetItem":            decoded((*Tables).getItem),
	"BatchGetItem":       decoded((*Tables).batchGetItem),
	"Query":              decoded((*Tables).query),
	"Scan":               decoded((*Tables).scan),
}

// decoded is an operation whose input is read from the request's body. A field that the input does not have is refused:
// to ignore it would be to carry out another request.
func decoded[In any](do func(*Tables, In) (any, error)) func(*Tables, []byte) (any, error) {
	return func(t *Tables, body []byte) (any, error) {
		var in In
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return nil, invalid("this emulator of DynamoDB cannot carry out the request: %v", err)
		}
		return do(t, in)
	}
}

// refusal is an error in DynamoDB's own words.
type refusal struct {
	Code    string   `json:"__type"`
	Message string   `json:"message"`
	Reasons []reason `json:"CancellationReasons,omitempty"`
}

// reason says of one action of a cancelled transaction whether its condition failed.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
}

func (r refusal) Error() string { return r.Code + ": " + r.Message }

// invalid is the refusal of a request that DynamoDB, or this emulator, would never carry out.
func invalid(format string, args ...any) error {
	return refusal{Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

func (t *Tables) perform(op string, body []byte) *gateway.Recorder {
	status, out := http.StatusOK, any(nil)
	do, ok := operations[op]
	err := error(refusal{Code: "UnknownOperationException", Message: "the local emulator of DynamoDB has no " + op})
	if ok {
		out, err = do(t, body)
	}
	if err != nil {
		status, out = http.StatusBadRequest, err
		if known := (refusal{}); !errors.As(err, &known) {
			status, out = http.StatusInternalServerError, refusal{Code: "InternalServerError", Message: err.Error()}
		}
	}
	rec := &gateway.Recorder{}
	rec.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rec.WriteHeader(status)
	encoder := json.NewEncoder(rec)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(out) // every answer can be encoded, and is written into memory
	return rec
}

func (t *Tables) table(name string) (*table, error) {
	found, ok := t.tables[name]
	if !ok {
		return nil, refusal{Code: "ResourceNotFoundException", Message: "Requested resource not found: Table: " + name + " not found"}
	}
	return found, nil
}

type createTable struct {
	TableName, BillingMode string
	AttributeDefinitions   []struct{ AttributeName, AttributeType string }
	KeySchema              []struct{ AttributeName, KeyType string }
}

func (t *Tables) createTable(in createTable) (any, error) {
	if _, ok := t.tables[in.TableName]; ok {
		return nil, refusal{Code: "ResourceInUseException", Message: "Table already exists: " + in.TableName}
	}
	text := func(name string) bool {
		return slices.ContainsFunc(in.AttributeDefinitions, func(a struct{ AttributeName, AttributeType string }) bool {
			return a.AttributeName == name && a.AttributeType == "S"
		})
	}
	if len(in.KeySchema) != 2 || in.KeySchema[0].KeyType != "HASH" || in.KeySchema[1].KeyType != "RANGE" || len(in.AttributeDefinitions) != 2 ||
		in.TableName == "" || !text(in.KeySchema[0].AttributeName) || !text(in.KeySchema[1].AttributeName) {
		return nil, invalid("a table of this emulator has a name, a partition key and a sort key, both of type S")
	}
	definition, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	created := &table{
		name: in.TableName, definition: definition, hash: in.KeySchema[0].AttributeName, sort: in.KeySchema[1].AttributeName,
		partitions: map[string]*partition{},
	}
	t.tables[in.TableName] = created
	return map[string]any{"TableDescription": created.description(in)}, nil
}

func (t *table) description(in createTable) map[string]any {
	return map[string]any{
		"TableName": t.name, "TableStatus": "ACTIVE", "ItemCount": t.count,
		"KeySchema": in.KeySchema, "AttributeDefinitions": in.AttributeDefinitions,
	}
}

func (t *Tables) describeTable(in struct{ TableName string }) (any, error) {
	found, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	var created createTable
	if err := json.Unmarshal(found.definition, &created); err != nil {
		return nil, err
	}
	return map[string]any{"Table": found.description(created)}, nil
}

func (t *Tables) listTables(struct{}) (any, error) {
	return map[string]any{"TableNames": t.names()}, nil
}
