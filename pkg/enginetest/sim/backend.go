package sim

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/fact"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Backend runs the engine in memory, with simulations of everything that the engine
// uses.
type Backend struct {
	*Clock
	Store     *Store
	Cloud     *Cloud
	Hooks     *Hooks
	Permits   Permits
	Engine    *engine.Engine
	Facts     fact.Services
	Schedules *Schedules
	Rand      *rand.Rand
	Faults    Faults
	Policies  []project.Policy         // those of the installation
	Calls     int                      // how many calls functions have made
	Invoked   map[string]Use           // the use of each function
	Ends      map[string]int           // how often the end of a run was reported to engine.Meter, by run
	Changes   map[string]plan.Changes  // what the plans that are only shown would change, by reference
	Proposals map[string]plan.Proposal // what change sets said, by reference

	// Published says how often each asset was published, by its account, region, bucket and key.
	Published map[string]int

	// Questions are the IDs of steps that wait for a user's answer before they end.
	Questions map[string]bool

	// Latency returns how long a call takes, as in "Store.Move". It may be nil: then each
	// call takes 1 to 10 milliseconds.
	Latency func(call string) time.Duration

	// InEnvironment returns the project of a source in an environment. If it is nil, each project is in the environment that it has.
	InEnvironment func(s run.Source, p project.Project, environment string) (project.Project, error)

	// Registered are the targets that stand for units of the Organization, by name. If there are any, InUnits returns the project of a source with
	// the targets of their accounts in place of them.
	Organization *Organization
	Registered   map[string]project.Access
	InUnits      func(r run.Run, p project.Project, members project.Members) project.Project

	// Started is called when CloudFormation has started an operation on a stack, and when
	// it has started the rollback of one. It may be nil.
	Started func(action.Task)

	// Granted is called after each demand on a budget, and Lowered before the rate of the
	// budget of an account and region is lowered. They may be nil.
	Granted func(Grant)
	Lowered func(where string)

	machine     *asl.Machine
	projects    map[string]project.Project // by version of the source
	specs       map[string]project.Node
	values      map[string][]project.SourceValue
	executions  map[string]*Execution
	waiting     map[string]*waiter // by token
	count       atomic.Int64
	outageUntil time.Time // CloudFormation is unavailable until then
	sweeping    bool      // the next sweep is scheduled
}

// New returns an empty Backend that executes runs with the given state machine. All
// its random choices follow from the seed.
func New(machine *asl.Machine, seed uint64) *Backend {
	clock := NewClock()
	b := &Backend{
		Changes: make(map[string]plan.Changes), Proposals: make(map[string]plan.Proposal), Ends: make(map[string]int), Invoked: make(map[string]Use), Questions: make(map[string]bool), Published: make(map[string]int), Clock: clock, Store: NewStore(), Cloud: NewCloud(clock), Organization: NewOrganization(), Hooks: NewHooks(clock), Permits: Permits{"": {"*@*"}}, Schedules: NewSchedules(), Rand: rand.New(rand.NewPCG(seed, 1)),
		machine: machine, projects: make(map[string]project.Project), specs: make(map[string]project.Node), values: make(map[string][]project.SourceValue),
		executions: make(map[string]*Execution), waiting: make(map[string]*waiter),
	}
	cloud := crashingCloud{b}
	backups := b.Backups()
	b.Facts = fact.Services{Units: units{b}, Suspends: project.Grants{"*@*"}, BacksUp: project.Grants{"*@*"}, Backups: backups, Externals: project.Externals{"*@*=*"}, Parameters: cloud}
	b.Engine = &engine.Engine{
		Store: crashingStore{b, b.Store}, Configurations: b, Specs: b, Changes: b, Policies: b, Permits: b.Permits, Facts: b.Facts.All(), Alarms: crashingHooks{b}, Clouds: cloud, Operations: plan.AllOperations(), Verbs: questioners(b, action.Named(action.All(cloud, cloud, seenHooks{b, hook.Services{Functions: crashingHooks{b}, Machines: crashingHooks{b}, Buses: crashingHooks{b}, Alarms: crashingHooks{b}, Buckets: crashingHooks{b}, Objects: crashingHooks{b}, Files: crashingHooks{b}, Groups: crashingHooks{b}, Stacks: crashingHooks{b}, Secrets: crashingHooks{b}, Webhooks: crashingHooks{b}, Allowed: reachable()}}, b.Switches(), backups)...)),
		Budgets: crashingBudgets{b, NewBudgets(budget.CloudFormation())}, Schedules: crashingSchedules{b},
		Machine: b, Notifier: silent{}, Meter: counter{b}, Now: b.now, Nonce: b.unique, Parallel: b.parallel,
	}
	b.Cloud.Changed = b.deliver
	return b
}

