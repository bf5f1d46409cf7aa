package dynamodb_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sizes are the numbers of items that the table holds besides those that are measured.
var sizes = []int{200, 2_000, 20_000}

// The cost of a claim does not depend on how much history the table holds.
func BenchmarkClaim(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			_, client := open(b, "")
			history(b, client, size)
			in := claim()
			for b.Loop() {
				if _, err := client.TransactWriteItems(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of reading a run does not depend on how much history the table holds.
func BenchmarkQuery(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			_, client := open(b, "")
			history(b, client, size)
			in := &sdk.QueryInput{
				TableName: aws.String("runs"), KeyConditionExpression: aws.String("#PK = :pk AND #SK BETWEEN :from AND :to"),
				ExpressionAttributeNames:  map[string]string{"#PK": "PK", "#SK": "SK"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("RUN#now"), ":from": s("STEP#"), ":to": s("STEP#~")},
			}
			for b.Loop() {
				if out, err := client.Query(b.Context(), in); err != nil || len(out.Items) != 60 {
					b.Fatal(len(out.Items), err)
				}
			}
		})
	}
}

// history fills the table with old runs of 200 items each, and one current run with 60 steps.
func history(b *testing.B, client *sdk.Client, size int) {
	b.Helper()
	create(b, client)
	var all []types.TransactWriteItem
	add := func(pk, sk string) {
		all = append(all, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("runs"), Item: step(pk, sk)}})
	}
	for i := range size {
		add(fmt.Sprintf("RUN#%d", i/200), fmt.Sprintf("STEP#%05d", i%200))
	}
	for i := range 60 {
		add("RUN#now", fmt.Sprintf("STEP#%05d", i))
	}
	add("RUN#now", "RUN")
	for chunk := range slices.Chunk(all, 100) {
		if _, err := client.TransactWriteItems(b.Context(), &sdk.TransactWriteItemsInput{TransactItems: chunk}); err != nil {
			b.Fatal(err)
		}
	}
}

// step is about as large as a step of a run.
func step(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": s(pk), "SK": s(sk), "id": s("vpc/create"), "node": s("vpc"), "status": s("pending"), "epoch": n("1"), "attempt": n("0"),
		"why": s(""), "due": s("2026-01-02T03:04:05Z"), "polls": n("0"), "number": n("7"), "spec": s("0123456789abcdef0123456789abcdef"),
		"after": &types.AttributeValueMemberL{Value: []types.AttributeValue{s("a/create"), s("b/create")}},
	}
}

// claim checks the run's epoch, moves a step and writes a record: three items in two partitions.
func claim() *sdk.TransactWriteItemsInput {
	return &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{ConditionCheck: &types.ConditionCheck{
			TableName: aws.String("runs"), Key: key("RUN#now", "RUN"), ConditionExpression: aws.String("#epoch = :epoch"),
			ExpressionAttributeNames: map[string]string{"#epoch": "epoch"}, ExpressionAttributeValues: map[string]types.AttributeValue{":epoch": n("1")},
		}},
		{Update: &types.Update{
			TableName: aws.String("runs"), Key: key("RUN#now", "STEP#00007"), UpdateExpression: aws.String("SET #attempt = :attempt, #why = :why"),
			ConditionExpression: aws.String("#status = :from"), ExpressionAttributeNames: map[string]string{"#attempt": "attempt", "#why": "why", "#status": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":attempt": n("1"), ":why": s("claimed"), ":from": s("pending")},
		}},
		{Put: &types.Put{TableName: aws.String("runs"), Item: step("PROJECT#shop", "STACK#vpc")}},
	}}
}
