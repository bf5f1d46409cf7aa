package stepfn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/stepfn"
)

// A backend plays scenarios and random scenarios: with the store and CloudFormation in
// memory, or with the real functions and adapters on the emulators. A stack is named
// like its node; outside of the default target, the target follows: db@eu. Verbs are
// those of plans.
type backend interface {
	hooked
	ephemeral
	As(project string)           // the requests that follow, the records and the lock are of this project
	In(environment string)       // and of this environment
	Environments(names []string) // of project files from now on, besides default; the physical names of their stacks have theirs: shop-prod-vpc
	Pipeline(p pipeline)         // from now on project files promote by themselves
	Submit(operation string, w stacks, of string, with ...options) (id string)
	ProjectFile(exists bool)                 // in uploads from now on; the first has one
	MaxDeletions(deletions int)              // in project files from now on
	FewAtOnce(most int)                      // the same, the limit of the group few
	MaxFailures(most int)                    // the same, of all stacks
	KeepSnapshots(p project.SnapshotPolicy)  // in project files from now on
	Timeout(stack string, d time.Duration)   // likewise: the timeout of a stack; of runs if stack is ""
	OnFailure(word string)                   // likewise
	ApprovePlans(expires time.Duration)      // likewise: plans have to be approved within this time; 0 is not at all
	Schedules(operations map[string]string)  // likewise: operations by name
	Rule(installed bool, level, when string) // the policy of the installation, or of project files from now on; none if when is empty
	Scheduled() []string                     // the names of the existing schedules, sorted
	Fire(name string) (id string)            // lets a schedule start a run
	Pass(time.Duration)
	WaitIdle() bool                    // waits until no run can continue; false if some run never ends
	ExecutionStatus(id string) run.Run // zero if it does not exist yet
	Path(id string) [][]string         // the states that each execution of the run entered
	Recorded() map[string]plan.Record
	Lock() run.Lock
	Abort(id string)        // a user stops the execution of the run
	Outage(d time.Duration) // nobody can reach CloudFormation for so long
	Deny(target string, denied bool)
	Withhold(target string, withheld bool) // the project may not use the target
	Account(id, what string)               // what happens to an account of the organization: see accountChanges
	Organization(does string)              // what Organizations does with requests from now on: see organizationDoes

	Status(stack string) plan.Status
	Deployed(stack string) (version string, params map[string]string)
	OutputOf(stack, output string) string
	Requests() []string             // sent to CloudFormation since the last call
	Holding(table string) string    // the stack that has the table; empty if none has, and in memory also if it is not the one that was created first
	Topics(stack string) string     // the names of the topics of the live stack
	ChangeSets() []string           // the stacks that have change sets, sorted
	Planned(r run.Run) plan.Changes // what the plan of r would change

	Live(stack string, s plan.Status)             // a user brings the stack to this status, without Stackwright and with other tags
	DeleteChangeSets(stack string)                // a user deletes the change sets of the stack
	SetParameter(stack, parameter, value string)  // a user updates the stack with another value
	SetIgnored(stack, parameter, value string)    // a pipeline does, and keeps the tags
	SetOutside(stack, setting string)             // a user turns its protection on or off, or gives it theirPolicy
	StackLimit(n int)                             // so many stacks there may be in each account and region
	LoseTemplate(stack string)                    // with which the stack was deployed
	Unreadable(stack string)                      // from now on nobody may read its template
	Foreign(stack string, now, end plan.Status)   // a user starts an operation that ends with this status after five minutes
	ByHand(s stack, w stacks)                     // a user creates a stack of the project, as it is there
	Update(s stack, w stacks)                     // a user updates a stack so that it is as this one; its tags stay
	Import(user, stack string)                    // a user creates a stack that imports an export of the other
	FailNext(stack string, v plan.Verb)           // the next such operation fails
	Slow(stack string, d time.Duration)           // every operation on the stack takes so long
	Fault(stack string, v plan.Verb, m sim.Fault) // of the next request that starts such an operation
	Events(deliveries ...time.Duration)           // the delays of each event from now on; it is lost if there are none
	Lag(d time.Duration)                          // DescribeStacks shows each change so late, from now on
	Drift(stack string, deleted bool)             // somebody changes its topic without CloudFormation, or deletes it
	DriftInside(stack string)                     // somebody changes the topic of its nested stack without CloudFormation
	Misrecord(stack string)                       // its record gets outputs that the stack does not have
}