// now returns the time by the clock of the function that is running.
func (b *Backend) now() time.Time {
	if b.running != nil {
		return b.Now().Add(b.running.skew)
	}
	return b.Now()
}

// skew returns how far the clock of a function that starts now is ahead.
func (b *Backend) skew() time.Duration {
	if b.Faults.Skew == nil {
		return 0
	}
	return b.Faults.Skew()
}

// unique returns a string that it has not returned before.
func (b *Backend) unique() string {
	return fmt.Sprintf("n%d", b.count.Add(1))
}

// Submit sends a request to the function start, as an event does: the call is repeated
// if it fails. It returns the run's ID, which is a new one if q has none.
func (b *Backend) Submit(q run.Request) string {
	if q.ID == "" {
		q.ID = engine.RunID(b.unique())
	}
	b.call("start", func(ctx context.Context) error { return b.Engine.Start(ctx, q) })
	b.sweepLater()
	return q.ID
}

// AnswerStep sends a user's answer to a step. The call is repeated if it fails.
func (b *Backend) AnswerStep(id, step string, a run.Answer) {
	a.ID, a.At = b.unique(), b.Now()
	b.call("start", func(ctx context.Context) error {
		err := b.Engine.Answer(ctx, id, step, a)
		if fault.Is(err, fault.Refused, fault.Missing) {
			return nil // the user gets this error
		}
		return err
	})
	b.sweepLater()
}

// sweeps is the time between two sweeps.
const sweeps = 5 * time.Minute

// sweepLater schedules sweeps for as long as the backend is not idle.
func (b *Backend) sweepLater() {
	if b.sweeping {
		return
	}
	b.sweeping = true
	b.After(sweeps, func() {
		b.sweeping = false
		if !b.idle() {
			b.call("start", b.Engine.Sweep)
			b.sweepLater()
		}
	})
}

// SweepsFor schedules sweeps for a time, also while the backend is idle.
func (b *Backend) SweepsFor(d time.Duration) {
	for at := sweeps; at <= d; at += sweeps {
		b.After(at, func() { b.call("start", b.Engine.Sweep) })
	}
}

// idle reports whether each run has ended, waits for a person, or is queued behind a
// run that waits for a person.
func (b *Backend) idle() bool {
	for id := range b.Store.open {
		r := b.Store.runs[id].run
		if r.State == run.StateQueued {
			owner, ok := b.Store.runs[b.Store.locks[r.Project].Owner.Run]
			if !ok || r.Command.Stops() {
				return false
			}
			r = owner.run
		}
		if r.State != run.StateWaiting || r.Generation > r.ObservedGeneration || r.Command == run.Continue && !r.Deadline.IsZero() {
			return false
		}
	}
	return true
}

// Outage makes CloudFormation unavailable for d.
func (b *Backend) Outage(d time.Duration) { b.outageUntil = b.Now().Add(d) }

// Abort stops an execution, as a person can in Step Functions. Functions that it has
// called continue.
func (b *Backend) Abort(name string) {
	if x := b.executions[name]; x != nil {
		b.endExecution(x, &asl.Error{Name: "ABORTED"})
	}
}

// AbortAll stops every execution, and loses the events that report it.
func (b *Backend) AbortAll() {
	for _, x := range b.executions {
		if !x.Over {
			x.Over, x.Err = true, &asl.Error{Name: "ABORTED"}
		}
	}
	b.sweepLater()
}

// endExecution records the end of an execution. If it failed, an event reports that to
// the function start.
func (b *Backend) endExecution(x *Execution, err error) {
	if x.Over {
		return
	}
	x.Over, x.Err = true, err
	if err != nil && b.Faults.EventsLost {
		b.sweepLater()
	} else if err != nil {
		b.call("start", func(ctx context.Context) error { return b.Engine.Recover(ctx, x.in) })
		b.sweepLater()
	}
}

