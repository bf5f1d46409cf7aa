package engine

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Store keeps what must outlive a function. Every read is strongly consistent.
// What an execution writes for its run is written on condition of the run's epoch,
// else the error is Stale.
type Store interface {
	Runs
	Executions
	Locks
	Steps
	Answers
	Records
	Lifetimes
}

// Runs keeps runs.
type Runs interface {
	// CreateRun puts r, its open item and its place in the project's list in one
	// transaction, if there is no run of its ID. It returns the stored run, without
	// its steps, and whether it is new.
	CreateRun(ctx context.Context, r run.Run) (kept run.Run, fresh bool, err error)

	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// Load returns a run with its steps in order. A run that is not committed
	// has none.
	Load(ctx context.Context, id string) (run.Run, error)

	// Follow returns what Load returns, and may read less: what the same process has
	// followed before, it reads again only where Select says that it may have changed.
	Follow(ctx context.Context, id string) (run.Run, error)

	// List returns the newest runs of a project, newest first, without steps;
	// most limits their number, unless it is 0.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Open lists the runs that are not over, of all projects.
	Open(ctx context.Context) ([]string, error)

	// Tidy finishes the cleanup of ended runs, if a function crashed before it did so.
	Tidy(ctx context.Context) error
}

// Executions keeps the epochs, waiting tokens and commands of runs.
type Executions interface {
	// RaiseEpoch makes the epoch r.Epoch+1, a queued run pending and a waiting one
	// running, and clears the waiting token, until when a poll works for it, and the length
	// of the history, as for a new execution. It writes r.Restarts, r.RestartedAt and r.FinishedAtRestart. It
	// is Stale if the epoch is not r.Epoch, or the run is over.
	RaiseEpoch(ctx context.Context, r run.Run) error

	// Commit writes r's steps in place of those that an earlier planner left, then
	// moves r from pending to its state and writes its operation, source, revision, values, deletions
	// and digest, whether it rolls back, when it started, its deadline and its limits.
	// It is Stale if the stored run is not pending, or its epoch is not r.Epoch.
	Commit(ctx context.Context, r run.Run) error

	// Register makes w's token the one that waits for run id, and adds events to the
	// length of its history. It writes that a poll works for this token, at most until
	// the given time. It reports false, and does none of this, if the token of a later
	// wait was registered before. It is Stale if the run has another epoch.
	Register(ctx context.Context, id string, epoch int, w PollInput, events int, until time.Time) (newest bool, err error)

	// EndPoll writes r.Due, and that no poll works for r's token any more. It is Stale, and the poll
	// must read the run again, if the run has another epoch, token or generation, or if
	// an event has marked a step since r was loaded.
	EndPoll(ctx context.Context, r run.Run) error

	// RecordCommand gives a run a command as run.Run.Give does, and writes an event
	// for the audit, in one transaction and once for each c.ID. It returns the run as
	// it then is, without steps. It is Refused if Give refuses; Missing if there is
	// no such run.
	RecordCommand(ctx context.Context, id string, c run.GivenCommand) (run.Run, error)

	// MarkTidied writes r.Tidied and r.Messages of a run that is about to end. It is Stale if the
	// run has another epoch or token.
	MarkTidied(ctx context.Context, r run.Run) error

	// MarkWaiting writes that r waits for a person, on condition of r.Epoch and that
	// the generation is r.Generation.
	MarkWaiting(ctx context.Context, r run.Run) error
}

// Locks keeps who may write to projects. A lock is written on condition of the
// version that it was decided upon, else the error is Stale: read it again.
type Locks interface {
	// Lock returns a project's lock.
	Lock(ctx context.Context, project string) (run.Lock, error)

	// Enter writes the change of the lock of r's project when r requests it, on
	// condition that r is pending and has the epoch r.Epoch. In the same transaction
	// r is queued, if it has to wait; the runs that it replaces end, as
	// run.Run.ReplaceBy says; and the owner that it stops is cancelled, as
	// run.Run.StopFor says.
	Enter(ctx context.Context, r run.Run, e run.Entry, now time.Time) error

	// End writes r.State, which is an end, messages and time, on condition of
	// r.Epoch, the generation r.Generation and the state x.From. It writes the new
	// lock; if there is none, it requires that the lock is unchanged. In the same
	// transaction it deletes the open item, requests the rollback that follows, and sets x.Lifetime as SetLifetime does.
	End(ctx context.Context, r run.Run, x run.Exit) error

	// Release writes the new lock of a project after the run of the given ID, which
	// cannot be read, has lost it. In the same transaction it deletes the open item
	// of the run, writes an event for the audit, and, if there is such a run at all,
	// marks it as cancelled at c.At.
	Release(ctx context.Context, project, id string, l run.Lock, c run.GivenCommand) error

	// Released reports whether the command of a request has released the lock of the
	// run of the given ID.
	Released(ctx context.Context, id, request string) (bool, error)
}

