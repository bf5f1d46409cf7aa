package stepfn_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	flowtypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/infra/local/cloud"
	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/action"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/lib/asl"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
	"github.com/stackwright/stackwright/stepfn"
)

// real is the stage of real adapters.
type emulators struct {
	testing.TB
	cloud       *cloud.Cloud
	store       *table.Table // past the gateway: nobody counts what is looked at
	bucket      *s3.Client
	outside     *cloudformation.Client // past the gateway too
	requested   []string               // runs
	crash       func(function string) sim.Fault
	seen        map[string]bool        // calls that Asked has told
	events      func() []time.Duration // how late those of CloudFormation are
	uploads     []time.Duration        // how late the next upload's event is; as ever if there are none
	eventsLost  bool                   // nobody is told of executions that fail
	steady      bool                   // nothing goes wrong any more
	outageUntil time.Time              // until when CloudFormation cannot be reached
	keys        map[string]string      // what every project file says besides, by key
	denied      map[string]bool        // targets whose role cannot be assumed
	registered  map[string]bool        // targets that are registered
	speedup     time.Duration          // how much longer what a story tells of takes in the story; 1 in a bubble
	count       int
}

// mortals are functions that die when they are told to.
type crashing struct {
	*lambda.Functions
	real *emulators
}

// errDied is what Lambda says of a function that had not answered when its time was over.
var errTimedOut = &lambda.FunctionError{Type: "Sandbox.Timedout", Message: "the function died"}

func (m crashing) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	mishap := sim.None
	if m.real.crash != nil {
		mishap = m.real.crash(function)
	}
	if mishap == sim.KillBefore {
		return nil, errTimedOut
	}
	out, err := m.Functions.Invoke(ctx, function, payload)
	if mishap == sim.KillAfter {
		return nil, errTimedOut
	}
	return out, err
}

// installation is what the installation is known by: its state machine's ARN.
const installation = "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright"

// scheduled is where its schedules are.
var scheduleGroup = schedules.Group{Name: "stackwright", Function: arn("start"), Role: "arn:aws:iam::000000000000:role/stackwright-schedule"}

// theirKey is the access key that the functions sign with, and the test does not.
const functionKey = "functions"

const operationSeconds = 10 // what an operation takes, as in the world in memory

func newEmulators(t testing.TB, with ...func(*cloud.Options)) *emulators {
	r := &emulators{TB: t, seen: make(map[string]bool), denied: make(map[string]bool), registered: make(map[string]bool), speedup: 1}
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
				StateMachine: installation, Schedules: scheduleGroup,
			}
			cfg := c.Config()
			cfg.Credentials = credentials.NewStaticCredentialsProvider(functionKey, "secret", "")
			functions, err := lambda.InProcess(wire.New(cfg, env, io.Discard).Functions(), c.Host())
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

// patient leads to all services, as a person comes to them who tries until it works.
func (r *emulators) retrying() aws.Config {
	cfg := r.cloud.Config()
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.RateLimiter = 0, ratelimit.None })
	}
	return cfg
}

// past leads to a service past the gateway, where nothing goes wrong on the way.
func (r *emulators) direct(service http.Handler) aws.Config {
	cfg := r.cloud.Config()
	cfg.HTTPClient = &http.Client{Transport: gateway.Transport{Handler: service}}
	cfg.Credentials = aws.AnonymousCredentials{}
	return cfg
}

// Ask uploads, or puts a request object.
func (r *emulators) Submit(operation string, w stacks, of string, with ...options) string {
	if operation == "deploy" && len(with) == 0 {
		key := "projects/shop/default.zip"
		id := engine.RunID("stackwright", key, r.upload(key, w))
		r.requested = append(r.requested, id)
		return id
	}
	request, about := map[string]any{"operation": operation}, map[string]any{}
	for _, o := range with {
		about["only"] = o.only
		about["rollback"], about["refuse"], about["force"] = o.rollback, o.refuse, o.force
		if o.deletions != nil {
			about["max_deletions"] = *o.deletions
		}
	}
	switch operation {
	case "deploy", "plan":
		key := fmt.Sprintf("revisions/shop/default/%d.zip", r.next())
		request["key"], request["version"] = key, r.upload(key, w)
	case "retry", "pause", "continue", "cancel":
		about["run"] = of
	case "unlock":
		about["run"], about["reason"], about["who"] = of, "it is stuck", "somebody"
	}
	request["options"] = about
	body, err := json.Marshal(request)
	if err != nil {
		r.Fatal(err)
	}
	key := fmt.Sprintf("requests/shop/default/%d.json", r.next())
	id := engine.RunID("stackwright", key, r.put(key, body))
	if !slices.Contains([]string{"pause", "continue", "cancel", "unlock"}, operation) {
		r.requested = append(r.requested, id)
	}
	return id
}

