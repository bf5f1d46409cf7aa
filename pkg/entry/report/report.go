// Package report has the bodies and the answers of the HTTP API.
package report

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Run is the current state of a run.
type Run struct {
	Run          string          `json:"run"`
	Project      string          `json:"project"`
	Operation    string          `json:"operation"`
	State        run.State       `json:"state"`
	Command      run.Command     `json:"command"`
	Forced       bool            `json:"forced,omitempty"`           // updates in progress are cancelled too
	By           string          `json:"by"`                         // who has requested it, for people: what is known, and beside it, marked, what is only said
	Who          string          `json:"who"`                        // requested it, as AWS or the schedule says
	Claim        string          `json:"claim,omitempty"`            // who the sender says that he is; nobody checks it
	Requester    string          `json:"requester,omitempty"`        // the account that S3 names as the sender of the upload or the request object
	Reason       string          `json:"reason,omitempty"`           // of the request
	Upload       bool            `json:"upload,omitempty"`           // a newer upload supersedes it
	Schedule     string          `json:"schedule,omitempty"`         // that requested it
	Source       run.Source      `json:"source,omitzero"`            // the configuration that it deploys
	Revision     string          `json:"revision,omitempty"`         // the run whose files it deploys, for a rollback with its values from outside the project
	From         string          `json:"from_environment,omitempty"` // the environment of that run, which it promotes
	Follows      string          `json:"follows,omitempty"`          // the run after which the files of the project promote by themselves; nobody has requested it
	NotBefore    time.Time       `json:"not_before,omitzero"`        // when such a promotion may begin
	Commands     []Command       `json:"commands,omitempty"`
	Of           string          `json:"of,omitempty"`
	SupersededBy string          `json:"superseded_by,omitempty"`
	Restarts     int             `json:"restarted,omitempty"` // how often its execution was restarted since a step last finished
	Requested    time.Time       `json:"requested"`
	Started      time.Time       `json:"started,omitzero"`
	Deadline     time.Time       `json:"deadline,omitzero"` // when it is overdue
	Ended        time.Time       `json:"ended,omitzero"`
	Expected     plan.Seconds    `json:"expected_seconds,omitempty"` // of a preview: how long its steps will probably take
	ExpectedEnd  time.Time       `json:"expected_end,omitzero"`      // of a run that is being executed: when it will probably end
	CriticalPath []string        `json:"critical_path,omitempty"`    // the steps that decide that, the last of the run last
	Digest       string          `json:"digest,omitempty"`           // of its plan: an answer names it
	Plan         string          `json:"plan,omitempty"`             // of a preview: the reference of what it would change, for options.plan of a deploy
	Unchanged    int             `json:"unchanged"`
	Messages     []string        `json:"messages,omitempty"`
	LeftBroken   []string        `json:"left_broken,omitempty"`         // stacks that failed steps left in a bad or unknown state
	Epoch        int             `json:"epoch,omitempty"`               // of its newest execution
	Generation   int             `json:"generation,omitempty"`          // raised by every command and answer
	Observed     int             `json:"observed_generation,omitempty"` // the generation with which it last became waiting
	MaxParallel  []project.Limit `json:"max_parallel,omitempty"`        // how many of its steps may run at the same time
	MaxFailures  []project.Limit `json:"max_failures,omitempty"`        // how many of its stacks may fail before it starts no more of the others
	Rollouts     []Rollout       `json:"rollouts,omitempty"`            // how far they have come, in the order of the plan
	Steps        []Step          `json:"steps,omitempty"`
	NextStep     int             `json:"next_step,omitempty"` // in a page of the API: the number of the first step of the next page
	Lock         *QueueEntry     `json:"lock,omitempty"`      // of its project, if a run holds it
	Suspended    *Suspended      `json:"suspended,omitempty"` // the suspended stacks of its project, in what the command status shows
	Attention    []Run           `json:"attention,omitempty"` // other runs that failed, and that no later run has repaired
}

// A Command is a command that a run was given.
type Command struct {
	Command run.Command `json:"command"`
	Force   bool        `json:"force,omitempty"`
	Run     string      `json:"run,omitempty"` // that supersedes it
	Who     string      `json:"who"`
	Reason  string      `json:"reason,omitempty"`
	Given   time.Time   `json:"given"`
}

