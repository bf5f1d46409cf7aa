package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/dynamodb"
	"github.com/stackwright/stackwright/infra/local/gateway"
)

func open(t testing.TB, folder string) (*dynamodb.Tables, *sdk.Client) {
	t.Helper()
	tables, err := dynamodb.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return tables, sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("https://dynamodb.test"),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: tables}},
	})
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": s(pk), "SK": s(sk)}
}

func create(t testing.TB, client *sdk.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName: aws.String("runs"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(ctx context.Context, client *sdk.Client, pk, sk, text string) error {
	_, err := client.PutItem(ctx, &sdk.PutItemInput{
		TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s(pk), "SK": s(sk), "text": s(text)},
	})
	return err
}

func query(t *testing.T, client *sdk.Client, pk string) []map[string]types.AttributeValue {
	t.Helper()
	var items []map[string]types.AttributeValue
	pages := sdk.NewQueryPaginator(client, &sdk.QueryInput{
		TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s(pk)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	return items
}

// After a restart, the tables hold the result of the last successful writes.
func TestTablesOutliveTheProcess(t *testing.T) {
	folder := t.TempDir()
	tables, client := open(t, folder)
	create(t, client)
	for i := range 5 {
		if err := put(t.Context(), client, "RUN#a", fmt.Sprintf("STEP#%d", i), "first"); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t.Context(), client, "RUN#a", "STEP#3", "second"); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutItem(t.Context(), &sdk.PutItemInput{
		TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s("RUN#a"), "SK": s("STEP#3"), "text": s("third")},
		ConditionExpression: aws.String("attribute_not_exists(PK)"),
	})
	if refused := (*types.ConditionalCheckFailedException)(nil); !errors.As(err, &refused) {
		t.Fatalf("a put on an item that is there gave %v", err)
	}
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}

	tables, client = open(t, folder)
	defer tables.Close()
	items := query(t, client, "RUN#a")
	if len(items) != 5 {
		t.Fatalf("%d items after a restart, want 5", len(items))
	}
	if got := items[3]["text"].(*types.AttributeValueMemberS).Value; got != "second" {
		t.Errorf("STEP#3 says %q after a restart, want what was written last", got)
	}
	names, err := client.ListTables(t.Context(), &sdk.ListTablesInput{})
	if err != nil || len(names.TableNames) != 1 || names.TableNames[0] != "runs" {
		t.Errorf("tables after a restart: %v %v", names, err)
	}
}

// Of many concurrent claims of one item exactly one succeeds, also according to the journal.
func TestOneClaimSucceeds(t *testing.T) {
	folder := t.TempDir()
	tables, client := open(t, folder)
	create(t, client)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var winners []string
	for i := range 20 {
		wg.Go(func() {
			me := fmt.Sprint("claimer ", i)
			_, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
				Put: &types.Put{
					TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s("LOCK"), "SK": s("LOCK"), "text": s(me)},
					ConditionExpression: aws.String("attribute_not_exists(PK)"),
				},
			}}})
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				winners = append(winners, me)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Fatalf("the claims of %v succeeded, want one", winners)
	}
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	tables, client = open(t, folder)
	defer tables.Close()
	if got := query(t, client, "LOCK")[0]["text"].(*types.AttributeValueMemberS).Value; got != winners[0] {
		t.Errorf("the claim of %s succeeded, but after a restart the item says %s", winners[0], got)
	}
}

