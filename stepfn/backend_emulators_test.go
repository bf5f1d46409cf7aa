package stepfn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	flowtypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
	"github.com/stackwright/stackwright/stepfn"
)

// emulators is the backend in which the real functions and adapters run on the
// emulators.
type emulators struct {
	testing.TB
	cloud       *cloud.Cloud
	store       *table.Table // bypasses the gateway, which counts calls
	bucket      *s3.Client
	outside     *cloudformation.Client // of a user who works without Stackwright; it bypasses the gateway
	requested   []string               // IDs of runs
	crash       func(function string) sim.Fault
	seen        map[string]bool                        // tokens that Requests has returned
	events      func() []time.Duration                 // the delays of an event of CloudFormation; one delivery each
	uploads     []time.Duration                        // the delays of the event of the next upload; the usual one if empty
	eventsLost  bool                                   // no event reports that an execution failed
	steady      bool                                   // no faults are injected any more
	outageUntil time.Time                              // until when CloudFormation cannot be reached
	failing     func(gateway.Request) *gateway.Failure // the requests that fail in a random scenario, but for those to Organizations
	keys        map[string]string                      // more keys of every project file

	project       string          // whose requests are sent
	environment   string          // of that project
	environments  []string        // of project files, besides default
	noProjectFile bool            // uploads have only their templates
	denied        map[string]bool // targets whose role nobody may assume
	registered    map[string]bool // targets that are registered
	closed        map[string]bool // accounts that have been in the organization, and whether they are closed
	speedup       time.Duration   // the time in the scenario divided by the time that passes; 1 in virtual time
	count         int
	hookLog       hookLog
}

// crashing are functions that may crash.
type crashing struct {
	*lambda.Functions
	backend *emulators
}

// errKilled is the error of a function whose machine failed. It is an error of Lambda.
var errKilled = errors.New("the function was killed")

func (m crashing) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	crash := sim.None
	if lambda.Name(function) == hookFunction {
		crash = m.backend.hookLog.fault(payload)
	} else if m.backend.crash != nil {
		crash = m.backend.crash(function)
	}
	if crash == sim.KillBefore {
		return nil, errKilled
	}
	out, err := m.Functions.Invoke(ctx, function, payload)
	if crash == sim.KillAfter || crash == sim.Lose {
		return nil, errKilled
	}
	return out, err
}

// processes returns functions of which the one that polls has three processes, called in
// turn. What one of them knows about a run is older than what another one has written. One
// of so many calls is by a new process.
func processes(begin func() map[string]any) map[string]any {
	const name, newProcess = "wait-status", 17
	type function = func(context.Context, engine.PollInput) (struct{}, error)
	var (
		mu    sync.Mutex
		calls int
		of    [3]function
	)
	functions := begin()
	functions[name] = func(ctx context.Context, in engine.PollInput) (struct{}, error) {
		mu.Lock()
		calls++
		at := &of[calls%len(of)]
		if *at == nil || calls%newProcess == 0 {
			*at = begin()[name].(function)
		}
		poll := *at
		mu.Unlock()
		return poll(ctx, in)
	}
	return functions
}

// installation identifies the installation: the ARN of its state machine.
const installation = "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright"

// scheduleGroup is the group of the schedules of the installation.
var scheduleGroup = schedules.Group{Name: "stackwright", Function: arn("start"), Role: "arn:aws:iam::000000000000:role/stackwright-schedule"}

// functionKey is the access key of the functions. Requests of the test itself have
// another key.
const functionKey = "functions"

const operationSeconds = 10 // that an operation of CloudFormation takes, as in memory

func newEmulators(t testing.TB, with ...func(*cloud.Options)) *emulators {
	return newEmulatorsWithLimits(t, budget.CloudFormation(), with...)
}