// Source stores a version of the files of p and returns its source.
func (b *Backend) Source(p project.Project) run.Source {
	version := b.unique()
	b.projects[version] = p
	return run.Source{Key: "projects/" + p.ID(), Version: version}
}

// WaitIdle runs the simulation until the clock has no more events. It reports false if
// there still are some after a month.
func (b *Backend) WaitIdle() bool {
	end := b.Now().Add(30 * 24 * time.Hour)
	return !b.Run(func() bool { return b.Now().After(end) })
}

// Load returns a run with its steps.
func (b *Backend) Load(id string) (run.Run, error) { return b.Store.Load(context.Background(), id) }

// Execution returns the execution of the given name, or nil if there is none.
func (b *Backend) Execution(name string) *Execution { return b.executions[name] }

// A Use is how often a function was invoked, and how long its invocations took together.
type Use struct {
	Times int
	Took  time.Duration
}

// use counts an invocation of a function that starts now. The returned function has to be
// called at its end.
func (b *Backend) use(function string) (ended func()) {
	started := b.Now()
	return func() {
		u := b.Invoked[function]
		b.Invoked[function] = Use{u.Times + 1, u.Took + b.Now().Sub(started)}
	}
}

// call calls a function for an event, as Lambda does: up to six times if it fails.
func (b *Backend) call(name string, do func(context.Context) error) {
	b.Go(func(r *Routine) {
		for try := range 6 {
			r.skew = b.skew()
			ended := b.use(name)
			ctx := context.WithValue(context.Background(), callKey{}, &invocation{function: &function{name: name}, routine: r})
			err := do(ctx)
			ended()
			if err == nil || !r.Sleep(time.Second<<try) {
				return
			}
		}
	})
}

// deliver delivers CloudFormation's event about a status of the task's stack.
func (b *Backend) deliver(t action.Task, s plan.Status) {
	if s.Busy() && b.Started != nil {
		b.Started(t)
	}
	if s.Busy() && !slices.Contains(plan.Starts(), s) {
		return
	}
	late := []time.Duration{200 * time.Millisecond}
	if b.Faults.Event != nil {
		late = b.Faults.Event()
	}
	for _, d := range late {
		b.After(d, func() {
			b.call("stack-event", func(ctx context.Context) error {
				return b.Engine.StackEvent(ctx, engine.StackEvent{Token: t.Token(), Status: s})
			})
		})
	}
}

// Project implements engine.Configurations.
func (b *Backend) Project(ctx context.Context, r run.Run) (p project.Project, err error) {
	err = b.do(ctx, "Configurations.Project", r.Source.Version, func() error {
		var ok bool
		if p, ok = b.projects[r.Source.Version]; !ok {
			return fault.New(fault.Missing, "there is no version %s", r.Source.Version)
		}
		if b.InUnits != nil && len(b.Registered) > 0 {
			members, err := b.follower().Members(ctx, r.Selection.Partial(), slices.Sorted(maps.Keys(b.Registered)))
			if err != nil {
				return err
			}
			p = b.InUnits(r, p, members)
			p.Lost = members.Lost
		}
		if b.InEnvironment == nil {
			return nil
		}
		_, environment, _ := strings.Cut(r.Project, "@")
		var err error
		p, err = b.InEnvironment(r.Source, p, environment)
		return err
	})
	return p, err
}

// SaveTemplate implements engine.Specs.
func (b *Backend) SaveTemplate(ctx context.Context, digest string) error {
	return b.do(ctx, "Specs.SaveTemplate", digest, func() error { return nil })
}

// SaveDeployedTemplate implements engine.Specs.
func (b *Backend) SaveDeployedTemplate(ctx context.Context, body []byte) (digest string, err error) {
	digest = digestOf(body)
	return digest, b.do(ctx, "Specs.SaveDeployedTemplate", digest, func() error { return nil })
}

// SaveSpecs implements engine.Specs.
func (b *Backend) SaveSpecs(ctx context.Context, nodes []project.Node) (references []string, err error) {
	err = b.do(ctx, "Specs.SaveSpecs", nodes[0].Name, func() error {
		for _, n := range nodes {
			digest, err := n.Digest()
			if err != nil {
				return err
			}
			b.specs[digest], references = n, append(references, digest)
		}
		return nil
	})
	return references, err
}

