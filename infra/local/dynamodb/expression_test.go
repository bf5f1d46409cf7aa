package dynamodb_test

import (
	"errors"
	"reflect"
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

var words = regexp.MustCompile(`[:#]\w+`)

// given are the names and values for the placeholders of an expression.
func given(expression string) (map[string]string, map[string]types.AttributeValue) {
	allNames := map[string]string{"#n": "n", "#text": "text", "#absent": "absent", "#flag": "flag"}
	allValues := map[string]types.AttributeValue{
		":9": n("9"), ":10": n("10"), ":11": n("11"), ":b": s("b"), ":a": s("a"), ":c": s("c"), ":be": s("be"),
		":yes": &types.AttributeValueMemberBOOL{Value: true}, ":no": &types.AttributeValueMemberBOOL{},
	}
	names, values := map[string]string{}, map[string]types.AttributeValue{}
	for _, word := range words.FindAllString(expression, -1) {
		if name, ok := allNames[word]; ok {
			names[word] = name
		}
		if value, ok := allValues[word]; ok {
			values[word] = value
		}
	}
	if len(names) == 0 {
		names = nil
	}
	if len(values) == 0 {
		values = nil
	}
	return names, values
}

// Conditions mean what they mean to DynamoDB. Numbers are compared as numbers, and an attribute that is absent, or of
// another type, fulfils no comparison.
func TestConditions(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	item := key("A", "a")
	item["n"], item["text"], item["flag"] = n("10"), s("bee"), &types.AttributeValueMemberBOOL{Value: true}
	if err := putItem(t.Context(), client, item); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where string
		want  string // holds, fails, or is refused
	}{
		{"#n = :10", "holds"}, {"#n = :9", "fails"}, {"n >= :9", "holds"}, {"#n < :9", "fails"}, {"#n <= :10", "holds"}, {"#n > :9", "holds"},
		{"#n = :b", "fails"}, {"#n < :b", "fails"}, {"#absent = :10", "fails"}, {"#absent < :10", "fails"},
		{"#n BETWEEN :9 AND :11", "holds"}, {"#n BETWEEN :11 AND :9", "fails"}, {"#n between :9 and :11 AND #text = :a", "fails"},
		{"#text IN (:a, :b, :c)", "fails"}, {"#n IN (:9, :10)", "holds"}, {"#absent IN (:9)", "fails"},
		{"begins_with(#text, :be)", "holds"}, {"begins_with(#text, :c)", "fails"}, {"begins_with(#n, :be)", "fails"},
		{"attribute_exists(#n)", "holds"}, {"attribute_not_exists(#n)", "fails"}, {"attribute_not_exists(#absent)", "holds"},
		{"#flag = :yes", "holds"}, {"#flag = :no", "fails"},
		{"#n = :9 OR #text >= :b AND #flag = :yes", "holds"}, {"(#n = :9 OR #text >= :b) AND #flag = :no", "fails"},
		{"#n = :9 AND #n = :10 OR #n = :10", "holds"},
		{"", "holds"}, {"#n", "is refused"}, {"#n =", "is refused"}, {"#n = :unknown", "is refused"}, {"#unknown = :9", "is refused"},
		{"#n <> :9", "is refused"}, {"NOT #n = :9", "is refused"}, {"#n = :9 #n = :9", "is refused"}, {"(#n = :9", "is refused"}, {"m.a = :9", "is refused"},
		{"size(#n) = :9", "is refused"}, {"#n = #text", "is refused"}, {"#n IN ()", "is refused"}, {"begins_with(#n)", "is refused"}, {"= :9", "is refused"},
		{"begins_with(#text, :b) :c)", "is refused"},
	} {
		in := &sdk.PutItemInput{TableName: aws.String("runs"), Item: item}
		if c.where != "" {
			in.ConditionExpression = &c.where
		}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = given(c.where)
		_, err := client.PutItem(t.Context(), in)
		got := "holds"
		if refused := (smithy.APIError)(nil); errors.As(err, &refused) {
			got = map[string]string{"ConditionalCheckFailedException": "fails", "ValidationException": "is refused"}[refused.ErrorCode()]
		}
		if got != c.want {
			t.Errorf("%q %s, want that it %s: %v", c.where, got, c.want, err)
		}
	}
}

