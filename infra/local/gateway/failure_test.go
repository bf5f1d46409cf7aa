package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// The SDK would retry every kind of failure of every service.
func TestTroubleIsPassing(t *testing.T) {
	var carriedOut int
	all := map[string]http.Handler{}
	for _, name := range []string{"s3", "dynamodb", "cloudformation", "states", "events", "sts", "lambda"} {
		all[name] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { carriedOut++ })
	}
	g := gateway.New(all)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String("https://aws.test"), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient: &http.Client{Transport: gateway.Transport{Handler: g}}, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	ctx := t.Context()
	calls := map[string]func() error{
		"s3": func() error {
			_, err := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }).GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
			return err
		},
		"dynamodb":       func() error { _, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, nil); return err },
		"cloudformation": func() error { _, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx, nil); return err },
		"states":         func() error { _, err := sfn.NewFromConfig(cfg).ListStateMachines(ctx, nil); return err },
		"events":         func() error { _, err := eventbridge.NewFromConfig(cfg).ListRules(ctx, nil); return err },
		"sts":            func() error { _, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil); return err },
		"lambda":         func() error { _, err := lambda.NewFromConfig(cfg).ListFunctions(ctx, nil); return err },
	}
	for service, call := range calls {
		seen := map[gateway.Failure]bool{}
		unsteady := gateway.RandomFailures(1, 1)
		g.Fail(func(q gateway.Request) *gateway.Failure {
			trouble := unsteady(q)
			seen[*trouble] = true
			return trouble
		})
		carriedOut = 0
		for range 50 {
			err := call()
			if err == nil || retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) != aws.TrueTernary {
				t.Errorf("%s: the SDK does not retry after %v", service, err)
			}
		}
		if len(seen) != 3 || carriedOut == 0 || carriedOut == 50 {
			t.Errorf("%s: seen %v, %d carried out", service, seen, carriedOut)
		}
	}
}

// The failing requests follow from the seed, and their share is the requested one.
func TestUnsteady(t *testing.T) {
	one, two, failed := gateway.RandomFailures(0.3, 7), gateway.RandomFailures(0.3, 7), 0
	for range 1000 {
		q := gateway.Request{Call: gateway.Call{Service: "s3", Operation: "GetObject"}}
		a, b := one(q), two(q)
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			t.Fatalf("%v and %v of one seed", a, b)
		}
		if a != nil {
			failed++
		}
	}
	if failed < 250 || failed > 350 {
		t.Errorf("%d of 1000 failed, want about 300", failed)
	}
}

// A failure can be chosen by the access key. Without a failure function, requests
// succeed again.
func TestFailChooses(t *testing.T) {
	g := gateway.New(map[string]http.Handler{"dynamodb": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	ask := func() int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, request("POST", "/", "{}", "dynamodb", "X-Amz-Target", "DynamoDB_20120810.PutItem"))
		return w.Code
	}
	g.Fail(func(q gateway.Request) *gateway.Failure {
		if q.AccessKey == "AKID" && q.Operation == "PutItem" {
			return &gateway.Failure{Status: http.StatusInternalServerError, Fault: gateway.Fault{Code: "InternalServerError"}}
		}
		return nil
	})
	if got := ask(); got != http.StatusInternalServerError {
		t.Errorf("answered %d", got)
	}
	g.Fail(nil)
	if got := ask(); got != http.StatusOK {
		t.Errorf("answered %d when nothing was to fail", got)
	}
}
