package engine

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Store keeps what must outlive a function. Every read is strongly
// consistent. Whatever is written for a run by anyone who executes it is written on
// condition of its epoch, else the error is Stale.
type Store interface {
	Runs
	Executions
	Locks
	Steps
	Answers
	Records
}

// Runs keeps runs.
type Runs interface {
	// Ask puts r, its open item and its place in the project's list in one
	// transaction, if there is no run of its ID. It returns the run that is
	// kept, without its steps, and whether it is new.
	CreateRun(ctx context.Context, r run.Run) (kept run.Run, fresh bool, err error)

	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// Load returns a run with its steps in order. A run that is not committed
	// has none.
	Load(ctx context.Context, id string) (run.Run, error)

	// List returns the newest runs of a project, newest first, without steps;
	// most is the number of runs, 0 for all.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Open lists the runs that are not over, of all projects.
	Open(ctx context.Context) ([]string, error)
}

// Executes keeps how runs are executed and steered.
type Executions interface {
	// Raise makes the epoch r.Epoch+1, a queued run requested, a waiting one going,
	// and the waiting token and the history those of a new execution: none. It
	// writes r.Restarted, r.RevivedAt and r.Finished. It is Stale if the epoch is not r.Epoch,
	// or the run is over.
	RaiseEpoch(ctx context.Context, r run.Run) error

	// Commit deletes whatever steps an earlier planner left, writes r's own,
	// then moves r from requested to its state and writes what it is about: its
	// operation, source, deletions and digest, whether it rolls back, when it
	// began and its deadline. It is Stale if r is not requested, or its epoch is not
	// r.Epoch.
	Commit(ctx context.Context, r run.Run) error

	// Register makes w's token the one that waits for run id, and adds to its
	// history's length. It reports false, and does neither, if that of a later
	// wait was registered before. It is Stale if the run's epoch is not execution.
	Register(ctx context.Context, id string, epoch int, w PollInput, events int) (newest bool, err error)

	// RecordCommand gives a run a command as run.Run.Give does, and writes an event
	// for the audit, in one transaction and once for each c.ID. It returns the run as
	// it then is, without steps. It is Refused if Give refuses; Missing if there is
	// no such run.
	RecordCommand(ctx context.Context, id string, c run.GivenCommand) (run.Run, error)

	// Park writes that r is waiting, on condition of r.Epoch and that the generation
	// is r.Generation.
	MarkWaiting(ctx context.Context, r run.Run) error
}

// Locks keeps who may write to projects. A lock is written on condition of the
// version that it was decided upon, else the error is Stale: read it again.
type Locks interface {
	// Lock returns a project's lock.
	Lock(ctx context.Context, project string) (run.Lock, error)

	// Enter writes what happens to the lock of r's project when r requests it, on
	// condition that r is pending and has the epoch r.Epoch. In the same transaction
	// r is queued, if it has to wait; the runs that it replaces end, as
	// run.Run.ReplaceBy says; and the owner that it stops is reported so, as
	// run.Run.StopFor says.
	Enter(ctx context.Context, r run.Run, e run.Entry, now time.Time) error

	// End writes r.State, which is an end, messages and time, on condition of
	// r.Epoch, that the generation is r.Generation, and the state x.From; and what becomes of
	// the lock, or if that is nothing, that it is as it was. In the same transaction the open item goes, and the
	// rollback that follows is requested.
	End(ctx context.Context, r run.Run, x run.Exit) error
}

