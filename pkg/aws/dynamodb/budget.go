package dynamodb

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

var _ engine.Budgets = (*Budgets)(nil)

// Budgets are engine.Budgets in a table: an item for each account and region.
//
// Several functions take from one item at the same time. Transactions on it would
// conflict, so Take is a single update. While one run takes, its condition is that there
// is still room; while several share the budget, that nothing else was taken. If the
// answer to an update is lost and the SDK sends it again, the budget counts the requests
// twice, which only delays later ones a little.
type Budgets struct {
	table  *Table
	limits budget.Limits
}

// Budgets returns the budgets in the table. Each has the limits l.
func (t *Table) Budgets(l budget.Limits) *Budgets { return &Budgets{table: t, limits: l} }

func budgetKey(where string) key { return key{"BUDGET#" + where, "REQUESTS"} }

const (
	mostTakes = 5           // attempts to update an item that others update too
	crowded   = time.Second // pause after the last of these attempts
)

// budgetItem is a budget as the table stores it. Times are microseconds since 1970.
type budgetItem struct {
	ReadFree    int64            `json:"read_free"`
	ReadRate    float64          `json:"read_rate"`
	ReadCut     int64            `json:"read_cut"`
	ReadShares  map[string]int64 `json:"read_shares"` // by run
	WriteFree   int64            `json:"write_free"`
	WriteRate   float64          `json:"write_rate"`
	WriteCut    int64            `json:"write_cut"`
	WriteShares map[string]int64 `json:"write_shares"`
}

func (i budgetItem) budget() budget.Budget {
	at := func(micros int64) time.Time {
		if micros == 0 {
			return time.Time{}
		}
		return time.UnixMicro(micros)
	}
	shares := func(stored map[string]int64) map[string]time.Time {
		all := make(map[string]time.Time, len(stored))
		for run, micros := range stored {
			all[run] = at(micros)
		}
		return all
	}
	return budget.Budget{
		Read:  budget.Bucket{Free: at(i.ReadFree), Rate: i.ReadRate, Cut: at(i.ReadCut), Shares: shares(i.ReadShares)},
		Write: budget.Bucket{Free: at(i.WriteFree), Rate: i.WriteRate, Cut: at(i.WriteCut), Shares: shares(i.WriteShares)},
	}
}

// read returns a budget, or the zero Budget if it was never used.
func (b *Budgets) read(ctx context.Context, where string) (budget.Budget, error) {
	item, err := b.table.get(ctx, budgetKey(where))
	if err != nil {
		return budget.Budget{}, err
	}
	var i budgetItem
	err = decode(item, &i)
	return i.budget(), err
}

// Take implements engine.Budgets.
func (b *Budgets) Take(ctx context.Context, where, run string, demands []budget.Demand, now time.Time) (int, time.Time, error) {
	for range mostTakes {
		was, err := b.read(ctx, where)
		if err != nil {
			return 0, now, err
		}
		granted, next, done, err := b.takeOf(ctx, where, was, run, demands, now)
		if done || err != nil {
			return granted, next, err
		}
	}
	return 0, now.Add(crowded), nil
}

// takeOf takes what the budget, as it was read, grants to a run. It is not done if another
// function has changed the budget since, so that less may be left.
func (b *Budgets) takeOf(ctx context.Context, where string, was budget.Budget, run string, demands []budget.Demand, now time.Time) (granted int, next time.Time, done bool, err error) {
	after, granted, next := b.limits.Take(was, run, demands, now)
	w := write{key: budgetKey(where), set: values{}, add: values{}, with: values{}}
	w.take("read", run, was.Read, after.Read, now)
	w.take("write", run, was.Write, after.Write, now)
	if len(w.set) == 0 && len(w.add) == 0 { // nothing to take
		return granted, next, true, nil
	}
	done, err = b.table.update(ctx, w)
	return granted, next, done, err
}

// Throttled implements engine.Budgets. If another function has cut the rate
// meanwhile, that was because of the same throttling, and Throttled does nothing.
func (b *Budgets) Throttled(ctx context.Context, where string, k budget.Kind, now time.Time) error {
	was, err := b.read(ctx, where)
	if err != nil {
		return err
	}
	after, cut := b.limits.Throttled(was, k, now)
	if !cut {
		return nil
	}
	before, bucket := was.Read, after.Read
	if k == budget.Write {
		before, bucket = was.Write, after.Write
	}
	name := string(k)
	w := write{key: budgetKey(where), with: values{}, set: values{
		name + "_rate": bucket.Rate, name + "_cut": bucket.Cut.UnixMicro(), name + "_free": bucket.Free.UnixMicro(),
	}}
	w.still(name+"_cut", before.Cut)
	_, err = b.table.update(ctx, w)
	return err
}

// take adds to w the change of a bucket from was to after, for a run. While other runs
// share the bucket, its condition is that the bucket has not changed meanwhile; else, that
// there is still room.
func (w *write) take(name, run string, was, after budget.Bucket, now time.Time) {
	if !maps.EqualFunc(was.Shares, after.Shares, time.Time.Equal) {
		shares := make(map[string]int64, len(after.Shares))
		for of, free := range after.Shares {
			shares[of] = free.UnixMicro()
		}
		w.set[name+"_shares"] = shares
	}
	if !was.Shared(run, now) {
		w.pour(name, was, after, now)
		return
	}
	w.still(name+"_cut", was.Cut)
	w.still(name+"_free", was.Free)
	if !after.Free.Equal(was.Free) {
		w.set[name+"_free"] = after.Free.UnixMicro()
	}
}

// pour adds to w the change of a bucket from was to after. Its conditions are that the
// rate was not cut meanwhile, and that there is still room.
func (w *write) pour(name string, was, after budget.Bucket, now time.Time) {
	oldest := now.Truncate(time.Microsecond).Add(-budget.Depth)
	idle, ahead := was.Free.Before(oldest), was.Ahead(now)
	from := was.Free
	switch {
	case idle:
		from = oldest
	case ahead:
		from = now.Truncate(time.Microsecond)
	}
	took := after.Free.Sub(from)
	if took <= 0 {
		return
	}
	w.still(name+"_cut", was.Cut)
	if idle || ahead {
		w.set[name+"_free"] = after.Free.UnixMicro()
		w.still(name+"_free", was.Free)
		return
	}
	most := max(from.UnixMicro(), now.UnixMicro()-took.Microseconds())
	w.add[name+"_free"] = took.Microseconds()
	w.and("#" + name + "_free <= :" + name + "_most")
	w.with[name+"_most"] = most
}

// still adds the condition that a time has not changed.
func (w *write) still(name string, was time.Time) {
	if was.IsZero() {
		w.and("attribute_not_exists(#" + name + ")")
		return
	}
	w.and("#" + name + " = :was_" + name)
	w.with["was_"+name] = was.UnixMicro()
}

// and adds a condition to w.
func (w *write) and(condition string) {
	if w.where != "" {
		condition = w.where + " AND " + condition
	}
	w.where = condition
}

// update carries out one write without a transaction. It reports false if the condition
// did not hold.
func (t *Table) update(ctx context.Context, w write) (bool, error) {
	expression, given := w.update()
	placeholders, err := encodeValues(given)
	if err != nil {
		return false, err
	}
	var where *string
	if w.where != "" {
		where = &w.where
	}
	_, err = t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(t.name), Key: w.key.attributes(), UpdateExpression: &expression, ConditionExpression: where,
		ExpressionAttributeNames: words(expression, w.where), ExpressionAttributeValues: placeholders,
	})
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return false, nil
	}
	return err == nil, t.fault("write", err)
}
