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
// Many functions take from one item at once, so a take is one update and no
// transaction, which would conflict with others; and its condition is not that
// nothing was taken since, but that there is still room. An update that is sent
// twice because its answer was lost takes twice: some room is lost for a moment.
type Budgets struct {
	table  *Table
	limits budget.Limits
}

// Budgets returns the budgets in the table, of which each allows what l says.
func (t *Table) Budgets(l budget.Limits) *Budgets { return &Budgets{table: t, limits: l} }

func budgetKey(where string) key { return key{"BUDGET#" + where, "REQUESTS"} }

const (
	mostTakes = 5           // tries to take from what others take from too
	crowded   = time.Second // until it is tried again when none of these succeeded
)

// budgetItem is a budget as it is kept: times are microseconds since 1970.
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

// read returns a budget, the zero one if it was never used.
func (b *Budgets) read(ctx context.Context, where string) (budget.Budget, error) {
	kept, err := b.table.get(ctx, budgetKey(where))
	if err != nil {
		return budget.Budget{}, err
	}
	var i budgetItem
	err = decode(kept, &i)
	return i.budget(), err
}

// Room is engine.Budgets.
func (b *Budgets) Room(ctx context.Context, where string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	was, err := b.read(ctx, where)
	if err != nil {
		return 0, now, err
	}
	_, granted, next := b.limits.Take(was, asks, now)
	return granted, next, nil
}

// Take is engine.Budgets.
func (b *Budgets) Take(ctx context.Context, where string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	for range mostTakes {
		was, err := b.read(ctx, where)
		if err != nil {
			return 0, now, err
		}
		after, granted, next := b.limits.Take(was, asks, now)
		w := write{key: budgetKey(where), set: values{}, add: values{}, with: values{}}
		w.pour("read", was.Read, after.Read, now)
		w.pour("write", was.Write, after.Write, now)
		if w.where == "" { // nothing is taken
			return granted, next, nil
		}
		if done, err := b.table.update(ctx, w); done || err != nil {
			return granted, next, err
		}
	}
	return 0, now.Add(crowded), nil
}

// Throttled is engine.Budgets. If it was cut meanwhile, that was for the same
// reason.
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

// pour makes w take from a bucket what is in it after and was not before: on
// condition that it was not cut meanwhile, and that there still is room, unless
// it was given more than it holds.
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

// still adds the condition that a time is as it was.
func (w *write) still(name string, was time.Time) {
	if was.IsZero() {
		w.and("attribute_not_exists(#" + name + ")")
		return
	}
	w.and("#" + name + " = :was_" + name)
	w.with["was_"+name] = was.UnixMicro()
}

// and adds a condition.
func (w *write) and(condition string) {
	if w.where != "" {
		condition = w.where + " AND " + condition
	}
	w.where = condition
}

// update carries out a write by itself. It reports false if its condition did
// not hold.
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
