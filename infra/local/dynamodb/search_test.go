package dynamodb_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A key condition selects the same whether one narrows the search by it or not.
func TestKeyConditions(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for _, pk := range []string{"A", "B", "A.b"} {
		for _, sk := range []string{"a", "b", "b1", "b2", "ba", "bé", "c", "b.c"} {
			if err := put(t.Context(), client, pk, sk, "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ where, want string }{
		{"PK = :pk", "a b b.c b1 b2 ba bé c"},
		{"#SK = :b AND PK = :pk", "b"},
		{"PK = :pk AND #SK < :b", "a"},
		{"PK = :pk AND #SK <= :b", "a b"},
		{"PK = :pk AND #SK > :b", "b.c b1 b2 ba bé c"},
		{"(PK = :pk) AND (#SK >= :b)", "b b.c b1 b2 ba bé c"},
		{"PK = :pk AND #SK BETWEEN :b AND :e", "b b.c b1 b2"},
		{"PK = :pk AND begins_with(#SK, :b)", "b b.c b1 b2 ba bé"},
	} {
		values := map[string]types.AttributeValue{":pk": s("A")}
		for name, value := range map[string]string{":b": "b", ":e": "b2"} {
			if strings.Contains(c.where, name) {
				values[name] = s(value)
			}
		}
		in := &sdk.QueryInput{TableName: aws.String("runs"), KeyConditionExpression: &c.where, ExpressionAttributeValues: values}
		if strings.Contains(c.where, "#SK") {
			in.ExpressionAttributeNames = map[string]string{"#SK": "SK"}
		}
		want := strings.Fields(c.want)
		if got := sorts(t, client, in); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.where, got, want)
		}
		in.ScanIndexForward, in.Limit, in.ExclusiveStartKey = aws.Bool(false), aws.Int32(1), nil
		slices.Reverse(want)
		if got := sorts(t, client, in); !slices.Equal(got, want) {
			t.Errorf("%s, backwards and one by one: %v, want %v", c.where, got, want)
		}
	}
	for _, where := range []string{"SK = :pk", "PK = :pk OR SK = :pk", "PK =", "PK > :pk"} {
		in := &sdk.QueryInput{TableName: aws.String("runs"), KeyConditionExpression: &where, ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("A")}}
		if out, err := client.Query(t.Context(), in); err == nil {
			t.Errorf("%s found %v", where, out.Items)
		}
	}
}

// A limit counts what the filter leaves out, but nothing that the key condition does not select.
func TestLimitWithFilter(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for i := range 9 {
		for _, pk := range []string{"A", "B"} {
			if err := put(t.Context(), client, pk, fmt.Sprint("STEP#", i), []string{"no", "no", "yes"}[i%3]); err != nil {
				t.Fatal(err)
			}
			if err := put(t.Context(), client, pk, fmt.Sprint("EVENT#", i), "yes"); err != nil {
				t.Fatal(err)
			}
		}
	}
	in := &sdk.QueryInput{
		TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk AND begins_with(SK, :step)"),
		FilterExpression: aws.String("#text = :yes"), ProjectionExpression: aws.String("SK"), Limit: aws.Int32(4),
		ExpressionAttributeNames:  map[string]string{"#text": "text"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("B"), ":step": s("STEP#"), ":yes": s("yes")},
	}
	var pages []string
	for pager := sdk.NewQueryPaginator(client, in); pager.HasMorePages(); {
		out, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, fmt.Sprintf("%d of %d", out.Count, out.ScannedCount))
		for _, item := range out.Items {
			if len(item) != 1 {
				t.Errorf("a projection left %v", item)
			}
		}
	}
	if got := strings.Join(pages, ", "); got != "1 of 4, 1 of 4, 1 of 1" {
		t.Errorf("pages: %s", got)
	}
}

// A search goes on behind the key where it stopped, although that item was deleted meanwhile.
func TestPagingFromADeletedKey(t *testing.T) {
	for _, forward := range []bool{true, false} {
		_, client := open(t, "")
		create(t, client)
		for _, pk := range []string{"A", "B"} {
			for i := range 6 {
				if err := put(t.Context(), client, pk, fmt.Sprint(i), "x"); err != nil {
					t.Fatal(err)
				}
			}
		}
		query := &sdk.QueryInput{
			TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk"), Limit: aws.Int32(2), ScanIndexForward: &forward,
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("A")},
		}
		scan := &sdk.ScanInput{TableName: aws.String("runs"), Limit: aws.Int32(2)}
		queried, scanned := 0, 0
		for {
			out, err := client.Query(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			if queried += len(out.Items); len(out.LastEvaluatedKey) == 0 {
				break
			}
			drop(t, client, out.LastEvaluatedKey)
			query.ExclusiveStartKey = out.LastEvaluatedKey
		}
		for {
			out, err := client.Scan(t.Context(), scan)
			if err != nil {
				t.Fatal(err)
			}
			if scanned += len(out.Items); len(out.LastEvaluatedKey) == 0 {
				break
			}
			drop(t, client, out.LastEvaluatedKey)
			scan.ExclusiveStartKey = out.LastEvaluatedKey
		}
		if queried != 6 || scanned != 9 {
			t.Errorf("forward %v: queried %d, want 6; scanned %d, want the 9 that were left", forward, queried, scanned)
		}
	}
}

