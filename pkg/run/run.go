// Package run decides which steps of a run may start, which no longer can, and
// when the run ends. It is pure: everything follows from the statuses of the steps,
// the command and the time that is passed in.
package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Version is the version of the runs, steps and records that this code writes. It reads
// its own and the one before.
const Version = 1

// A Status is the status of a step.
type Status string

// The statuses of a step.
const (
	Pending Status = "pending"
	Running Status = "running"
	Waiting Status = "waiting" // for an answer of a user
	Done    Status = "done"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A State is the state of a run.
type State string

// The states. Pending, queued, running, waiting and the ends are stored. Ready,
// watch, poll, fenced off, soaking and failed dirty only pass through the state machine.
const (
	StatePending State = "pending" // no plan yet
	StateQueued  State = "queued"  // no plan yet, and another run holds the lock
	StateRunning State = "running" // its plan is committed

	StateReady     State = "ready"      // some step may start
	StateWatch     State = "watch"      // some step runs, or waits for its time
	StatePoll      State = "poll"       // an event or a command has arrived
	StateFencedOff State = "fenced off" // a newer execution has the run
	StateSoaking   State = "soaking"    // it may not begin yet

	StateFailedDirty State = "failed dirty" // failed, and a stack is left in a bad state

	StateWaiting    State = "waiting"    // it is paused or waits for an answer: only a person can continue it
	StateSucceeded  State = "succeeded"  // every step is done
	StateFailed     State = "failed"     // some step failed
	StateCancelled  State = "cancelled"  // a command stopped it
	StateSuperseded State = "superseded" // a newer run replaced it
	StateRefused    State = "refused"    // it could not be planned
)

// StoredStates lists the states that a run is stored in.
func StoredStates() []State {
	return []State{StatePending, StateQueued, StateRunning, StateWaiting, StateSucceeded, StateFailed, StateCancelled, StateSuperseded, StateRefused}
}

// Over reports whether a run in this state has ended.
func (s State) Over() bool {
	switch s {
	case StateSucceeded, StateFailed, StateFailedDirty, StateCancelled, StateSuperseded, StateRefused:
		return true
	}
	return false
}

// IDLength is the number of characters in the ID of a run.
const IDLength = 20

// A Run is one attempt to carry out one plan.
type Run struct {
	Request
	Version int

	Command            Command
	Forced             bool           // updates in progress are cancelled too
	Commands           []GivenCommand // the newest commands that users gave it, oldest first
	SupersededBy       string         // the run that supersedes this one
	Epoch              int            // of the execution that may write: the fencing token
	State              State          // pending, queued, running, waiting or an end
	TokenKey           string         // random: without it, nobody can compute the client request tokens of its operations
	Generation         int            // raised by every command and answer
	ObservedGeneration int            // the generation with which it last became waiting
	Token              string         // of the wait of its execution
	Since              time.Time      // when that wait started
	PolledUntil        time.Time      // until when a poll may be working for that wait; zero if none is
	Due                time.Time      // of the next poll of that wait, as the last poll found; zero if it found none
	Marks              int            // how many events have marked steps
	Events             int            // the estimated number of events in the history of its execution

	Restarts          int       // how often its execution was restarted since a step last finished
	RestartedAt       time.Time // when it was restarted last
	FinishedAtRestart int       // how many steps were over then

	Tidied int // of how many of its steps, the first ones, is deleted what they have left behind

	Digest    string   // of the plan
	Changes   string   // reference to what a plan that is only shown would change; empty for other plans
	Unchanged int      // how many stacks needed no step
	Messages  []string // why it was refused, or what went wrong with the engine
	Requested time.Time
	Started   time.Time
	Deadline  time.Time // when it is overdue; zero if it may take any time
	Ended     time.Time

	Approval *project.Approval // what its files say about approvals; nil if nothing

	Promotion *project.Promotion // from and to which environments its files promote by themselves; nil if they do not

	NotBefore time.Time // when a promotion that follows another run may begin; zero for other runs

	MaxParallel []project.Limit // how many of its steps may run at the same time, sorted
	MaxFailures []project.Limit // how many of its stacks may fail before it starts no more steps of the others, sorted

	Kind project.Kind // of the files of its source

	Destroy *project.Destroy // what its files say about destroys; nil if nothing

	SnapshotPolicy *project.SnapshotPolicy // what its files say about which snapshots are kept; nil if nothing

	Settings string // digest of what its files say besides the stacks
	Same     Source // of a deploy of all stacks that has changed nothing: the files that had left everything so; zero for other runs

	Revision string // the run whose files, and values from outside the project, it deploys again; empty for other operations

	Values string // reference to the values outside the project that its plan has read; empty if there are none

	Steps []Step // in the order of the plan
}

// A Step is a planned step and how far it has come.
type Step struct {
	plan.Step
	Number    int    // its place in the plan, from 0
	Spec      string // reference to the stack's spec; empty if no stack is desired, or if the run is a preview
	Status    Status
	Attempt   int      // how often it was started
	Kept      []string // the parameters whose values its update keeps, since it was claimed
	Nonce     string
	Receipt   plan.Receipt
	Why       string // why it failed, was skipped or did nothing, or what it asks
	Event     Event
	Reported  bool      // an event has reported the start of its operation
	Due       time.Time // of the next poll, while it runs
	NotBefore time.Time // of the next start, while it is pending
	Claimed   time.Time
	Tried     time.Time // when it was first claimed, if it is tried again
	Ended     time.Time
	Forced    bool // it was polled since the run was cancelled with force
	Answer    Answer
	Cause     Cause       // why it was skipped, or that it was declined
	Result    plan.Result // how it left its stack, once it is over
}

// TryAgain says that the step, which is claimed, will be claimed again.
func (s *Step) TryAgain() {
	if s.Tried.IsZero() {
		s.Tried = s.Claimed
	}
}

// An Event is an event of CloudFormation about a running step that no poll has
// confirmed yet.
type Event struct {
	Status plan.Status `json:"status,omitempty"`
	Polls  int         `json:"polls,omitempty"` // how many polls have not seen it yet
}

// Finished counts the steps that are over.
func (r *Run) Finished() int {
	n := 0
	for _, s := range r.Steps {
		if s.Over() {
			n++
		}
	}
	return n
}

// Soaks reports whether r may not begin yet: it promotes a revision whose deploy has not lasted long enough.
func (r *Run) Soaks(now time.Time) bool { return r.State == StatePending && r.NotBefore.After(now) }

// Over reports whether the step has ended.
func (s Step) Over() bool { return s.Status == Done || s.Status == Failed || s.Status == Skipped }

// Start puts the steps of a plan in the run, all pending.
func (r *Run) Start(p plan.Plan, specs map[string]string) {
	r.State, r.Unchanged = StateRunning, len(p.Unchanged)
	r.SetSteps(p.Steps, specs)
	r.MaxFailures = p.MaxFailures
}

// Obey takes over what the files of a project say about its runs, and about what comes after them. The error is of kind Invalid if that is too large to be kept.
func (r *Run) Obey(p project.Project) (err error) {
	r.MaxParallel, r.Kind, r.Promotion = p.MaxParallel, p.Kind, p.Promotion
	if p.Approval.Known() {
		r.Approval = &p.Approval
	}
	if p.Snapshots.Known() {
		r.SnapshotPolicy = &p.Snapshots
	}
	if r.Settings, err = p.SettingsDigest(); err != nil {
		return err
	}
	r.Destroy, err = p.OfDestroy()
	return err
}

// SetSteps puts other steps in the run, all pending, of which any number may fail.
func (r *Run) SetSteps(steps []plan.Step, specs map[string]string) {
	r.MaxFailures = nil
	r.Steps = make([]Step, len(steps))
	for i, s := range steps {
		r.Steps[i] = Step{Step: s, Number: i, Spec: specs[s.Node], Status: Pending}
	}
}

// LeftBroken lists the stacks of failed steps that are in a bad or unknown state, in the
// order of the plan. It needs the steps, and reports false if r was loaded without them.
func (r *Run) LeftBroken() (nodes []string, known bool) {
	for _, s := range r.Steps {
		if s.Status == Failed && !s.Result.Clean() && !slices.Contains(nodes, s.Node) {
			nodes = append(nodes, s.Node)
		}
	}
	return nodes, len(r.Steps) > 0 || r.Started.IsZero()
}

// Step returns the step with the given ID, or nil.
func (r *Run) Step(id string) *Step {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	return nil
}

// Ready lists the numbers of the steps that may start now, at most max of them, the
// critical path first: those with the longest chain of steps after them. It obeys
// MaxParallel.
func (r *Run) Ready(now time.Time, max int) []int {
	steps := slices.DeleteFunc(r.open(now), func(s *Step) bool { return s.NotBefore.After(now) })
	r.byPriority(steps)
	ready, free := []int{}, r.places()
	for _, s := range steps {
		if len(ready) < max && free.has(s) {
			free.take(s)
			ready = append(ready, s.Number)
		}
	}
	return ready
}

// open lists the pending steps that may start, now or when their time comes.
func (r *Run) open(now time.Time) []*Step {
	if r.Command != Continue || r.Unchecked() || r.Overdue(now) {
		return nil
	}
	free, exceeded := r.places(), r.excesses()
	var open []*Step
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status == Pending && r.startable(s) && free.has(s) && !s.stopped(exceeded).Known() {
			open = append(open, s)
		}
	}
	return open
}