// Steps keeps the steps of committed runs.
type Steps interface {
	// Select writes that the given steps may change from now on. A pending step is
	// selected before it is moved the first time; see Follow. It is Stale if the run has
	// another epoch, or has ended.
	Select(ctx context.Context, id string, epoch int, steps []int) error

	// Move writes changes of different steps of one run, each with what it does to the
	// node's record, in their order and in as few transactions as possible. It is Stale if
	// the run's epoch is not c.Epoch, or a step is not as c.From says; then the
	// transactions before it stay written. A repeated Move succeeds if the nonce of c.Step is
	// that of the stored step. A claim is also Stale if the run is not running, or is to
	// pause or stop, or its token is not c.Token: then a newer poll decides what starts. It
	// is Taken if another project owns the stack that a change adopts.
	Move(ctx context.Context, c ...Change) error

	// Postpone writes the due times, reasons and events of running steps that a poll
	// found not to be over, and whether they were forced. It leaves alone an event
	// that was marked since the steps were loaded, and a step that is no longer
	// running.
	Postpone(ctx context.Context, id string, epoch int, steps []run.Step) error

	// MarkEvent writes that an event arrived about a running step's attempt. One of
	// plan.Starts makes the step Reported, and nothing else. Every other event makes the
	// step due and is counted in the run, in one transaction. It reports false if there is
	// no such step running; it counts the event of a run that has not ended then too, because
	// the poll that works may not know that another poll has recorded the end.
	MarkEvent(ctx context.Context, id string, number, attempt int, status plan.Status) (bool, error)
}

// Answers keeps what users answer to steps that wait for a person. An answer is
// loaded with its step.
type Answers interface {
	// RecordAnswer writes an answer to one step, raises the run's generation and
	// writes an event for the audit, in one transaction and once for each a.ID. It
	// returns the run as it then is, without steps. It is Refused if run.Run.Accepts
	// says so; Missing if there is no such run or step.
	RecordAnswer(ctx context.Context, id string, number int, a run.Answer) (run.Run, error)
}

// A Change is the change of one step in one transaction.
type Change struct {
	Run     string
	Epoch   int
	Project string
	From    run.Status   // what status the step must have
	Attempt int          // and how often it must have been started
	Nonce   string       // and, if this is not empty, its nonce: no other function has written the step since
	Token   string       // of the run as it was loaded; only a claim needs it
	Step    run.Step     // the step as it is written; its Event is cleared if From is pending, else kept; its Answer is kept
	Record  *plan.Record // the new record of the step's node, if not nil
	Forget  bool         // delete that record
	Adopts  string       // the ID of the stack that Project owns from now on; empty if it adopts none
	Frees   string       // the ID of the stack that Project adopted before and no longer owns
}

// Claims reports whether the change is a claim: it moves a step from pending to running.
func (c Change) Claims() bool { return c.From == run.Pending && c.Step.Status == run.Running }

// Records keeps a record of each node: what Stackwright last did to its stack.
type Records interface {
	// Records returns all records of a project, by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// RecordsOf returns the records of the given nodes; one that is not there is
	// left out.
	RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error)

	// Projects lists the projects that have had a run, as "shop@prod", sorted. A project is
	// listed before it has a record.
	Projects(ctx context.Context) ([]string, error)

	// Rename renames records, on condition that the run that does it has r's epoch
	// and r's state, else it is Stale: a planner renames nothing after another
	// one has committed. It leaves out a record that no longer exists, or is of another
	// stack now.
	Rename(ctx context.Context, r run.Run, records []plan.Record) error
}

