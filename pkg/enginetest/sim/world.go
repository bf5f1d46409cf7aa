package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A World is the engine and everything outside it, in memory.
type World struct {
	*Clock
	Store     *Store
	Cloud     *Cloud
	Engine    *engine.Engine
	Schedules *Schedules
	Rand      *rand.Rand
	Faults    Faults
	Calls     int            // that functions have made
	Ends      map[string]int // how often the end of a run was measured

	// Questions are steps, by ID, that ask a user before they end.
	Questions map[string]bool

	// Started is called when an operation on a stack has started at CloudFormation, and
	// when its rollback has. It may be nil.
	Started func(action.Task)

	machine     *asl.Machine
	projects    map[string]project.Project // by version of the source
	specs       map[string]project.Node
	executions  map[string]*Execution
	waiting     map[string]*waiter // by token
	count       int
	outageUntil time.Time // CloudFormation cannot be reached until then
	sweeping    bool      // a sweep will come
}

// Faults are what goes wrong. Each field may be nil.
type Faults struct {
	// Call says what happens to a call that a function makes, as in
	// ("execute-step", "Cloud.Begin", "shop-vpc/create").
	Call func(function, call, about string) Fault

	// Event returns how late an event is delivered, once for each delivery;
	// none is a lost event.
	Event func() []time.Duration

	// Skew returns by how much the clock of a function is wrong, once for each
	// invocation.
	Skew func() time.Duration

	// EventsLost says that no event reports an execution that failed: only sweeps find
	// it.
	EventsLost bool
}

// A Fault is what happens to a call.
type Fault int

// The faults.
const (
	// The faults.
	None       Fault = iota
	KillBefore       // the function crashes before the call
	KillAfter        // the function crashes after the call
	Lose             // the call is made, its answer is lost
	Throttle         // the call is refused
	Linger           // the function is believed to have crashed, but makes the call some time later and goes on
)

// An Execution is one execution of the state machine.
type Execution struct {
	Name    string
	Path    []string // the states entered
	History int      // how many events it has had
	Over    bool
	Err     error // why it failed; a *asl.Error named Failed, FailedDirty or Refused is the end of its run

	in engine.ExecutionInput
}

// New returns an empty simulation in which executions of the given state machine execute
// runs.
func New(machine *asl.Machine, seed uint64) *World {
	clock := NewClock()
	w := &World{
		Ends: make(map[string]int), Questions: make(map[string]bool), Clock: clock, Store: NewStore(), Cloud: NewCloud(clock), Schedules: NewSchedules(), Rand: rand.New(rand.NewPCG(seed, 1)),
		machine: machine, projects: make(map[string]project.Project), specs: make(map[string]project.Node),
		executions: make(map[string]*Execution), waiting: make(map[string]*waiter),
	}
	cloud := crashingCloud{w}
	w.Engine = &engine.Engine{
		Store: crashingStore{w, w.Store}, Configurations: w, Specs: w, Clouds: cloud, Operations: plan.AllOperations(), Verbs: questioners(w, action.Named(action.All(cloud)...)),
		Budgets: crashingBudgets{w, NewBudgets(budget.CloudFormation())}, Schedules: crashingSchedules{w},
		Machine: w, Notifier: silent{}, Meter: counter{w}, Now: w.now, Nonce: w.unique, Parallel: 1,
	}
	w.Cloud.Changed = w.deliver
	return w
}

// now is the time by the clock of the function that runs now.
func (w *World) now() time.Time {
	if w.running != nil {
		return w.Now().Add(w.running.skew)
	}
	return w.Now()
}

// skew is by how much the clock of a function is wrong that starts now.
func (w *World) skew() time.Duration {
	if w.Faults.Skew == nil {
		return 0
	}
	return w.Faults.Skew()
}

func (w *World) unique() string {
	w.count++
	return fmt.Sprintf("n%d", w.count)
}

// Submit makes a request as an event does, until its function succeeds. It returns
// the run's ID, a new one if q has none.
func (w *World) Submit(q run.Request) string {
	if q.ID == "" {
		q.ID = engine.RunID(w.unique())
	}
	w.call("start", func(ctx context.Context) error { return w.Engine.Start(ctx, q) })
	w.sweepLater()
	return q.ID
}

// AnswerStep gives a user's answer to a step, until its function succeeds.
func (w *World) AnswerStep(id, step string, a run.Answer) {
	a.ID, a.At = w.unique(), w.Now()
	w.call("start", func(ctx context.Context) error {
		err := w.Engine.Answer(ctx, id, step, a)
		if fault.Is(err, fault.Refused, fault.Missing) {
			return nil // the user gets this error
		}
		return err
	})
	w.sweepLater()
}

