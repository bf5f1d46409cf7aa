package gateway_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

const signature = "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/%s/aws4_request, SignedHeaders=host, Signature=0"

func request(method, url, body, service string, header ...string) *http.Request {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	if service != "" {
		r.Header.Set("Authorization", fmt.Sprintf(signature, service))
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestIdentify(t *testing.T) {
	const form = "application/x-www-form-urlencoded; charset=utf-8"
	for _, c := range []struct {
		r    *http.Request
		want gateway.Call
	}{
		{request("POST", "/", "{}", "dynamodb", "X-Amz-Target", "DynamoDB_20120810.PutItem"), gateway.Call{Service: "dynamodb", Operation: "PutItem"}},
		{request("POST", "/", "{}", "", "X-Amz-Target", "DynamoDB_20120810.Query"), gateway.Call{Service: "dynamodb", Operation: "Query"}},
		{request("POST", "/", "{}", "", "X-Amz-Target", "AWSStepFunctions.StartExecution"), gateway.Call{Service: "states", Operation: "StartExecution"}},
		{request("POST", "/", "{}", "", "X-Amz-Target", "AWSEvents.PutEvents"), gateway.Call{Service: "events", Operation: "PutEvents"}},
		{request("POST", "/", "Action=CreateStack&StackName=x", "cloudformation", "Content-Type", form), gateway.Call{Service: "cloudformation", Operation: "CreateStack"}},
		{request("POST", "/", "Action=DescribeStacks", "", "Content-Type", form), gateway.Call{Service: "cloudformation", Operation: "DescribeStacks"}},
		{request("GET", "/?Action=GetCallerIdentity&Version=2011-06-15", "", ""), gateway.Call{Service: "sts", Operation: "GetCallerIdentity"}},
		{request("PUT", "/bucket/key?x-id=PutObject", "", "s3"), gateway.Call{Service: "s3", Operation: "PutObject"}},
		{request("PUT", "/bucket/a/b", "", "s3"), gateway.Call{Service: "s3", Operation: "PutObject"}},
		{request("PUT", "/bucket", "", "s3"), gateway.Call{Service: "s3", Operation: "CreateBucket"}},
		{request("GET", "/bucket/key?X-Amz-Credential=AKID%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", "", ""), gateway.Call{Service: "s3", Operation: "GetObject"}},
		{request("POST", "/bucket/key?uploads", "", "s3"), gateway.Call{Service: "s3", Operation: "CreateMultipartUpload"}},
		{request("PUT", "/bucket/key?uploadId=1&partNumber=1", "", "s3"), gateway.Call{Service: "s3", Operation: "UploadPart"}},
		{request("POST", "/bucket/key?uploadId=1", "", "s3"), gateway.Call{Service: "s3", Operation: "CompleteMultipartUpload"}},
		{request("GET", "/bucket/key", "", ""), gateway.Call{Service: "s3", Operation: "GetObject"}},
		{request("POST", "/2015-03-31/functions/start/invocations", "{}", ""), gateway.Call{Service: "lambda", Operation: "Invoke"}},
		{request("POST", "/projects/shop/prod/runs", "{}", "execute-api", "X-Amz-Target", "DynamoDB_20120810.PutItem"), gateway.Call{Service: "execute-api", Operation: "Invoke"}},
		{request("POST", "http://x.execute-api.localhost/runs?Action=CreateStack", "a", "", "Content-Type", form), gateway.Call{Service: "execute-api", Operation: "Invoke"}},
		{request("GET", "http://x.execute-api.localhost/runs", "", "s3"), gateway.Call{Service: "s3", Operation: "ListObjects"}},
		{request("POST", "/", "{}", "ssm", "X-Amz-Target", "AmazonSSM.GetParameter"), gateway.Call{Service: "ssm", Operation: "GetParameter"}},
	} {
		if got, err := gateway.Identify(c.r); err != nil || got != c.want {
			t.Errorf("%s %s: %v %v, want %v", c.r.Method, c.r.URL, got, err, c.want)
		}
		if body, err := io.ReadAll(c.r.Body); err != nil || strings.HasPrefix(c.r.Header.Get("Content-Type"), "application/x") && len(body) == 0 {
			t.Errorf("%s %s: the form is gone from the body: %v", c.r.Method, c.r.URL, err)
		}
	}
}

func TestCounts(t *testing.T) {
	g := gateway.New(map[string]http.Handler{"dynamodb": http.NotFoundHandler()})
	g.Record(true)
	for _, op := range []string{"PutItem", "PutItem", "Query", "TransactGetItems", "TransactWriteItems", "BatchGetItem"} {
		g.ServeHTTP(httptest.NewRecorder(), request("POST", "/", "{}", "dynamodb", "X-Amz-Target", "DynamoDB_20120810."+op))
	}
	if n := g.Calls()[gateway.Call{Service: "dynamodb", Operation: "PutItem"}]; n != 2 {
		t.Errorf("%d PutItem, want 2", n)
	}
	var mutating []string
	for _, r := range g.Recorded() {
		mutating = append(mutating, r.AccessKey+" "+r.Operation)
	}
	if got := strings.Join(mutating, ", "); got != "AKID PutItem, AKID PutItem, AKID TransactWriteItems" {
		t.Errorf("mutating: %s", got)
	}
	if g.Reset(); len(g.Calls())+len(g.Recorded()) != 0 {
		t.Error("a reset left something")
	}
}

// A refusal is sent in the protocol of the client.
func TestUnknownServiceIsNamed(t *testing.T) {
	g := gateway.New(map[string]http.Handler{"s3": http.NotFoundHandler(), "sts": http.NotFoundHandler()})
	rec := httptest.NewRecorder()
	g.ServeHTTP(rec, request("POST", "/", "Action=Publish", "sns", "Content-Type", "application/x-www-form-urlencoded"))
	var said struct {
		Error struct{ Code, Message string }
	}
	if err := xml.NewDecoder(rec.Body).Decode(&said); err != nil || said.Error.Code != "UnknownService" || !strings.Contains(said.Error.Message, "no local emulator of sns, only of s3, sts") {
		t.Errorf("%+v %v", said, err)
	}
}

// Latency passes in virtual time. A request whose client gives up ends at once.
func TestTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			switch r.URL.Path {
			case "/hang":
				<-release
			case "/panic":
				panic("oh")
			}
			w.Header().Set("X-Host", r.Host)
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
		})
		client := &http.Client{Transport: gateway.Transport{Handler: handler, Latency: func(*http.Request) time.Duration { return 20 * time.Millisecond }}}
		begin := time.Now()
		resp, err := client.Post("https://aws.test/a%2Fb?c", "text/plain", strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || string(text) != "POST /a%2Fb?c hello" || resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Host") != "aws.test" {
			t.Errorf("%d %s %v %v", resp.StatusCode, text, resp.Header, err)
		}
		if took := time.Since(begin); took != 20*time.Millisecond {
			t.Errorf("took %s, want 20 ms", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://aws.test/hang", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waited a minute got %v", err)
		}
		close(release)
		if _, err := client.Get("https://aws.test/panic"); err == nil || !strings.Contains(err.Error(), "handler panicked: oh") {
			t.Errorf("a panic gave %v", err)
		}
	})
}