// An update sets attributes and adds numbers, creates an item that does not exist, and never changes a key.
func TestUpdates(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	for _, c := range []struct {
		update string
		want   map[string]types.AttributeValue // the attributes besides the key, or nil if the update is refused
	}{
		{"SET #n = :9, #text = :b", map[string]types.AttributeValue{"n": n("9"), "text": s("b")}},
		{"ADD #n :10", map[string]types.AttributeValue{"n": n("19"), "text": s("b")}},
		{"SET #text = :c ADD #absent :11, #n :9", map[string]types.AttributeValue{"n": n("28"), "text": s("c"), "absent": n("11")}},
		{"ADD #text :9", nil}, {"ADD #n :b", nil}, {"SET PK = :b", nil}, {"SET #n = :9, #n = :10", nil}, {"SET #n", nil}, {"SET #n :9", nil},
		{"REMOVE #n", nil}, {"SET #n = #n", nil}, {"SET #n = :9,", nil}, {"#n = :9", nil}, {"SET", nil},
	} {
		before := query(t, client, "A")
		in := &sdk.UpdateItemInput{TableName: aws.String("runs"), Key: key("A", "a"), UpdateExpression: &c.update}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = given(c.update)
		_, err := client.UpdateItem(t.Context(), in)
		after := query(t, client, "A")
		if c.want == nil {
			if refused := (smithy.APIError)(nil); !errors.As(err, &refused) || refused.ErrorCode() != "ValidationException" || !reflect.DeepEqual(before, after) {
				t.Errorf("%q: %v, and the item is %v", c.update, err, after)
			}
			continue
		}
		c.want["PK"], c.want["SK"] = s("A"), s("a")
		if err != nil || len(after) != 1 || !reflect.DeepEqual(after[0], c.want) {
			t.Errorf("%q: %v, and the item is %v, want %v", c.update, err, after, c.want)
		}
	}
}

// A request is refused if its placeholders are not all used, its key is not one, or it names an item twice.
func TestInvalidRequestsAreRefused(t *testing.T) {
	_, client := open(t, "")
	create(t, client)
	table := aws.String("runs")
	put := types.TransactWriteItem{Put: &types.Put{TableName: table, Item: key("A", "a")}}
	for name, call := range map[string]func() error{
		"a value is not used": func() error {
			_, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: table, Item: key("A", "a"), ExpressionAttributeValues: map[string]types.AttributeValue{":x": n("1")}})
			return err
		},
		"a name is not used": func() error {
			_, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: table, Item: key("A", "a"), ExpressionAttributeNames: map[string]string{"#x": "x"}})
			return err
		},
		"no sort key": func() error {
			_, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: table, Item: map[string]types.AttributeValue{"PK": s("A")}})
			return err
		},
		"empty sort key": func() error { return putItem(t.Context(), client, key("A", "")) },
		"number as key": func() error {
			_, err := client.GetItem(t.Context(), &sdk.GetItemInput{TableName: table, Key: map[string]types.AttributeValue{"PK": n("1"), "SK": s("a")}})
			return err
		},
		"more than a key": func() error {
			at := key("A", "a")
			at["n"] = n("1")
			_, err := client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: table, Key: at})
			return err
		},
		"an item twice in a transaction": func() error {
			_, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put, put}})
			return err
		},
		"an empty transaction": func() error {
			_, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
			return err
		},
		"an item twice in a batch": func() error {
			_, err := client.BatchGetItem(t.Context(), &sdk.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"runs": {Keys: []map[string]types.AttributeValue{key("A", "a"), key("A", "a")}},
			}})
			return err
		},
		"not a number": func() error {
			item := key("A", "a")
			item["n"] = n("ten")
			return putItem(t.Context(), client, item)
		},
	} {
		if refused := (smithy.APIError)(nil); !errors.As(call(), &refused) || refused.ErrorCode() != "ValidationException" {
			t.Errorf("%s: %v", name, refused)
		}
	}
	if items := query(t, client, "A"); len(items) != 0 {
		t.Errorf("refused requests left %v", items)
	}
}
