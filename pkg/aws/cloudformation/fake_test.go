package cloudformation_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	vpcID = "arn:aws:cloudformation:us-east-1:000000000000:stack/shop-vpc/0001"
	other = "arn:aws:cloudformation:us-east-1:000000000000:stack/shop-vpc/0002"
)

// wire answers the requests of the SDK's client in the Query protocol. A request
// without a prepared answer fails the test.
type wire struct {
	*testing.T
	answers map[string]func(url.Values) (status int, body string)
	forms   []url.Values
	broken  error // instead of any answer
}

func newWire(t *testing.T) *wire {
	return &wire{T: t, answers: map[string]func(url.Values) (int, string){}}
}

// Do answers a request of the client.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	w.forms = append(w.forms, form)
	if w.broken != nil {
		return nil, w.broken
	}
	answer := w.answers[form.Get("Action")]
	if answer == nil {
		w.Errorf("unexpected request %s", form.Get("Action"))
		answer = refuse(400, "InvalidAction", "")
	}
	status, text := answer(form)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: io.NopCloser(strings.NewReader(text)), Request: r,
	}, nil
}

// cloud returns the Cloud under test.
func (w *wire) cloud() *cloudformation.Cloud {
	client := cloudformation.TargetClient{Client: w.client()}
	return cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) { return client, nil }, smallTemplates{})
}

func (w *wire) client() *sdk.Client {
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://cloudformation.test"), HTTPClient: w,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret"}, nil
		}),
	})
}

// calls lists the requests in order.
func (w *wire) calls() string {
	var all []string
	for _, form := range w.forms {
		all = append(all, form.Get("Action"))
	}
	return strings.Join(all, " ")
}

// last returns the form of the last request.
func (w *wire) last() url.Values { return w.forms[len(w.forms)-1] }

// smallTemplates has one small template of every digest.
type smallTemplates struct{}

func (smallTemplates) Template(_ context.Context, digest string) ([]byte, error) {
	return []byte("template " + digest), nil
}

func (smallTemplates) URL(digest string) string {
	return "https://s3.amazonaws.com/stackwright/templates/" + digest
}

func say(body string) func(url.Values) (int, string) {
	return func(form url.Values) (int, string) {
		a := form.Get("Action")
		return 200, fmt.Sprintf("<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>", a, body)
	}
}

func refuse(status int, code, message string) func(url.Values) (int, string) {
	return func(url.Values) (int, string) {
		return status, fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>1</RequestId></ErrorResponse>", code, quote(message))
	}
}

func quote(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err)
	}
	return b.String()
}

// stacks answers with stacks, each given in XML.
func stacks(all ...string) func(url.Values) (int, string) {
	return say("<Stacks><member>" + strings.Join(all, "</member><member>") + "</member></Stacks>")
}

// stack returns a stack of shop in XML.
func stack(id, name, status string, more ...string) string {
	return fmt.Sprintf("<StackId>%s</StackId><StackName>%s</StackName><StackStatus>%s</StackStatus><CreationTime>2026-01-02T03:04:05.678Z</CreationTime>"+
		"<Tags><member><Key>stackwright:project</Key><Value>shop@prod</Value></member></Tags>%s", id, name, status, strings.Join(more, ""))
}

// task returns the task of a step on shop's vpc.
func task(v plan.Verb) action.Task {
	return action.Task{
		Run: "abc", Project: "shop@prod", Number: 7, Attempt: 1, Claimed: noon,
		Step:    plan.Step{ID: "vpc/" + string(v), Node: "vpc", Verb: v},
		Request: action.Named(action.All(nil, nil, nil, nil, nil)...).Of(v).Request,
		Node:    project.Node{Name: "vpc", Stack: "shop-vpc", Template: project.Template{Digest: "d1", Bytes: 100}, Capabilities: []string{"CAPABILITY_IAM"}},
		Want:    project.Resolved{Parameters: map[string]string{"B": "2", "A": "1"}, Tags: map[string]string{"team": "shop"}},
		Record:  plan.Record{Node: "vpc", Stack: "shop-vpc", StackID: vpcID},
	}
}

var token = action.Token("abc", "", 7, 1) // of task