// A Step is the current state of a step.
type Step struct {
	Step       string     `json:"step"`
	Stack      string     `json:"stack"`
	Verb       string     `json:"verb"`
	Possible   bool       `json:"possible,omitempty"`   // only an output of a changing dependency can make it change the stack
	Deployment string     `json:"deployment,omitempty"` // CloudFormation's deployment mode, if it is not the standard mode
	Where      string     `json:"where,omitempty"`      // the account and region of the stack
	Rollout    string     `json:"rollout,omitempty"`    // the stack to whose rollout it belongs
	Tolerant   bool       `json:"tolerant,omitempty"`   // it starts although some of what it comes after has failed
	Status     run.Status `json:"status"`
	Why        string     `json:"why"` // while it waits for an answer: the question
	After      []string   `json:"after"`
	Answer     *Answer    `json:"answer,omitempty"`

	Approval   *project.Approval `json:"approval,omitempty"` // who may answer, if it waits for approval
	Proposal   string            `json:"proposal,omitempty"` // the step that makes the change set which it approves or executes
	Digest     string            `json:"digest,omitempty"`   // of the change set, if it approves one: an answer to this step names it
	Optional   bool              `json:"optional,omitempty"` // it waits only if the change set has to be approved
	Cause      *run.Cause        `json:"cause,omitempty"`    // why it was skipped, or that it was declined
	Findings   []plan.Finding    `json:"findings,omitempty"`
	Unchanged  bool              `json:"unchanged,omitempty"`       // the stack already was as desired
	Left       plan.Status       `json:"stack_status,omitempty"`    // of the stack when the step ended
	NotStarted bool              `json:"nothing_started,omitempty"` // the step started nothing: its stack is as it was before
	Attempt    int               `json:"attempt,omitempty"`         // how often it was started
	Claimed    time.Time         `json:"claimed,omitzero"`          // when a function last tried to start it, if it never started
	NotBefore  time.Time         `json:"not_before,omitzero"`       // when it is started again, while it is pending
	Started    time.Time         `json:"started,omitzero"`
	Deadline   time.Time         `json:"deadline,omitzero"` // when it is overdue
	Ended      time.Time         `json:"ended,omitzero"`
	Timeout    plan.Seconds      `json:"timeout_seconds,omitempty"`  // how long it may take
	Expected   plan.Seconds      `json:"expected_seconds,omitempty"` // how long it probably takes, if it changes anything
}

// A Rollout says how far the targets of a stack that is rolled out have come. Each target with a step is in one of the lists.
type Rollout struct {
	Stack      string   `json:"stack"`
	Deployed   []string `json:"deployed,omitempty"`
	Failed     []string `json:"failed,omitempty"`
	InProgress []string `json:"in_progress,omitempty"`
	Stopped    []string `json:"stopped,omitempty"` // started, and not finished
	NotStarted []string `json:"not_started,omitempty"`
}

// An Answer is the answer of a user to a step.
type Answer struct {
	Yes    bool      `json:"yes"`
	Who    string    `json:"who"`
	Reason string    `json:"reason,omitempty"`
	Given  time.Time `json:"given"`
}

// By says for people who requested the run.
func (o Owner) By() string {
	return run.Request{Who: o.Who, Claim: o.Claim, Requester: o.Requester}.By()
}

// Of reports a run as it is now, without the queue of its project.
func Of(r run.Run, now time.Time) Run {
	shown := Run{
		Run: r.ID, Project: r.Project, Operation: r.Operation, State: r.State, Command: r.Command,
		By: r.By(), Who: r.Who, Claim: r.Claim, Requester: r.Requester, Reason: r.Reason, Of: r.Of,
		Upload: r.Upload, Schedule: r.Schedule, Source: r.Source, Epoch: r.Epoch, Generation: r.Generation, Observed: r.ObservedGeneration, Digest: r.Digest, MaxParallel: r.MaxParallel, MaxFailures: r.MaxFailures,
		SupersededBy: r.SupersededBy, Restarts: r.Restarts, Requested: r.Requested, Ended: r.Ended, Plan: r.Changes, Unchanged: r.Unchanged, Messages: r.Messages,
		Forced: r.Forced, Started: r.Started, Deadline: r.Deadline, Revision: r.Revision, From: r.FromEnvironment, Follows: r.Follows, NotBefore: r.NotBefore,
	}
	if f, ok := r.Forecast(now); ok {
		shown.ExpectedEnd, shown.CriticalPath = f.End.UTC().Round(time.Second), r.IDs(f.Path)
	}
	if plan.IsPreview(r.Operation) && !r.Proposes() { // an exact plan says in its changes how long a deploy takes
		shown.Expected = plan.SecondsOf(r.Estimate())
	}
	for _, stack := range r.Rollouts() {
		at := r.Standing(project.Limit{Rollout: stack})
		shown.Rollouts = append(shown.Rollouts, Rollout{stack, at.Deployed, at.Failed, at.Started, at.Stopped, at.NotStarted})
	}
	shown.LeftBroken, _ = r.LeftBroken() // a run without steps is in a list, which does not say
	for _, c := range r.Commands {
		shown.Commands = append(shown.Commands, Command{c.Command, c.Force, c.Run, c.Who, c.Why, c.At})
	}
	for _, s := range r.Steps {
		step := Step{
			Step: s.ID, Stack: s.Node, Verb: string(s.Verb), Possible: s.Possible, Deployment: string(s.Deployment), Status: s.Status, Why: s.Why, After: r.IDs(s.After), Expected: s.Expected, Approval: s.Approval,
			Where: s.Where, Rollout: s.Rollout, Tolerant: s.Tolerant, Timeout: plan.SecondsOf(time.Duration(s.Timeout)), Unchanged: s.Receipt.Unchanged, Left: s.Result.Status, NotStarted: s.Result.NothingStarted, Attempt: s.Attempt, NotBefore: s.NotBefore,
		}
		step.Ended, step.Proposal, step.Optional = s.Ended, s.Proposal, s.Optional
		if s.Approval != nil && s.Proposal != "" {
			step.Digest = r.AnswerDigest(s)
		}
		if s.Attempt > 0 {
			step.Started, step.Deadline = s.Claimed, s.Deadline(s.Claimed)
		} else {
			step.Claimed = s.Claimed
		}
		if a := s.Answer; a.Known() {
			step.Answer = &Answer{a.Yes, a.By(), a.Why, a.At}
		}
		if s.Cause.Known() {
			step.Cause = &s.Cause
		}
		step.Findings = s.Result.Findings
		shown.Steps = append(shown.Steps, step)
	}
	return shown
}