// Spec implements engine.Specs.
func (b *Backend) Spec(ctx context.Context, reference string) (n project.Node, err error) {
	err = b.do(ctx, "Specs.Spec", reference, func() error {
		var ok bool
		if n, ok = b.specs[reference]; !ok {
			return fault.New(fault.Missing, "there is no spec %s", reference)
		}
		return nil
	})
	return n, err
}

// SaveValues implements engine.Specs.
func (b *Backend) SaveValues(ctx context.Context, values []project.SourceValue) (reference string, err error) {
	return keep(ctx, b, "Specs.SaveValues", "", values, b.values)
}

// Values implements engine.Specs.
func (b *Backend) Values(ctx context.Context, reference string) ([]project.SourceValue, error) {
	return stored(ctx, b, "Specs.Values", reference, b.values)
}

// keep stores v under a reference, its digest.
func keep[T any](ctx context.Context, b *Backend, call, about string, v T, all map[string]T) (reference string, err error) {
	return got(b, ctx, call, about, func() (string, error) {
		text, err := json.Marshal(v)
		reference := fmt.Sprintf("%x", sha256.Sum256(text))
		all[reference] = v
		return reference, err
	})
}

// digestOf returns the digest of a template in the simulation.
func digestOf(body []byte) string {
	text := string(body)
	if i := strings.Index(text, beforeDigest); i >= 0 {
		text = text[i+len(beforeDigest):]
	}
	return strings.TrimSuffix(text, afterDigest)
}

// templateOf returns the template that has a digest in the simulation: the digest, if that is a
// template, and else a topic, and an output that has the digest as its value.
func templateOf(digest string) []byte {
	if strings.Contains(digest, "Resources") {
		return []byte(digest)
	}
	name := ""
	if named := topicName(digest); named != "" {
		name = ", Properties: {TopicName: " + named + "}"
	}
	begins := beforeName
	if alarm := AlarmOf(versionOf(digest)); alarm != "" {
		name += "}, Watched: {" + alarm
	}
	switch version := versionOf(digest); {
	case HasNested(version):
		name += "}, " + Nested + ": {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: nested.yaml}"
	case StoresOf("", version) != nil:
		begins, name = storesRestorable+beforeName, name+stores
	case TablesOf("", version) != nil:
		name += dataTables
	case DatabasesOf("", version) == nil:
	case strings.HasPrefix(version, "b"):
		begins, name = restorable+beforeName, name+databases+restoredFrom
	default:
		name += databases
	}
	return []byte(begins + name + beforeDigest + digest + afterDigest)
}

// AlarmOf is the resource without its braces, in a template, of the alarm that a version has, and what has a price; "" if it has none.
func AlarmOf(version string) string {
	if version == "v3" {
		return "Type: 'AWS::CloudWatch::Alarm', Properties: {Period: 10}"
	}
	return ""
}

const (
	beforeName = "Resources: {Topic: {Type: 'AWS::SNS::Topic'"
	databases  = "}, Cluster: {Type: 'AWS::RDS::DBCluster'}, Database: {Type: 'AWS::RDS::DBInstance'"
	dataTables = "}, Items: {Type: 'AWS::DynamoDB::Table'}, Global: {Type: 'AWS::DynamoDB::GlobalTable'"
	restorable = "Parameters: {BackupOfDatabase: {Type: String, Default: ''}}\n" +
		"Conditions: {Restored: {'Fn::Not': [{'Fn::Equals': [{Ref: BackupOfDatabase}, '']}]}}\n"
	restoredFrom = ", Properties: {DBSnapshotIdentifier: {'Fn::If': [Restored, {Ref: BackupOfDatabase}, {Ref: 'AWS::NoValue'}]}}"
	stores       = "}, Warehouse: {Type: 'AWS::Redshift::Cluster', Properties: {SnapshotIdentifier: {'Fn::If': [RestoredWarehouse, {Ref: BackupOfWarehouse}, {Ref: 'AWS::NoValue'}]}}" +
		"}, Volume: {Type: 'AWS::EC2::Volume', Properties: {SnapshotId: {'Fn::If': [RestoredVolume, {Ref: BackupOfVolume}, {Ref: 'AWS::NoValue'}]}}}, Files: {Type: 'AWS::EFS::FileSystem'"
	storesRestorable = "Parameters: {BackupOfWarehouse: {Type: String, Default: ''}, BackupOfVolume: {Type: String, Default: ''}}\n" +
		"Conditions: {RestoredWarehouse: {'Fn::Not': [{'Fn::Equals': [{Ref: BackupOfWarehouse}, '']}]}, " +
		"RestoredVolume: {'Fn::Not': [{'Fn::Equals': [{Ref: BackupOfVolume}, '']}]}}\n"
	beforeDigest = "}}\nOutputs: {Value: {Value: '"
	afterDigest  = "'}}"
)