// sweeps is the time between two sweeps.
const sweeps = 5 * time.Minute

// sweepLater sweeps from now on, as long as some run is not idle.
func (w *World) sweepLater() {
	if w.sweeping {
		return
	}
	w.sweeping = true
	w.After(sweeps, func() {
		w.sweeping = false
		if !w.idle() {
			w.call("start", w.Engine.Sweep)
			w.sweepLater()
		}
	})
}

// idle reports whether all runs have ended, wait for a person who did nothing yet, or
// are queued behind one that does.
func (w *World) idle() bool {
	for id := range w.Store.open {
		r := w.Store.runs[id].run
		if r.State == run.StateQueued {
			owner, ok := w.Store.runs[w.Store.locks[r.Project].Owner.Run]
			if !ok || r.Command.Stops() {
				return false
			}
			r = owner.run
		}
		if r.State != run.StateWaiting || r.Generation > r.ObservedGeneration || r.Command == run.Continue && !r.Deadline.IsZero() {
			return false
		}
	}
	return true
}

// Outage makes CloudFormation unreachable for a while.
func (w *World) Outage(d time.Duration) { w.outageUntil = w.Now().Add(d) }

// Abort stops an execution, as a person may. Functions that it has called go on.
func (w *World) Abort(name string) {
	if x := w.executions[name]; x != nil {
		w.ends(x, &asl.Error{Name: "ABORTED"})
	}
}

// AbortAll stops every execution, and no event reports it.
func (w *World) AbortAll() {
	for _, x := range w.executions {
		if !x.Over {
			x.Over, x.Err = true, &asl.Error{Name: "ABORTED"}
		}
	}
	w.sweepLater()
}

// ends records the end of an execution, and reports it if it failed.
func (w *World) ends(x *Execution, err error) {
	if x.Over {
		return
	}
	x.Over, x.Err = true, err
	if err != nil && w.Faults.EventsLost {
		w.sweepLater()
	} else if err != nil {
		w.call("start", func(ctx context.Context) error { return w.Engine.Recover(ctx, x.in) })
		w.sweepLater()
	}
}

// Source stores p, and returns the source that names it.
func (w *World) Source(p project.Project) run.Source {
	version := w.unique()
	w.projects[version] = p
	return run.Source{Key: "projects/" + p.ID(), Version: version}
}

// WaitIdle runs the simulation until nothing is left to happen. It reports
// false if that takes longer than a month.
func (w *World) WaitIdle() bool {
	end := w.Now().Add(30 * 24 * time.Hour)
	return !w.Run(func() bool { return w.Now().After(end) })
}

// Load returns a run as it is now.
func (w *World) Load(id string) (run.Run, error) { return w.Store.Load(context.Background(), id) }

// Execution returns the execution of the given name, or nil.
func (w *World) Execution(name string) *Execution { return w.executions[name] }

// call runs a function that an event has called, again if it fails.
func (w *World) call(function string, do func(context.Context) error) {
	w.Go(func(r *Routine) {
		for try := range 6 {
			r.skew = w.skew()
			ctx := context.WithValue(context.Background(), callKey{}, &invocation{function: function, routine: r})
			if do(ctx) == nil || !r.Sleep(time.Second<<try) {
				return
			}
		}
	})
}

// deliver delivers an event of CloudFormation.
func (w *World) deliver(t action.Task, s plan.Status) {
	if s.Busy() {
		if w.Started != nil {
			w.Started(t)
		}
		return
	}
	late := []time.Duration{200 * time.Millisecond}
	if w.Faults.Event != nil {
		late = w.Faults.Event()
	}
	for _, d := range late {
		w.After(d, func() {
			w.call("stack-event", func(ctx context.Context) error {
				return w.Engine.StackEvent(ctx, engine.StackEvent{Token: t.Token(), Status: s})
			})
		})
	}
}

// Project is the part of engine.Configurations.
func (w *World) Project(ctx context.Context, r run.Run) (p project.Project, err error) {
	err = w.do(ctx, "Configurations.Project", r.Source.Version, func() error {
		var ok bool
		if p, ok = w.projects[r.Source.Version]; !ok {
			return fault.New(fault.Missing, "there is no version %s", r.Source.Version)
		}
		return nil
	})
	return p, err
}