// Runs reads runs and locks.
type Runs interface {
	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// Lock returns a project's lock.
	Lock(ctx context.Context, project string) (run.Lock, error)
}

// An Owner is a run that holds a project's lock, or is queued for it.
type Owner struct {
	Run       string    `json:"run"`
	Operation string    `json:"operation"`
	State     run.State `json:"state"`
	Who       string    `json:"who"`
	Claim     string    `json:"claim,omitempty"`
	Requester string    `json:"requester,omitempty"`
	Requested time.Time `json:"requested"`
	Does      string    `json:"does"` // a sentence: what it does now, or will do when it has the lock
}

// A QueueEntry is the run that holds a project's lock, and the runs that are queued
// for it.
type QueueEntry struct {
	Project string  `json:"project"`
	Owner   Owner   `json:"owner"`
	Waiting []Owner `json:"waiting"` // the next one first
}

// QueueEntryOf reports which run holds the lock of a project, or nil if none does.
func QueueEntryOf(ctx context.Context, runs Runs, project string) (*QueueEntry, error) {
	lock, err := runs.Lock(ctx, project)
	if err != nil || lock.Owner.Run == "" {
		return nil, err
	}
	q := &QueueEntry{Project: project, Waiting: []Owner{}}
	for i, w := range append([]run.Writer{lock.Owner}, lock.Waiting...) {
		r, err := runs.Run(ctx, w.Run)
		switch {
		case fault.Is(err, fault.Missing):
			r = run.Run{Request: run.Request{ID: w.Run}} // it ended since
		case err != nil:
			return nil, fmt.Errorf("run %s: %w", w.Run, err)
		}
		o := Owner{r.ID, r.Operation, r.State, r.Who, r.Claim, r.Requester, r.Requested, queued(r)}
		if i > 0 {
			q.Waiting = append(q.Waiting, o)
			continue
		}
		o.Does = owning(r)
		q.Owner = o
	}
	return q, nil
}

// owning says what the run that holds a lock does.
func owning(r run.Run) string {
	const finishes = "it finishes its running steps, then "
	switch {
	case r.Command == run.Supersede:
		return finishes + "run " + r.SupersededBy + " supersedes it" + by(r)
	case r.Command == run.CancelAndRollBack:
		return finishes + "is rolled back" + by(r)
	case r.Command == run.Cancel:
		return finishes + "is cancelled" + by(r)
	case r.State == run.StateWaiting && r.Command == run.Pause:
		return "it is paused" + by(r) + ": only a person can continue it"
	case r.State == run.StateWaiting:
		return "it waits for the answer of a person"
	case r.Command == run.Pause:
		return finishes + "pauses" + by(r)
	case r.State == run.StatePending:
		return "it is being planned"
	case r.State == run.StateQueued:
		return "it is about to start"
	}
	return "it is being executed"
}

// by says who gave r its command, and why.
func by(r run.Run) string {
	c := r.Given()
	switch {
	case c.Who == "":
		return ""
	case c.Why == "":
		return " (by " + c.Who + ")"
	}
	return " (by " + c.Who + ": " + c.Why + ")"
}

// queued says what a queued run will do.
func queued(r run.Run) string {
	switch {
	case r.Command.Stops():
		return "it is being cancelled" + by(r)
	case r.State.Over(), r.State == "":
		return "it has ended"
	case r.Upload:
		return "it deploys an upload, unless a newer upload replaces it"
	}
	return plan.AllOperations().Of(r.Operation).EffectFor(r.Of)
}