// Prune skips the pending steps that can no longer start, and those that wait for
// an answer, or for a time, that can no longer matter. It returns them as they were before. Each
// names its root cause. A run that is paused may be overdue: it ends when it is continued.
func (r *Run) Prune(now time.Time) []Step {
	var all []Step
	for {
		pruned := r.prune(now)
		if all = append(all, pruned...); len(pruned) == 0 {
			return all
		}
	}
}

// prune makes one pass. For dependents one is enough, because the steps are in order; but a step that is skipped may be
// one more failure than a limit allows.
func (r *Run) prune(now time.Time) []Step {
	var pruned []Step
	exceeded := r.excesses()
	for i := range r.Steps {
		s := &r.Steps[i]
		was := *s
		idles := s.Idle && s.Status == Running
		if s.Status != Pending && !s.waits() && !idles {
			continue
		}
		if s.expired(now) && !r.Command.Stops() {
			s.Status, s.Why, s.Result.NothingStarted = Failed, "nobody has approved it within "+s.Timeout.String(), true
			pruned = append(pruned, was)
			continue
		}
		if c := cmp.Or(r.failedBefore(s), s.stopped(exceeded), r.commanded(r.Overdue(now))); c.Known() {
			s.Status, s.Cause, s.Why, s.Result.NothingStarted = Skipped, c, c.text(r), idles
			pruned = append(pruned, was)
		}
	}
	return pruned
}