// Lifetimes keeps until when environments live.
type Lifetimes interface {
	// Lifetime returns the lifetime of an environment, such as shop@pr-42; the zero Lifetime if it lives for ever.
	Lifetime(ctx context.Context, project string) (project.Lifetime, error)

	// SetLifetime writes a lifetime, or deletes it if it has no end, on condition that the stored one still has its version, else the error
	// is Stale: read it again.
	SetLifetime(ctx context.Context, l project.Lifetime) error

	// Lifetimes returns all lifetimes that have an end, sorted by environment.
	Lifetimes(ctx context.Context) ([]project.Lifetime, error)
}

// Configurations reads desired projects.
type Configurations interface {
	// Project returns the project that r's source describes. It reports everything
	// that is wrong with it at once, as an error of kind Invalid. Specs stores the
	// templates of the project that was read last.
	Project(ctx context.Context, r run.Run) (project.Project, error)
}

// Schedules keeps the schedules of projects, which start runs at their times.
type Schedules interface {
	// SetSchedules makes the schedules of a project the wanted ones, by name. Authors deploy them. A schedule that
	// is unchanged keeps the authors that it has. It removes
	// all others, and does not write those that are unchanged. It does not create a
	// schedule whose time is past, and removes one that is moved to a time that is
	// past. A repeated call changes nothing. It is Refused if the installation has no
	// schedules, and Invalid if a schedule makes no sense.
	SetSchedules(ctx context.Context, project string, wanted map[string]project.Schedule, authors []string, now time.Time) error
}

// Specs keeps nodes, resolved but for outputs, their templates, and values outside projects. What is stored never
// changes, and storing it twice has no effect.
type Specs interface {
	// SaveTemplate stores a template of the project that was read last.
	SaveTemplate(ctx context.Context, digest string) error

	// SaveDeployedTemplate stores a template that CloudFormation has returned, or with which it
	// imports resources, and returns its digest.
	SaveDeployedTemplate(ctx context.Context, body []byte) (digest string, err error)

	// SaveSpecs stores nodes. It returns for each node, in their order, the reference by
	// which Spec finds it. Equal nodes in the same order have equal references.
	SaveSpecs(ctx context.Context, nodes []project.Node) (references []string, err error)

	Spec(ctx context.Context, reference string) (project.Node, error)

	// SaveValues stores what a plan has read outside the project, and returns a reference to it.
	SaveValues(ctx context.Context, values []project.SourceValue) (reference string, err error)

	// Values returns what a plan has read outside the project, by its reference.
	Values(ctx context.Context, reference string) ([]project.SourceValue, error)
}

// Changes keeps what plans would change, and the templates that this is found from.
type Changes interface {
	// Template returns the bytes of a stored template, or of one of the project that is
	// planned. The error is of kind Missing if there is no such template.
	Template(ctx context.Context, digest string) ([]byte, error)

	// SaveChanges stores what a plan would change, and returns a reference to it. It
	// replaces nothing that was stored before: the run names the document of the planner
	// that committed it, and not that of the planner that was the last to finish.
	SaveChanges(ctx context.Context, c plan.Changes) (reference string, err error)

	// PlannedChanges returns what a plan would change, by its reference.
	PlannedChanges(ctx context.Context, reference string) (plan.Changes, error)

	// SaveProposal stores what a change set says, and returns a reference to it. Storing it twice has no effect.
	SaveProposal(ctx context.Context, p plan.Proposal) (reference string, err error)

	// Proposal returns what a change set says, by its reference.
	Proposal(ctx context.Context, reference string) (plan.Proposal, error)
}

// Policies checks what plans change.
type Policies interface {
	// Installed returns the policies of the installation, which can be used. If some cannot, the
	// error is of kind Invalid: it joins UnusablePolicies for each of their files.
	Installed(ctx context.Context) ([]project.Policy, error)

	// Check returns what policies say about a plan. The error is of kind Invalid if they
	// cannot be used.
	Check(ctx context.Context, all []project.Policy, f plan.Facts, c plan.Changes) ([]plan.Violation, error)
}

