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

// Life is the longest that a claimer can live. A step that was claimed longer
// ago, and of which nothing was found, was lost on its way.
const MaxStartTime = 60 * time.Second

// A Task is a step with all it needs.
type Task struct {
	Run      string
	Project  string // "shop@prod"
	Number   int    // the step's place in the plan
	Attempt  int
	Step     plan.Step
	Node     project.Node     // what is desired; zero where nothing is
	Want     project.Resolved // what CloudFormation is to be reported
	Record   plan.Record      // what we last did
	Users    []plan.Location  // where those are that must have release of it
	Receipt  plan.Receipt     // what CloudFormation answered
	Notified bool             // an event has notified of its end
	Forced   bool             // it is to be cancelled, if it is an update
	Answered bool             // a user has answered the step's question
	Approved bool             // with yes
	Claimed  time.Time
	Now      time.Time
}

// Token names the work of this attempt, here and at CloudFormation. To start it
// twice is to start it once, and what is polled is the work, not the stack.
// CloudFormation takes letters, digits and hyphens, at most 128.
func (t Task) Token() string { return Token(t.Run, t.Number, t.Attempt) }

// CancelToken names the request to cancel this work. CloudFormation gives it to
// all that happens from then on.
func (t Task) CancelToken() string { return t.Token() + cancels }

// Place says where the stack of the work is. A stack that is created has no ID
// but the recorded one, whatever was recorded under its name before.
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

// A Work is how what was requested under a token stands, as CloudFormation's
// events tell.
type Operation struct {
	Found      bool // the token was ever found
	Receipt    plan.Receipt
	Over       bool
	Status     plan.Status // that it ended with
	Superseded bool        // something else has started since it was over
	Why        string      // the first real reason of a failure

	Stopped time.Time // when it was cancelled under t.CancelToken; zero if it was not
}

// A Progress is the answer to "has it finished?".
type Progress struct {
	Over    bool
	Err     error        // why it failed, if it did
	Why     string       // what a person should know of a step that is done, or runs
	Soon    bool         // whether to ask again as soon as can be
	Receipt plan.Receipt // learnt on the way; zero if nothing was
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
// Both methods may be called again after a crash and must not mind. Start's
// error is of kind Throttled or Busy if it certainly was not started and may be
// tried again, Unavailable if nobody knows; any other fails the step. Poll's
// error says that nothing could be learnt.
type Action interface {
	Start(context.Context, Task) (plan.Receipt, error)
	Poll(context.Context, Task) (Progress, error)
}

// A Cloud is the part of CloudFormation that actions use.
type Cloud interface {
	// Live returns what is there now; a stack that is not there is the zero
	// Live. A stack that is requested by its ID is found after its deletion.
	Live(context.Context, plan.Location) (plan.Live, error)

	// Begin asks for what t says, under t's token. It answers with an error
	// of kind Busy, Taken (the name or the token is used), Unchanged,
	// Missing (no such stack), Throttled, Unavailable, or else the reason.
	Begin(context.Context, Task) (plan.Receipt, error)

	// Cancel asks for the update that is t's to be rolled back, under t's
	// CancelToken. It answers with an error of kind Refused if none is under
	// way, or one of Begin's.
	Cancel(context.Context, Task) error

	// Found reads the events of t's stack for the work under t's token.
	Events(context.Context, Task) (Operation, error)
}

// Token joins what it names.
func Token(run string, number, attempt int) string {
	return fmt.Sprintf("%s%s-%d-%d", Prefix, run, number, attempt)
}

// Prefix begins every token of ours, and cancels ends those under which updates
// are cancelled.
const (
	Prefix  = "sw-"
	cancels = "-cancel"
)

// ParseToken takes apart a token of work, or of its cancellation. It reports
// false for one that is not ours.
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
