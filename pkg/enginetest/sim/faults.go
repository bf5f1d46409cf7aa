package sim

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Faults is a fault plan: which calls and events fail, and how. Each function may be
// nil.
type Faults struct {
	// Call returns the fault of a call that a function makes, as in
	// ("execute-step", "Cloud.Begin", "shop-vpc/create").
	Call func(function, call, about string) Fault

	// Event returns the delay of each delivery of a CloudFormation event. An event
	// without deliveries is lost.
	Event func() []time.Duration

	// Skew returns how far the clock of a function is ahead. It is called for each
	// invocation.
	Skew func() time.Duration

	// EventsLost loses the events that report failed executions: only sweeps find them.
	EventsLost bool
}

// A Fault is how a call fails.
type Fault int

// The faults.
const (
	None       Fault = iota
	KillBefore       // the function crashes before the call
	KillAfter        // the function crashes after the call
	Lose             // the call is made, but its answer is lost
	Throttle         // the call is throttled
	Linger           // the function is reported as crashed, but makes the call some seconds later and continues
)

// callKey is the context key of the invocation that makes a call.
type callKey struct{}

// An invocation is one invocation of a Lambda function.
type invocation struct {
	function    string
	routine     *Routine
	crashed     bool
	reportCrash func() // reports to the caller that the function crashed; nil for an event
}

// linger reports a function as crashed and then lets it continue after up to 40 seconds,
// which is less than the time that a function can run.
func (b *Backend) linger(by *invocation) {
	if by.reportCrash != nil {
		by.reportCrash()
	}
	by.crashed = !by.routine.Sleep(time.Duration(1+b.Rand.IntN(40)) * time.Second)
}

// errCrashed is the error of every call after a crash.
var errCrashed = fault.New(fault.Unavailable, "the function has crashed")

// do makes a call for the function that ctx belongs to: it takes time, and fails as
// Faults says. A call of a test, whose ctx belongs to no function, is made at once.
func (b *Backend) do(ctx context.Context, call, about string, make func() error) error {
	by, ok := ctx.Value(callKey{}).(*invocation)
	if !ok {
		return make()
	}
	if !by.crashed {
		by.crashed = !by.routine.Sleep(b.latency())
	}
	if by.crashed {
		return errCrashed
	}
	if strings.HasPrefix(call, "Cloud") && b.Now().Before(b.outageUntil) {
		return fault.New(fault.Unavailable, "no route to CloudFormation")
	}
	b.Calls++
	injected := None
	if b.Faults.Call != nil {
		injected = b.Faults.Call(by.function, call, about)
	}
	switch injected {
	case KillBefore:
		by.crashed = true
		return errCrashed
	case Throttle:
		return fault.New(fault.Throttled, "rate exceeded")
	case Linger:
		if b.linger(by); by.crashed {
			return errCrashed
		}
	}
	err := make()
	switch injected {
	case KillAfter:
		by.crashed = true
		return errCrashed
	case Lose:
		return fault.New(fault.Unavailable, "the answer is lost")
	}
	return err
}

// latency returns how long a call takes.
func (b *Backend) latency() time.Duration {
	return time.Duration(1+b.Rand.IntN(10)) * time.Millisecond
}

// about returns what Faults.Call gets for the calls of a task.
func about(t action.Task) string {
	return t.Location().Stack + "/" + string(t.Step.Verb)
}
