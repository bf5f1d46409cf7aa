package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	accounts = 4
	wealth   = 20
)

// Concurrent transactions move amounts between items: the sum never changes, no query sees half of a transaction, and a
// restart finds the same amounts.
func TestConcurrentTransactionsAreAtomicAndIsolated(t *testing.T) {
	folder := t.TempDir()
	tables, client := open(t, folder)
	create(t, client)
	for i := range accounts {
		if err := putItem(t.Context(), client, map[string]types.AttributeValue{"PK": s("ACCOUNTS"), "SK": account(i), "n": n(strconv.Itoa(wealth))}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for from := range accounts {
		for to := range accounts {
			if from == to {
				continue
			}
			wg.Go(func() {
				for i := range 10 {
					err := move(t.Context(), client, from, to, 1+i%7)
					if cancelled := (*types.TransactionCanceledException)(nil); err != nil && !errors.As(err, &cancelled) {
						t.Error(err)
					}
				}
			})
		}
	}
	for range 3 {
		wg.Go(func() {
			for range 20 {
				if sum := sum(t, client); sum != accounts*wealth {
					t.Errorf("a query saw %d in all accounts, want %d", sum, accounts*wealth)
				}
			}
		})
	}
	wg.Wait()
	before := balances(t, client)
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	tables, client = open(t, folder)
	defer tables.Close()
	if after := balances(t, client); after != before || sum(t, client) != accounts*wealth {
		t.Errorf("after a restart the accounts hold %v, want %v", after, before)
	}
}

// If one condition of a transaction fails, no item changes, whatever the position of the condition.
func TestFailedConditionLeavesTheOtherPartitions(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for at := range 4 {
		for i := range 4 {
			if err := put(t.Context(), client, fmt.Sprint("P", i), "x", "before"); err != nil {
				t.Fatal(err)
			}
		}
		actions := []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s("P0"), "SK": s("x"), "text": s("after")}}},
			{Update: &types.Update{TableName: aws.String("runs"), Key: key("P1", "x"), UpdateExpression: aws.String("SET #t = :t"),
				ExpressionAttributeNames: map[string]string{"#t": "text"}, ExpressionAttributeValues: map[string]types.AttributeValue{":t": s("after")}}},
			{Delete: &types.Delete{TableName: aws.String("runs"), Key: key("P2", "x")}},
			{Put: &types.Put{TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s("new"), "SK": s("x")}}},
		}
		check := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: aws.String("runs"), Key: key("P3", "x"), ConditionExpression: aws.String("attribute_not_exists(PK)"),
		}}
		actions[at], check = check, actions[at]
		_, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: append(actions, check)})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 5 {
			t.Fatalf("condition %d: %v", at, err)
		}
		for i, reason := range cancelled.CancellationReasons {
			if failed := aws.ToString(reason.Code) == "ConditionalCheckFailed"; failed != (i == at) {
				t.Errorf("condition %d: reason %d is %s", at, i, aws.ToString(reason.Code))
			}
		}
		for i := range 4 {
			if items := query(t, client, fmt.Sprint("P", i)); len(items) != 1 || text(items[0]) != "before" {
				t.Errorf("condition %d: P%d holds %v", at, i, items)
			}
		}
		if items := query(t, client, "new"); len(items) != 0 {
			t.Errorf("condition %d: a put of the transaction is there", at)
		}
	}
}

func account(i int) types.AttributeValue { return s(fmt.Sprint("ACCOUNT#", i)) }

func text(item map[string]types.AttributeValue) string {
	if v, ok := item["text"].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func putItem(ctx context.Context, client *sdk.Client, item map[string]types.AttributeValue) error {
	_, err := client.PutItem(ctx, &sdk.PutItemInput{TableName: aws.String("runs"), Item: item})
	return err
}

// move takes an amount from one account, which must have it, to another, and writes a third item in another partition.
func move(ctx context.Context, client *sdk.Client, from, to, amount int) error {
	add := func(i, amount int, where *string) types.TransactWriteItem {
		values := map[string]types.AttributeValue{":n": n(strconv.Itoa(amount))}
		if where != nil {
			values[":least"] = n(strconv.Itoa(-amount))
		}
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("runs"), Key: map[string]types.AttributeValue{"PK": s("ACCOUNTS"), "SK": account(i)},
			UpdateExpression: aws.String("ADD #n :n"), ConditionExpression: where,
			ExpressionAttributeNames: map[string]string{"#n": "n"}, ExpressionAttributeValues: values,
		}}
	}
	_, err := client.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		add(to, amount, nil), add(from, -amount, aws.String("#n >= :least")),
		{Put: &types.Put{TableName: aws.String("runs"), Item: key("MOVES", fmt.Sprint(from, to))}},
	}})
	return err
}

// balances returns what all accounts hold at one moment.
func balances(t *testing.T, client *sdk.Client) (out [accounts]int) {
	in := &sdk.QueryInput{
		TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("ACCOUNTS")},
	}
	got, err := client.Query(t.Context(), in)
	if err != nil || len(got.Items) != accounts {
		t.Errorf("%d accounts, %v", len(got.Items), err)
		return out
	}
	for i, item := range got.Items {
		if number, ok := item["n"].(*types.AttributeValueMemberN); ok {
			if out[i], err = strconv.Atoi(number.Value); err != nil || out[i] < 0 {
				t.Errorf("account %d holds %s", i, number.Value)
			}
		}
	}
	return out
}

func sum(t *testing.T, client *sdk.Client) (sum int) {
	for _, balance := range balances(t, client) {
		sum += balance
	}
	return sum
}
