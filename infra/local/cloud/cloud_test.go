package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

const (
	machine = `{"StartAt":"Greet","States":{"Greet":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
		"Parameters":{"FunctionName":"greet","Payload":{"name.$":"$.name"}},"ResultSelector":{"said.$":"$.Payload.said"},"End":true}}}`
	template = `{"Resources":{"Topic":{"Type":"AWS::SNS::Topic"}},"Outputs":{"Name":{"Value":{"Ref":"AWS::StackName"}}}}`
)

// invocations records what functions were called with.
type invocations struct {
	mu   sync.Mutex
	list []string
}

func (h *invocations) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, fmt.Sprintf(format, args...))
}

func (h *invocations) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.list, "; ")
}

type event struct {
	DetailType string `json:"detail-type"`
	Detail     struct {
		Object        struct{ Key string }
		StatusDetails struct{ Status string } `json:"status-details"`
		Token         string                  `json:"client-request-token"`
	}
}

type greeting struct {
	Name string `json:"name"`
}

func (h *invocations) functions() map[string]any {
	return map[string]any{
		"greet": func(_ context.Context, g greeting) (map[string]string, error) {
			return map[string]string{"said": "hello " + g.Name}, nil
		},
		"start": func(_ context.Context, e event) error { h.say("start %s", e.Detail.Object.Key); return nil },
		"stack-event": func(_ context.Context, e event) error {
			h.say("stack %s %s", e.Detail.Token, e.Detail.StatusDetails.Status)
			return nil
		},
	}
}

func options(data string, h *invocations) cloud.Options {
	return cloud.Options{
		Data: data, Bucket: "stackwright", Table: "stackwright", StateMachine: "stackwright", Definition: []byte(machine),
		Functions: func(c *cloud.Cloud) (cloud.Invoker, error) { return lambda.InProcess(h.functions(), c.Host()) },
		Getenv:    func(string) string { return "" },
	}
}

func open(t *testing.T, opts cloud.Options) *cloud.Cloud {
	t.Helper()
	c, err := cloud.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, c *cloud.Cloud, key, content string) {
	t.Helper()
	_, err := s3.NewFromConfig(c.Config()).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("stackwright"), Key: &key, Body: strings.NewReader(content)})
	if err != nil {
		t.Fatal(err)
	}
}

// An upload calls the function start. The start and the final status of an operation call stack-event if the token is
// ours.
func TestEventsReachTheFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &invocations{}
		c := open(t, options("", h))
		put(t, c, "projects/shop/prod.zip", "zip")
		synctest.Wait()
		put(t, c, "revisions/1", "not of interest")
		put(t, c, "requests/shop/prod/1.json", "{}")
		synctest.Wait()
		stacks := cloudformation.NewFromConfig(c.Config())
		for _, token := range []string{"sw-run-1-1", "mine"} {
			_, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: aws.String("s" + token), TemplateBody: aws.String(template), ClientRequestToken: &token})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		want := "start projects/shop/prod.zip; start requests/shop/prod/1.json; stack sw-run-1-1 CREATE_IN_PROGRESS; stack sw-run-1-1 CREATE_COMPLETE"
		if h.String() != want {
			t.Errorf("functions were called with %s, want %s", h, want)
		}
		if n := c.Gateway.Calls()[gateway.Call{Service: "cloudformation", Operation: "CreateStack"}]; n != 2 {
			t.Errorf("counted %d CreateStack, want 2", n)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The cloud runs the given state machine with the given functions.
func TestMachineCallsFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, options("", &invocations{}))
		flows := sfn.NewFromConfig(c.Config())
		execution, err := flows.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: &c.Machine, Name: aws.String("a"), Input: aws.String(`{"name":"you"}`)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		out, err := flows.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: execution.ExecutionArn})
		if err != nil || out.Status != "SUCCEEDED" || aws.ToString(out.Output) != `{"said":"hello you"}` {
			t.Errorf("execution %+v %v", out, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// If AWS_ENDPOINT_URL_<SERVICE> is set, the client of that service uses it. All other clients use the emulators.
func TestEndpointsOfOthersWin(t *testing.T) {
	calls := map[string]func(context.Context, aws.Config) error{
		"S3": func(ctx context.Context, cfg aws.Config) error {
			_, err := s3.NewFromConfig(cfg).ListBuckets(ctx, nil)
			return err
		},
		"DYNAMODB": func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, nil)
			return err
		},
		"CLOUDFORMATION": func(ctx context.Context, cfg aws.Config) error {
			_, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx, nil)
			return err
		},
		"SFN": func(ctx context.Context, cfg aws.Config) error {
			_, err := sfn.NewFromConfig(cfg).ListStateMachines(ctx, nil)
			return err
		},
		"EVENTBRIDGE": func(ctx context.Context, cfg aws.Config) error {
			_, err := eventbridge.NewFromConfig(cfg).ListRules(ctx, nil)
			return err
		},
		"STS": func(ctx context.Context, cfg aws.Config) error {
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
			return err
		},
		"SCHEDULER": func(ctx context.Context, cfg aws.Config) error {
			_, err := scheduler.NewFromConfig(cfg).ListSchedules(ctx, nil)
			return err
		},
		"LAMBDA": func(ctx context.Context, cfg aws.Config) error {
			_, err := awslambda.NewFromConfig(cfg).ListFunctions(ctx, nil)
			return err
		},
	}
	for service := range calls {
		t.Run(service, func(t *testing.T) {
			var services []string
			other := open(t, cloud.Options{Getenv: func(string) string { return "" }})
			defer other.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, name, _ := gateway.Scope(r)
				services = append(services, name)
				other.ServeHTTP(w, r)
			}))
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL_"+service, server.URL)
			t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1") // only those of one service count
			t.Setenv("AWS_CA_BUNDLE", "")
			c := open(t, cloud.Options{})
			defer c.Close()
			services = nil
			for name, call := range calls {
				if err := call(t.Context(), c.Config()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(services) != 1 {
				t.Errorf("the other endpoint was called for %v, want %s only", services, service)
			}
		})
	}
}

