package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Cloud is a CloudFormation in memory. The digest of a template says what is in
// it: "v2 imports shop-vpc shop-db". If targets are Apart, a stack in another target
// than the default one is called "shop-vpc@eu". Every stack has the outputs Name,
// its physical name, and Value, which follows from its template and parameters, and
// an export that is in use as long as a stack imports it.
type Cloud struct {
	Seconds  map[string]float64 // what an operation on a stack takes; 10 if nothing is said
	Fail     map[string]int     // "shop-vpc/create" → how many such operations fail from now on
	Requests []string           // the operations that were started, as "shop-vpc/create"
	Changed  func(action.Task, plan.Status)
	Limit    Limit           // of the requests of functions; none if it is zero
	Apart    bool            // targets are separate; otherwise all share one account and region
	Denied   map[string]bool // targets whose role cannot be assumed

	clock   *Clock
	live    map[string]*stack // by name
	all     map[string]*stack // by ID
	tokens  map[string]string // of operations, to stack IDs
	created int
}

// NewCloud returns an empty cloud.
func NewCloud(c *Clock) *Cloud {
	return &Cloud{
		Seconds: make(map[string]float64), Fail: make(map[string]int), clock: c, Changed: func(action.Task, plan.Status) {},
		live: make(map[string]*stack), all: make(map[string]*stack), tokens: make(map[string]string),
	}
}

// A stack is one stack, also after its deletion.
type stack struct {
	id, name    string
	status      plan.Status
	now         content
	held        []string // imports of before, until what was replaced is cleaned up
	lastUpdated time.Time
	guarded     bool // by termination protection
	events      []event
	started     int // how many operations; a cancelled one does not go on
}

// content is what a stack was made of.
type content struct {
	template string
	params   map[string]string
	value    string
}

// imports lists the stacks whose exports the content uses.
func (c content) imports() []string {
	_, list, _ := strings.Cut(c.template, " imports ")
	return strings.Fields(list)
}

// An event is one change of a stack's status.
type event struct {
	token  string
	status plan.Status
	why    string
	at     time.Time
}

// Put adds a stack that Stackwright did not make.
func (c *Cloud) Put(name string, s plan.Status) {
	st := c.make(name)
	st.status, st.lastUpdated = s, c.clock.Now()
	st.events = append(st.events, event{"", s, "", c.clock.Now()})
}

// Set gives a live stack a status, as a person could.
func (c *Cloud) Set(name string, s plan.Status) {
	st := c.live[name]
	if st == nil {
		c.Put(name, s)
		return
	}
	st.status, st.lastUpdated = s, st.lastUpdated.Add(time.Second)
	st.events = append(st.events, event{"", "UPDATE_IN_PROGRESS", "User Initiated", c.clock.Now()}, event{"", s, "", c.clock.Now()})
	if s.Gone() {
		delete(c.live, name)
	}
}

// Use adds a stack that imports the export of another.
func (c *Cloud) Use(user, name string) {
	c.Put(user, "CREATE_COMPLETE")
	c.change(c.live[user], content{template: "v1 imports " + name})
}

// Status returns the status of the live stack of that name.
func (c *Cloud) Status(name string) plan.Status {
	if st := c.live[name]; st != nil {
		return st.status
	}
	return ""
}

// Template returns what the live stack of that name was last made of.
func (c *Cloud) Template(name string) (template string, params map[string]string) {
	if st := c.live[name]; st != nil {
		return st.now.template, st.now.params
	}
	return "", nil
}

// Names lists the live stacks.
func (c *Cloud) Names() []string { return slices.Sorted(maps.Keys(c.live)) }

// Output returns an output of the live stack of that name.
func (c *Cloud) Output(name, output string) string {
	if st := c.live[name]; st != nil {
		return st.outputs()[output]
	}
	return ""
}

func (c *Cloud) make(name string) *stack {
	c.created++
	st := &stack{id: fmt.Sprintf("arn:stack/%s/%d", name, c.created), name: name}
	c.live[name], c.all[st.id] = st, st
	return st
}

// Live is the part of action.Cloud.
func (c *Cloud) Live(_ context.Context, p plan.Location) (plan.Live, error) {
	st := c.find(p)
	if err := c.denied(p.Target); err != nil || st == nil {
		return plan.Live{}, err
	}
	return st.seen(p), nil
}

// find returns the stack of the recorded ID, or else of the name.
func (c *Cloud) find(p plan.Location) *stack {
	if p.StackID != "" {
		return c.all[p.StackID]
	}
	return c.live[c.called(p)]
}

// Observe is the part of engine.Clouds.
func (c *Cloud) Observe(_ context.Context, places []plan.Location) (map[string]plan.Live, error) {
	seen, err := c.accessErrors(places)
	for _, p := range places {
		if st := c.live[c.called(p)]; st != nil && c.denied(p.Target) == nil && err == nil {
			seen[p.Node] = st.seen(p)
		}
	}
	return seen, err
}

func (st *stack) seen(p plan.Location) plan.Live {
	return plan.Live{
		StackID: st.id, Status: st.status, Outputs: st.outputs(), LastUpdated: st.lastUpdated, Protected: st.guarded,
		CreatedByToken: p.Token != "" && p.StackID != st.id && st.events[0].token == p.Token,
	}
}