// A long history of one item is compacted to one put at the next start.
func TestJournalIsCompacted(t *testing.T) {
	folder := t.TempDir()
	tables, client := open(t, folder)
	create(t, client)
	for i := range 1100 {
		if err := put(t.Context(), client, "A", "B", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		tables, client = open(t, folder)
		if got := query(t, client, "A")[0]["text"].(*types.AttributeValueMemberS).Value; got != "1099" {
			t.Errorf("after a compaction it says %s", got)
		}
		if err := tables.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tables, client := open(t, "")
		defer tables.Close()
		create(t, client)
		wide := strings.Repeat("x", 300_000)
		for i := range 8 {
			if err := put(t.Context(), client, "A", fmt.Sprint(i), wide); err != nil {
				t.Fatal(err)
			}
		}
		first, err := client.Query(t.Context(), &sdk.QueryInput{
			TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("A")},
		})
		if err != nil || len(first.Items) != 3 || first.LastEvaluatedKey == nil {
			t.Errorf("a page of %d items (%v), want 3 of 300 kB each, and where to go on", len(first.Items), err)
		}
		if n := len(query(t, client, "A")); n != 8 {
			t.Errorf("all pages hold %d items, want 8", n)
		}
		var refused smithy.APIError
		err = put(t.Context(), client, "A", "big", wide+wide)
		if !errors.As(err, &refused) || refused.ErrorCode() != "ValidationException" {
			t.Errorf("an item of 600 kB gave %v", err)
		}
		actions := make([]types.TransactWriteItem, 101)
		for i := range actions {
			actions[i].Put = &types.Put{TableName: aws.String("runs"), Item: map[string]types.AttributeValue{"PK": s("T"), "SK": s(fmt.Sprint(i))}}
		}
		_, err = client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: actions})
		if !errors.As(err, &refused) || refused.ErrorCode() != "ValidationException" {
			t.Errorf("a transaction of 101 gave %v", err)
		}
		grow := &sdk.UpdateItemInput{
			TableName: aws.String("runs"), Key: map[string]types.AttributeValue{"PK": s("A"), "SK": s("grown")},
			UpdateExpression: aws.String("SET one = :wide, two = :wide"), ExpressionAttributeValues: map[string]types.AttributeValue{":wide": s(wide)},
		}
		if _, err = client.UpdateItem(t.Context(), grow); !errors.As(err, &refused) || refused.ErrorCode() != "ValidationException" {
			t.Errorf("an item that grew to 600 kB gave %v", err)
		}
		actions = actions[:0]
		for i := range 14 {
			actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("runs"), Item: map[string]types.AttributeValue{
				"PK": s("T"), "SK": s(fmt.Sprint(i)), "text": s(wide),
			}}})
		}
		if _, err = client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: actions}); !errors.As(err, &refused) || refused.ErrorCode() != "ValidationException" {
			t.Errorf("a transaction of 4.2 MB gave %v", err)
		}
		if _, err = client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: actions[:13]}); err != nil {
			t.Errorf("a transaction of 3.9 MB gave %v", err)
		}
	})
}

// An operation, a field or a kind of table that the emulator does not know is refused, and changes nothing.
func TestUnknownRequestsAreRefused(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for name, c := range map[string]struct {
		want string
		call func() error
	}{
		"operation": {"UnknownOperationException", func() error {
			_, err := client.ListBackups(t.Context(), &sdk.ListBackupsInput{})
			return err
		}},
		"field": {"ValidationException", func() error {
			_, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("runs"), Item: key("A", "a"), ReturnValues: types.ReturnValueAllOld})
			return err
		}},
		"filter": {"ValidationException", func() error {
			_, err := client.Scan(t.Context(), &sdk.ScanInput{TableName: aws.String("runs"), FilterExpression: aws.String("attribute_exists(x)")})
			return err
		}},
		"table": {"ResourceNotFoundException", func() error {
			_, err := client.Scan(t.Context(), &sdk.ScanInput{TableName: aws.String("none")})
			return err
		}},
		"second table": {"ResourceInUseException", func() error {
			_, err := client.CreateTable(t.Context(), &sdk.CreateTableInput{TableName: aws.String("runs")})
			return err
		}},
		"key of numbers": {"ValidationException", func() error {
			_, err := client.CreateTable(t.Context(), &sdk.CreateTableInput{
				TableName:            aws.String("numbers"),
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeN}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
			})
			return err
		}},
	} {
		var refused smithy.APIError
		if err := c.call(); !errors.As(err, &refused) || refused.ErrorCode() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if items := query(t, client, "A"); len(items) != 0 {
		t.Errorf("a refused put left %v", items)
	}
}