// newEmulatorsWithLimits does the same with other limits of requests to CloudFormation.
func newEmulatorsWithLimits(t testing.TB, limits budget.Limits, with ...func(*cloud.Options)) *emulators {
	r := &emulators{TB: t, seen: make(map[string]bool), denied: make(map[string]bool), registered: make(map[string]bool), closed: make(map[string]bool), speedup: 1, project: "shop", environment: "default"}
	r.hookLog.fail, r.hookLog.slow, r.hookLog.faults = make(map[string]int), make(map[string]time.Duration), make(map[string]sim.Fault)
	r.Events(200 * time.Millisecond)
	definition, err := asl.Substitute(stepfn.Run, map[string]string{
		"Plan": arn("plan"), "ExecuteStep": arn("execute-step"), "WaitStatus": arn("wait-status"),
	})
	if err != nil {
		t.Fatal(err)
	}
	options := cloud.Options{
		Seconds: operationSeconds, Seed: 1, Bucket: "stackwright", Table: "stackwright", StateMachine: "stackwright", Group: "stackwright", Definition: definition,
		Functions: func(c *cloud.Cloud) (cloud.Invoker, error) {
			env := wire.Environment{
				Table: "stackwright", Bucket: "stackwright", Account: "000000000000", Region: "us-east-1", Stack: "stackwright",
				StateMachine: installation, Schedules: scheduleGroup, Limits: limits, Projects: project.Grants{"*@*"}, Suspend: project.Grants{"*@*"}, Assets: project.Grants{"*@*"}, Backups: project.Grants{"*@*"}, Vault: backupVault, Organization: "own", Organizations: wire.Organization, Hooks: append(hook.Allowed(slices.Sorted(maps.Values(hookCalls))), hookSecret),
				Secrets: &r.hookLog, Webhooks: &r.hookLog,
			}
			cfg := c.Config()
			cfg.Credentials = credentials.NewStaticCredentialsProvider(functionKey, "secret", "")
			all := processes(func() map[string]any { return wire.New(cfg, env, io.Discard).Functions(policy.Checker{}) })
			maps.Copy(all, r.hookLog.functions())
			functions, err := lambda.InProcess(all, c.Host())
			return crashing{functions, r}, err
		},
		Disturb: func(e events.Event, _ string) []time.Duration {
			switch late := r.uploads; {
			case e.Source == "aws.cloudformation":
				return r.events()
			case e.Source == "aws.states" && r.eventsLost:
				return nil
			case e.Source == "aws.s3" && late != nil:
				r.uploads = nil
				return late
			}
			return []time.Duration{100 * time.Millisecond}
		},
		Seen: func(e events.Event) {
			var m hook.Message
			if e.Source == hook.EventSource && json.Unmarshal(e.Detail, &m) == nil {
				r.hookLog.record(m)
			}
		},
		Trust:  r.trust,
		Getenv: func(string) string { return "" },
	}
	for _, change := range with {
		change(&options)
	}
	if r.cloud, err = cloud.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	r.store = table.New(dynamodb.NewFromConfig(r.direct(r.cloud.Tables)), "stackwright")
	r.bucket = s3.NewFromConfig(r.retrying(), func(o *s3.Options) { o.UsePathStyle = true })
	r.outside = cloudformation.NewFromConfig(r.direct(r.cloud.Stacks))
	return r
}

// retrying is a configuration for all services. Its clients retry a request until it
// succeeds.
func (r *emulators) retrying() aws.Config {
	cfg := r.cloud.Config()
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.RateLimiter = 0, ratelimit.None })
	}
	return cfg
}

// direct is a configuration for a service that bypasses the gateway: no fault is
// injected into its requests, and they are not counted.
func (r *emulators) direct(service http.Handler) aws.Config {
	cfg := r.cloud.Config()
	cfg.HTTPClient = &http.Client{Transport: gateway.Transport{Handler: service}}
	cfg.Credentials = aws.AnonymousCredentials{}
	return cfg
}

func (r *emulators) Pass(d time.Duration) {
	time.Sleep(d / r.speedup)
	if r.speedup == 1 {
		synctest.Wait()
	}
}

// WaitIdle waits until every run has ended, waits for a person, or is queued behind a
// run that does, and until every late event has arrived. It checks again only if
// something was written in the meantime.
func (r *emulators) WaitIdle() bool {
	if r.speedup > 1 {
		return r.idleInRealTime()
	}
	r.Pass(5 * time.Second)
	checked := -1
	for end := time.Now().Add(10 * 24 * time.Hour); time.Now().Before(end); r.Pass(20 * time.Second) {
		written := r.cloud.Gateway.Calls()[gateway.Call{Service: "dynamodb", Operation: "TransactWriteItems"}]
		if written == checked {
			continue
		}
		checked = written
		r.requested = slices.DeleteFunc(r.requested, func(id string) bool { return r.run(id).State != "" })
		if len(r.requested) == 0 && r.allWait() {
			r.Pass(70 * time.Second)
			if r.allWait() {
				return true
			}
		}
	}
	return false
}

