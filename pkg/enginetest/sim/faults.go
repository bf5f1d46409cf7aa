package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Faults is a fault plan: which calls and events fail, and how. Each function may be
// nil.
type Faults struct {
	// Call returns the fault of a call that a function makes, as in
	// ("wait-status", "Cloud.Begin", "shop-vpc/create").
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

// An invocation is the routine that makes a call for a function.
type invocation struct {
	function *function
	routine  *Routine
}

// A function is one invocation of a Lambda function. It may have several routines, which
// crash together.
type function struct {
	name        string
	crashed     bool
	reportCrash func() // reports to the caller that the function crashed; nil for an event
}

// sleep waits for a while. It reports false if the function has crashed by then.
func (by *invocation) sleep(d time.Duration) bool {
	if !by.function.crashed && !by.routine.Sleep(d) {
		by.function.crashed = true
	}
	return !by.function.crashed
}

// linger reports a function as crashed and then lets it continue after up to 40 seconds,
// which is less than the time that a function can run.
func (b *Backend) linger(by *invocation) bool {
	if by.function.reportCrash != nil {
		by.function.reportCrash()
	}
	return by.sleep(time.Duration(1+b.Rand.IntN(40)) * time.Second)
}

// atOnce is how many calls a function makes at the same time.
const atOnce = 8

// parallel implements engine.Engine.Parallel with routines of the function.
func (b *Backend) parallel(ctx context.Context, n int, do func(context.Context, int) error) (first error) {
	by, ok := ctx.Value(callKey{}).(*invocation)
	next, running := 0, 0
	some := func(ctx context.Context) {
		for next < n {
			i := next
			next++
			if err := do(ctx, i); err != nil && first == nil {
				first = err
			}
		}
	}
	if !ok || n <= 1 {
		some(ctx)
		return first
	}
	var done func()
	for range min(n, atOnce) {
		running++
		b.Go(func(r *Routine) {
			r.skew = by.routine.skew
			some(context.WithValue(ctx, callKey{}, &invocation{by.function, r}))
			if running--; running == 0 {
				done()
			}
		})
	}
	done = by.routine.Waker()
	if !by.routine.Wait() {
		by.function.crashed = true
		return errCrashed
	}
	return first
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
	if !by.sleep(b.latency(call)) {
		return errCrashed
	}
	if strings.HasPrefix(call, "Cloud") && b.Now().Before(b.outageUntil) {
		return fault.New(fault.Unavailable, "no route to CloudFormation")
	}
	b.Calls++
	injected := None
	if b.Faults.Call != nil {
		injected = b.Faults.Call(by.function.name, call, about)
	}
	switch injected {
	case KillBefore:
		by.function.crashed = true
		return errCrashed
	case Throttle:
		if strings.HasPrefix(call, "Cloud") {
			return action.RateExceeded(errors.New("rate exceeded"))
		}
		return fault.New(fault.Throttled, "rate exceeded")
	case Linger:
		if !b.linger(by) {
			return errCrashed
		}
	}
	err := make()
	switch injected {
	case KillAfter:
		by.function.crashed = true
		return errCrashed
	case Lose:
		return fault.New(fault.Unavailable, "the answer is lost")
	}
	return err
}

// latency returns how long a call takes.
func (b *Backend) latency(call string) time.Duration {
	if b.Latency != nil {
		return b.Latency(call)
	}
	return time.Duration(1+b.Rand.IntN(10)) * time.Millisecond
}

// about returns what Faults.Call gets for the calls of a task.
func about(t action.Task) string {
	return t.Location().Stack + "/" + string(t.Step.Verb)
}
