package dynamodb

import (
	"context"
	crand "crypto/rand"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/run"
)

// values are attributes or placeholders by name.
type values map[string]any

// A write is one action of a transaction: it puts an item, changes some of its
// attributes, deletes it or, if it does none of these, only checks its condition.
type write struct {
	key    key
	put    any    // a struct: the whole item
	set    values // attributes; zero values are set to null
	add    values // numbers to add to attributes
	delete bool
	where  string // the condition, or ""
	with   values // values of its placeholders, which are named without the colon
}

// held is the result of a write whose conditions all held.
const held = -1

// write sends a transaction of at most 100 actions. It returns the index of the first
// action whose condition did not hold, and then nothing was written, or held.
func (t *Table) write(ctx context.Context, writes ...write) (failed int, err error) {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: make([]types.TransactWriteItem, len(writes))}
	for i, w := range writes {
		if in.TransactItems[i], err = w.action(t.name); err != nil {
			return held, err
		}
	}
	for attempt := 0; ; attempt++ {
		_, err := t.client.TransactWriteItems(ctx, in)
		failed, again := verdict(err)
		switch {
		case err == nil:
			return held, nil
		case failed != held:
			return failed, nil
		case !again || attempt == mostAttempts:
			return held, t.fault("write", err)
		}
		if _, underway := errors.AsType[*types.TransactionInProgressException](err); !underway {
			in.ClientRequestToken = nil // nothing was written: the next attempt is a new request
		}
		if err := pause(ctx, attempt); err != nil {
			return held, t.fault("write", err)
		}
	}
}

// require makes a transaction all of whose conditions must hold. If one did not,
// nothing was written, and the error is refused.
func (t *Table) require(ctx context.Context, refused error, writes ...write) error {
	failed, err := t.write(ctx, writes...)
	if err == nil && failed != held {
		return refused
	}
	return err
}

// The attempts of a transaction that conflicts with another, or is throttled.
const (
	mostAttempts = 20
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// pause waits for a random time that may grow with each attempt.
func pause(ctx context.Context, attempt int) error {
	most := min(firstPause<<min(attempt, 10), longestPause)
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(most)) + 1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// action returns the write as an action of the SDK.
func (w write) action(table string) (types.TransactWriteItem, error) {
	var out types.TransactWriteItem
	update, given := w.update()
	placeholders, err := encodeValues(given)
	if err != nil {
		return out, err
	}
	var where *string
	if w.where != "" {
		where = &w.where
	}
	names := words(update, w.where)
	if len(names) == 0 {
		names = nil
	}
	name := aws.String(table)
	switch {
	case w.put != nil:
		i, err := encodeItem(w.key, w.put)
		if err != nil {
			return out, err
		}
		out.Put = &types.Put{TableName: name, Item: i, ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: placeholders}
	case w.delete:
		out.Delete = &types.Delete{TableName: name, Key: w.key.attributes(), ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: placeholders}
	case update != "":
		out.Update = &types.Update{TableName: name, Key: w.key.attributes(), UpdateExpression: &update, ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: placeholders}
	default:
		out.ConditionCheck = &types.ConditionCheck{TableName: name, Key: w.key.attributes(), ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: placeholders}
	}
	return out, nil
}

// update returns the update expression, or "", and the values of all placeholders.
func (w write) update() (string, values) {
	given := maps.Clone(w.with)
	if given == nil {
		given = values{}
	}
	var set, add []string
	for _, name := range slices.Sorted(maps.Keys(w.set)) {
		set = append(set, "#"+name+" = :set_"+name)
		given["set_"+name] = w.set[name]
	}
	for _, name := range slices.Sorted(maps.Keys(w.add)) {
		add = append(add, "#"+name+" :add_"+name)
		given["add_"+name] = w.add[name]
	}
	var clauses []string
	if len(set) > 0 {
		clauses = append(clauses, "SET "+strings.Join(set, ", "))
	}
	if len(add) > 0 {
		clauses = append(clauses, "ADD "+strings.Join(add, ", "))
	}
	return strings.Join(clauses, " "), given
}

// encodeValues encodes placeholders. DynamoDB refuses an empty map of them.
func encodeValues(v values) (item, error) {
	if len(v) == 0 {
		return nil, nil
	}
	out := make(item, len(v))
	for name, value := range v {
		a, err := encode(value)
		if err != nil {
			return nil, err
		}
		out[":"+name] = a
	}
	return out, nil
}

// fence checks that a run has the given epoch.
func fence(id string, epoch int) write {
	return write{key: runKey(id), where: "#epoch = :epoch", with: values{"epoch": epoch}}
}

// mayClaim checks that a run has the given epoch and task token, is running and has no
// command to pause or stop.
func mayClaim(id string, epoch int, token string) write {
	return write{
		key: runKey(id), where: "#epoch = :epoch AND #token = :token AND #state = :running AND #command = :continue",
		with: values{"epoch": epoch, "token": token, "running": run.StateRunning, "continue": run.Continue},
	}
}

// alive returns the placeholders of live, with others.
func alive(more values) values {
	all := values{"pending": run.StatePending, "queued": run.StateQueued, "running": run.StateRunning, "waiting": run.StateWaiting}
	maps.Copy(all, more)
	return all
}

// nonce returns a random string.
func nonce() string { return strings.ToLower(crand.Text()) }
