package dynamodb

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// DynamoDB's own limits, which an adapter meets for the first time in production if its stand-in has none:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxActions = 100     // of a transaction
	maxItem    = 400_000 // bytes; measured here on the wire's JSON, which is a little longer than what DynamoDB counts
	maxPage    = 1 << 20 // bytes of items in one answer to Query or Scan
)

// tooMuch says which limit a request exceeds, in DynamoDB's words, or "".
func tooMuch(op string, body []byte) string {
	type put struct{ Item json.RawMessage }
	var in struct {
		Item          json.RawMessage
		TransactItems []struct{ Put put }
		RequestItems  map[string]json.RawMessage
	}
	if op != "PutItem" && op != "TransactWriteItems" {
		return ""
	}
	if json.Unmarshal(body, &in) != nil {
		return "" // minidyn says so
	}
	if n := len(in.TransactItems); n > maxActions {
		return fmt.Sprintf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d (it has %d)", maxActions, n)
	}
	items := []json.RawMessage{in.Item}
	for _, action := range in.TransactItems {
		items = append(items, action.Put.Item)
	}
	for _, item := range items {
		if len(item) > maxItem {
			return "Item size has exceeded the maximum allowed size"
		}
	}
	return ""
}

// page cuts an answer that is longer than DynamoDB gives at once: minidyn is asked again with the limit that fits, so
// that the answer has a LastEvaluatedKey. It also adds the ScannedCount that minidyn leaves out.
func (t *Tables) page(op string, body []byte, r *http.Request, rec *gateway.Recorder) *gateway.Recorder {
	if op != "Query" && op != "Scan" {
		return rec
	}
	var out map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(rec.Body.Bytes(), &out) != nil || json.Unmarshal(out["Items"], &items) != nil {
		return rec
	}
	if fit := fitting(items); fit < len(items) {
		return t.limited(fit, body, r, rec)
	}
	if _, ok := out["ScannedCount"]; ok || out["Count"] == nil {
		return rec
	}
	out["ScannedCount"] = out["Count"]
	again := &gateway.Recorder{}
	again.Header().Set("Content-Type", rec.Sent().Get("Content-Type"))
	again.WriteHeader(http.StatusOK)
	_ = json.NewEncoder(again).Encode(out) // it came as JSON
	return again
}

func fitting(items []json.RawMessage) int {
	size := 0
	for i, item := range items {
		if size += len(item); size > maxPage && i > 0 {
			return i
		}
	}
	return len(items)
}

func (t *Tables) limited(limit int, body []byte, r *http.Request, whole *gateway.Recorder) *gateway.Recorder {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return whole
	}
	in["Limit"] = limit
	shorter, err := json.Marshal(in)
	if err != nil {
		return whole
	}
	return t.ask(shorter, r)
}