// Template implements engine.Changes.
func (b *Backend) Template(ctx context.Context, digest string) ([]byte, error) {
	return templateOf(digest), b.do(ctx, "Changes.Template", digest, func() error { return nil })
}

// PlannedChanges implements engine.Changes.
func (b *Backend) PlannedChanges(ctx context.Context, reference string) (plan.Changes, error) {
	return stored(ctx, b, "Changes.PlannedChanges", reference, b.Changes)
}

// Proposal implements engine.Changes.
func (b *Backend) Proposal(ctx context.Context, reference string) (plan.Proposal, error) {
	return stored(ctx, b, "Changes.Proposal", reference, b.Proposals)
}

// stored returns what is stored under a reference.
func stored[T any](ctx context.Context, b *Backend, call, reference string, all map[string]T) (T, error) {
	return got(b, ctx, call, reference, func() (T, error) {
		v, ok := all[reference]
		if !ok {
			return v, fault.New(fault.Missing, "there is no document %s", reference)
		}
		return v, nil
	})
}

// SaveProposal implements engine.Changes.
func (b *Backend) SaveProposal(ctx context.Context, p plan.Proposal) (reference string, err error) {
	return keep(ctx, b, "Changes.SaveProposal", "", p, b.Proposals)
}

// Installed implements engine.Policies.
func (b *Backend) Installed(ctx context.Context) (all []project.Policy, err error) {
	err = b.do(ctx, "Policies.Installed", "", func() error {
		all = b.Policies
		if (policy.Checker{}).Valid(all) != nil {
			return engine.UnusablePolicies(all[0].File)
		}
		return nil
	})
	return all, err
}

// Check implements engine.Policies.
func (b *Backend) Check(ctx context.Context, all []project.Policy, f plan.Facts, c plan.Changes) ([]plan.Violation, error) {
	return policy.Checker{}.Check(ctx, all, f, c)
}

// SaveChanges implements engine.Changes.
func (b *Backend) SaveChanges(ctx context.Context, c plan.Changes) (reference string, err error) {
	return keep(ctx, b, "Changes.SaveChanges", c.Run, c, b.Changes)
}

// Start implements engine.Machine.
func (b *Backend) Start(ctx context.Context, name string, in engine.ExecutionInput) error {
	return b.do(ctx, "Machine.Start", name, func() error {
		if b.executions[name] == nil {
			return b.execute(name, in)
		}
		return nil
	})
}

// ExecutionStatus implements engine.Machine.
func (b *Backend) ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error) {
	return got(b, ctx, "Machine.ExecutionStatus", name, func() (engine.ExecutionStatus, error) {
		x := b.executions[name]
		if x == nil {
			return engine.ExecutionStatus{}, nil
		}
		s := engine.ExecutionStatus{Started: true, Running: !x.Over}
		if x.Err != nil {
			s.Why = "FAILED: " + x.Err.Error()
		}
		return s, nil
	})
}

// Answer implements engine.Machine.
func (b *Backend) Answer(ctx context.Context, token string, t engine.LoopState) error {
	return b.do(ctx, "Machine.Answer", string(t.State), func() error {
		wait := b.waiting[token]
		if wait == nil || wait.answer != nil {
			return nil
		}
		answer, err := json.Marshal(t)
		wait.end(answer, err)
		return err
	})
}

// silent is an engine.Notifier that sends no notifications.
type silent struct{}

// Notify implements engine.Notifier.
func (silent) Notify(context.Context, run.Run) {}

// A counter counts the ends of runs.
type counter struct{ backend *Backend }

// Ended implements engine.Meter.
func (c counter) Ended(_ context.Context, r run.Run) { c.backend.Ends[r.ID]++ }

// Swept implements engine.Meter.
func (counter) Swept(context.Context, run.Backlog) {}