// A pipeline is the order in which environments are promoted.
type pipeline struct {
	order  []string
	soak   time.Duration
	alarms []string // that stop each promotion
}

// options are the options of a request. A deploy without options is an upload.
type options struct {
	deletions           *int // the most that are allowed
	rollback, refuse    bool
	exact               bool
	whileSuspended      bool
	digest              string     // of the plan that is approved or rejected
	step                string     // that is answered; "" if only one waits
	saved               bool       // it carries out the last plan, with the files of that plan
	savedFor            bool       // the same with the files of the project, which may be others by now
	plan                string     // the reference of that plan
	source              run.Source // the files of that plan; empty for those of the project
	only, adopt, retain []string
	skip                []string
	exclude             []string
	apart               bool // without the dependencies of the selected stacks
	together            bool // with them, also if the operation does not add them by default
	dependents          bool
	since               string // a run: only stacks whose files differ
	force               bool
	to                  string        // the revision
	from                string        // the environment that is promoted
	revision            string        // the revision of it
	lives               time.Duration // from now on
	until               time.Time     // the same as a time
	called              string        // the name of the snapshot
	noBackups           bool          // of a snapshot
	keepBackups         bool          // of the deletion of one
	given               bool          // the line of the scenario has an option
}

// selection is what the options select.
func (o options) selection() plan.Selection {
	s := plan.Selection{Only: o.only, Exclude: o.exclude, WithDependents: o.dependents, ChangedSince: o.since}
	if o.apart || o.together {
		s.WithDependencies = new(o.together)
	}
	return s
}

// memoryBackend is the backend in memory.
type memoryBackend struct {
	testing.TB
	*sim.Backend
	uploads       int
	faults        map[string]sim.Fault
	throttled     map[string]int // how many of the next calls of a hook are throttled
	seen          int
	noProjectFile bool
	maxDeletions  *int
	timeouts      map[string]project.Timeout // by stack; that of runs is ""
	rollback      bool                       // on failure
	ttl           project.TTL
	approval      project.Approval
	schedules     map[string]string // the operation of each schedule
	everScheduled map[string]string // the same for all schedules that ever existed
	name          string            // of the project whose requests are sent
	environment   string            // the same, its environment
	environments  []string          // besides default
	pipeline      pipeline
	declared      map[run.Source][]string // the same, of the files of a configuration
	pipelines     map[run.Source]pipeline // those of the files of a configuration
	accounts      int                     // the number of accounts that the stacks are in; 0 means 1
	limits        []project.Limit         // max_parallel, sorted
	failures      []project.Limit         // max_failures of all stacks, if there is one
	rollout       *testRollout            // of a random scenario; nil for none
	policies      []project.Policy
	keep          project.SnapshotPolicy
	hooks         []testHook
	hooksSeen     int
	count         int
	assets        map[string][]project.Asset                // by stack
	publications  map[string]int                            // that were compared
	inUnits       map[run.Source]stacks                     // the stacks of the files of a configuration, if some are in a unit
	listed        func(r run.Run, members []project.Target) // is called when a plan of r has listed the accounts of the unit; nil for nobody
}

// newMemory returns an empty backend. The caller stops it. A cleanup function would
// keep every backend until the whole test ends.
func newMemory(t testing.TB, seed uint64) *memoryBackend {
	p := &memoryBackend{TB: t, Backend: sim.New(machine(t), seed), faults: make(map[string]sim.Fault), throttled: make(map[string]int), timeouts: make(map[string]project.Timeout), everScheduled: make(map[string]string), name: "shop", environment: "default", declared: make(map[run.Source][]string), pipelines: make(map[run.Source]pipeline)}
	p.InEnvironment, p.InUnits = p.inEnvironment, p.followed
	p.inUnits = make(map[run.Source]stacks)
	p.Faults.Call = func(_, call, about string) sim.Fault {
		switch call {
		case "Cloud.Begin":
		case "Hooks.Call", "Hooks.Alarm", "Hooks.Empty", "Hooks.Scaling", "Hooks.Upload":
			about = "hook " + about[strings.LastIndex(about, "-")+1:] // what hooks of random scenarios reach has their name at its end
		case "Switch.Resize", "Backup.Create", "Backup.Delete":
			about = "resize " + about
		case "Cloud.Withdraw":
			about = about[:strings.LastIndex(about, "/")] + "/withdraw"
		case "Cloud.Execute":
			if stack, moves := strings.CutSuffix(about, "/move-in"); moves {
				about = stack + "/execute-move"
			} else {
				about = about[:strings.LastIndex(about, "/")] + "/execute"
			}
		default:
			return sim.None
		}
		if p.throttled[about] > 0 {
			p.throttled[about]--
			return sim.Throttle
		}
		m := p.faults[about]
		delete(p.faults, about)
		return m
	}
	return p
}

