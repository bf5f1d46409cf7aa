package dynamodb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A key condition selects sort keys in the order of their bytes, forward and backward, and in pages of any size.
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

// A limit counts the items that the key condition selects, and a projection leaves only the named attributes.
func TestLimitAndProjection(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for i := range 9 {
		for _, pk := range []string{"A", "B"} {
			for _, sk := range []string{"STEP#", "EVENT#"} {
				if err := put(t.Context(), client, pk, fmt.Sprint(sk, i), "x"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	in := &sdk.QueryInput{
		TableName: aws.String("runs"), KeyConditionExpression: aws.String("PK = :pk AND begins_with(SK, :step)"),
		ProjectionExpression: aws.String("SK, #text"), Limit: aws.Int32(4), ExpressionAttributeNames: map[string]string{"#text": "text"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s("B"), ":step": s("STEP#")},
	}
	var pages []string
	for pager := sdk.NewQueryPaginator(client, in); pager.HasMorePages(); {
		out, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, fmt.Sprint(out.Count))
		for _, item := range out.Items {
			if got := names(item); !slices.Equal(got, []string{"SK", "text"}) {
				t.Errorf("a projection left %v", got)
			}
		}
	}
	if got := strings.Join(pages, ", "); got != "4, 4, 1" {
		t.Errorf("pages: %s", got)
	}
}

// A search continues after the key where it stopped, although that item was deleted meanwhile.
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
