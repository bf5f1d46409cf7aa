package dynamodb

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	emulator "github.com/stackwright/stackwright/infra/local/dynamodb"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// endpoint is a DynamoDB to test instead of the local emulator; make integration passes AWS's own.
var endpoint = flag.String("dynamodb", "", "the URL of a DynamoDB that keeps the tables, instead of the local emulator")

// The table satisfies the contract of stores.
func TestStore(t *testing.T) {
	contract.Store(t, func(t *testing.T) engine.Store { return open(t, &wire{}) })
}

// It also does so if every tenth transaction conflicts with another or is throttled. The wire says so instead of the emulator.
// Another DynamoDB gets no other requests than those of TestStore.
func TestStoreUnderLoad(t *testing.T) {
	if *endpoint != "" {
		t.Skip("the wire answers these requests, not the DynamoDB at -dynamodb")
	}
	contract.Store(t, func(t *testing.T) engine.Store { return open(t, &wire{contended: 10}) })
}

// It also does so if the answer to every seventh request is lost.
func TestStoreWithLostAnswers(t *testing.T) {
	contract.Store(t, func(t *testing.T) engine.Store { return open(t, &wire{lost: 7}) })
}

// open returns a table whose requests go through a wire.
func open(t *testing.T, w *wire) *Table {
	t.Helper()
	tables, err := emulator.Open("")
	if err != nil {
		t.Fatal(err)
	}
	w.tables = tables
	name := "stackwright"
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w},
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.RateLimiter, o.Backoff = ratelimit.None, retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
	if *endpoint != "" { // other tests use this table too
		w.tables, cfg.BaseEndpoint, name = far{}, endpoint, name+"-"+rand.Text()
	}
	c := dynamodb.NewFromConfig(cfg)
	text := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err = c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{text("PK"), text("SK")},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(c, name)
}

// A wire sends requests to the local emulator, and adds what the emulator lacks: it
// recognises the token of a repeated transaction, some transactions conflict, some
// answers are lost, and queries have pages. Another DynamoDB, at endpoint, recognises
// tokens itself.
type wire struct {
	contended int                                        // one of so many transactions conflicts; 0 for none
	lost      int                                        // the answer to one of so many writes is lost; 0 for none
	forgetful bool                                       // tokens are not recognised
	page      int                                        // items on a page of a query; 0 for all
	answer    func(op string, body []byte) (int, string) // if it returns an answer, the emulator does not get the request

	mu       sync.Mutex
	tables   http.Handler
	writes   int
	calls    map[string]int
	received int      // bytes of the answers to reads
	bodies   []string // of transactions
	answered map[string]*httptest.ResponseRecorder
}

// reasons are the cancellation reasons of a transaction.
func reasons(codes ...string) string {
	var all []string
	for _, c := range codes {
		all = append(all, `{"Code":"`+c+`"}`)
	}
	return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[` + strings.Join(all, ",") + `]}`
}

// RoundTrip carries out one request.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if w.calls == nil {
		w.calls, w.answered = make(map[string]int), make(map[string]*httptest.ResponseRecorder)
	}
	w.calls[op]++
	if w.answer != nil {
		if status, text := w.answer(op, body); status != 0 {
			return response(r, status, text), nil
		}
	}
	if op != "TransactWriteItems" {
		answer := w.ask(r, op, body)
		w.received += answer.Body.Len()
		return answer.Result(), nil
	}
	w.writes++
	w.bodies = append(w.bodies, string(body))
	var in struct{ ClientRequestToken string }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if again, ok := w.answered[in.ClientRequestToken]; ok {
		return response(r, again.Code, again.Body.String()), nil
	}
	rec := httptest.NewRecorder()
	if w.contended > 0 && w.writes%w.contended == 0 {
		code := []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}[w.writes/w.contended%3]
		rec.WriteHeader(http.StatusBadRequest)
		rec.Body.WriteString(reasons("None", code))
	} else {
		rec = w.ask(r, op, body)
	}
	if !w.forgetful && *endpoint == "" {
		w.answered[in.ClientRequestToken] = rec
	}
	if w.lost > 0 && w.writes%w.lost == 0 {
		return response(r, http.StatusInternalServerError, `{"__type":"InternalServerError"}`), nil
	}
	return response(r, rec.Code, rec.Body.String()), nil
}

// ask sends a request to the emulator, and returns one page of its answer.
func (w *wire) ask(r *http.Request, op string, body []byte) *httptest.ResponseRecorder {
	if op == "Query" && w.page > 0 {
		body = bytes.Replace(body, []byte("{"), []byte(`{"Limit":`+string(rune('0'+w.page))+`,`), 1)
	}
	in := httptest.NewRequest(r.Method, "/", bytes.NewReader(body))
	in.Header = r.Header
	rec := httptest.NewRecorder()
	w.tables.ServeHTTP(rec, in)
	return rec
}

// far is the DynamoDB at the endpoint. It closes each connection after its request,
// because a bubble of synctest does not end before its connections.
type far struct{}

func (far) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	r, err := http.NewRequestWithContext(in.Context(), in.Method, *endpoint, in.Body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	r.Header = in.Header
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer answer.Body.Close()
	out.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(out, answer.Body) // an incomplete body fails when it is read
}

func response(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

var _ client = (*dynamodb.Client)(nil)
