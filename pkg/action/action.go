// Package action carries out one step: it starts it, and later asks whether it
// has finished.
package action

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// MaxStartTime is the longest time that a start can take. If a step was claimed
// longer ago and has neither a receipt nor events, its start did not reach
// CloudFormation.
const MaxStartTime = 60 * time.Second

// A Task is a step with all it needs.
type Task struct {
	Run      string
	Project  string // "shop@prod"
	Number   int    // the step's place in the plan
	Attempt  int
	Step     plan.Step
	Node     project.Node     // what is desired; zero where nothing is
	Want     project.Resolved // what CloudFormation gets
	Record   plan.Record      // what we last did
	Users    []plan.Location  // where its former users are, whose cleanup has to end first
	Receipt  plan.Receipt     // what CloudFormation answered
	Notified bool             // an event has reported its end
	Forced   bool             // it is to be cancelled, if it is an update
	Answered bool             // a user has answered the step's question
	Approved bool             // with yes
	Claimed  time.Time
	Now      time.Time
}

// Token names the operation of this attempt, here and at CloudFormation. To start it
// twice is to start it once, and a poll follows the operation, not the stack.
// CloudFormation takes letters, digits and hyphens, at most 128.
func (t Task) Token() string { return Token(t.Run, t.Number, t.Attempt) }

// CancelToken names the request to cancel this operation. CloudFormation gives it to
// all events from then on.
func (t Task) CancelToken() string { return t.Token() + cancels }

// Location says where the stack of the operation is. A stack that is created has no
// ID but that of the receipt, whatever was recorded under its name before.
func (t Task) Location() plan.Location {
	p := t.Record.Location()
	if t.Node.Name != "" {
		p.Stack, p.Target = t.Node.Stack, t.Node.Target
	}
	if t.Step.Verb == plan.Create {
		p.StackID = ""
	}
	if t.Receipt.StackID != "" {
		p.StackID = t.Receipt.StackID
	}
	p.Node, p.Token = t.Step.Node, t.Token()
	return p
}

// An Operation is what CloudFormation's events say about the operation with a token.
type Operation struct {
	Found      bool // an event has the token
	Receipt    plan.Receipt
	Over       bool
	Status     plan.Status // that it ended with
	Superseded bool        // another operation has started since it was over
	Why        string      // the first real reason of a failure

	Stopped time.Time // when it was cancelled under t.CancelToken; zero if it was not
}

// A Progress is the answer to "has it finished?".
type Progress struct {
	Over    bool
	Err     error        // why it failed, if it did
	Why     string       // what a person should know of a step that is done, or runs
	Soon    bool         // whether to ask again as soon as can be
	Receipt plan.Receipt // learned by the poll; zero if nothing was
	Record  *plan.Record // what to remember of the stack from now on; nil to leave it
	Forget  bool         // whether to drop the record
	Result  plan.Result  // how the step left its stack, if it is over

	// Question is what a user has to answer before the step goes on; empty if
	// nothing. The step is polled again when it is answered. It fails when it is
	// over, if the answer was no.
	Question string
}

// An Action starts something that finishes later.
//
// Both methods may be called again after a crash and must allow for that. Start's
// error is of kind Throttled or Busy if the operation certainly did not start and
// may be tried again, and Unavailable if that is unknown; any other kind fails the
// step. Poll's error means that it learned nothing.
type Action interface {
	Start(context.Context, Task) (plan.Receipt, error)
	Poll(context.Context, Task) (Progress, error)
}

// A Cloud is the part of CloudFormation that actions use.
type Cloud interface {
	// Live returns what is there now; a stack that is not there is the zero Live. A
	// stack that is read by its ID is found after its deletion.
	Live(context.Context, plan.Location) (plan.Live, error)

	// Begin requests the operation of the task, under its token. It returns an error
	// of kind Busy, Taken (the name or the token is used), Unchanged, Missing (no
	// such stack), Throttled, Unavailable, or else the reason.
	Begin(context.Context, Task) (plan.Receipt, error)

	// Cancel requests that the update of the task is rolled back, under the task's
	// CancelToken. It returns an error of kind Refused if no update is in progress,
	// or one of Begin's.
	Cancel(context.Context, Task) error

	// Events reads the events of the task's stack for the operation with its token.
	Events(context.Context, Task) (Operation, error)
}

// Token joins what it names.
func Token(run string, number, attempt int) string {
	return fmt.Sprintf("%s%s-%d-%d", Prefix, run, number, attempt)
}

// Prefix begins every token of ours. The suffix cancels marks those under which
// updates are cancelled.
const (
	Prefix  = "sw-"
	cancels = "-cancel"
)

// ParseToken takes apart the token of an operation, or of its cancellation. It
// reports false for one that is not ours.
func ParseToken(token string) (run string, number, attempt int, ok bool) {
	token = strings.TrimSuffix(token, cancels)
	body, ours := strings.CutPrefix(token, Prefix)
	parts := strings.Split(body, "-")
	if !ours || len(parts) != 3 {
		return "", 0, 0, false
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return "", 0, 0, false
	}
	attempt, err = strconv.Atoi(parts[2])
	return parts[0], number, attempt, err == nil && Token(parts[0], number, attempt) == token
}