// machine returns the state machine that is deployed. It is read once.
func machine(t testing.TB) *asl.Machine {
	t.Helper()
	m, err := deployed()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var deployed = sync.OnceValues(func() (*asl.Machine, error) {
	body, err := asl.Substitute(stepfn.Run, map[string]string{
		"Plan": arn("plan"), "ExecuteStep": arn("execute-step"), "WaitStatus": arn("wait-status"),
	})
	if err != nil {
		return nil, err
	}
	return asl.Parse(body)
})

func arn(function string) string {
	return "arn:aws:lambda:us-east-1:000000000000:function:" + function
}

func (p *memoryBackend) As(project string) { p.name = project }

// id is the ID of the project whose requests are sent.
func (p *memoryBackend) id() string { return p.name + "@" + p.environment }

func (p *memoryBackend) In(environment string) { p.environment = environment }

// Pipeline is backend.
func (p *memoryBackend) Pipeline(order pipeline) { p.pipeline = order }

// promotion is the place of an environment in the pipeline.
func (p pipeline) promotion(environment string) *project.Promotion {
	i := slices.Index(p.order, environment)
	if i < 0 {
		return nil
	}
	made := &project.Promotion{}
	if i > 0 {
		made.From = p.order[i-1]
	}
	if i == len(p.order)-1 {
		return made
	}
	made.To, made.Soak = p.order[i+1], project.Timeout(p.soak)
	for _, name := range p.alarms {
		made.Alarms = append(made.Alarms, project.PromotionAlarm{Name: name, Target: targetOf("")})
	}
	return made
}

func (p *memoryBackend) Environments(names []string) { p.environments = names }

// inEnvironment is the project of a configuration in an environment.
func (p *memoryBackend) inEnvironment(s run.Source, made project.Project, environment string) (project.Project, error) {
	made.Environment, made.Promotion = environment, p.pipelines[s].promotion(environment)
	if environment == project.DefaultEnvironment {
		return made, nil
	}
	if !slices.Contains(p.declared[s], environment) {
		return made, fault.New(fault.Invalid, "environments: %s is not listed: list it, or name another", environment)
	}
	made.Nodes = maps.Clone(made.Nodes)
	for name, n := range made.Nodes {
		n.Stack = inEnvironment(environment, n.Stack)
		n.Links.Exports = maps.Clone(n.Links.Exports)
		n.Links.Exports["Name"] = n.Stack + "-Name"
		made.Nodes[name] = n
	}
	return made, nil
}

// inEnvironment is the physical name of a stack in an environment.
func inEnvironment(environment, physical string) string {
	if environment == project.DefaultEnvironment {
		return physical
	}
	return physicalName(environment + "-" + strings.TrimPrefix(physical, physicalName("")))
}

// store stores the files of w.
func (p *memoryBackend) store(w stacks) run.Source {
	s := p.Source(p.project(w.followed(nil)))
	if w.haveUnit() {
		p.inUnits[s] = w
		p.Registered = map[string]project.Access{unitAccess.Name: unitAccess}
	}
	p.declared[s], p.pipelines[s] = p.environments, p.pipeline
	return s
}

func (p *memoryBackend) Submit(operation string, w stacks, of string, with ...options) string {
	return p.Backend.Submit(p.request(operation, w, of, with...))
}

// next returns a word that it has not returned before.
func (p *memoryBackend) next() string { p.count++; return fmt.Sprint(p.count) }

// request makes a request without an ID.
func (p *memoryBackend) request(operation string, w stacks, of string, with ...options) run.Request {
	q := run.Request{Project: p.id(), Operation: operation, Who: "somebody"}
	if _, command := run.ControlNamed(operation); command || plan.AllOperations().Of(operation).Repeats {
		q.Of = of
	}
	for _, o := range with {
		q.NoBackups, q.KeepBackups = o.noBackups, o.keepBackups
		q.MaxDeletions, q.Rollback, q.Refuse, q.Force, q.Selection, q.Adopt, q.Retain, q.Skip, q.Exact, q.Plan, q.PlanDigest, q.Step, q.To, q.Snapshot, q.FromEnvironment, q.FromRevision, q.WhileSuspended, q.For, q.Until = o.deletions, o.rollback, o.refuse, o.force, o.selection(), o.adopt, o.retain, o.skip, o.exact, o.plan, o.digest, o.step, o.to, o.called, o.from, o.revision, o.whileSuspended, project.TTL(o.lives), o.until
	}
	if o, known := plan.AllOperations().Named(operation); known && o.Requestable && !o.Repeats {
		q.Of = "" // it is about no run
	}
	switch operation {
	case "deploy":
		switch {
		case len(with) == 0:
			p.uploads++
			q.Source, q.Upload, q.Sequencer = p.store(w), true, fmt.Sprintf("%016X", p.uploads)
		case with[0].source != run.Source{}:
			q.Source = with[0].source
		default:
			q.Source = p.store(w)
		}
	case "plan", "adopt", "plan-adopt", "prune", "plan-prune", "replace", "plan-replace":
		q.Source = p.store(w)
	case "unlock":
		q.Reason = "it is stuck"
	case "reject":
		q.Reason = "not now"
	}
	return q
}

// project returns the project of w with the other settings of the project file.
func (p *memoryBackend) project(w stacks) project.Project {
	made := w.project()
	made.Name, made.Environment = p.name, p.environment
	p.Cloud.Apart = p.Cloud.Apart || slices.ContainsFunc(w, func(s stack) bool { return len(s.targets) > 0 })
	made.Schedules = make(map[string]project.Schedule)
	for name, operation := range p.schedules {
		made.Schedules[name] = project.Schedule{Operation: operation, Expression: "cron(0 3 1 1 ? 2199)", Zone: "UTC"}
	}
	made.Approval, made.TTL = p.approval, p.ttl
	made.Snapshots = p.keep
	made.MaxDeletions, made.Rollback, made.Timeout, made.MaxParallel, made.Policies = p.maxDeletions, p.rollback, p.timeouts[""], append(made.MaxParallel, p.limits...), p.policies
	made.MaxFailures = append(made.MaxFailures, p.failures...)
	p.rollOut(&made)
	slices.SortFunc(made.MaxParallel, project.Limit.Compare)
	slices.SortFunc(made.MaxFailures, project.Limit.Compare)
	for name, n := range made.Nodes {
		n.Timeout, n.Assets = p.timeouts[name], p.assets[name]
		stack, _, _ := strings.Cut(name, "@")
		n.Hooks = p.withFiles(hooksOf(p.hooks, stack))
		if n.Group == "" && odd(name) {
			n.Group = oddGroup
		}
		made.Nodes[name] = n
	}
	if made.Hooks = hooksOf(p.hooks, ""); made.Hooks != nil {
		made.Home = targetOf("")
	}
	p.spread(made)
	if p.noProjectFile {
		made.Kind = project.Templates
		made.Schedules, made.Rollback = nil, false
	}
	return made
}

// spread puts the stacks of a project into several accounts. A stack imports nothing from another account.
func (p *memoryBackend) spread(made project.Project) {
	if p.accounts <= 1 {
		return
	}
	elsewhere := func(name, need string) bool { return p.accountOf(name) != p.accountOf(need) }
	for name, n := range made.Nodes {
		n.Target = p.targetIn(p.accountOf(name))
		for _, need := range n.Needs {
			if on := made.Nodes[need].Stack; elsewhere(name, need) {
				line, rest, more := strings.Cut(n.Template.Digest, "\n")
				line = strings.TrimSuffix(strings.ReplaceAll(line+" ", " "+on+" ", " "), " ")
				if n.Template.Digest = line; more {
					n.Template.Digest += "\n" + rest
				}
				n.Links.Imports = slices.DeleteFunc(n.Links.Imports, func(x string) bool { return x == on+"-Name" })
			}
		}
		made.Nodes[name] = n
	}
}

// accountOf returns the account of a node whose project is in several.
func (p *memoryBackend) accountOf(node string) int { return int(node[len(node)-1]) % p.accounts }

// targetIn returns the target in one of several accounts.
func (p *memoryBackend) targetIn(account int) project.Target {
	return project.Target{Name: fmt.Sprint("target", account), Account: fmt.Sprintf("%012d", account), Region: "eu-central-1"}
}

func (p *memoryBackend) Timeout(stack string, d time.Duration) {
	p.timeouts[stack] = project.Timeout(d)
}

func (p *memoryBackend) ProjectFile(exists bool) { p.noProjectFile = !exists }

func (p *memoryBackend) MaxDeletions(deletions int) { p.maxDeletions = &deletions }

func (p *memoryBackend) FewAtOnce(most int) { p.limits = []project.Limit{{Group: "few", Most: most}} }

func (p *memoryBackend) KeepSnapshots(policy project.SnapshotPolicy) { p.keep = policy }

func (p *memoryBackend) MaxFailures(most int) { p.failures = []project.Limit{{Most: most}} }

func (p *memoryBackend) Schedules(operations map[string]string) {
	p.schedules = operations
	maps.Copy(p.everScheduled, operations)
}

func (p *memoryBackend) Scheduled() []string {
	return slices.Sorted(maps.Keys(p.Backend.Schedules.Of(p.id())))
}

// Fire lets a schedule start a run, even a schedule that has been deleted: its call may
// have been sent before.
func (p *memoryBackend) Fire(name string) string {
	operation, ok := p.everScheduled[name]
	if s, exists := p.Backend.Schedules.Of(p.id())[name]; exists {
		operation, ok = s.Operation, true
	}
	if !ok {
		p.Fatalf("there is no schedule %s", name)
	}
	return p.Backend.Submit(run.Request{Project: p.id(), Operation: operation, Schedule: name, Who: "schedule " + name})
}

func (p *memoryBackend) OnFailure(word string) { p.rollback = word == "rollback" }

func (p *memoryBackend) Rule(installed bool, level, when string) {
	file, policies := "stackwright.yaml", &p.policies
	if installed {
		file, policies = "policies/rules.yaml", &p.Policies
	}
	if *policies = nil; when != "" {
		*policies = []project.Policy{{Name: "rule", Level: project.PolicyLevel(level), When: when, Message: "no way", File: file, Line: 1, Column: 1, Exact: true}}
	}
}

func (p *memoryBackend) Pass(d time.Duration) {
	if l, _ := p.Lifetime(); p.approval.Plan || l.Known() { // plans and environments expire although nothing else happens
		p.SweepsFor(d)
	}
	end := p.Now().Add(d)
	passed := false
	p.After(d, func() { passed = true })
	p.Backend.Run(func() bool { return passed || p.Now().After(end) })
}

func (p *memoryBackend) ExecutionStatus(id string) run.Run {
	r, err := p.Load(id)
	if err != nil && !fault.Is(err, fault.Missing) {
		p.Fatalf("run %s: %v", id, err)
	}
	return r
}

func (p *memoryBackend) Path(id string) [][]string {
	var all [][]string
	for epoch := range p.ExecutionStatus(id).Epoch {
		if x := p.Execution(fmt.Sprintf("%s-%d", id, epoch+1)); x != nil {
			all = append(all, x.Path)
		}
	}
	return all
}

func (p *memoryBackend) Recorded() map[string]plan.Record {
	records, err := p.Store.Records(p.Context(), p.id())
	if err != nil {
		p.Fatal(err)
	}
	return records
}

func (p *memoryBackend) Lock() run.Lock {
	l, err := p.Store.Lock(p.Context(), p.id())
	if err != nil {
		p.Fatal(err)
	}
	return l
}

func (p *memoryBackend) Abort(id string) {
	p.Backend.Abort(fmt.Sprintf("%s-%d", id, p.ExecutionStatus(id).Epoch))
}

func (p *memoryBackend) Deny(target string, denied bool) {
	if p.Cloud.Denied == nil {
		p.Cloud.Denied = make(map[string]bool)
	}
	p.Cloud.Denied[target] = denied
}

func (p *memoryBackend) Withhold(target string, withheld bool) {
	p.Permits[target] = accesses[target].Projects
	if withheld {
		p.Permits[target] = nil
	}
}

func (p *memoryBackend) Status(name string) plan.Status { return p.Cloud.Status(physicalName(name)) }

func (p *memoryBackend) Deployed(name string) (string, map[string]string) {
	template, params := p.Cloud.Template(physicalName(name))
	version, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(template, "Description: "), `"`), " ")
	return version, params
}

