package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

const shop = "shop@default"

// A fixture is an engine on a backend in memory, whose functions the test calls and
// whose state machine only records what is started and answered.
type fixture struct {
	*testing.T
	*engine.Engine
	backend  *sim.Backend
	store    *faultyStore
	cloud    *faultyCloud
	projects map[string]project.Project
	started  []string // the executions that were started
	answers  []engine.LoopState
	notified []run.State
	measured []string          // what the meter has measured: ends of runs, and sweeps
	ended    map[string]string // the executions that have ended, each with the reason

	machineErr error // what the state machine answers to every call
}

func newFixture(t *testing.T) *fixture {
	w := sim.New(nil, 1)
	t.Cleanup(w.Stop)
	h := &fixture{T: t, Engine: w.Engine, backend: w, projects: make(map[string]project.Project), ended: make(map[string]string)}
	h.store, h.cloud = &faultyStore{Store: w.Store}, &faultyCloud{Cloud: w.Cloud}
	h.Store, h.Clouds, h.Verbs = h.store, h.cloud, action.Named(action.All(h.cloud, nil, nil, nil, nil)...)
	h.Specs = &specStore{stored: make(map[string]project.Node), values: make(map[string][]project.SourceValue)}
	h.Machine, h.Notifier, h.Meter, h.Configurations = (*machine)(h), (*notifier)(h), (*meter)(h), (*loader)(h)
	return h
}

// A faultyStore lets a test fail, repeat or interrupt the writes of the engine. A hook
// gets the write as a function.
type faultyStore struct {
	engine.Store
	raise         func(raise func() error) error
	commit        func(commit func() error) error
	end           func(end func() error) error
	move          func(move func() error) error
	afterRegister func() // called after a token was registered
	beforeLock    func() // called once, before the lock is read
	readErr       error
	forgetful     bool     // no lock has kept values outside the project
	expired       []string // runs that are not recorded any more
}

func (s *faultyStore) Run(ctx context.Context, id string) (run.Run, error) {
	if slices.Contains(s.expired, id) {
		return run.Run{}, fault.New(fault.Missing, "there is no run %s", id)
	}
	return s.Store.Run(ctx, id)
}

func (s *faultyStore) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	runs, err := s.Store.List(ctx, project, most)
	return slices.DeleteFunc(runs, func(r run.Run) bool { return slices.Contains(s.expired, r.ID) }), err
}

func (s *faultyStore) RaiseEpoch(ctx context.Context, r run.Run) error {
	do := func() error { return s.Store.RaiseEpoch(ctx, r) }
	if s.raise != nil {
		return s.raise(do)
	}
	return do()
}

func (s *faultyStore) Commit(ctx context.Context, r run.Run) error {
	do := func() error { return s.Store.Commit(ctx, r) }
	if s.commit != nil {
		return s.commit(do)
	}
	return do()
}

func (s *faultyStore) End(ctx context.Context, r run.Run, x run.Exit) error {
	do := func() error { return s.Store.End(ctx, r, x) }
	if s.end != nil {
		return s.end(do)
	}
	return do()
}

func (s *faultyStore) Move(ctx context.Context, c ...engine.Change) error {
	do := func() error { return s.Store.Move(ctx, c...) }
	if s.move != nil {
		return s.move(do)
	}
	return do()
}

func (s *faultyStore) Register(ctx context.Context, id string, epoch int, w engine.PollInput, events int, until time.Time) (bool, error) {
	newest, err := s.Store.Register(ctx, id, epoch, w, events, until)
	if s.afterRegister != nil {
		s.afterRegister()
	}
	return newest, err
}

func (s *faultyStore) Lock(ctx context.Context, project string) (run.Lock, error) {
	if do := s.beforeLock; do != nil {
		s.beforeLock = nil
		do()
	}
	l, err := s.Store.Lock(ctx, project)
	if s.forgetful {
		l.Values = ""
	}
	return l, err
}

func (s *faultyStore) RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	if s.readErr != nil {
		return nil, s.readErr
	}
	return s.Store.RecordsOf(ctx, project, nodes)
}

// repeatedWrite makes a write twice, as a caller does that has got no answer.
func repeatedWrite(write func() error) error {
	if err := write(); err != nil {
		return err
	}
	return write()
}

// A faultyCloud is a CloudFormation that refuses requests: those that start
// operations with beginErr, reads with readErr. It may be used concurrently.
type faultyCloud struct {
	*sim.Cloud
	mu                sync.Mutex
	beginErr, readErr error
	roomErr           error
	loseAnswers       bool   // Begin carries out the request, and its answer is lost
	beforeBegin       func() // called before each request; may be nil
}

func (c *faultyCloud) Events(ctx context.Context, t action.Task) (action.Operation, error) {
	defer c.lock()()
	return c.Cloud.Events(ctx, t)
}

