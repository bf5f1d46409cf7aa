// Package action carries out one step: it starts the step, and later polls whether it
// has finished.
package action

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// MaxStartTime is the longest time that a start can take. If a step was claimed
// longer ago and has neither a receipt nor events, its start did not reach
// CloudFormation.
const MaxStartTime = 60 * time.Second

// A Request is a request to CloudFormation that starts an operation on a stack.
type Request string

// The requests.
const (
	CreateStack            Request = "CreateStack"
	UpdateStack            Request = "UpdateStack"
	DeleteStack            Request = "DeleteStack"
	ContinueUpdateRollback Request = "ContinueUpdateRollback"
	CreateChangeSet        Request = "CreateChangeSet"       // it changes nothing in the stack
	CreateDriftChangeSet   Request = "CreateDriftChangeSet"  // CreateChangeSet that compares with the live resources; it changes nothing in the stack
	ExecuteDriftChangeSet  Request = "ExecuteDriftChangeSet" // of such a change set
	DetectStackDrift       Request = "DetectStackDrift"      // it changes nothing in the stack
	ExecuteChangeSet       Request = "ExecuteChangeSet"      // of a change set that another step has made
	ImportResources        Request = "ImportResources"       // CreateChangeSet of type IMPORT; Execute starts the operation
	CreateStackRefactor    Request = "CreateStackRefactor"   // Execute starts the operation
	CallHook               Request = "CallHook"              // no request to CloudFormation
)

// Reads reports whether the request changes nothing in a stack.
func (r Request) Reads() bool {
	return r == CreateChangeSet || r == CreateDriftChangeSet || r == DetectStackDrift
}

// A Task is a step with everything that its action needs.
type Task struct {
	Run       string
	TokenKey  string // of the run
	Project   string // "shop@prod"
	Number    int    // the step's place in the plan
	Attempt   int
	Step      plan.Step
	Request   Request          // of the step's verb
	Node      project.Node     // the desired node; zero if the node is not desired
	Want      project.Resolved // what CloudFormation gets
	Record    plan.Record      // what Stackwright last did
	Import    plan.Importation // what an import imports, and the template of an empty stack
	Movement  plan.Movement    // what a request that moves resources, moves
	Hook      plan.HookCall    // what a step that calls a hook, calls
	Values    project.ResolvedHook
	Receipt   plan.Receipt     // what CloudFormation answered
	ChangeSet string           // the name of the change set that the task executes
	Proposal  plan.Receipt     // of the step that has made the change set, if the task approves or executes one
	Proposed  plan.Proposal    // what that change set says
	Estimate  plan.StackChange // what the plan of the run says of the stack, if the task approves a change set
	Seen      *plan.Live       // the description of the stack that was read for this task; nil if none was
	Notified  bool             // an event has reported its end
	Forced    bool             // the user cancels updates in progress
	Answered  bool             // a user has answered the step's question
	Approved  bool             // the answer was yes
	Changed   bool             // a step of this run has changed a stack of those that the task comes after
	Claimed   time.Time
	Tried     time.Time // when the step was first claimed, if it is tried again
	Kept      []string  // the parameters whose values an update keeps
	Now       time.Time
}

// Token is the client request token of this attempt's operation. CloudFormation starts
// an operation with one token only once, and a poll finds the operation's events by it.
// CloudFormation accepts up to 128 letters, digits and hyphens.
//
// A deletion that is repeated has another token for each number of resources that it retains.
func (t Task) Token() string {
	token := Token(t.Run, t.TokenKey, t.Number, t.Attempt)
	if n := len(t.Retained()); n > 0 {
		token += retains + strconv.Itoa(n)
	}
	return token
}

// Retained lists the logical IDs of the resources that the task's DeleteStack retains, because a deletion has failed because of them.
func (t Task) Retained() []string {
	if t.Receipt.Retained == "" {
		return nil
	}
	return strings.Split(t.Receipt.Retained, ",")
}

// CancelToken is the client request token of the request to cancel this operation. All
// later events of the operation have it.
func (t Task) CancelToken() string { return t.Token() + cancels }

// MayStartAgain reports whether a poll may start the operation again: no answer is known,
// and the function that claimed the step can no longer be running, by this clock.
func (t Task) MayStartAgain() bool {
	return t.Request != "" && t.Request != CallHook && !t.Receipt.Known() && !t.young()
}

// tried returns how long ago the step was first claimed.
func (t Task) tried() time.Duration {
	if t.Tried.IsZero() {
		return t.Now.Sub(t.Claimed)
	}
	return t.Now.Sub(t.Tried)
}

// young reports whether the function that claimed the step may still be running.
func (t Task) young() bool { return t.Now.Sub(t.Claimed) < MaxStartTime }