func (p *memoryBackend) OutputOf(name, output string) string {
	return p.Cloud.Output(physicalName(name), output)
}

func (p *memoryBackend) Requests() []string {
	var requests []string
	for _, q := range p.Cloud.Started(p.seen) {
		requests = append(requests, strings.TrimPrefix(q, "shop-"))
	}
	p.seen = len(p.Cloud.Requests)
	return requests
}

func (p *memoryBackend) Live(name string, s plan.Status) { p.Cloud.Set(physicalName(name), s) }
func (p *memoryBackend) DriftInside(name string)         { p.Cloud.DriftInside(physicalName(name)) }

func (p *memoryBackend) Drift(name string, deleted bool) { p.Cloud.Drift(physicalName(name), deleted) }
func (p *memoryBackend) Foreign(name string, now, end plan.Status) {
	p.Live(name, now)
	p.After(5*time.Minute, func() { p.Live(name, end) })
}
func (p *memoryBackend) FailNext(name string, v plan.Verb) {
	if v == plan.CreateEmpty {
		v = plan.Create
	}
	p.Cloud.Fail[physicalName(name)+"/"+string(v)]++
}
func (p *memoryBackend) ByHand(s stack, w stacks) {
	p.Cloud.Make(s.physical, p.project(w).Nodes[s.name].Template.Digest, s.given(p, w))
}