func (c *faultyCloud) lock() (leave func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

func (c *faultyCloud) Begin(ctx context.Context, t action.Task) (plan.Receipt, error) {
	defer c.lock()()
	if c.beforeBegin != nil {
		c.beforeBegin()
	}
	if c.beginErr != nil {
		return plan.Receipt{}, c.beginErr
	}
	receipt, err := c.Cloud.Begin(ctx, t)
	if c.loseAnswers && err == nil {
		return plan.Receipt{}, fault.New(fault.Unavailable, "the answer is lost")
	}
	return receipt, err
}

func (c *faultyCloud) Live(ctx context.Context, p plan.Location) (plan.Live, error) {
	defer c.lock()()
	if c.readErr != nil {
		return plan.Live{}, c.readErr
	}
	return c.Cloud.Live(ctx, p)
}

func (c *faultyCloud) Room(ctx context.Context, t project.Target, count func()) (plan.Room, error) {
	defer c.lock()()
	if c.roomErr != nil {
		return plan.Room{}, c.roomErr
	}
	return c.Cloud.Room(ctx, t, count)
}

func (c *faultyCloud) Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	defer c.lock()()
	if c.readErr != nil {
		return nil, c.readErr
	}
	return c.Cloud.Observe(ctx, places)
}

// A specStore keeps specs in memory.
type specStore struct {
	mu     sync.Mutex
	stored map[string]project.Node
	values map[string][]project.SourceValue
}

func (s *specStore) SaveTemplate(context.Context, string) error { return nil }

func (s *specStore) SaveDeployedTemplate(_ context.Context, body []byte) (string, error) {
	return string(body), nil
}

func (s *specStore) SaveSpecs(_ context.Context, nodes []project.Node) (references []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range nodes {
		digest, err := n.Digest()
		if err != nil {
			return nil, err
		}
		s.stored[digest], references = n, append(references, digest)
	}
	return references, nil
}

func (s *specStore) SaveValues(_ context.Context, values []project.SourceValue) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[fmt.Sprint(values)] = values
	return fmt.Sprint(values), nil
}

func (s *specStore) Values(_ context.Context, reference string) ([]project.SourceValue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	values, ok := s.values[reference]
	if !ok {
		return nil, fault.New(fault.Missing, "there are no values %s", reference)
	}
	return values, nil
}

func (s *specStore) Spec(_ context.Context, digest string) (project.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.stored[digest]
	if !ok {
		return n, fault.New(fault.Missing, "there is no spec %s", digest)
	}
	return n, nil
}

type machine fixture

func (m *machine) Start(_ context.Context, name string, _ engine.ExecutionInput) error {
	if m.machineErr != nil {
		return m.machineErr
	}
	m.started = append(m.started, name)
	return nil
}

func (m *machine) ExecutionStatus(_ context.Context, name string) (engine.ExecutionStatus, error) {
	why, ended := m.ended[name]
	startedAt := slices.Contains(m.started, name)
	return engine.ExecutionStatus{Started: startedAt, Running: startedAt && !ended, Why: why}, m.machineErr
}

func (m *machine) Answer(_ context.Context, _ string, t engine.LoopState) error {
	if m.machineErr != nil {
		return m.machineErr
	}
	m.answers = append(m.answers, t)
	return nil
}

type notifier fixture

func (l *notifier) Notify(_ context.Context, r run.Run) { l.notified = append(l.notified, r.State) }

type meter fixture

func (g *meter) Ended(_ context.Context, r run.Run) {
	g.measured = append(g.measured, fmt.Sprintf("%s %s, %d steps", r.ID, r.State, len(r.Steps)))
}

func (g *meter) Swept(_ context.Context, b run.Backlog) {
	g.measured = append(g.measured, fmt.Sprintf("open %d, stuck %v, oldest %s", b.Open, b.Stuck, b.Oldest))
}

type loader fixture

func (d *loader) Project(_ context.Context, r run.Run) (project.Project, error) {
	p, ok := d.projects[r.Source.Version]
	if !ok {
		return p, fault.New(fault.Missing, "there is no version %s", r.Source.Version)
	}
	return p, nil
}

// setVersion stores a version of the project as a list of stacks: "db<vpc" is stack db,
// which uses an output of vpc, and "db=other" has the physical name other.
func (h *fixture) setVersion(version, list string) {
	p := project.Project{Name: "shop", Environment: "default", Nodes: make(map[string]project.Node)}
	for _, word := range strings.Fields(list) {
		word, physical, _ := strings.Cut(word, "=")
		name, on, _ := strings.Cut(word, "<")
		n := project.Node{
			Name: name, Stack: "shop-" + name, Template: project.Template{Digest: version, Pinned: true},
			Parameters: make(map[string]project.Text),
		}
		if physical != "" {
			n.Stack = physical
		}
		if on != "" {
			on, output, _ := strings.Cut(on, ".")
			if output == "" {
				output = "Value"
			}
			n.Needs, n.Parameters["From"] = []string{on}, project.Text{{Node: on, Output: output}}
		}
		p.Nodes[name] = n
	}
	h.projects[version] = p
}