func (st *stack) outputs() map[string]string {
	if st.now.value == "" {
		return nil
	}
	return map[string]string{"Name": st.name, "Value": st.now.value}
}

// Events is the part of action.Cloud.
func (c *Cloud) Events(_ context.Context, t action.Task) (action.Operation, error) {
	st := c.find(t.Location())
	if err := c.denied(t.Location().Target); err != nil || st == nil {
		return action.Operation{}, err
	}
	first := slices.IndexFunc(st.events, func(e event) bool { return e.token == t.Token() })
	if first < 0 {
		return action.Operation{}, nil
	}
	w := action.Operation{Found: true, Receipt: plan.Receipt{StackID: st.id, Operation: t.Token()}}
	for _, e := range st.events[first:] {
		if !w.Over && e.token == t.CancelToken() && w.Stopped.IsZero() {
			w.Stopped = e.at
		}
		switch {
		case w.Over:
			w.Superseded = w.Superseded || e.status.Busy()
		case !e.status.Busy():
			w.Over, w.Status = true, e.status
			fallthrough
		case w.Why == "":
			w.Why = cmp.Or(w.Why, e.why)
		}
	}
	return w, nil
}

// Begin is the part of action.Cloud.
func (c *Cloud) Begin(_ context.Context, t action.Task) (plan.Receipt, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return plan.Receipt{}, err
	}
	if id, ok := c.tokens[t.Token()]; ok {
		return plan.Receipt{StackID: id, Operation: t.Token()}, nil // the same request, made again
	}
	name := c.called(t.Location())
	st := c.find(t.Location())
	if t.Step.Verb == plan.Create {
		if c.live[name] != nil {
			return plan.Receipt{}, fault.New(fault.Taken, "stack [%s] already exists", name)
		}
		st = c.make(name)
		st.lastUpdated = c.clock.Now()
	}
	if t.Step.Verb != plan.Create && t.Location().StackID == "" && st != nil && st.events[0].token == "" {
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s exists (%s) but does not have our tag: it is not managed by Stackwright", name, st.status)
	}
	want := content{template: t.Node.Template.Digest, params: t.Want.Parameters}
	err := st.refuse(t.Step.Verb, want)
	if st != nil && (err == nil || fault.Is(err, fault.Unchanged)) && t.Step.Verb != plan.Delete {
		st.guarded = t.Node.Protect
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	c.tokens[t.Token()] = st.id
	c.Requests = append(c.Requests, name+"/"+string(t.Step.Verb))
	c.begin(st, t, want)
	return plan.Receipt{StackID: st.id, Operation: t.Token()}, nil
}

// refuse says why an operation on a stack is refused, if it is.
func (st *stack) refuse(v plan.Verb, want content) error {
	if st == nil || st.status == "DELETE_COMPLETE" {
		return fault.New(fault.Missing, "stack does not exist")
	}
	s := st.status
	switch {
	case v == plan.Create:
		return nil
	case s.Busy() || s.Cleaning():
		return fault.New(fault.Busy, "stack %s is in %s state", st.name, s)
	case v == plan.Delete && st.guarded:
		return fault.New(fault.Refused, "stack [%s] cannot be deleted while termination protection is enabled", st.name)
	case v == plan.Delete:
		return nil
	case v == plan.Continue && !s.Stuck(), v == plan.Update && !s.Good() && !s.Recoverable():
		return fault.New(fault.Refused, "stack %s is in %s state and can not be changed", st.name, s)
	case v == plan.Update && st.now.template == want.template && maps.Equal(st.now.params, want.params):
		return fault.New(fault.Unchanged, "no updates are to be performed")
	}
	return nil
}

// wrong says why an operation fails, if it does.
func (c *Cloud) wrong(st *stack, v plan.Verb, want content) string {
	key := st.name + "/" + string(v)
	if c.Fail[key] > 0 {
		c.Fail[key]--
		return "Topic (AWS::SNS::Topic): injected"
	}
	for _, name := range want.imports() {
		on := c.live[name]
		if on == nil || on.now.value == "" {
			return "no export named " + name
		}
	}
	return ""
}

// user names a live stack that uses the export of st, if there is one.
func (c *Cloud) user(st *stack) string {
	for _, name := range c.Names() {
		if u := c.live[name]; u != st && u.now.value != "" && slices.Contains(append(u.now.imports(), u.held...), st.name) {
			return name
		}
	}
	return ""
}

// InUse reports whether another live stack uses the export of the one of that
// name.
func (c *Cloud) InUse(name string) bool { return c.user(c.live[name]) != "" }

// Twice lists, sorted, the steps that started an operation in more than one attempt,
// as "sw-run-7".
func (c *Cloud) Twice() []string {
	began := make(map[string]int)
	for token := range c.tokens {
		began[token[:strings.LastIndex(token, "-")]]++
	}
	maps.DeleteFunc(began, func(_ string, n int) bool { return n == 1 })
	return slices.Sorted(maps.Keys(began))
}

// Ours reports whether a step made the live stack of that name.
func (c *Cloud) Ours(name string) bool { return c.live[name].events[0].token != "" }
