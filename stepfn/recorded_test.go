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
	"github.com/stackwright/stackwright/pkg/entry/cli/term"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
)

// spied is the stage of real adapters, with all that anybody could read of it.
type recorded struct {
	*emulators
	trace *trace
}

// trace is all that was said, by the kind of place where it stands.
type trace struct {
	mu   sync.Mutex
	said map[string]*bytes.Buffer
}

func (t *trace) note(where string, what []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said[where] == nil {
		t.said[where] = &bytes.Buffer{}
	}
	t.said[where].Write(what)
	t.said[where].WriteByte('\n')
}

// pen writes to one kind of place.
type traceWriter struct {
	*trace
	where string
}

func (p traceWriter) Write(what []byte) (int, error) {
	p.note(p.where, what)
	return len(what), nil
}

// tap records every request of the functions, and every answer.
type tap struct {
	aws.HTTPClient
	*trace
}

func (t tap) Do(r *http.Request) (*http.Response, error) {
	t.note("request", []byte(r.Method+" "+r.URL.String()))
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
	t.note(where, body)
	return io.NopCloser(bytes.NewReader(body)), from.Close()
}

// newSpied is a stage whose functions are listened to.
func newRecorded(t *testing.T) *recorded {
	heard := &trace{said: make(map[string]*bytes.Buffer)}
	r := newEmulators(t, func(o *cloud.Options) {
		o.ResolveDynamic = vault
		o.Log = traceWriter{heard, "log"}
		o.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) {
			cfg := c.Config()
			cfg.HTTPClient = tap{cfg.HTTPClient, heard}
			all := wire.New(cfg, wire.Environment{
				Table: "stackwright", Bucket: "stackwright", Account: "000000000000", Region: "us-east-1",
				StateMachine: "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright",
			}, traceWriter{heard, "log"}).Functions()
			all["listener"] = func(event json.RawMessage) error {
				heard.note("event", event)
				return nil
			}
			return lambda.InProcess(all, c.Host())
		}
	})
	s := &recorded{r, heard}
	s.listen()
	return s
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

// show records how a run and the records are shown.
func (r *recorded) show(of run.Run) {
	next := func(words ...string) string { return strings.Join(words, " ") }
	lines := traceWriter{r.trace, "line"}
	views := []interface {
		Show(run.Run) error
		End(run.Run) error
	}{
		term.NewPlain(lines, next), term.NewJSON(lines),
		&term.Live{Out: lines, Size: func() (int, int) { return 400, 100 }, Now: time.Now, Next: next},
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
		r.trace.note("value", fmt.Appendf(nil, format+format, of, r.Recorded()))
	}
}

// collect records what is kept: items, objects in all their versions, histories.
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
		r.noteJSON("table", page.Items)
	}
}

// written records what the SDK makes of an answer.
func (r *recorded) noteJSON(where string, what any) {
	body, err := json.Marshal(what)
	if err != nil {
		r.Fatal(err)
	}
	r.trace.note(where, body)
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
	r.trace.note("object", append([]byte(key+" "), body...))
	if !strings.HasSuffix(key, ".zip") {
		return
	}
	files, err := archive.Unpack(key, body)
	if err != nil {
		r.Fatal(err)
	}
	for name, body := range files {
		r.trace.note("object", append([]byte(name+" "), body...))
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
	r.noteJSON("history", about)
	pages := sfn.NewGetExecutionHistoryPaginator(flows, &sfn.GetExecutionHistoryInput{ExecutionArn: arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.noteJSON("history", page.Events)
	}
}

// forms are a text and what of it the base64 of a larger text may hold.
func forms(text string) []string {
	all := []string{text}
	for before := range 3 {
		coded := base64.StdEncoding.EncodeToString(append(make([]byte, before), text...))
		all = append(all, coded[(before*8+5)/6:(before+len(text))*8/6])
	}
	return all
}
