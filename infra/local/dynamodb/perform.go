package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/truora/minidyn/server"
)

// operations are those that minidyn carries out.
var operations = map[string]func(context.Context, *Tables, []byte) (any, error){
	"CreateTable":        reading((*Tables).createTable),
	"UpdateTable":        reading((*Tables).updateTable),
	"DeleteTable":        reading((*Tables).deleteTable),
	"DescribeTable":      reading((*Tables).describeTable),
	"PutItem":            reading((*Tables).putItem),
	"DeleteItem":         reading((*Tables).deleteItem),
	"UpdateItem":         reading((*Tables).updateItem),
	"GetItem":            reading((*Tables).getItem),
	"Query":              reading((*Tables).query),
	"Scan":               reading((*Tables).scan),
	"BatchWriteItem":     reading((*Tables).batchWriteItem),
	"BatchGetItem":       reading((*Tables).batchGetItem),
	"TransactWriteItems": reading((*Tables).transactWriteItems),
	"TransactGetItems":   reading((*Tables).transactGetItems),
}

// reading is an operation whose input is read from a request's body.
func reading[In any](do func(*Tables, context.Context, *In) (any, error)) func(context.Context, *Tables, []byte) (any, error) {
	return func(ctx context.Context, t *Tables, body []byte) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, &smithy.GenericAPIError{Code: "SerializationException", Message: err.Error()}
		}
		return do(t, ctx, &in)
	}
}

func (t *Tables) perform(op string, body []byte, r *http.Request) *gateway.Recorder {
	if rec := t.plain(op, body, r); rec != nil {
		return rec
	}
	out, err := operations[op](r.Context(), t, body)
	if err != nil {
		return complaint(r, err)
	}
	return answer(out)
}

// complaint tells an error as DynamoDB does.
func complaint(r *http.Request, err error) *gateway.Recorder {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return refusal(r, http.StatusInternalServerError, "InternalServerError", err.Error())
	}
	body := map[string]any{"__type": api.ErrorCode(), "message": api.ErrorMessage()}
	var cancelled transactionCancelled
	if errors.As(err, &cancelled) {
		body["CancellationReasons"] = cancelled.reasons()
	}
	var failed conditionFailed
	if errors.As(err, &failed) && failed.item != nil {
		body["Item"] = failed.item
	}
	rec := &gateway.Recorder{}
	rec.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rec.WriteHeader(http.StatusBadRequest)
	write(rec, body)
	return rec
}

// reasons says of each action whether it is why the transaction was cancelled.
func (c transactionCancelled) reasons() []map[string]any {
	out := make([]map[string]any, len(c.CancellationReasons))
	for i, reason := range c.CancellationReasons {
		out[i] = map[string]any{"Code": aws.ToString(reason.Code)}
		if reason.Message != nil {
			out[i]["Message"] = *reason.Message
		}
		if c.items[i] != nil && aws.ToString(reason.Code) != "None" {
			out[i]["Item"] = c.items[i]
		}
	}
	return out
}

func answer(v any) *gateway.Recorder {
	rec := &gateway.Recorder{}
	rec.Header().Set("Content-Type", "application/x-amz-json-1.0")
	write(rec, v)
	return rec
}

func write(rec *gateway.Recorder, v any) {
	encoder := json.NewEncoder(rec)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // what is answered always encodes, and is written into memory
}

func (t *Tables) createTable(ctx context.Context, in *server.CreateTableInput) (any, error) {
	out, err := t.engine.CreateTable(ctx, in)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.TableName)
	t.tables[name] = &table{name: name, types: map[string]types.ScalarAttributeType{}, parts: map[string]*partition{}}
	return out, t.redefine(out.TableDescription, name, in.AttributeDefinitions)
}

// updateTable may have changed something although it failed.
func (t *Tables) updateTable(ctx context.Context, in *server.UpdateTableInput) (any, error) {
	out, err := t.engine.UpdateTable(ctx, in)
	if out == nil {
		return nil, err
	}
	return out, errors.Join(err, t.redefine(out.TableDescription, aws.ToString(in.TableName), in.AttributeDefinitions))
}

func (t *Tables) deleteTable(ctx context.Context, in *server.DeleteTableInput) (any, error) {
	out, err := t.engine.DeleteTable(ctx, in)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.TableName)
	err = t.redefine(out.TableDescription, name, nil)
	delete(t.tables, name)
	return out, err
}

func (t *Tables) describeTable(ctx context.Context, in *server.DescribeTableInput) (any, error) {
	out, err := t.engine.DescribeTable(ctx, in)
	if err != nil {
		return nil, err
	}
	return out, t.redefine(out.Table, aws.ToString(in.TableName), nil)
}

// redefine takes over what minidyn says of a table, and adds to that what minidyn does not know.
func (t *Tables) redefine(description any, name string, given []types.AttributeDefinition) error {
	is, ok := description.(*types.TableDescription)
	if !ok {
		return errors.New("describe " + name + ": minidyn's answer is no description of a table")
	}
	t.tables[name].redefine(is, given)
	t.tables[name].complete(is)
	return nil
}