func (r *emulators) MaxDeletions(deletions int) { r.setKey("max_deletions", fmt.Sprint(deletions)) }

func (r *emulators) OnFailure(word string) { r.setKey("on_failure", word) }

// Schedules say when they come up in the far future: stories have them come up.
func (r *emulators) Schedules(operations map[string]string) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		all = append(all, fmt.Sprintf("%s: { operation: %s, cron: 0 3 1 1 ? 2199 }", name, operations[name]))
	}
	r.setKey("schedules", "{ "+strings.Join(all, ", ")+" }")
}

func (r *emulators) Scheduled() []string {
	kept, err := schedules.New(scheduler.NewFromConfig(r.direct(r.cloud.Schedules)), scheduleGroup).List(r.Context(), "shop@default")
	if err != nil {
		r.Fatal(err)
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Schedule)
	}
	return names
}

func (r *emulators) Fire(name string) string {
	id := engine.RunID("schedule", "shop@default", name, time.Now().UTC().Format(time.RFC3339))
	if !r.cloud.Schedules.Fire(scheduleGroup.Name, "shop.default."+name) {
		r.Fatalf("there is no schedule %s", name)
	}
	r.requested = append(r.requested, id)
	return id
}

// Limit says it in the defaults, for each stack by its name. A second one of a stack
// would be a second key, and is refused.
func (r *emulators) Timeout(stack string, d time.Duration) {
	if stack == "" {
		r.setKey("timeout", d.String())
		return
	}
	of := strings.TrimSuffix(strings.TrimPrefix(r.keys["defaults"], "{ "), " }")
	if of != "" {
		of += ", "
	}
	r.setKey("defaults", fmt.Sprintf("{ %s%s: { timeout: %s } }", of, stack, d))
}

// say has every project file say something from now on.
func (r *emulators) setKey(key, value string) {
	if r.keys == nil {
		r.keys = make(map[string]string)
	}
	r.keys[key] = value
}

func (r *emulators) next() int { r.count++; return r.count }

// put puts an object and returns its version.
func (r *emulators) put(key string, body []byte) string {
	out, err := r.bucket.PutObject(r.Context(), &s3.PutObjectInput{Bucket: aws.String("stackwright"), Key: &key, Body: bytes.NewReader(body)})
	if err != nil {
		r.Fatal(err)
	}
	for r.speedup > 1 && r.cloud.Bus.Undelivered() > 0 { // what is put next is told of next
		time.Sleep(10 * time.Millisecond)
	}
	return aws.ToString(out.VersionId)
}

// upload puts a world as a user would, and returns the object's version.
func (r *emulators) upload(key string, w stacks) string {
	files := w.files()
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		files["stackwright.yaml"] = append([]byte(key+": "+r.keys[key]+"\n"), files["stackwright.yaml"]...)
	}
	for _, s := range w {
		r.register(s.targets...)
	}
	body, err := archive.Pack(files)
	if err != nil {
		r.Fatal(err)
	}
	return r.put(key, body)
}

// files writes w as a user would.
func (w stacks) files() archive.Files {
	var b strings.Builder
	var moved []string
	files := make(archive.Files)
	b.WriteString("project: shop\nstacks:\n")
	for _, s := range w {
		fmt.Fprintf(&b, "  %s:\n    template: %s.yaml\n", s.name, s.name)
		if s.moved == "" {
			fmt.Fprintf(&b, "    stack_name: %s\n", s.physical)
		} else {
			moved = append(moved, fmt.Sprintf("{ from: %s, to: %s }", s.moved, s.name))
		}
		if len(s.targets) > 0 {
			fmt.Fprintf(&b, "    targets: [%s]\n", strings.Join(s.targets, ", "))
		}
		if s.protected {
			b.WriteString("    protect: true\n")
		}
		for i, n := range s.needs {
			if i == 0 {
				b.WriteString("    parameters:\n")
			}
			fmt.Fprintf(&b, "      %s: ${%s.%s}\n", n.param(), n.name, n.output)
		}
		files[s.name+".yaml"] = s.template(w)
	}
	fmt.Fprintf(&b, "moved: [%s]\n", strings.Join(moved, ", "))
	files["stackwright.yaml"] = []byte(b.String())
	return files
}

