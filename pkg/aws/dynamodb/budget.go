package dynamodb

import (
	"context"
	"errors"
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
// Many functions take from one item at the same time. Transactions on it would conflict,
// so Take is a single update. Its condition is that there is still room, not that the
// item is unchanged. If the answer to an update is lost and the SDK sends it again, the
// budget counts the requests twice, which only delays later ones a little.
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
	ReadFree  int64   `json:"read_free"`
	ReadRate  float64 `json:"read_rate"`
	ReadCut   int64   `json:"read_cut"`
	WriteFree int64   `json:"write_free"`
	WriteRate float64 `json:"write_rate"`
	WriteCut  int64   `json:"write_cut"`
}

func (i budgetItem) budget() budget.Budget {
	at := func(micros int64) time.Time {
		if micros == 0 {
			return time.Time{}
		}
		return time.UnixMicro(micros)
	}
	return budget.Budget{
		Read:  budget.Bucket{Free: at(i.ReadFree), Rate: i.ReadRate, Cut: at(i.ReadCut)},
		Write: budget.Bucket{Free: at(i.WriteFree), Rate: i.WriteRate, Cut: at(i.WriteCut)},
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
func (b *Budgets) Take(ctx context.Context, where string, demands []budget.Demand, now time.Time) (int, time.Time, error) {
	for range mostTakes {
		was, err := b.read(ctx, where)
		if err != nil {
			return 0, now, err
		}
		after, granted, next := b.limits.Take(was, demands, now)
		w := write{key: budgetKey(where), set: values{}, add: values{}, with: values{}}
		w.pour("read", was.Read, after.Read, now)
		w.pour("write", was.Write, after.Write, now)
		if w.where == "" { // nothing to take
			return granted, next, nil
		}
		if done, err := b.table.update(ctx, w); done || err != nil {
			return granted, next, err
		}
	}
	return 0, now.Add(crowded), nil
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
	_, err = t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(t.name), Key: w.key.attributes(), UpdateExpression: &expression, ConditionExpression: &w.where,
		ExpressionAttributeNames: words(expression, w.where), ExpressionAttributeValues: placeholders,
	})
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return false, nil
	}
	return err == nil, t.fault("write", err)
}
