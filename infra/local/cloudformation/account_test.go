package cloudformation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// account is an account in virtual time, with the real client of the SDK and without sockets.
type account struct {
	*testing.T
	service *cloudformation.Service
	client  *cfn.Client
	options cloudformation.Options
	dir     string

	mu     sync.Mutex
	events []emitted
}

// emitted is an event that was sent to EventBridge.
type emitted struct {
	source, kind string
	resources    []string
	detail       any
	at           time.Time
}

// scenario runs a test in an account of its own.
func scenario(t *testing.T, test func(w *account)) {
	t.Helper()
	scenarioIn(t, "", cloudformation.Options{}, test)
}

func scenarioIn(t *testing.T, dir string, options cloudformation.Options, test func(w *account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &account{T: t, options: options}
		w.open(dir)
		test(w)
		if err := w.service.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func (w *account) open(dir string) {
	w.Helper()
	w.dir = dir
	o := w.options
	o.Emit = func(source, kind string, resources []string, detail any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, emitted{source, kind, resources, detail, time.Now()})
	}
	service, err := cloudformation.Open(dir, o)
	if err != nil {
		w.Fatal(err)
	}
	w.service, w.client = service, client(service)
}

func client(handler http.Handler) *cfn.Client {
	return cfn.New(cfn.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://cloudformation.local"), Retryer: aws.NopRetryer{},
		HTTPClient: inProcess{handler},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// inProcess carries a request to a handler without a socket.
type inProcess struct{ http.Handler }

func (p inProcess) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// fault sends a request about faults; want is the HTTP status.
func (w *account) fault(method, body string, want int) string {
	w.Helper()
	r := httptest.NewRequest(method, "/_faults", strings.NewReader(body))
	recorder := httptest.NewRecorder()
	w.service.ServeHTTP(recorder, r)
	if recorder.Code != want {
		w.Fatalf("%s /_faults %s: %d %s", method, body, recorder.Code, recorder.Body)
	}
	return recorder.Body.String()
}

func (w *account) create(name, template string, more ...func(*cfn.CreateStackInput)) *cfn.CreateStackOutput {
	w.Helper()
	out, err := w.tryCreate(name, template, more...)
	if err != nil {
		w.Fatalf("create %s: %v", name, err)
	}
	return out
}

func (w *account) tryCreate(name, template string, more ...func(*cfn.CreateStackInput)) (*cfn.CreateStackOutput, error) {
	in := &cfn.CreateStackInput{StackName: &name, TemplateBody: &template}
	for _, f := range more {
		f(in)
	}
	return w.client.CreateStack(w.Context(), in)
}

func (w *account) update(name, template string, more ...func(*cfn.UpdateStackInput)) *cfn.UpdateStackOutput {
	w.Helper()
	out, err := w.tryUpdate(name, template, more...)
	if err != nil {
		w.Fatalf("update %s: %v", name, err)
	}
	return out
}

func (w *account) tryUpdate(name, template string, more ...func(*cfn.UpdateStackInput)) (*cfn.UpdateStackOutput, error) {
	in := &cfn.UpdateStackInput{StackName: &name, TemplateBody: &template}
	for _, f := range more {
		f(in)
	}
	return w.client.UpdateStack(w.Context(), in)
}

func (w *account) remove(name string, more ...func(*cfn.DeleteStackInput)) {
	w.Helper()
	if err := w.tryRemove(name, more...); err != nil {
		w.Fatalf("delete %s: %v", name, err)
	}
}

func (w *account) tryRemove(name string, more ...func(*cfn.DeleteStackInput)) error {
	in := &cfn.DeleteStackInput{StackName: &name}
	for _, f := range more {
		f(in)
	}
	_, err := w.client.DeleteStack(w.Context(), in)
	return err
}

// up creates a stack and waits for it.
func (w *account) up(name, template string, more ...func(*cfn.CreateStackInput)) string {
	w.Helper()
	id := *w.create(name, template, more...).StackId
	w.wait(name, types.StackStatusCreateComplete)
	return id
}

func (w *account) stack(nameOrID string) types.Stack {
	w.Helper()
	out, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: &nameOrID})
	if err != nil {
		w.Fatalf("describe %s: %v", nameOrID, err)
	}
	return out.Stacks[0]
}

// wait waits until the current operation has ended, and checks its final status.
func (w *account) wait(nameOrID string, want types.StackStatus) types.Stack {
	w.Helper()
	id := *w.stack(nameOrID).StackId
	for range 1000 {
		if st := w.stack(id); !strings.HasSuffix(string(st.StackStatus), "_IN_PROGRESS") {
			if st.StackStatus != want {
				w.Fatalf("%s is %s (%s), not %s\n%s", nameOrID, st.StackStatus, aws.ToString(st.StackStatusReason), want, w.history(id))
			}
			return st
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.Fatalf("%s does not end", nameOrID)
	return types.Stack{}
}

func (w *account) stackEvents(nameOrID string) []types.StackEvent {
	w.Helper()
	var all []types.StackEvent
	pages := cfn.NewDescribeStackEventsPaginator(w.client, &cfn.DescribeStackEventsInput{StackName: &nameOrID})
	for pages.HasMorePages() {
		out, err := pages.NextPage(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, out.StackEvents...)
	}
	return all
}

// history returns the events of a stack, one in a line, the oldest first.
func (w *account) history(nameOrID string) string {
	w.Helper()
	var b strings.Builder
	all := w.stackEvents(nameOrID)
	for i := len(all) - 1; i >= 0; i-- {
		e := all[i]
		fmt.Fprintf(&b, "%s %s", *e.LogicalResourceId, e.ResourceStatus)
		if e.ResourceStatusReason != nil {
			b.WriteString(": " + *e.ResourceStatusReason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *account) output(name, key string) string {
	w.Helper()
	for _, o := range w.stack(name).Outputs {
		if *o.OutputKey == key {
			return aws.ToString(o.OutputValue)
		}
	}
	w.Fatalf("%s has no output %s", name, key)
	return ""
}

// refused checks the code and message of an error of CloudFormation.
func (w *account) refused(err error, code, message string) {
	w.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		w.Fatalf("not refused: %v", err)
	}
	if api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), message) {
		w.Fatalf("refused with %s: %s\nwant %s: %s", api.ErrorCode(), api.ErrorMessage(), code, message)
	}
}

// reads checks that a text has these lines.
func (w *account) reads(got, want string) {
	w.Helper()
	if got, want := strings.TrimSpace(got), strings.TrimSpace(want); got != want {
		w.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func given(values ...string) []types.Parameter {
	var all []types.Parameter
	for i := 0; i < len(values); i += 2 {
		all = append(all, types.Parameter{ParameterKey: aws.String(values[i]), ParameterValue: aws.String(values[i+1])})
	}
	return all
}

// withToken, withParameters and so on are options of create, update and remove.
func createToken(token string) func(*cfn.CreateStackInput) {
	return func(in *cfn.CreateStackInput) { in.ClientRequestToken = &token }
}

func createWith(values ...string) func(*cfn.CreateStackInput) {
	return func(in *cfn.CreateStackInput) { in.Parameters = given(values...) }
}

func updateToken(token string) func(*cfn.UpdateStackInput) {
	return func(in *cfn.UpdateStackInput) { in.ClientRequestToken = &token }
}

func updateWith(values ...string) func(*cfn.UpdateStackInput) {
	return func(in *cfn.UpdateStackInput) { in.Parameters = given(values...) }
}