// template is one that imports what s needs, gives its name, and gives a value
// that follows from its version and what it was given.
func (s stack) template(w stacks) []byte {
	var params, values, imports strings.Builder
	for i, n := range s.needs {
		if i == 0 {
			params.WriteString("Parameters:\n")
			fmt.Fprintf(&values, ", !Ref %s", n.param())
		}
		fmt.Fprintf(&params, "  %s: { Type: String }\n", n.param())
		fmt.Fprintf(&imports, ", !Ref %s", n.param())
		if w.imports(s, n) {
			fmt.Fprintf(&imports, ", !ImportValue %s-Name", w.named(n.name).physical)
		}
	}
	return fmt.Appendf(nil, `Description: %s
%sResources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: { DisplayName: !Join [" ", [%s%s]] }
Outputs:
  Name:
    Value: !Ref AWS::StackName
    Export: { Name: !Sub "${AWS::StackName}-Name" }
  Value: { Value: !Join [".", [%s%s]] }
`, s.version, params.String(), s.version, imports.String(), s.version, values.String())
}

func (r *emulators) Pass(d time.Duration) {
	time.Sleep(d / r.speedup)
	if r.speedup == 1 {
		synctest.Wait()
	}
}

// Quiet waits until every run is over, or waits for a person or for one that
// does, and every late event has come. As long as nothing is written, it need not
// look again.
func (r *emulators) WaitIdle() bool {
	if r.speedup > 1 {
		return r.idleInRealTime()
	}
	r.Pass(5 * time.Second)
	looked := -1
	for end := time.Now().Add(10 * 24 * time.Hour); time.Now().Before(end); r.Pass(20 * time.Second) {
		written := r.cloud.Gateway.Calls()[gateway.Call{Service: "dynamodb", Operation: "TransactWriteItems"}]
		if written == looked {
			continue
		}
		looked = written
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

// all are the runs of the project that are kept.
func (r *emulators) all() []run.Run {
	listed, err := r.store.List(r.Context(), "shop@default", 0)
	if err != nil {
		r.Fatal(err)
	}
	var all []run.Run
	for _, one := range listed {
		all = append(all, r.run(one.ID))
	}
	return all
}

// rests reports whether no run goes on by itself.
func (r *emulators) allWait() bool {
	open, err := r.store.Open(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return !slices.ContainsFunc(open, func(id string) bool {
		s := r.run(id)
		if s.State == run.StateQueued && !s.Command.Stops() {
			s = r.run(r.Lock().Owner.Run)
		}
		return s.State != run.StateWaiting || s.Generation > s.ObservedGeneration
	})
}

// kept is a run without its steps; zero if nobody has heard of it.
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

func (r *emulators) Lock() run.Lock {
	l, err := r.store.Lock(r.Context(), "shop@default")
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

// Abort stops the execution that drives a run, if one does: the epoch may have
// been raised with none to follow, or by somebody who has still to start it.
func (r *emulators) Abort(id string) {
	name := fmt.Sprintf("%s-%d", id, r.ExecutionStatus(id).Epoch)
	arn := strings.Replace(r.cloud.Machine, ":stateMachine:", ":execution:", 1) + ":" + name
	_, err := sfn.NewFromConfig(r.retrying()).StopExecution(r.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn})
	if absent := (*flowtypes.ExecutionDoesNotExist)(nil); err != nil && !errors.As(err, &absent) {
		r.Fatal(err)
	}
}

// Outage lets every request to CloudFormation fail, as a network does that is
// not there.
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
	records, err := r.store.Records(r.Context(), "shop@default")
	if err != nil {
		r.Fatal(err)
	}
	return records
}

// found describes the live stack of a node, if there is one.
func (r *emulators) found(name string) *types.Stack {
	people, physical := r.at(name)
	out, err := people.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil || len(out.Stacks) == 0 {
		return nil
	}
	return &out.Stacks[0]
}

func (r *emulators) Status(name string) plan.Status {
	if s := r.found(name); s != nil {
		return plan.Status(s.StackStatus)
	}
	return ""
}

func (r *emulators) Deployed(name string) (version string, params map[string]string) {
	s := r.found(name)
	if s == nil {
		return "", nil
	}
	params = make(map[string]string)
	for _, p := range s.Parameters {
		params[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	return aws.ToString(s.Description), params
}

func (r *emulators) OutputOf(name, output string) string {
	if s := r.found(name); s != nil {
		for _, o := range s.Outputs {
			if aws.ToString(o.OutputKey) == output {
				return aws.ToString(o.OutputValue)
			}
		}
	}
	return ""
}

// ended is when CloudFormation ended the last operation on a node's stack.
func (r *emulators) ended(name string) time.Time {
	people, physical := r.at(name)
	out, err := people.DescribeStackEvents(r.Context(), &cloudformation.DescribeStackEventsInput{StackName: &physical})
	if err != nil {
		r.Fatal(err)
	}
	return aws.ToTime(out.StackEvents[0].Timestamp)
}

// begun is what the first event of an operation of ours says that it is.
var firstStatus = map[types.ResourceStatus]plan.Verb{
	"CREATE_IN_PROGRESS": plan.Create, "UPDATE_IN_PROGRESS": plan.Update, "DELETE_IN_PROGRESS": plan.Delete,
	"UPDATE_ROLLBACK_IN_PROGRESS": plan.Continue,
}

// An opening is what was begun under one of our tokens.
type request struct {
	at     time.Time
	number int
	what   string
}

// Asked reads from the stacks' events what began under our tokens.
func (r *emulators) Requests() []string {
	calls := r.requestsIn("default")
	for target := range r.registered {
		calls = append(calls, r.requestsIn(target)...)
	}
	slices.SortFunc(calls, func(a, b request) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) })
	var asked []string
	for _, c := range calls {
		asked = append(asked, c.what)
	}
	return asked
}

func (r *emulators) requestsIn(target string) []request {
	var calls []request
	for _, st := range r.everStacksIn(target) {
		first := make(map[string]types.StackEvent) // of each token
		events := cloudformation.NewDescribeStackEventsPaginator(r.outsideIn(target), &cloudformation.DescribeStackEventsInput{StackName: st.StackId})
		for events.HasMorePages() {
			page, err := events.NextPage(r.Context())
			if err != nil {
				r.Fatal(err)
			}
			for _, e := range page.StackEvents {
				if aws.ToString(e.PhysicalResourceId) == aws.ToString(st.StackId) {
					first[aws.ToString(e.ClientRequestToken)] = e
				}
			}
		}
		for token, e := range first {
			_, number, _, ours := action.ParseToken(token)
			if !ours || r.seen[token] {
				continue
			}
			r.seen[token] = true
			what := string(firstStatus[e.ResourceStatus])
			if strings.HasSuffix(token, "-cancel") {
				what = "cancel"
			}
			node := at(strings.TrimPrefix(aws.ToString(st.StackName), "shop-"), target)
			calls = append(calls, request{aws.ToTime(e.Timestamp), number, node + "/" + what})
		}
	}
	return calls
}

// everStacks lists all stacks of the default target, deleted ones too.
func (r *emulators) everStacks() []types.StackSummary { return r.everStacksIn("default") }

// everStacksIn lists all stacks of a target, deleted ones too.
func (r *emulators) everStacksIn(target string) []types.StackSummary {
	var all []types.StackSummary
	pages := cloudformation.NewListStacksPaginator(r.outsideIn(target), &cloudformation.ListStacksInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, page.StackSummaries...)
	}
	return all
}

// Live brings a status about as a person would.
func (r *emulators) Live(name string, s plan.Status) {
	people, physical := r.at(name)
	ctx := r.Context()
	var err error
	switch now := r.Status(name); {
	case now.Busy(), now.Cleaning(): // it comes about by itself
	case s == "CREATE_COMPLETE":
		_, err = people.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: aws.String(string(stack{version: "theirs"}.template(nil)))})
	case s == "DELETE_COMPLETE":
		_, err = people.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &physical})
	case s == "DELETE_FAILED":
		r.FailNext(name, plan.Delete)
		_, err = people.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &physical})
	default:
		err = r.update(name, s)
	}
	if err != nil && !r.Status(name).Busy() { // busy: only the answer was lost
		r.Fatalf("a person makes %s %s: %v", name, s, err)
	}
	if s == "UPDATE_IN_PROGRESS" {
		return
	}
	r.waitNotBusy(name)
}

