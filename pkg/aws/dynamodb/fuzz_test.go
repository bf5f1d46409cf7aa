package dynamodb

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// nameless is an attribute or a key without a name. DynamoDB has none.
var nameless = regexp.MustCompile(`""\s*:`)

// Any item, even one that an older version or a person wrote, is either read so that it
// can be written and read again unchanged, or refused as Broken or Missing.
func FuzzItem(f *testing.F) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	f.Add(stored(f, itemOf(run.Run{Request: run.Request{ID: "r", Project: "shop@prod", Operation: "deploy", Options: run.Options{MaxDeletions: new(3)}}, Version: run.Version, Epoch: 3, State: run.StateReady, Requested: at, Messages: []string{"a"}})))
	f.Add(stored(f, stepItemOf(run.Step{Step: plan.Step{ID: "vpc/create", Node: "vpc", Verb: plan.Create, After: []int{0, 1}}, Number: 2, Status: run.Running, Attempt: 2, Due: at, Receipt: plan.Receipt{StackID: "arn"}})))
	f.Add(stored(f, plan.Record{Node: "vpc", Stack: "shop-vpc", Target: project.Target{Name: "default", Account: "111122223333", Region: "eu-west-1"}, Needs: []string{"a"}, Outputs: map[string]string{"A": "b"}, LastUpdated: at}))
	f.Add(stored(f, run.Lock{Version: 4, Owner: run.Writer{Run: "r", Upload: true}, Waiting: []run.Writer{{Run: "s"}}, Uploads: run.Uploads{"k": "1"}}))
	for _, text := range []string{
		`{}`, `null`, `[]`, `{"version":{"N":"1e400"}}`, `{"version":{"N":"1.5"}}`, `{"version":{"S":"1"}}`, `{"version":{"N":"99"},"run":{"S":"r"}}`, `{"version":{"N":"0"}}`,
		`{"version":{"N":"1"},"requested":{"S":"yesterday"}}`, `{"version":{"N":"1"},"expires":{"N":"1"}}`, `{"version":{"N":"1"},"messages":{"SS":["b","a"]},"source":{"NULL":true}}`,
		`{"version":{"N":"1"},"receipt":{"M":{"x":{"B":"AA=="}}},"after":{"L":[{"S":"a"},{"N":"1"}]}}`, `{"version":{}}`, `{"version":{"N":null,"S":"x"}}`, `{"outputs":{"M":{"A":{"N":"1"}}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) || strings.Contains(string(text), "LastEvaluatedKey") || nameless.Match(text) {
			return // the SDK refuses text that is not JSON, and DynamoDB has no items like these
		}
		table, ctx := answering(text), t.Context()
		contract.Memory(t, len(text), 4<<20, 500, func() {
			again(t, "run", func() (run.Run, error) { return table.Run(ctx, "r") }, func(r run.Run) any { return itemOf(r) })
		})
		again(t, "lock", func() (run.Lock, error) { return table.Lock(ctx, "p") }, func(l run.Lock) any { return l })
		again(t, "step", func() (run.Step, error) { return decodeStep(read(t, table)) }, func(s run.Step) any { return stepItemOf(s) })
		again(t, "record", func() (plan.Record, error) {
			records, err := table.Records(ctx, "p")
			for node, r := range records {
				if r.Node != node || len(records) != 1 {
					t.Errorf("%q is the record of %q", node, r.Node)
				}
				return r, err
			}
			return plan.Record{}, err
		}, func(r plan.Record) any { return r })
		if r, err := table.Load(ctx, "r"); err == nil {
			for i, s := range r.Steps {
				if s.Number != i {
					t.Errorf("step %d is number %d", i, s.Number)
				}
			}
		} else {
			classified(t, "load", err)
		}
	})
}

// again reads an item, writes it, reads it again and compares. What is written has the
// version of this code.
func again[T any](t *testing.T, what string, read func() (T, error), keep func(T) any) {
	t.Helper()
	v, err := read()
	if err != nil {
		classified(t, what, err)
		return
	}
	i, err := encodeItem(key{"P", "S"}, keep(v))
	if err != nil {
		t.Fatalf("%s: %+v cannot be written: %v", what, v, err)
	}
	var back T
	switch back := any(&back).(type) {
	case *run.Run:
		var head runItem
		err = decode(i, &head)
		*back = head.run()
	case *run.Step:
		*back, err = decodeStep(i)
	default:
		err = decode(i, back)
	}
	if diff := cmp.Diff(v, back, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(run.Run{}, "Version")); diff != "" || err != nil {
		t.Errorf("%s: it changed when it was written and read again (%v):\n%s", what, err, diff)
	}
}

// classified checks that an error is of a kind that callers handle.
func classified(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Broken, fault.Missing, fault.Unavailable) || len(err.Error()) > 100_000 {
		t.Errorf("%s: kind %q: %.300v", what, fault.KindOf(err), err)
	}
}

// read returns the one item of the table, or an empty one if it cannot be read.
func read(t *testing.T, table *Table) item {
	t.Helper()
	i, err := table.get(t.Context(), key{"P", "S"})
	if err != nil {
		classified(t, "get", err)
	}
	return i
}

// A fixedAnswer answers every request with the same text.
type fixedAnswer string

// RoundTrip implements http.RoundTripper.
func (v fixedAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(v))), ContentLength: int64(len(v)), Request: r}, nil
}

// answering returns a table that answers every request with one item.
func answering(item []byte) *Table {
	text := string(item)
	return New(dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), RetryMaxAttempts: 1,
		HTTPClient: &http.Client{Transport: fixedAnswer(`{"Item":` + text + `,"Items":[` + text + `],"Responses":{"t":[` + text + `]}}`)},
	}), "t")
}

// stored returns an item as DynamoDB sends it.
func stored(t testing.TB, v any) []byte {
	t.Helper()
	i, err := encodeItem(key{"P", "S"}, v)
	if err != nil {
		t.Fatal(err)
	}
	w := &recorder{}
	table := New(dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), HTTPClient: &http.Client{Transport: w}, RetryMaxAttempts: 1,
	}), "t")
	_, err = table.client.(*dynamodb.Client).PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: i})
	if err != nil {
		t.Fatal(err)
	}
	var put struct{ Item json.RawMessage }
	if err := json.Unmarshal([]byte(w.body), &put); err != nil {
		t.Fatal(err)
	}
	return put.Item
}

// A recorder keeps the last request.
type recorder struct{ body string }

// RoundTrip implements http.RoundTripper.
func (w *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	w.body = string(b)
	if err != nil {
		return nil, err
	}
	return fixedAnswer("{}").RoundTrip(r)
}