// all lists the runs of the project.
func (r *emulators) all() []run.Run {
	listed, err := r.store.List(r.Context(), r.id(), 0)
	if err != nil {
		r.Fatal(err)
	}
	var all []run.Run
	for _, one := range listed {
		all = append(all, r.run(one.ID))
	}
	return all
}

// allWait reports whether no open run can continue without a person.
func (r *emulators) allWait() bool {
	open, err := r.store.Open(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return !slices.ContainsFunc(open, func(id string) bool {
		s := r.run(id)
		if s.State == run.StateQueued && !s.Command.Stops() {
			s = r.run(r.lockOf(s.Project).Owner.Run)
		}
		return s.State != run.StateWaiting || s.Generation > s.ObservedGeneration
	})
}

// run reads a run without its steps; zero if it does not exist yet.
func (r *emulators) run(id string) run.Run {
	got, err := r.store.Run(r.Context(), id)
	if err != nil && !fault.Is(err, fault.Missing) {
		r.Fatal(err)
	}
	return got
}

func (r *emulators) ExecutionStatus(id string) run.Run {
	if id == "" {
		return run.Run{}
	}
	got, err := r.store.Load(r.Context(), id)
	if err != nil && !fault.Is(err, fault.Missing) {
		r.Fatal(err)
	}
	return got
}

func (r *emulators) Lock() run.Lock { return r.lockOf(r.id()) }

func (r *emulators) lockOf(project string) run.Lock {
	l, err := r.store.Lock(r.Context(), project)
	if err != nil {
		r.Fatal(err)
	}
	return l
}

func (r *emulators) Path(id string) [][]string {
	var all [][]string
	flows := sfn.NewFromConfig(r.retrying())
	for epoch := range r.ExecutionStatus(id).Epoch {
		arn := fmt.Sprintf("%s:%s-%d", strings.Replace(r.cloud.Machine, ":stateMachine:", ":execution:", 1), id, epoch+1)
		var entered []string
		pages := sfn.NewGetExecutionHistoryPaginator(flows, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn})
		for pages.HasMorePages() {
			page, err := pages.NextPage(r.Context())
			if absent := (*flowtypes.ExecutionDoesNotExist)(nil); errors.As(err, &absent) {
				break
			} else if err != nil {
				r.Fatal(err)
			}
			for _, e := range page.Events {
				if e.StateEnteredEventDetails != nil {
					entered = append(entered, aws.ToString(e.StateEnteredEventDetails.Name))
				}
			}
		}
		if entered != nil {
			all = append(all, entered)
		}
	}
	return all
}

// Abort stops the execution of a run, if there is one: between raising the epoch and
// starting the next execution, a run has none.
func (r *emulators) Abort(id string) {
	name := fmt.Sprintf("%s-%d", id, r.ExecutionStatus(id).Epoch)
	arn := strings.Replace(r.cloud.Machine, ":stateMachine:", ":execution:", 1) + ":" + name
	_, err := sfn.NewFromConfig(r.retrying()).StopExecution(r.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn})
	if absent := (*flowtypes.ExecutionDoesNotExist)(nil); err != nil && !errors.As(err, &absent) {
		r.Fatal(err)
	}
}

// Outage lets every request to CloudFormation fail, as if the network were down.
func (r *emulators) Outage(d time.Duration) {
	end := time.Now().Add(d / r.speedup)
	r.cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if q.Service != "cloudformation" || !time.Now().Before(end) {
			return nil
		}
		return &gateway.Failure{Status: http.StatusServiceUnavailable, Fault: gateway.Fault{Code: "ServiceUnavailable", Message: "no route"}}
	})
}

func (r *emulators) Recorded() map[string]plan.Record {
	records, err := r.store.Records(r.Context(), r.id())
	if err != nil {
		r.Fatal(err)
	}
	return records
}