// Location returns where the stack of the operation is. A stack that is being created
// has only the ID in the receipt: a recorded ID is that of an older stack.
func (t Task) Location() plan.Location {
	p := t.Record.Location()
	if t.Node.Name != "" {
		p.Stack, p.Target = t.Node.Stack, t.Node.Target
	}
	if t.Request == CreateStack {
		p.StackID = ""
	}
	if t.Receipt.StackID != "" {
		p.StackID = t.Receipt.StackID
	}
	p.Node, p.Token = t.Step.Node, t.Token()
	return p
}

// An Operation is what CloudFormation's events say about a task's operation.
type Operation struct {
	Found      bool // an event has the token
	Receipt    plan.Receipt
	Over       bool
	Status     plan.Status // that it ended with
	Superseded bool        // another operation has started after it
	Why        string      // the first real reason of a failure
	Left       []Left      // the resources that it has not deleted, if it is a deletion that is over; sorted by their IDs
	Before     string      // the token of the operation before it; empty if that is unknown or has none
	Started    bool        // this poll has started it

	Newest          plan.Status // the status of the stack in its newest event; empty if there are no events
	NewestOperation string      // CloudFormation's OperationId in that event; empty if it has none

	// Unrestored are the resources because of which its rollback has failed, as ContinueUpdateRollback names them,
	// sorted.
	Unrestored []string

	Stopped time.Time // when it was cancelled with the task's CancelToken; zero if it was not
}

// Left is a resource that a deletion of its stack has not deleted.
type Left struct {
	ID, Type, PhysicalID string
	Retained             bool // the deletion was to retain it; otherwise it has failed because of it
}

// A Progress is what a poll finds out about a step.
type Progress struct {
	Over    bool
	Err     error        // why it failed, if it did
	Why     string       // what a person should know about a step that runs or has succeeded
	Soon    bool         // poll again as soon as possible
	Next    time.Time    // when the step is to be polled next; zero if the action does not say
	Ended   plan.Status  // how the operation has ended by its events, if the description of its stack is older: then the step runs
	Receipt plan.Receipt // learned by the poll; zero if nothing was
	Started bool         // the poll has started the operation, so its events may be late
	Repeat  bool         // nobody knows whether its start has arrived, and the function that claimed the step can no longer be running: it becomes pending
	Record  *plan.Record // the new record; nil to keep the old one
	Forget  bool         // delete the record
	Adopts  string       // the ID of the stack that the project owns from now on; empty if it adopts none
	Result  plan.Result  // how the step left its stack, if it is over

	// Proposal is what the step's change set says. It is stored, with a reference in the receipt.
	Proposal *plan.Proposal

	// Question is what a user has to answer before the step continues; empty if there
	// is no question. The step is polled again after the answer. If the answer is no,
	// the step fails when it is over.
	Question string
}

// An Action starts something that finishes later.
//
// Both methods may be called again after a crash. Start's error is of kind Throttled or
// Busy if the operation certainly did not start and can be tried again, and Unavailable
// if nobody knows whether it started; any other kind fails the step. An error of Poll
// means that the poll found out nothing.
type Action interface {
	Start(context.Context, Task) (plan.Receipt, error)
	Poll(context.Context, Task) (Progress, error)
}

// RateExceeded returns an error of kind Throttled with the message of err: CloudFormation has throttled a request. Other
// errors of kind Throttled do not say that: another service may have throttled, or did not answer.
func RateExceeded(err error) error { return fault.As(fault.Throttled, &rateExceeded{err}) }

// IsRateExceeded reports whether err, or an error that it wraps, is one of RateExceeded.
func IsRateExceeded(err error) bool {
	_, ok := errors.AsType[*rateExceeded](err)
	return ok
}

type rateExceeded struct{ err error }

func (r *rateExceeded) Error() string { return r.err.Error() }
func (r *rateExceeded) Unwrap() error { return r.err }