// Permits says which targets a project may use.
type Permits interface {
	// Permit returns an error of kind Denied if the project of an ID may not use a target,
	// or if the target is not registered for this account and region. A permission that is
	// given counts at once; one that is taken away may count for a minute.
	Permit(ctx context.Context, project string, t project.Target) error

	// Deploys returns an error of kind Denied if nobody may create and update stacks in a target at present. That counts after a minute at the latest.
	Deploys(ctx context.Context, t project.Target) error
}

// Clouds reads the live stacks of all accounts and regions.
type Clouds interface {
	// Observe reads the stack of each location, by name, and whether it is the
	// recorded one or was created with the location's token.
	Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error)

	// DeployedTemplate reads the template that the stack of a location was last deployed
	// from, as its user wrote it.
	DeployedTemplate(ctx context.Context, p plan.Location) ([]byte, error)

	// Holder returns the name of the stack that has the resource with a physical ID in a target;
	// empty if none has.
	Holder(ctx context.Context, t project.Target, physicalID string) (stack string, err error)

	// Exports reads the exports of the given names in a target, and returns them by name. It leaves
	// out those that do not exist. It calls count before each of its requests.
	Exports(ctx context.Context, t project.Target, names []string, count func()) (map[string]plan.Export, error)

	// Importers lists the names of the stacks that import each of some exports in a target, sorted, by the export. It calls count
	// before each of its requests.
	Importers(ctx context.Context, t project.Target, exports []string, count func()) (map[string][]string, error)

	// Resources lists the physical IDs of the resources of the stack of a location, by their logical IDs, without those that are deleted or have
	// none. It calls count before each of its requests.
	Resources(ctx context.Context, p plan.Location, count func()) (map[string]string, error)

	// Room reads how many stacks CloudFormation lets the account of a target have in its region, and how many there are. What it lets it have
	// may be an hour old. It calls count before each of its requests.
	Room(ctx context.Context, t project.Target, count func()) (plan.Room, error)

	// Describe reads the stacks of the given IDs in a target, many with one request,
	// and returns them by ID. It gives up before it has sent as many requests as there
	// are stacks. It leaves out the stacks that it has not found: among them are
	// those that are deleted.
	Describe(ctx context.Context, t project.Target, ids []string) (map[string]plan.Live, error)
}

// An ExecutionStatus is the status of an execution of the state machine.
type ExecutionStatus struct {
	Started bool   // an execution of the name was started
	Running bool   // it has not ended
	Why     string // why it failed, if it did
}

// A Machine starts and wakes the executions of runs.
type Machine interface {
	// Start starts an execution of the given name. It is no error if an execution of that
	// name was started before.
	Start(ctx context.Context, name string, in ExecutionInput) error

	// ExecutionStatus returns the status of the execution of the given name.
	ExecutionStatus(ctx context.Context, name string) (ExecutionStatus, error)

	// Answer lets the execution that waits with token continue with t. It is no error if
	// the token was answered before, or has expired.
	Answer(ctx context.Context, token string, t LoopState) error
}

// A Notifier is notified when a run starts, waits for a person, or ends. Delivery is
// best effort: it may happen twice or not at all. An error is only logged, because
// no run fails when a notification does.
type Notifier interface {
	Notify(ctx context.Context, r run.Run)
}

// A Meter measures runs.
type Meter interface {
	// Ended measures a run that has ended, with the steps that the function which
	// ended it had loaded. It is called once for a run, where a Notifier may be
	// called twice, or not at all if the function crashes first.
	Ended(ctx context.Context, r run.Run)

	// Swept measures the runs that a sweep found not to be over.
	Swept(ctx context.Context, b run.Backlog)
}

// Budgets share the requests to CloudFormation among all functions. There is one for
// each account and region, as project.Target names them. An error means that the
// budget is unknown; it must not delay a run.
type Budgets interface {
	// Take grants as many of the asks of a run as the budget has room for, in their
	// order. Runs that ask at the same time get fair shares. next is when there is room
	// for the next ask: now if all are granted. If many functions call it at once, it may
	// grant none.
	Take(ctx context.Context, where, run string, asks []budget.Demand, now time.Time) (granted int, next time.Time, err error)

	// Throttled records that CloudFormation has throttled a request of that kind, so
	// that Take grants fewer requests for a while.
	Throttled(ctx context.Context, where string, k budget.Kind, now time.Time) error
}