// Update is backend.
func (p *memoryBackend) Update(s stack, w stacks) {
	p.Cloud.Update(s.physical, p.project(w).Nodes[s.name].Template.Digest, s.given(p, w))
}

func (p *memoryBackend) DeleteChangeSets(name string) {
	p.Cloud.DeleteChangeSets(physicalName(name))
}
func (p *memoryBackend) SetParameter(name, parameter, value string) {
	p.Cloud.SetParameter(physicalName(name), parameter, value)
}

// SetIgnored is backend.
func (p *memoryBackend) SetIgnored(name, parameter, value string) {
	p.Cloud.SetIgnored(physicalName(name), parameter, value)
}

func (p *memoryBackend) SetOutside(name, setting string) {
	live, err := p.Cloud.Live(p.Context(), plan.Location{Stack: physicalName(name)})
	if err != nil {
		p.Fatal(err)
	}
	if policy := p.Cloud.PolicyOf(physicalName(name)); setting == "protection" {
		p.Cloud.SetOutside(physicalName(name), !live.Protected, policy)
	} else {
		p.Cloud.SetOutside(physicalName(name), live.Protected, theirPolicy)
	}
}
func (p *memoryBackend) StackLimit(n int) { p.Cloud.StackLimit = n }

// LoseTemplate is backend.
func (p *memoryBackend) LoseTemplate(stack string) {
	if p.Cloud.Lost == nil {
		p.Cloud.Lost = make(map[string]bool)
	}
	p.Cloud.Lost[p.Recorded()[stack].Template] = true
}
func (p *memoryBackend) Unreadable(name string) { p.Cloud.Unreadable[physicalName(name)] = true }
func (p *memoryBackend) Import(user, stack string) {
	p.Cloud.Use(physicalName(user), physicalName(stack))
}
func (p *memoryBackend) Slow(name string, d time.Duration) {
	p.Cloud.Seconds[physicalName(name)] = d.Seconds()
}

