package dynamodb

import (
	"errors"
	"maps"
	"strings"
)

// write is one write of an item, or only the check of a condition.
type write struct {
	placeholders
	TableName           string
	Key                 attributes // of all but a put
	Item                attributes // of a put
	ConditionExpression string
	UpdateExpression    string // of an update
}

// action is a write that has been read: what it is on, and what it makes of the item.
type action struct {
	table *table
	key   key
	holds condition
	// after returns the item after the write, given its attributes before. An item without attributes is deleted.
	after  func(attributes) (attributes, error)
	checks bool // the write is only a check, and changes nothing
}

func (t *Tables) putItem(in write) (any, error)    { return t.single(in, (*Tables).put) }
func (t *Tables) deleteItem(in write) (any, error) { return t.single(in, (*Tables).delete) }
func (t *Tables) updateItem(in write) (any, error) { return t.single(in, (*Tables).update) }

// single carries out one write by itself.
func (t *Tables) single(in write, read func(*Tables, write) (action, error)) (any, error) {
	a, err := read(t, in)
	if err != nil {
		return nil, err
	}
	err = carryOut([]action{a})
	if cancelled := (refusal{}); errors.As(err, &cancelled) && cancelled.Reasons != nil {
		return nil, refusal{Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
	}
	return struct{}{}, err
}

// transactWriteItems carries out all actions or none. A ClientRequestToken is accepted, but not remembered: a caller that
// sends the same transaction again must expect that its conditions fail because of the first.
func (t *Tables) transactWriteItems(in struct {
	TransactItems      []struct{ Put, Delete, Update, ConditionCheck *write }
	ClientRequestToken string
}) (any, error) {
	if n := len(in.TransactItems); n == 0 || n > maxActions {
		return nil, invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "+
			"Member must have length between 1 and %d (it has %d)", maxActions, n)
	}
	actions := make([]action, len(in.TransactItems))
	seen := map[*table]map[key]bool{}
	for i, item := range in.TransactItems {
		var err error
		switch {
		case item.Put != nil:
			actions[i], err = t.put(*item.Put)
		case item.Delete != nil:
			actions[i], err = t.delete(*item.Delete)
		case item.Update != nil:
			actions[i], err = t.update(*item.Update)
		case item.ConditionCheck != nil:
			actions[i], err = t.check(*item.ConditionCheck)
		default:
			err = invalid("action %d of the transaction is empty", i)
		}
		if err != nil {
			return nil, err
		}
		of := actions[i].table
		if seen[of] == nil {
			seen[of] = map[key]bool{}
		}
		if seen[of][actions[i].key] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[of][actions[i].key] = true
	}
	return struct{}{}, carryOut(actions)
}

// carryOut checks the conditions of all actions, and carries them out only if all hold.
func carryOut(actions []action) error {
	reasons, codes, failed := make([]reason, len(actions)), make([]string, len(actions)), false
	before := make([]item, len(actions))
	for i, a := range actions {
		before[i], _ = a.table.get(a.key)
		reasons[i] = reason{Code: "None"}
		if !a.holds(before[i].attributes) {
			reasons[i], failed = reason{"ConditionalCheckFailed", "The conditional request failed"}, true
		}
		codes[i] = reasons[i].Code
	}
	if failed {
		message := "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"
		return refusal{Code: "TransactionCanceledException", Message: message, Reasons: reasons}
	}
	after, total := make([]item, len(actions)), 0
	for i, a := range actions {
		if a.checks {
			after[i] = before[i]
		} else {
			left, err := a.after(before[i].attributes)
			if err != nil {
				return err
			}
			after[i] = newItem(left)
		}
		if len(after[i].wire) > maxItem {
			return invalid("Item size has exceeded the maximum allowed size")
		}
		total += max(len(before[i].wire), len(after[i].wire))
	}
	if total > maxTransaction {
		return invalid("The items of the transaction have exceeded the maximum allowed size")
	}
	for i, a := range actions {
		switch {
		case a.checks:
		case len(after[i].attributes) == 0:
			a.table.delete(a.key)
		default:
			a.table.put(a.key, after[i])
		}
	}
	return nil
}

func (t *Tables) put(in write) (action, error) {
	if in.Key != nil || in.UpdateExpression != "" {
		return action{}, invalid("a put has an Item, and neither Key nor UpdateExpression")
	}
	return t.action(in, in.Item, (*table).key, func(*table, *parser) (func(attributes) (attributes, error), error) {
		return func(attributes) (attributes, error) { return in.Item, nil }, nil
	})
}

func (t *Tables) delete(in write) (action, error) {
	if in.Item != nil || in.UpdateExpression != "" {
		return action{}, invalid("a delete has a Key, and neither Item nor UpdateExpression")
	}
	return t.action(in, in.Key, (*table).exactKey, func(*table, *parser) (func(attributes) (attributes, error), error) {
		return func(attributes) (attributes, error) { return nil, nil }, nil
	})
}

func (t *Tables) check(in write) (action, error) {
	if in.ConditionExpression == "" {
		return action{}, invalid("a condition check needs a ConditionExpression")
	}
	a, err := t.delete(in) // it has the same fields
	a.checks = true
	return a, err
}

func (t *Tables) update(in write) (action, error) {
	if in.Item != nil {
		return action{}, invalid("an update has a Key, and no Item")
	}
	return t.action(in, in.Key, (*table).exactKey, func(of *table, p *parser) (func(attributes) (attributes, error), error) {
		apply, err := p.update(in.UpdateExpression, of)
		return func(before attributes) (attributes, error) {
			after := maps.Clone(before)
			if after == nil {
				after = maps.Clone(in.Key) // an update creates what does not exist
			}
			return after, apply(after)
		}, err
	})
}

// action reads what all writes have: a table, a key and a condition.
func (t *Tables) action(in write, from attributes, keyOf func(*table, attributes) (key, error),
	effect func(*table, *parser) (func(attributes) (attributes, error), error),
) (a action, err error) {
	if a.table, err = t.table(in.TableName); err != nil {
		return a, err
	}
	if a.key, err = keyOf(a.table, from); err != nil {
		return a, err
	}
	p, err := newParser(in.placeholders)
	if err != nil {
		return a, err
	}
	if a.after, err = effect(a.table, p); err != nil {
		return a, err
	}
	if a.holds, err = p.condition(in.ConditionExpression); err != nil {
		return a, err
	}
	return a, p.done()
}