// An index finds what there is in all partitions, also what was there before it.
func TestIndex(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for i := range 6 {
		if err := put(t.Context(), client, fmt.Sprint("P", i), "x", []string{"even", "odd"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.UpdateTable(t.Context(), &sdk.UpdateTableInput{
		TableName:            aws.String("runs"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("text"), AttributeType: types.ScalarAttributeTypeS}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("by-text"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("text"), KeyType: types.KeyTypeHash}},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	in := &sdk.QueryInput{
		TableName: aws.String("runs"), IndexName: aws.String("by-text"), KeyConditionExpression: aws.String("#text = :text"), Limit: aws.Int32(1),
		ExpressionAttributeNames: map[string]string{"#text": "text"}, ExpressionAttributeValues: map[string]types.AttributeValue{":text": s("odd")},
	}
	first, err := client.Query(t.Context(), in)
	if err != nil || len(first.Items) != 1 {
		t.Fatalf("%v %v", first, err)
	}
	drop(t, client, map[string]types.AttributeValue{"PK": first.LastEvaluatedKey["PK"], "SK": first.LastEvaluatedKey["SK"]})
	in.Limit, in.ExclusiveStartKey = nil, first.LastEvaluatedKey
	if rest, err := client.Query(t.Context(), in); err != nil || len(rest.Items) != 2 {
		t.Errorf("behind the first there are %v %v, want 2", rest, err)
	}
	about, err := client.DescribeTable(t.Context(), &sdk.DescribeTableInput{TableName: aws.String("runs")})
	if err != nil || aws.ToInt64(about.Table.ItemCount) != 5 || aws.ToInt64(about.Table.GlobalSecondaryIndexes[0].ItemCount) != 5 {
		t.Errorf("described as %+v %v", about, err)
	}
	in.IndexName = aws.String("none")
	if _, err := client.Query(t.Context(), in); err == nil {
		t.Error("an index that is not there was searched")
	}
}

// What is removed is gone, in a transaction as well, after a restart too, and an update tells of it.
func TestRemove(t *testing.T) {
	folder := t.TempDir()
	tables, client := open(t, folder)
	create(t, client)
	for _, c := range []struct {
		asked types.ReturnValue
		want  []string
	}{
		{types.ReturnValueAllOld, []string{"PK", "SK", "many", "text"}},
		{types.ReturnValueUpdatedOld, []string{"many", "text"}},
		{types.ReturnValueAllNew, []string{"PK", "SK", "many", "twin"}},
		{types.ReturnValueUpdatedNew, []string{"many", "twin"}},
	} {
		list := &types.AttributeValueMemberL{Value: []types.AttributeValue{s("a")}}
		if err := putItem(t.Context(), client, map[string]types.AttributeValue{"PK": s("A"), "SK": s("a"), "text": s("x"), "many": list}); err != nil {
			t.Fatal(err)
		}
		out, err := client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
			TableName: aws.String("runs"), Key: key("A", "a"), ReturnValues: c.asked,
			UpdateExpression: aws.String("SET twin = #text REMOVE #text, many[0], absent"), ExpressionAttributeNames: map[string]string{"#text": "text"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(out.Attributes); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.asked, got, c.want)
		}
		if got := query(t, client, "A"); !slices.Equal(names(got[0]), []string{"PK", "SK", "many", "twin"}) {
			t.Errorf("%s: it holds %v", c.asked, names(got[0]))
		}
	}
	if _, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Update: &types.Update{
		TableName: aws.String("runs"), Key: key("A", "a"), UpdateExpression: aws.String("REMOVE twin"),
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	tables, client = open(t, folder)
	defer tables.Close()
	want := map[string]types.AttributeValue{"PK": s("A"), "SK": s("a"), "many": &types.AttributeValueMemberL{Value: []types.AttributeValue{}}}
	if got := query(t, client, "A")[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("after a restart it holds %v, want %v", got, want)
	}
}

func sorts(t *testing.T, client *sdk.Client, in *sdk.QueryInput) (out []string) {
	t.Helper()
	for pager := sdk.NewQueryPaginator(client, in); pager.HasMorePages(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", *in.KeyConditionExpression, err)
		}
		for _, item := range page.Items {
			out = append(out, item["SK"].(*types.AttributeValueMemberS).Value)
		}
	}
	return out
}

func drop(t *testing.T, client *sdk.Client, key map[string]types.AttributeValue) {
	t.Helper()
	if _, err := client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: aws.String("runs"), Key: key}); err != nil {
		t.Fatal(err)
	}
}

func names(item map[string]types.AttributeValue) (out []string) {
	for name := range item {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
