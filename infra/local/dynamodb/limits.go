package dynamodb

import "encoding/json"

// DynamoDB's own limits, which an adapter meets for the first time in production if its stand-in has none:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxActions = 100     // of a transaction
	maxItem    = 400_000 // bytes; measured here on the wire's JSON, which is a little longer than what DynamoDB counts
	maxPage    = 1 << 20 // bytes of items in one answer to Query or Scan
)

// tooLarge tells whether a request puts an item that exceeds the limit, which no part of a shorter request does.
func tooLarge(op string, body []byte) bool {
	if len(body) <= maxItem || op != "PutItem" && op != "TransactWriteItems" {
		return false
	}
	type put struct{ Item json.RawMessage }
	var in struct {
		Item          json.RawMessage
		TransactItems []struct{ Put put }
	}
	if json.Unmarshal(body, &in) != nil {
		return false // it is refused for that
	}
	for _, action := range in.TransactItems {
		if len(action.Put.Item) > maxItem {
			return true
		}
	}
	return len(in.Item) > maxItem
}
