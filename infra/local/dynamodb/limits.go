package dynamodb

// DynamoDB's own limits, which an adapter meets for the first time in production if its stand-in has none:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxActions     = 100       // of a transaction
	maxItem        = 400_000   // bytes; measured here on the wire's JSON, which is a little longer than what DynamoDB counts
	maxTransaction = 4_000_000 // bytes of all the items that a transaction writes or checks
	maxPage        = 1 << 20   // bytes of items in one answer to Query or Scan
)

// oversize refuses a write after which an item, or all of one transaction together, would exceed the limits.
func oversize(all []written, after []item, partial bool) error {
	total := 0
	for i, is := range after {
		if len(is.wire) > maxItem {
			return invalid("Item size has exceeded the maximum allowed size")
		}
		total += max(len(is.wire), len(all[i].is.wire))
	}
	if total > maxTransaction && !partial {
		return invalid("The items of the transaction have exceeded the maximum allowed size")
	}
	return nil
}