func (r *emulators) Foreign(name string, now, end plan.Status) {
	people, physical := r.at(name)
	r.Slow(name, 5*time.Minute)
	defer r.Slow(name, operationSeconds*time.Second)
	var err error
	switch now {
	case "UPDATE_IN_PROGRESS":
		err = r.update(name, end)
	case "DELETE_IN_PROGRESS":
		if end == "DELETE_FAILED" {
			r.FailNext(name, plan.Delete)
		}
		_, err = people.DeleteStack(r.Context(), &cloudformation.DeleteStackInput{StackName: &physical})
	default:
		r.Fatalf("nobody knows how to begin %s", now)
	}
	if err != nil {
		r.Fatalf("a person begins %s on %s: %v", now, name, err)
	}
}

// settled waits until nothing happens to a stack.
func (r *emulators) waitNotBusy(name string) {
	for s := r.Status(name); s.Busy() || s.Cleaning(); s = r.Status(name) {
		r.Pass(time.Second)
	}
}

// update makes a person update a stack, with the end that is wanted.
func (r *emulators) update(name string, end plan.Status) error {
	people, physical := r.at(name)
	if r.Status(name).Stuck() {
		if _, err := people.ContinueUpdateRollback(r.Context(), &cloudformation.ContinueUpdateRollbackInput{StackName: &physical}); err != nil {
			return err
		}
		r.waitNotBusy(name)
		if end == "UPDATE_ROLLBACK_COMPLETE" {
			return nil
		}
	}
	if end == "UPDATE_IN_PROGRESS" {
		r.Slow(name, 5*time.Minute)
		defer r.Slow(name, operationSeconds*time.Second)
	}
	if end == "UPDATE_ROLLBACK_FAILED" || end == "UPDATE_ROLLBACK_COMPLETE" || end == "UPDATE_FAILED" {
		r.injectAt(name, local.Fault{Operation: "update", Reason: "told to", Times: 1})
	}
	if end == "UPDATE_ROLLBACK_FAILED" {
		r.injectAt(name, local.Fault{Operation: "rollback", Reason: "told to", Times: 1})
	}
	was, err := people.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil {
		return err
	}
	in := &cloudformation.UpdateStackInput{StackName: &physical, UsePreviousTemplate: aws.Bool(true), DisableRollback: aws.Bool(end == "UPDATE_FAILED"), Tags: []types.Tag{{Key: aws.String("touched"), Value: aws.String(fmt.Sprint(r.next()))}}}
	for _, p := range was.Stacks[0].Parameters {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)})
	}
	_, err = people.UpdateStack(r.Context(), in)
	return err
}

