package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/cloud"
)

// An installed is an installation that the local emulators run from a template.
type installed struct {
	*testing.T
	blueprint blueprint
	cloud     *cloud.Cloud
	url       string
	calls     sync.Map // of functions, by name: *atomic.Int64
	roles     map[string]role
}

// installs carries out the template with the real functions, built for this
// machine.
func installs(t *testing.T) *installed {
	t.Helper()
	code, out := t.TempDir(), t.TempDir()
	for name := range sizes {
		build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", filepath.Join(code, name, "bootstrap"), "./functions/"+name)
		build.Dir = "../.."
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", build, err, said)
		}
	}
	if err := synthesize(filepath.Join(out, "cdk.out"), map[string]any{"code": code, "projects": "*@*", "executionPolicies": "PowerUserAccess", "notify": "reports;report=html", "organization": "o-localhome0"}); err != nil {
		t.Fatal(err)
	}
	i := &installed{T: t, blueprint: readBlueprint(t, out)}
	i.roles = i.blueprint.roles(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.permitted(r)
		i.cloud.ServeHTTP(w, r)
	}))
	i.url = server.URL
	i.open()
	t.Cleanup(func() {
		if err := i.cloud.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return i
}

// open creates the resources of the template.
func (i *installed) open() {
	i.Helper()
	b := i.blueprint
	makes := b.functions(i.url)
	var err error
	i.cloud, err = cloud.Open(i.Context(), cloud.Options{
		Account: account, Region: region, Seconds: 1, Getenv: func(string) string { return "" }, Log: i.Output(),
		Bucket: b.bucket(), Table: b.name(b.only("AWS::DynamoDB::Table")), Group: b.name(b.only("AWS::Scheduler::ScheduleGroup")),
		StateMachine: b.name(b.only("AWS::StepFunctions::StateMachine")), Definition: b.definition(),
		Rules: b.rules(), Routes: b.routes(),
		Functions: func(c *cloud.Cloud) (cloud.Invoker, error) {
			functions, err := makes(c)
			return &counted{functions, i}, err
		},
	})
	if err != nil {
		i.Fatal(err)
	}
}

// A counted counts the calls of functions.
type counted struct {
	cloud.Invoker
	by *installed
}

// Invoke is cloud.Invoker.
func (c *counted) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	c.by.count(function[strings.LastIndexByte(function, ':')+1:]).Add(1)
	return c.Invoker.Invoke(ctx, function, payload)
}

