package stepfn_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
)

// recorded is the backend on the emulators, with a trace of everything that anybody
// could read.
type recorded struct {
	*emulators
	trace *trace
}

// A trace holds everything that was written, by the kind of place: log, request, table.
type trace struct {
	mu   sync.Mutex
	text map[string]*bytes.Buffer
}

func (t *trace) add(where string, what []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text[where] == nil {
		t.text[where] = &bytes.Buffer{}
	}
	t.text[where].Write(what)
	t.text[where].WriteByte('\n')
}

// A traceWriter adds what is written to one kind of place.
type traceWriter struct {
	*trace
	where string
}

func (p traceWriter) Write(what []byte) (int, error) {
	p.add(p.where, what)
	return len(what), nil
}

// tap adds every request of the functions and every answer to the trace.
type tap struct {
	aws.HTTPClient
	*trace
}

func (t tap) Do(r *http.Request) (*http.Response, error) {
	t.add("request", []byte(r.Method+" "+r.URL.String()))
	if r.Body != nil {
		body, err := t.copy("request", r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = body
	}
	out, err := t.HTTPClient.Do(r)
	if err != nil {
		return nil, err
	}
	out.Body, err = t.copy("answer", out.Body)
	return out, err
}

func (t tap) copy(where string, from io.ReadCloser) (io.ReadCloser, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	t.add(where, body)
	return io.NopCloser(bytes.NewReader(body)), from.Close()
}

// newRecorded returns a backend whose requests, answers, logs and events are traced.
func newRecorded(t *testing.T) *recorded {
	all := &trace{text: make(map[string]*bytes.Buffer)}
	r := newEmulators(t, func(o *cloud.Options) {
		o.ResolveDynamic = vault
		o.Log = traceWriter{all, "log"}
		o.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) {
			cfg := c.Config()
			cfg.HTTPClient = tap{cfg.HTTPClient, all}
			functions := wire.New(cfg, wire.Environment{
				Table: "stackwright", Bucket: "stackwright", Account: "000000000000", Region: "us-east-1", Projects: project.Grants{"*@*"},
				StateMachine: "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright",
			}, traceWriter{all, "log"}).Functions(policy.Checker{})
			functions["listener"] = func(event json.RawMessage) error {
				all.add("event", event)
				return nil
			}
			return lambda.InProcess(functions, c.Host())
		}
	})
	traced := &recorded{r, all}
	traced.listen()
	return traced
}

// listen sends every event on the bus to the listener.
func (r *recorded) listen() {
	bus := eventbridge.NewFromConfig(r.cloud.Config())
	_, err := bus.PutRule(r.Context(), &eventbridge.PutRuleInput{Name: aws.String("all"), EventPattern: aws.String(`{"account": ["000000000000"]}`)})
	if err != nil {
		r.Fatal(err)
	}
	_, err = bus.PutTargets(r.Context(), &eventbridge.PutTargetsInput{Rule: aws.String("all"),
		Targets: []types.Target{{Id: aws.String("listener"), Arn: aws.String(arn("listener"))}}})
	if err != nil {
		r.Fatal(err)
	}
}

// show traces how a run and the records are shown to users.
func (r *recorded) show(of run.Run) {
	next := func(words ...string) string { return strings.Join(words, " ") }
	lines := traceWriter{r.trace, "output"}
	views := []interface {
		Show(run.Run) error
		End(run.Run) error
	}{
		term.NewPlain(lines, next), term.NewJSON(lines),
		&term.Live{Screen: term.Screen{Out: lines}, Size: func() (int, int) { return 400, 100 }, Now: time.Now, Next: next},
	}
	for _, v := range views {
		if err := v.Show(of); err != nil {
			r.Fatal(err)
		}
		if err := v.End(of); err != nil {
			r.Fatal(err)
		}
	}
	for _, format := range []string{"%v", "%+v", "%#v"} {
		r.trace.add("value", fmt.Appendf(nil, format+format, of, r.Recorded()))
	}
}

// collect traces what is stored: items, all versions of objects, and histories.
func (r *recorded) collect() {
	r.items()
	r.objects()
	r.histories()
}

func (r *recorded) items() {
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(r.cloud.Config()), &dynamodb.ScanInput{TableName: aws.String("stackwright")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.addJSON("table", page.Items)
	}
}

// addJSON traces an answer of the SDK as JSON.
func (r *recorded) addJSON(where string, what any) {
	body, err := json.Marshal(what)
	if err != nil {
		r.Fatal(err)
	}
	r.trace.add(where, body)
}

func (r *recorded) objects() {
	pages := s3.NewListObjectVersionsPaginator(r.bucket, &s3.ListObjectVersionsInput{Bucket: aws.String("stackwright")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		for _, v := range page.Versions {
			r.object(aws.ToString(v.Key), v.VersionId)
		}
	}
}

func (r *recorded) object(key string, version *string) {
	out, err := r.bucket.GetObject(r.Context(), &s3.GetObjectInput{Bucket: aws.String("stackwright"), Key: &key, VersionId: version})
	if err != nil {
		r.Fatal(err)
	}
	body, err := io.ReadAll(out.Body)
	if err != nil {
		r.Fatal(err)
	}
	r.trace.add("object", append([]byte(key+" "), body...))
	if !strings.HasSuffix(key, ".zip") {
		return
	}
	files, err := archive.Unpack(key, body)
	if err != nil {
		r.Fatal(err)
	}
	for name, body := range files {
		r.trace.add("object", append([]byte(name+" "), body...))
	}
}

func (r *recorded) histories() {
	flows := sfn.NewFromConfig(r.cloud.Config())
	executions := sfn.NewListExecutionsPaginator(flows, &sfn.ListExecutionsInput{StateMachineArn: &r.cloud.Machine})
	for executions.HasMorePages() {
		page, err := executions.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		for _, e := range page.Executions {
			r.execution(flows, e.ExecutionArn)
		}
	}
}

func (r *recorded) execution(flows *sfn.Client, arn *string) {
	about, err := flows.DescribeExecution(r.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
	if err != nil {
		r.Fatal(err)
	}
	r.addJSON("history", about)
	pages := sfn.NewGetExecutionHistoryPaginator(flows, &sfn.GetExecutionHistoryInput{ExecutionArn: arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.addJSON("history", page.Events)
	}
}

// forms returns a text, and the parts of it that the base64 of a longer text would
// contain.
func forms(text string) []string {
	all := []string{text}
	for before := range 3 {
		coded := base64.StdEncoding.EncodeToString(append(make([]byte, before), text...))
		all = append(all, coded[(before*8+5)/6:(before+len(text))*8/6])
	}
	return all
}