func (r *emulators) Import(user, name string) {
	people, physical := r.at(user)
	body := string(stack{version: "theirs", needs: nil}.template(nil))
	body = strings.Replace(body, "[theirs]", "[theirs, !ImportValue "+physicalName(name)+"-Name]", 1)
	if _, err := people.CreateStack(r.Context(), &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: &body}); err != nil {
		r.Fatal(err)
	}
	r.Live(user, "CREATE_COMPLETE")
}

// injectAt has something go wrong with one stack.
func (r *emulators) injectAt(name string, f local.Fault) {
	name, target, _ := strings.Cut(name, "@")
	f.Stack = physicalName(name)
	if err := r.stacksIn(target).Inject(f); err != nil {
		r.Fatal(err)
	}
}

func (r *emulators) inject(f local.Fault) {
	if err := r.cloud.Stacks.Inject(f); err != nil {
		r.Fatal(err)
	}
}

func (r *emulators) FailNext(name string, v plan.Verb) {
	operation := string(v)
	if v == plan.Continue {
		operation = "rollback"
	}
	r.injectAt(name, local.Fault{Operation: operation, Reason: "told to", Times: 1})
}

func (r *emulators) Slow(name string, d time.Duration) {
	r.injectAt(name, local.Fault{Seconds: (d / r.speedup).Seconds()})
}

// actions are the calls that begin a step.
var actions = map[plan.Verb]string{
	plan.Create: "CreateStack", plan.Update: "UpdateStack", plan.Delete: "DeleteStack", plan.Continue: "ContinueUpdateRollback",
}

// Mishap lets the call go wrong at CloudFormation's door: to a function that
// dies there, and to one that hears nothing, it is the same.
func (r *emulators) Fault(name string, v plan.Verb, m sim.Fault) {
	e := &local.FaultError{Action: actions[v], Code: "InternalFailure", Status: 500, After: m == sim.KillAfter || m == sim.Lose}
	if m == sim.Throttle {
		e.Code, e.Status = "Throttling", 400
	}
	r.injectAt(name, local.Fault{Error: e, Times: 1})
}

func (r *emulators) Events(deliveries ...time.Duration) {
	r.events = func() []time.Duration { return deliveries }
}