// A Cloud is the part of CloudFormation that actions use. Its errors are RateExceeded if CloudFormation throttles a
// request.
type Cloud interface {
	// Live returns the live stack, or the zero Live if there is none. A stack that is
	// read by its ID is found even after its deletion.
	Live(context.Context, plan.Location) (plan.Live, error)

	// TemplateDigest reads the template that the stack of a location was last deployed from, and returns its digest:
	// the recorded one if CloudFormation may have returned that template. Its error is of kind Denied if the template
	// may not be read, and Missing if there is none.
	TemplateDigest(ctx context.Context, p plan.Location, recorded string) (string, error)

	// Begin sends the task's Request, with its token, to the stack with the recorded
	// ID. If no ID is recorded, the stack of that name must have the project's tag. It
	// describes no stack whose ID is known: CloudFormation refuses what the stack does
	// not allow. Its error is of kind Busy, Taken (the name or the token is in use),
	// Unchanged (there is nothing to update), Missing (no such stack), Throttled,
	// Unavailable, or another one if CloudFormation refuses the operation. The deletion
	// of a stack that is gone, or that another deletes, is accepted.
	Begin(context.Context, Task) (plan.Receipt, error)

	// Protect gives the task's stack the termination protection that its node has. Its
	// error is one of Begin's.
	Protect(context.Context, Task) error

	// SetStackPolicy gives the task's stack the stack policy of its node; without one, the policy that allows everything.
	// Its error is one of Begin's.
	SetStackPolicy(context.Context, Task) error

	// StackPolicy returns the stack policy of the stack in a location, which exists; the zero StackPolicy if it has
	// none.
	StackPolicy(context.Context, plan.Location) (project.StackPolicy, error)

	// Room reads how many stacks CloudFormation lets the account of a target have in its region, and how many there are. Its error is of kind Denied
	// if the target's role cannot be assumed or may not ask. It calls count before each of its requests.
	Room(ctx context.Context, t project.Target, count func()) (plan.Room, error)

	// ReadTemplate has CloudFormation read the template with a digest, with the role of a target. Its error is of kind Denied if CloudFormation
	// cannot read it, or denies the request.
	ReadTemplate(ctx context.Context, t project.Target, digest string) error

	// Cancel starts the rollback of the task's update, with the task's CancelToken. Its
	// error is of kind Refused if no update is in progress, or one of Begin's.
	Cancel(context.Context, Task) error

	// Events reads the events of the task's stack for the operation with its token.
	Events(context.Context, Task) (Operation, error)

	// Proposal reads the change set in the task's receipt. It reports false while CloudFormation makes it. Its error
	// is of kind Missing if there is no such change set.
	Proposal(context.Context, Task) (p plan.Proposal, ready bool, err error)

	// Detection reads the drift detection in the task's receipt. It reports false while CloudFormation detects. Its error
	// is of kind Missing if there is no such detection.
	Detection(context.Context, Task) (d plan.Detection, ready bool, err error)

	// Refactor reads the stack refactor that the task's Begin has created: the one in the receipt, else one that has the
	// task's token as its description. Its error is of kind Missing if there is none.
	Refactor(context.Context, Task) (Refactor, error)

	// Execute starts what the task's Begin has made: the import of its change set, under the task's token, or the
	// stack refactor in its receipt. Its errors are those of Begin.
	Execute(context.Context, Task) error

	// Withdraw deletes the change set of the task, with those of nested stacks. It is no error if there is none. The
	// error is of kind Busy while CloudFormation makes it.
	Withdraw(context.Context, Task) error
}

// Token returns the client request token of an attempt to carry out a step. Its last part
// depends on the key of the run: otherwise somebody who knows the run could create a stack
// with the token of a step that has not started, and the step would take it for its own. A run
// that an older version has started has no key, and its tokens do not have that part.
func Token(run, key string, number, attempt int) string {
	token := fmt.Sprintf("%s%s-%d-%d", Prefix, run, number, attempt)
	if key == "" {
		return token
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(token))
	return token + "-" + hex.EncodeToString(mac.Sum(nil)[:macBytes])
}

// macBytes is how many bytes the last part of a token has.
const macBytes = 16

// Every token of Stackwright starts with Prefix. Tokens of cancellations end with
// cancels, and those of repeated deletions with retains and a number.
const (
	Prefix  = "sw-"
	cancels = "-cancel"
	retains = "-retain"
)

// ParseToken returns the parts of the token of an operation, of its cancellation, or of a deletion that is repeated. It
// reports false for a token that Stackwright did not make. It does not know the key of the
// run, so it does not say whether that run made the token.
func ParseToken(token string) (run string, number, attempt int, ok bool) {
	body, ours := strings.CutPrefix(strings.TrimSuffix(token, cancels), Prefix)
	if start, count, repeated := strings.Cut(body, retains); repeated {
		n, err := strconv.Atoi(count)
		if body = start; err != nil || n <= 0 || strconv.Itoa(n) != count {
			return "", 0, 0, false
		}
	}
	parts := strings.Split(body, "-")
	if !ours || len(parts) != 3 && len(parts) != 4 {
		return "", 0, 0, false
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return "", 0, 0, false
	}
	attempt, err = strconv.Atoi(parts[2])
	exact := strings.Join(parts[:3], "-") == fmt.Sprintf("%s-%d-%d", parts[0], number, attempt)
	if len(parts) == 4 {
		mac, invalid := hex.DecodeString(parts[3])
		exact = exact && invalid == nil && len(mac) == macBytes && parts[3] == hex.EncodeToString(mac)
	}
	return parts[0], number, attempt, err == nil && exact
}