// Steps keeps the steps of committed runs.
type Steps interface {
	// Step returns a run without its steps, and one of them.
	Step(ctx context.Context, id string, number int) (run.Run, run.Step, error)

	// Move writes a change of one step, with what it does to the node's
	// record, in one transaction. It is Stale if the run's epoch is not
	// c.Epoch, or the step is not as c.From says. To repeat a Move that
	// succeeded succeeds, if its nonce is the step's.
	// To claim a step, from pending to running, is Stale too if the run is not
	// going, or is to pause or stop.
	Move(ctx context.Context, c Change) error

	// Later writes the due times, reasons and events of running steps that a
	// poll found not to be over, and whether they were forced. It leaves alone an
	// event that was marked since the steps were loaded, and a step that is no
	// longer running.
	Postpone(ctx context.Context, id string, epoch int, steps []run.Step) error

	// Mark writes that an event was found in the events a running step's attempt, which
	// makes it due. It reports false if there is no such step running.
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

// A Change is what happens to one step in one transaction.
type Change struct {
	Run     string
	Epoch   int
	Project string
	From    run.Status // what the step must be
	Attempt int        // and how often started
	Nonce   string     // and its nonce, if that is reported: nobody has recorded anything of it since
	Step    run.Step   // what it shall be; its Event is cleared if From is pending, else left as it is; its Answer is left as it is
	Record  *plan.Record
	Forget  bool // drop the record of the step's node
}

// Records keeps what was last done to nodes.
type Records interface {
	// Records returns all records of a project, by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// Some returns the records of the given nodes; one that is not there is
	// left out.
	RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error)

	// Rename moves records to their new names, on condition that the run that
	// does it has r's epoch and is still requested, else it is Stale: anyone who plans
	// beside one that has committed moves nothing. A record that is there no
	// longer, or is of another stack by now, is passed over.
	Rename(ctx context.Context, r run.Run, records []plan.Record) error
}

// Configurations reads what is desired.
type Configurations interface {
	// Project returns the project that r's source describes. Everything that
	// is wrong with it is reported at once, as an error of kind Invalid.
	Project(ctx context.Context, r run.Run) (project.Project, error)
}

// Schedules have things done with projects though nobody asks.
type Schedules interface {
	// Arrange makes the schedules of a project those that are wanted, by name:
	// others are removed, and one that is as wanted is left as it is. One that is
	// past by now is not made anew, and one that is put to a time that is past is
	// removed. To repeat it changes nothing. It is Refused
	// where there can be no schedules; Invalid, if one makes no sense.
	SetSchedules(ctx context.Context, project string, wanted map[string]project.Schedule, now time.Time) error
}

// Specs keeps nodes, resolved but for outputs, by digest.
type Specs interface {
	SaveSpec(ctx context.Context, n project.Node) (digest string, err error)
	Spec(ctx context.Context, digest string) (project.Node, error)
}

// Clouds sees what is live, everywhere.
type Clouds interface {
	// Observe reads the stack of each place, by name, and at whether it is
	// the recorded one or was created of the place's token.
	Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error)
}

// A Standing is how an execution stands.
type ExecutionStatus struct {
	Started bool   // it was started
	Running bool   // it is not over
	Why     string // it failed, if it did
}

// Machine starts and wakes the executions that epoch runs.
type Machine interface {
	// Start starts an execution of the given name. To start one that was
	// started before is no error.
	Start(ctx context.Context, name string, in ExecutionInput) error

	// Standing says how the execution of the given name stands.
	ExecutionStatus(ctx context.Context, name string) (ExecutionStatus, error)

	// Answer lets the execution that waits with token go on with t. To answer
	// a token that was answered, or whose time is over, is no error.
	Answer(ctx context.Context, token string, t LoopState) error
}

// Setup is told what happened to runs: that they began, waiting, ended. It may
// be reported twice, or not at all if the notifier dies; what it cannot pass on it
// logs, for no run fails because nobody listens.
type Notifier interface {
	Notify(ctx context.Context, r run.Run)
}

// Meter is told what there is to measure.
type Meter interface {
	// Ended is informed of the end of a run, with such steps as its writer knew, by
	// anyone who wrote it: once, where Setup may be reported twice; or not at all, if
	// that one dies there and then.
	Ended(ctx context.Context, r run.Run)

	// Swept is reported how the runs stood that a sweep found not to be over.
	Swept(ctx context.Context, b run.Backlog)
}

// Budgets share out the requests to CloudFormation among all that may make
// them. Each is that of an account and region, as project.Target names them. An
// error says that nothing is known of it; it holds nobody up.
type Budgets interface {
	// Take takes as many of the asks as there is room for, in their order, and
	// says when there is room for the next: now if all are granted. Where many
	// take at once it may grant none.
	Take(ctx context.Context, where string, asks []budget.Demand, now time.Time) (granted int, next time.Time, err error)

	// Room says what Take would, and takes nothing.
	Room(ctx context.Context, where string, asks []budget.Demand, now time.Time) (granted int, next time.Time, err error)

	// Throttled says that CloudFormation has refused a request of that kind:
	// fewer are granted for a while.
	Throttled(ctx context.Context, where string, k budget.Kind, now time.Time) error
}
