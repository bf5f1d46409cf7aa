package dynamodb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/truora/minidyn/server"
)

// Minidyn that is given only what a request touches answers as minidyn that has everything.
func TestAPartAnswersAsTheWhole(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		_, part := open(t, "")
		whole := sdk.New(sdk.Options{
			Region: "us-east-1", BaseEndpoint: aws.String("https://dynamodb.test"), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
			HTTPClient: &http.Client{Transport: gateway.Transport{Handler: server.NewServer()}},
		})
		create(t, part)
		create(t, whole)
		for i := range 200 {
			request := anything(random)
			got, want := request(t, part), request(t, whole)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, request %d: %+v, want %+v", seed, i, got, want)
			}
		}
	}
}

// told is what a client learns from an answer.
type told struct {
	code    string
	reasons []string
	items   []map[string]types.AttributeValue
}

func learn(err error, items ...map[string]types.AttributeValue) told {
	out := told{items: items}
	var refused smithy.APIError
	if errors.As(err, &refused) {
		out.code = refused.ErrorCode() + ": " + refused.ErrorMessage()
	} else if err != nil {
		out.code = err.Error()
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for _, reason := range cancelled.CancellationReasons {
			out.reasons = append(out.reasons, aws.ToString(reason.Code))
		}
	}
	return out
}

// anything is a request of any kind, sometimes a wrong one, on a few keys in a few partitions.
func anything(random *rand.Rand) func(*testing.T, *sdk.Client) told {
	name := aws.String([]string{"runs", "runs", "runs", "runs", "runs", "runs", "runs", "runs", "runs", "none"}[random.IntN(10)])
	at := func() map[string]types.AttributeValue {
		k := key(fmt.Sprint("P", random.IntN(4)), fmt.Sprint("S", random.IntN(5)))
		if random.IntN(40) == 0 {
			delete(k, "SK")
		}
		if random.IntN(40) == 0 {
			k["PK"] = n("1")
		}
		return k
	}
	full := func() map[string]types.AttributeValue {
		i := at()
		i["n"] = n(fmt.Sprint(random.IntN(3)))
		i["m"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": s("x"), "l": &types.AttributeValueMemberL{Value: []types.AttributeValue{n("1"), s("y")}}}}
		return i
	}
	where := []*string{nil, nil, aws.String("#n = :n"), aws.String("attribute_exists(PK) AND #n <> :n"), aws.String("attribute_not_exists(#n) OR #n <= :n"), aws.String("#n =")}[random.IntN(6)]
	var names map[string]string
	var values map[string]types.AttributeValue
	if where != nil {
		names, values = map[string]string{"#n": "n"}, map[string]types.AttributeValue{":n": n(fmt.Sprint(random.IntN(3)))}
	}
	up := aws.String([]string{"SET #n = :n", "ADD #n :n", "SET #n = :n, m.a = :n", "SET PK = :n", "SET #n"}[random.IntN(5)])
	upNames, upValues := map[string]string{"#n": "n"}, map[string]types.AttributeValue{":n": n(fmt.Sprint(random.IntN(3)))}
	update := func() types.Update {
		return types.Update{TableName: name, Key: at(), UpdateExpression: up, ConditionExpression: where, ExpressionAttributeNames: upNames, ExpressionAttributeValues: upValues}
	}
	switch random.IntN(8) {
	case 0, 1:
		in := &sdk.PutItemInput{TableName: name, Item: full(), ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: values}
		return func(t *testing.T, c *sdk.Client) told { _, err := c.PutItem(t.Context(), in); return learn(err) }
	case 2:
		in := &sdk.DeleteItemInput{TableName: name, Key: at(), ReturnValues: types.ReturnValueAllOld, ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: values}
		return func(t *testing.T, c *sdk.Client) told {
			out, err := c.DeleteItem(t.Context(), in)
			if err != nil {
				return learn(err)
			}
			return learn(err, out.Attributes)
		}
	case 3:
		u := update()
		in := &sdk.UpdateItemInput{TableName: name, Key: u.Key, UpdateExpression: up, ConditionExpression: where, ExpressionAttributeNames: upNames, ExpressionAttributeValues: upValues, ReturnValues: types.ReturnValueAllNew}
		return func(t *testing.T, c *sdk.Client) told {
			out, err := c.UpdateItem(t.Context(), in)
			if err != nil {
				return learn(err)
			}
			return learn(err, out.Attributes)
		}
	case 4, 5:
		u := update()
		in := &sdk.TransactWriteItemsInput{ClientRequestToken: aws.String("x"), TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: name, Item: full()}}, {Update: &u},
			{Delete: &types.Delete{TableName: aws.String("runs"), Key: at(), ConditionExpression: where, ExpressionAttributeNames: names, ExpressionAttributeValues: values}},
		}}
		return func(t *testing.T, c *sdk.Client) told {
			_, err := c.TransactWriteItems(t.Context(), in)
			return learn(err)
		}
	case 6:
		in := &sdk.GetItemInput{TableName: name, Key: at()}
		if random.IntN(2) == 0 {
			in.ProjectionExpression = aws.String([]string{"m.l[1], PK", "SK", "#oops"}[random.IntN(3)])
		}
		return func(t *testing.T, c *sdk.Client) told {
			out, err := c.GetItem(t.Context(), in)
			if err != nil {
				return learn(err)
			}
			return learn(err, out.Item)
		}
	default:
		in := &sdk.QueryInput{
			TableName: name, KeyConditionExpression: aws.String("PK = :pk AND SK >= :sk"), ScanIndexForward: aws.Bool(random.IntN(2) == 0),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s(fmt.Sprint("P", random.IntN(4))), ":sk": s(fmt.Sprint("S", random.IntN(5)))},
		}
		if random.IntN(2) == 0 {
			in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues[":n"] = aws.String("#n = :n"), map[string]string{"#n": "n"}, n("1")
		} else {
			in.Limit = aws.Int32(int32(1 + random.IntN(3)))
		}
		return func(t *testing.T, c *sdk.Client) told {
			out, err := c.Query(t.Context(), in)
			if err != nil {
				return learn(err)
			}
			return learn(err, append(out.Items, out.LastEvaluatedKey)...)
		}
	}
}