func (i *installed) count(function string) *atomic.Int64 {
	n, _ := i.calls.LoadOrStore(function, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// upload puts a configuration where it starts a run. Its metadata is what the command
// line writes there.
func (i *installed) upload(configuration string) {
	i.Helper()
	var body bytes.Buffer
	w := zip.NewWriter(&body)
	f, err := w.Create("stackwright.yaml")
	if err == nil {
		_, err = io.WriteString(f, configuration)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		client := s3.NewFromConfig(i.cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
		_, err = client.PutObject(i.Context(), &s3.PutObjectInput{
			Bucket: aws.String(i.blueprint.bucket()), Key: aws.String("projects/pair/default.zip"), Body: bytes.NewReader(body.Bytes()),
			Metadata: map[string]string{"who": developer},
		})
	}
	if err != nil {
		i.Fatal(err)
	}
}

// developer is who uploads configurations.
const developer = "arn:aws:sts::" + account + ":assumed-role/developer/ann"

// A found is a run as the API returns it.
type found struct {
	Run, Operation, State, Who, Claim, Requester string
}

// ask sends a request to the API, and reads the answer.
func (i *installed) ask(method, path, body string, into any) {
	i.Helper()
	r, err := http.NewRequestWithContext(i.Context(), method, i.url+path, strings.NewReader(body))
	if err != nil {
		i.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/"+region+"/execute-api/aws4_request, SignedHeaders=host, Signature=0")
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		i.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		i.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// until waits for a run of an operation that is not yet known, and for its state.
func (i *installed) until(known map[string]bool, operation, state string) found {
	i.Helper()
	patience := time.After(10 * time.Minute)
	for {
		var list struct{ Runs []found }
		var all struct{ Projects []string }
		if i.ask(http.MethodGet, "/projects", "", &all); len(all.Projects) > 0 { // an upload takes a moment to become its first run
			i.ask(http.MethodGet, "/projects/pair/default/runs", "", &list)
		}
		for _, r := range list.Runs {
			if !known[r.Run] && r.Operation == operation && r.State == state {
				known[r.Run] = true
				return r
			}
		}
		select {
		case <-patience:
			i.Fatalf("no %s is ever %s: %v", operation, state, list.Runs)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// pair is a project of two stacks, of which the second needs an output of the
// first. There may be schedules, too.
func pair(size, schedules string) string {
	return `project: pair
` + schedules + `stacks:
  first:
    parameters: { Size: "` + size + `" }
    template:
      Parameters: { Size: { Type: String } }
      Resources: { Topic: { Type: AWS::SNS::Topic, Properties: { DisplayName: !Ref Size } } }
      Outputs: { Name: { Value: !GetAtt Topic.TopicName } }
  second:
    parameters: { Name: "${first.Name}" }
    template:
      Parameters: { Name: { Type: String } }
      Resources: { Topic: { Type: AWS::SNS::Topic, Properties: { DisplayName: !Ref Name } } }
`
}

// What the template says is what runs: its functions with their environments,
// its state machine, its rules, its schedule group and its routes carry an upload
// to its outputs, wake a run by an event, take up one whose execution is stopped,
// and start runs by a schedule and by the API. No function does on the way what
// its role does not allow.
func TestTemplateRuns(t *testing.T) {
	i, known := installs(t), make(map[string]bool)

	i.upload(pair("small", ""))
	if r := i.until(known, "deploy", "succeeded"); r.Who != "unknown principal of account "+account || r.Claim != developer || r.Requester != account {
		t.Errorf("the upload was requested by %q, who says that it is %q, of account %q", r.Who, r.Claim, r.Requester)
	}
	if n := i.count("stackwright-stack-event").Load(); n < 2 {
		t.Errorf("%d events woke the run, of two stacks", n)
	}

	if made, given := i.stack("pair-first").Outputs[0].OutputValue, i.stack("pair-second").Parameters[0].ParameterValue; *made != *given {
		t.Errorf("the second stack was given %s, and the first made %s", *given, *made)
	}

	i.upload(pair("large", ""))
	i.stop(i.until(map[string]bool{}, "deploy", "running").Run)
	i.until(known, "deploy", "succeeded")

	soon := time.Now().Add(4 * time.Second).UTC().Format("2006-01-02T15:04:05")
	i.upload(pair("large", "schedules:\n  hourly: { operation: refresh, once: "+soon+" }\n"))
	i.until(known, "deploy", "succeeded")
	if r := i.until(known, "refresh", "succeeded"); r.Who != "schedule hourly" {
		t.Errorf("the refresh was requested by %q", r.Who)
	}

	var requested found
	i.ask(http.MethodPost, "/projects/pair/default/runs", `{"operation":"destroy"}`, &requested)
	if r := i.until(known, "destroy", "succeeded"); r.Run != requested.Run {
		t.Errorf("run %s, want the requested run %s", r.Run, requested.Run)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if i.count(title(name)+" requests").Load() == 0 {
			t.Errorf("%s has made no request that its role must allow", name)
		}
	}
	if dead := i.cloud.Bus.DeadLetters(); len(dead) > 0 {
		t.Errorf("events were not processed: %v", dead)
	}
}

// stack is a stack as CloudFormation describes it.
func (i *installed) stack(name string) types.Stack {
	i.Helper()
	out, err := cloudformation.NewFromConfig(i.cloud.Config()).DescribeStacks(i.Context(), &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		i.Fatal(err)
	}
	return out.Stacks[0]
}

// stop stops the execution of a run.
func (i *installed) stop(run string) {
	i.Helper()
	machine := "arn:aws:states:" + region + ":" + account + ":execution:" + i.blueprint.name(i.blueprint.only("AWS::StepFunctions::StateMachine"))
	_, err := sfn.NewFromConfig(i.cloud.Config()).StopExecution(i.Context(), &sfn.StopExecutionInput{ExecutionArn: aws.String(machine + ":" + run + "-1")})
	if err != nil {
		i.Fatal(err)
	}
}
