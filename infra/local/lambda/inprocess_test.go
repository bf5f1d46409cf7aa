package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aws "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

type in struct{ Text string }

// functions has one function of each kind, for this process and for other processes.
var functions = map[string]any{
	"echo": func(_ context.Context, i in) (in, error) { return i, nil },
	"who": func(ctx context.Context) (string, error) {
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return fmt.Sprint(lc.InvokedFunctionArn, " ", time.Until(deadline).Round(time.Second)), nil
	},
	"quiet":   func() error { return nil },
	"refuse":  func() (in, error) { return in{}, &Refused{"not today"} },
	"report":  func() error { return messages.InvokeResponse_Error{Type: "Throttled", Message: "slower"} },
	"wrapped": func() error { return fmt.Errorf("more: %w", &Refused{"not today"}) },
	"panic":   func() error { panic("at the disco") },
	"slow": func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(time.Minute)
		return nil
	},
}

func host() lambda.Host {
	return lambda.Host{Account: "000000000000", Region: "us-east-1", Timeout: func(function string) time.Duration {
		if function == "slow" {
			return time.Second
		}
		return time.Minute
	}}
}

// expectations hold for functions in this process and in other processes.
var expectations = []struct{ function, payload, answer, errorType, message string }{
	{"echo", `{"Text":"<hi>"}`, `{"Text":"<hi>"}`, "", ""},
	{"arn:aws:lambda:us-east-1:000000000000:function:echo:$LATEST", `{}`, `{"Text":""}`, "", ""},
	{"echo", `[]`, "", "UnmarshalTypeError", "json: cannot unmarshal array into Go value of type lambda_test.in"},
	{"who", `{}`, `"arn:aws:lambda:us-east-1:000000000000:function:who 1m0s"`, "", ""},
	{"quiet", `{}`, `null`, "", ""},
	{"refuse", `{}`, "", "Refused", "not today"},
	{"report", `{}`, "", "Throttled", "slower"},
	{"wrapped", `{}`, "", "wrapError", "more: not today"},
	{"panic", `{}`, "", "string", "at the disco"},
	{"slow", `{}`, "", "Sandbox.Timedout", "Task timed out after 1.00 seconds"},
}

func expect(t *testing.T, f interface {
	Invoke(context.Context, string, []byte) ([]byte, error)
}) {
	for _, e := range expectations {
		answer, err := f.Invoke(t.Context(), e.function, []byte(e.payload))
		if e.errorType == "" {
			if err != nil || strings.TrimSpace(string(answer)) != e.answer {
				t.Errorf("%s: %s %v, want %s", e.function, answer, err, e.answer)
			}
			continue
		}
		var failed interface {
			error
			ErrorType() string
		}
		if !errors.As(err, &failed) || failed.ErrorType() != e.errorType || !strings.Contains(err.Error(), e.message) {
			t.Errorf("%s: %s %v (%T), want %s: %s", e.function, answer, err, err, e.errorType, e.message)
		}
	}
	var missing *lambda.NotFound
	if _, err := f.Invoke(t.Context(), "none", nil); !errors.As(err, &missing) {
		t.Errorf("a function that is not there gave %v", err)
	}
}

func TestInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := lambda.InProcess(functions, host())
		if err != nil {
			t.Fatal(err)
		}
		expect(t, f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Invoke(t.Context(), "quiet", nil); err == nil {
			t.Error("a function ran after Close")
		}
	})
}

// A caller that no longer waits does not end the function.
func TestFunctionOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		f, err := lambda.InProcess(map[string]any{"work": func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
				ended = time.Now()
			}
			return ctx.Err()
		}}, host())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.Invoke(ctx, "work", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller got %v", err)
		}
		time.Sleep(20 * time.Second)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if ended.Sub(begin) != 10*time.Second {
			t.Errorf("the function ended at %v", ended.Sub(begin))
		}
	})
}

// Concurrent invocations get their own answers.
func TestAnswersDoNotMix(t *testing.T) {
	f, err := lambda.InProcess(functions, host())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			want := fmt.Sprintf(`{"Text":"%d"}`, i)
			if got, err := f.Invoke(t.Context(), "echo", []byte(want)); err != nil || strings.TrimSpace(string(got)) != want {
				t.Errorf("%s %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
	if _, err := lambda.InProcess(map[string]any{"x": aws.NewHandler(func() {})}, host()); err == nil {
		t.Error("a handler that mixes answers was accepted")
	}
}

// The SDK gets answers, errors of functions and missing functions as from Lambda.
func TestAPI(t *testing.T) {
	f, err := lambda.InProcess(functions, host())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	api := lambda.NewAPI(f, host())
	client := sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String("https://lambda.test"),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: api}},
	})
	ok, err := client.Invoke(t.Context(), &sdk.InvokeInput{FunctionName: awssdk.String("arn:aws:lambda:us-east-1:000000000000:function:echo"), Payload: []byte(`{"Text":"x"}`)})
	if err != nil || ok.FunctionError != nil || strings.TrimSpace(string(ok.Payload)) != `{"Text":"x"}` {
		t.Errorf("echo: %+v %v", ok, err)
	}
	bad, err := client.Invoke(t.Context(), &sdk.InvokeInput{FunctionName: awssdk.String("refuse")})
	var said struct{ ErrorType string }
	if err != nil || awssdk.ToString(bad.FunctionError) != "Unhandled" || json.Unmarshal(bad.Payload, &said) != nil || said.ErrorType != "Refused" {
		t.Errorf("refuse: %+v %v", bad, err)
	}
	var missing *types.ResourceNotFoundException
	if _, err := client.Invoke(t.Context(), &sdk.InvokeInput{FunctionName: awssdk.String("none")}); !errors.As(err, &missing) {
		t.Errorf("none: %v", err)
	}
	_, err = client.Invoke(t.Context(), &sdk.InvokeInput{FunctionName: awssdk.String("quiet"), InvocationType: types.InvocationTypeEvent})
	var invalid *types.InvalidParameterValueException
	if !errors.As(err, &invalid) {
		t.Errorf("an asynchronous invocation gave %v", err)
	}
	list, err := client.ListFunctions(t.Context(), &sdk.ListFunctionsInput{})
	if err != nil || len(list.Functions) != len(functions) {
		t.Errorf("list: %+v %v", list, err)
	}
}