// SaveSpec is the part of engine.Specs.
func (w *World) SaveSpec(ctx context.Context, n project.Node) (digest string, err error) {
	if digest, err = n.Digest(); err != nil {
		return "", err
	}
	return digest, w.do(ctx, "Specs.SaveSpec", n.Name, func() error {
		w.specs[digest] = n
		return nil
	})
}

// Spec is the part of engine.Specs.
func (w *World) Spec(ctx context.Context, digest string) (n project.Node, err error) {
	err = w.do(ctx, "Specs.Spec", digest, func() error {
		var ok bool
		if n, ok = w.specs[digest]; !ok {
			return fault.New(fault.Missing, "there is no spec %s", digest)
		}
		return nil
	})
	return n, err
}

// Start is the part of engine.Machine.
func (w *World) Start(ctx context.Context, name string, in engine.ExecutionInput) error {
	return w.do(ctx, "Machine.Start", name, func() error {
		if w.executions[name] == nil {
			return w.execute(name, in)
		}
		return nil
	})
}

// ExecutionStatus is the part of engine.Machine.
func (w *World) ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error) {
	return got(w, ctx, "Machine.ExecutionStatus", name, func() (engine.ExecutionStatus, error) {
		x := w.executions[name]
		if x == nil {
			return engine.ExecutionStatus{}, nil
		}
		s := engine.ExecutionStatus{Started: true, Running: !x.Over}
		if x.Err != nil {
			s.Why = "FAILED: " + x.Err.Error()
		}
		return s, nil
	})
}

// Answer is the part of engine.Machine.
func (w *World) Answer(ctx context.Context, token string, t engine.LoopState) error {
	return w.do(ctx, "Machine.Answer", string(t.State), func() error {
		wait := w.waiting[token]
		if wait == nil || wait.answer != nil {
			return nil
		}
		answer, err := json.Marshal(t)
		wait.end(answer, err)
		return err
	})
}

// silent is an engine.Notifier that sends no notifications.
type silent struct{}

// Notify is engine.Notifier.
func (silent) Notify(context.Context, run.Run) {}

// A counter counts the ends of runs.
type counter struct{ w *World }

// Ended is engine.Meter.
func (c counter) Ended(_ context.Context, r run.Run) { c.w.Ends[r.ID]++ }

// Swept is engine.Meter.
func (counter) Swept(context.Context, run.Backlog) {}

// callKey is the key of the invocation in the context of a call.
type callKey struct{}

// An invocation is one of a function.
type invocation struct {
	function string
	routine  *Routine
	dead     bool
	left     func() // reports to its caller that it crashed
}

// lingers makes the caller of a function believe that it crashed, while it goes on for
// a while, though not for as long as a function can run.
func (w *World) lingers(by *invocation) {
	if by.left != nil {
		by.left()
	}
	by.dead = !by.routine.Sleep(time.Duration(1+w.Rand.IntN(40)) * time.Second)
}

// errDead is the error of every call that a crashed function makes.
var errDead = fault.New(fault.Unavailable, "the function has crashed")

// do makes a call of the function of ctx: time passes, and the faults of the call
// happen. Without a function, the call is made at once.
func (w *World) do(ctx context.Context, call, about string, make func() error) error {
	by, ok := ctx.Value(callKey{}).(*invocation)
	if !ok {
		return make()
	}
	if !by.dead {
		by.dead = !by.routine.Sleep(w.latency())
	}
	if by.dead {
		return errDead
	}
	if strings.HasPrefix(call, "Cloud") && w.Now().Before(w.outageUntil) {
		return fault.New(fault.Unavailable, "no route to CloudFormation")
	}
	w.Calls++
	happens := None
	if w.Faults.Call != nil {
		happens = w.Faults.Call(by.function, call, about)
	}
	switch happens {
	case KillBefore:
		by.dead = true
		return errDead
	case Throttle:
		return fault.New(fault.Throttled, "rate exceeded")
	case Linger:
		if w.lingers(by); by.dead {
			return errDead
		}
	}
	err := make()
	switch happens {
	case KillAfter:
		by.dead = true
		return errDead
	case Lose:
		return fault.New(fault.Unavailable, "the answer is lost")
	}
	return err
}

// latency is the time that a call takes.
func (w *World) latency() time.Duration {
	return time.Duration(1+w.Rand.IntN(10)) * time.Millisecond
}

// about names a task for Faults.Call.
func about(t action.Task) string {
	return t.Location().Stack + "/" + strings.TrimSpace(string(t.Step.Verb))
}