// Stopped is the end of a run that a command stopped.
func (r *Run) Stopped() State {
	if r.Command == Supersede {
		return StateSuperseded
	}
	return StateCancelled
}

// Next is the state that a running run should have now: ready, watch, waiting or
// an end.
func (r *Run) Next(now time.Time) State {
	open := r.open(now)
	if slices.ContainsFunc(open, func(s *Step) bool { return !s.NotBefore.After(now) }) {
		return StateReady
	}
	var failed, stopped, pending bool
	for _, s := range r.Steps {
		switch s.Status {
		case Running:
			return StateWatch
		case Waiting:
			if s.Answer.Known() {
				return StateWatch
			}
			pending = true
		case Pending:
			pending = true
		case Failed:
			failed = true
		case Skipped:
			stopped = stopped || s.Cause.Step == "" && s.Cause.Kind != CauseNoFailure // not skipped because of the other steps
		}
	}
	switch {
	case len(open) > 0, pending && r.Command == Continue && r.Overdue(now), pending && r.Unchecked(): // Prune will skip these, or function plan checks them
		return StateWatch
	case pending:
		return StateWaiting
	case r.TimedOut() && r.Command != Supersede:
		return StateFailed
	case r.Command == Cancel, r.Command == CancelAndRollBack: // even if it came during the last step
		return StateCancelled
	case stopped, failed && (r.Command == Supersede || r.Forced):
		return r.Stopped()
	case failed:
		return StateFailed
	}
	return StateSucceeded
}

// IDs returns the IDs of the steps with the given numbers.
func (r *Run) IDs(numbers []int) []string {
	ids := make([]string, len(numbers))
	for i, n := range numbers {
		ids[i] = r.Steps[n].ID
	}
	return ids
}

// all reports whether every step of the given numbers has the given status.
func (r *Run) all(numbers []int, want Status) bool {
	for _, n := range numbers {
		if r.Steps[n].Status != want {
			return false
		}
	}
	return true
}

// startable reports whether the steps that s comes after let it start.
func (r *Run) startable(s *Step) bool {
	switch {
	case s.OnFailure:
		return r.allOver(s.After) && r.anyFailed() && r.all(r.approvalsOfPlan(), Done)
	case s.Tolerant:
		return r.allOver(s.After) && r.anyDone(s.After)
	}
	return r.all(s.After, Done)
}

// allOver reports whether every step of the given numbers is over.
func (r *Run) allOver(numbers []int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return !r.Steps[n].Over() })
}

// anyDone reports whether a step of the given numbers is done.
func (r *Run) anyDone(numbers []int) bool {
	return slices.ContainsFunc(numbers, func(n int) bool { return r.Steps[n].Status == Done })
}

// approvalsOfPlan lists the steps that wait until the whole plan is approved: without them, nothing of it is done.
func (r *Run) approvalsOfPlan() []int {
	var all []int
	for i := range r.Steps {
		if a := r.Steps[i].Approval; a != nil && a.Plan {
			all = append(all, i)
		}
	}
	return all
}

// anyFailed reports whether a step has failed.
func (r *Run) anyFailed() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Status == Failed })
}