func (p *memoryBackend) Fault(name string, v plan.Verb, m sim.Fault) {
	p.faults[fmt.Sprintf("%s/%s", physicalName(name), v)] = m
}

func (p *memoryBackend) Events(deliveries ...time.Duration) {
	p.Faults.Event = func() []time.Duration { return deliveries }
}

func (p *memoryBackend) Lag(d time.Duration) { p.Cloud.Lag = d }

func (p *memoryBackend) Misrecord(name string) {
	p.Store.SetOutputs(p.id(), name, map[string]string{"Value": "misrecorded"})
}

// ChangeSets is backend.
func (p *memoryBackend) ChangeSets() []string {
	var stacks []string
	for _, name := range p.Cloud.ChangeSets() {
		stacks = append(stacks, strings.TrimPrefix(name, physicalName("")))
	}
	return stacks
}

// Planned is backend.
func (p *memoryBackend) Planned(r run.Run) plan.Changes { return p.Changes[r.Changes] }

// ApprovePlans is backend.
func (p *memoryBackend) ApprovePlans(expires time.Duration) {
	p.approval = project.Approval{Plan: expires > 0, Expires: project.Timeout(expires)}
}

func (p *memoryBackend) Holding(table string) string {
	if n := p.Cloud.Created(table); n != 1 {
		return fmt.Sprintf("no stack: the table was created %d times", n)
	}
	return strings.TrimPrefix(p.Cloud.HolderOf(table), physicalName(""))
}