// request requests an operation, or gives a command to the run that version then
// names.
func (h *fixture) request(id, operation, version string) run.Request {
	h.Helper()
	q := run.Request{ID: id, Project: shop, Operation: operation, Source: run.Source{Version: version}, Who: "ann"}
	if slices.Contains([]string{"retry", "pause", "continue", "cancel", "unlock"}, operation) {
		q.Source, q.Of = run.Source{}, version
	}
	h.must(h.Start(h.Context(), q))
	h.backend.Clock.After(time.Second, func() {})
	h.passTime(time.Second) // no two requests have the same time
	return q
}

func (h *fixture) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// planned plans a run and returns the loop state, as the first state of an execution.
func (h *fixture) planned(id string, epoch int) engine.LoopState {
	h.Helper()
	loop, err := h.Plan(h.Context(), engine.ExecutionInput{Run: id, Epoch: epoch})
	h.must(err)
	return loop
}

// begin requests a deploy of a version and starts the steps that are ready. It returns the
// loop state.
func (h *fixture) begin(id, version string) engine.LoopState {
	h.Helper()
	h.request(id, "deploy", version)
	return h.executed(h.planned(id, 1))
}

// executed starts the steps of t that are ready, and returns the next loop state.
func (h *fixture) executed(t engine.LoopState) engine.LoopState {
	h.Helper()
	if t.State != run.StateReady {
		return t
	}
	next, err := h.Execute(h.Context(), engine.StartInput{Loop: t, Entered: h.backend.Now()})
	h.must(err)
	return next
}

// polledOnce starts the steps of t that are ready and polls. It returns the answer to the
// token, or the zero LoopState if the token keeps waiting.
func (h *fixture) polledOnce(t engine.LoopState) engine.LoopState {
	h.Helper()
	before := len(h.answers)
	h.must(h.Poll(h.Context(), engine.PollInput{Loop: h.executed(t), Token: fmt.Sprint("token", before), Entered: h.backend.Now()}))
	if len(h.answers) == before {
		return engine.LoopState{}
	}
	return h.answers[len(h.answers)-1]
}

// polled polls until no step is ready. It returns the last answer as polledOnce does.
func (h *fixture) polled(t engine.LoopState) engine.LoopState {
	h.Helper()
	answer := h.polledOnce(t)
	for answer.State == run.StateReady {
		answer = h.polledOnce(answer)
	}
	return answer
}

// requestAndExecute requests an operation and executes its run to the end, as the
// state machine would.
func (h *fixture) requestAndExecute(id, operation, version string) run.Run {
	h.Helper()
	h.request(id, operation, version)
	return h.executeToEnd(h.planned(id, 1))
}

// executeToEnd executes a run until it ends, waits for a person, or is fenced off, as
// the state machine would.
func (h *fixture) executeToEnd(t engine.LoopState) run.Run {
	h.Helper()
	for polls := 0; !t.State.Over() && t.State != run.StateWaiting && t.State != run.StateFencedOff; polls++ {
		if polls > 200 {
			h.Fatalf("run %s has not ended after 200 polls", t.Run)
		}
		if answer := h.polled(t); answer.Run != "" {
			t = answer
		}
		h.passTime(time.Duration(t.Wait) * time.Second)
	}
	return h.stored(t.Run)
}

// planAndExecute plans a run in its current epoch and executes it to its end.
func (h *fixture) planAndExecute(id string) run.Run {
	h.Helper()
	return h.executeToEnd(h.planned(id, h.stored(id).Epoch))
}

// loseEvents loses every event of CloudFormation from now on.
func (h *fixture) loseEvents() { h.backend.Faults.Event = func() []time.Duration { return nil } }

// passTime lets time pass, in which CloudFormation continues its operations.
func (h *fixture) passTime(d time.Duration) {
	end := h.backend.Now().Add(d)
	h.backend.Clock.After(d, func() {})
	h.backend.Clock.Run(func() bool { return !h.backend.Now().Before(end) })
}

// queue lists the owner of the lock, and then the queued runs.
func (h *fixture) queue() string {
	h.Helper()
	l, err := h.Store.Lock(h.Context(), shop)
	h.must(err)
	queue := l.Owner.Run
	for _, w := range l.Waiting {
		queue += " " + w.Run
	}
	return queue
}

// registerToken registers the token of a wait that starts now.
func (h *fixture) registerToken(id string, epoch int, token string, events int) {
	h.Helper()
	_, err := h.Store.Register(h.Context(), id, epoch, engine.PollInput{Token: token, Entered: h.backend.Now()}, events, time.Time{})
	h.must(err)
}

// exitOf returns what happens to the lock when pending run r ends.
func exitOf(l run.Lock, r run.Run) run.Exit {
	x := l.Leave(r, plan.Operation{}, "")
	x.From = run.StatePending
	return x
}

// stored loads a run with its steps.
func (h *fixture) stored(id string) run.Run {
	h.Helper()
	r, err := h.Store.Load(h.Context(), id)
	h.must(err)
	return r
}

// recorded returns the record of a node.
func (h *fixture) recorded(node string) plan.Record {
	h.Helper()
	all, err := h.Store.Records(h.Context(), shop)
	h.must(err)
	return all[node]
}

// records lists the stacks that have a record.
func (h *fixture) records() string {
	h.Helper()
	all, err := h.Store.Records(h.Context(), shop)
	h.must(err)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