// Functions in processes of their own get the endpoint of each service that functions use.
func TestFunctionsGetEndpointsOfOthers(t *testing.T) {
	env := map[string]string{}
	for _, service := range []string{
		"AUTO_SCALING", "CLOUDFORMATION", "CLOUDWATCH", "DYNAMODB", "EC2", "ECR", "ECS", "EVENTBRIDGE", "LAMBDA", "ORGANIZATIONS", "RDS", "REDSHIFT", "S3", "SAGEMAKER", "SCHEDULER", "SECRETS_MANAGER", "SFN", "SNS", "SSM", "STS",
	} {
		env["AWS_ENDPOINT_URL_"+service] = "http://127.0.0.1:1/" + service
	}
	c := open(t, cloud.Options{Rules: []cloud.Rule{}, Getenv: func(name string) string { return env[name] }})
	defer c.Close()
	has := c.Environ("http://127.0.0.1:2")
	for name, url := range env {
		if !slices.Contains(has, name+"="+url) {
			t.Errorf("a function does not get %s", name)
		}
	}
}

// A restart keeps everything, and continues what was in progress.
func TestCloudOutlivesTheProcess(t *testing.T) {
	data, h := t.TempDir(), &invocations{}
	opts := options(data, h)
	opts.Seconds = 0.2
	c := open(t, opts)
	put(t, c, "projects/shop/prod.zip", "zip")
	_, err := dynamodb.NewFromConfig(c.Config()).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("stackwright"), Item: map[string]dynamotypes.AttributeValue{
		"PK": &dynamotypes.AttributeValueMemberS{Value: "a"}, "SK": &dynamotypes.AttributeValueMemberS{Value: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = cloudformation.NewFromConfig(c.Config()).CreateStack(t.Context(), &cloudformation.CreateStackInput{
		StackName: aws.String("shop"), TemplateBody: aws.String(template), ClientRequestToken: aws.String("sw-1")})
	if err != nil {
		t.Fatal(err)
	}
	first := c.Machine
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	c = open(t, opts)
	defer c.Close()
	if c.Machine != first {
		t.Errorf("machine %s became %s", first, c.Machine)
	}
	out, err := s3.NewFromConfig(c.Config()).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("stackwright"), Key: aws.String("projects/shop/prod.zip")})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(out.Body); err != nil || string(content) != "zip" {
		t.Errorf("object %q %v", content, err)
	}
	scan, err := dynamodb.NewFromConfig(c.Config()).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("stackwright")})
	if err != nil || scan.Count != 1 || scan.ScannedCount != 1 {
		t.Errorf("items %+v %v", scan, err)
	}
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(h.String(), "stack sw-1 CREATE_COMPLETE"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a stack that was started before the restart did not end after it; functions were called with %s", h)
		}
	}
}

// A request for an unknown service is refused in the protocol of the client. The error lists the known services.
func TestUnknownService(t *testing.T) {
	c := open(t, cloud.Options{})
	defer c.Close()
	server := httptest.NewServer(c)
	defer server.Close()
	r, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "AmazonSNS.Publish")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || resp.StatusCode != http.StatusBadRequest || said.Type != "UnknownService" || !strings.Contains(said.Message, "cloudformation, dynamodb, ec2, ecr, ecs, events") {
		t.Errorf("%d %+v %v", resp.StatusCode, said, err)
	}
}

// An unsigned request, as curl sends it, sets faults.
func TestUnsignedRequestsSetFaults(t *testing.T) {
	c := open(t, cloud.Options{})
	defer c.Close()
	server := httptest.NewServer(c)
	defer server.Close()
	resp, err := http.Post(server.URL+"/_faults", "application/x-www-form-urlencoded", strings.NewReader(`{"stack": "shop-*", "operation": "update", "times": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var said struct{ Faults []struct{ Stack string } }
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || len(said.Faults) != 1 || said.Faults[0].Stack != "shop-*" {
		t.Errorf("%s: in force is %+v; %v", resp.Status, said.Faults, err)
	}
}
