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
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Cloud is CloudFormation in memory. The digest of a template is its content, as in
// "v2 imports shop-vpc shop-db". Every stack has two outputs: Name, its physical name,
// and Value, a hash of its template and parameters. It has an export of its name, and those
// that its template lists, as in "v2 exports zone".
type Cloud struct {
	Seconds  map[string]float64             // how long operations take, by stack; 10 if it is missing
	Fail     map[string]int                 // how many of the next operations fail, by "shop-vpc/create"
	Requests []Request                      // the operations that were started
	Calls    map[string]int                 // the requests of functions, by the name that CloudFormation's API gives them
	Changed  func(action.Task, plan.Status) // called when an operation changes the status of its stack
	Limit    Limit                          // of the requests that functions send; the zero Limit is none
	Limits   map[string]*Limit              // the same for single accounts and regions, in place of Limit
	Apart    bool                           // targets are separate, and a stack outside the default target is named "shop-vpc@eu"; otherwise all share one account and region
	Denied   map[string]bool                // targets whose role cannot be assumed

	Deletions []Deletion // of tables

	Stored map[string]project.StoredParameter // the parameter store of all targets

	StackLimit int             // how many stacks an account may have in a region; 0 is no limit
	Lost       map[string]bool // the digests of templates that are no longer in the bucket

	Unreadable map[string]bool // stacks whose templates cannot be read, by name

	Lag        time.Duration                                        // by how much the descriptions of stacks are older than their events
	Updates    func(t action.Task, before, after map[string]string) // called with the parameters of each update; nil for none
	BackupsLag time.Duration                                        // how late lists show a backup of a table

	Creates   func(t action.Task, with map[string]string) // called with the parameters of each creation; nil for none
	EventsLag time.Duration                               // how late an event is shown
	Others    []string                                    // tokens under which another request was sent than the first

	Sizes   map[string]suspend.Size             // of Auto Scaling groups, if they are not FirstSize
	Resized func(group string, to suspend.Size) // called when a request sets the sizes of a group; nil for none

	Tasks  map[string]int               // of ECS services by ARN, if they are not FirstTasks
	Scaled func(service string, to int) // called when a request sets how many tasks a service has; nil for none

	Switched  func(database string)  // called when a request stops or starts a database; nil for none
	databases map[string]database    // that requests have stopped or started, by name
	backups   map[string]savedBackup // by ARN

	clock      *Clock
	live       map[string]*stack    // by name
	all        map[string]*stack    // by ID
	tokens     map[string]string    // of operations, to stack IDs
	sent       map[string]string    // what was sent under a token of those
	sets       map[string]changeSet // by token
	detections map[string]detection // of drift
	tables     map[string]*table    // that somebody has created or imported
	refactors  []*refactor          // in the order of their creation
	created    map[string]int       // how many stacks of a name: so IDs do not depend on the order of concurrent requests
	theirs     int                  // operations of others
}

// NewCloud returns an empty cloud.
func NewCloud(c *Clock) *Cloud {
	return &Cloud{
		Seconds: make(map[string]float64), Fail: make(map[string]int), Calls: make(map[string]int), Sizes: make(map[string]suspend.Size), Tasks: make(map[string]int), databases: make(map[string]database), backups: make(map[string]savedBackup), Unreadable: make(map[string]bool), clock: c, Changed: func(action.Task, plan.Status) {},
		live: make(map[string]*stack), all: make(map[string]*stack), tokens: make(map[string]string), sent: make(map[string]string), sets: make(map[string]changeSet), detections: make(map[string]detection), tables: make(map[string]*table), created: make(map[string]int),
	}
}

// count counts requests of a function.
func (c *Cloud) count(call string, n int) { c.Calls[call] += n }

// A Request is a request that started an operation.
type Request struct {
	At     time.Time
	Number int    // of its step
	What   string // as "shop-vpc/create"
}

// Started names the operations that were started since the first n. Those that one poll
// started at about the same time are in the order of their steps.
func (c *Cloud) Started(n int) []string {
	requests := slices.Clone(c.Requests[n:])
	slices.SortStableFunc(requests, func(a, b Request) int {
		return cmp.Or(a.At.Truncate(time.Second).Compare(b.At.Truncate(time.Second)), cmp.Compare(a.Number, b.Number))
	})
	var names []string
	for _, r := range requests {
		names = append(names, r.What)
	}
	return names
}

// operations names the operations in Fail and Requests, by the request that starts them.
var operations = map[action.Request]string{
	action.ImportResources: "import", action.CreateStackRefactor: "move-in", action.ExecuteChangeSet: "update", action.ExecuteDriftChangeSet: "update",
	action.CreateStack: "create", action.UpdateStack: "update", action.DeleteStack: "delete", action.ContinueUpdateRollback: "continue",
}

// A stack is one physical stack. It exists after its deletion too.
type stack struct {
	id, name      string
	origin        string // the token of the request that has made it; empty if somebody else has
	project       string // in the tag that Stackwright adds
	status        plan.Status
	now           content
	formerImports []string // imports before the last update, until its cleanup has ended
	lastUpdated   time.Time
	protected     bool          // by termination protection
	unrolled      bool          // its last creation or update is not rolled back if it fails
	left          []string      // the logical IDs of the resources that its deletion has retained
	drift         *plan.Finding // how its topic differs from its template; nil if it does not
	inside        *plan.Finding // the same of the topic in its nested stack
	policy        string        // the body of its stack policy; empty if it never had one
	deployment    project.Deployment
	events        []event
	past          []description // of the last minute, and the one before, oldest first
	started       int           // how many operations have started: an operation with a newer one after it stops
}

// A description is what DescribeStacks shows of a stack from some time on.
type description struct {
	from        time.Time
	status      plan.Status
	outputs     map[string]string
	lastUpdated time.Time
	events      int // how many the stack has had
}

// content is what a stack was last deployed from.
type content struct {
	template string
	params   map[string]string
	triggers project.RollbackTriggers
	topics   []string          // that get the events of the stack
	tags     map[string]string // without those that Stackwright adds
	value    string
}

// contentOf is what a task deploys.
func contentOf(t action.Task) content {
	return content{template: t.Node.Template.Digest, params: t.Want.Parameters, tags: t.Want.Tags, topics: t.Node.Notifications, triggers: t.Node.RollbackTriggers}
}

// keeping is c as an update of a stack deploys it that keeps the values of some parameters.
func (c content) keeping(st *stack, kept []string) content {
	if st == nil || len(kept) == 0 {
		return c
	}
	c.params = maps.Clone(c.params)
	for _, name := range kept {
		c.params[name] = st.now.params[name]
	}
	return c
}

// same reports whether an update from c to other changes nothing.
func (c content) same(other content) bool {
	return c.sameResources(other) && slices.Equal(c.topics, other.topics) && maps.Equal(c.tags, other.tags)
}

// sameResources reports whether an update from c to other changes no resource.
func (c content) sameResources(other content) bool {
	return c.template == other.template && maps.Equal(c.params, other.params)
}

// An event is one change of a stack's status.
type event struct {
	token     string
	operation string
	status    plan.Status
	why       string
	at        time.Time
}

// Put adds a stack that Stackwright did not make.
func (c *Cloud) Put(name string, s plan.Status) {
	st := c.make(name)
	st.status, st.lastUpdated = s, c.clock.Now()
	st.events = append(st.events, event{"", c.foreign(), s, "", c.clock.Now()})
	c.describe(st)
}

// foreign returns the ID of an operation that somebody else starts.
func (c *Cloud) foreign() string {
	c.theirs++
	return fmt.Sprintf("theirs %d", c.theirs)
}

// Set gives a stack a status, as an operation of another person would, with other tags. A
// stack that does not exist is created.
func (c *Cloud) Set(name string, s plan.Status) {
	st := c.live[name]
	if st == nil {
		c.Put(name, s)
		return
	}
	c.outdate(st)
	st.status, st.lastUpdated = s, st.lastUpdated.Add(time.Second)
	if !strings.Contains(string(s), "ROLLBACK") { // a rollback restores the tags
		st.project, st.now.tags = "", nil
	}
	operation := c.foreign()
	st.events = append(st.events, event{"", operation, "UPDATE_IN_PROGRESS", "User Initiated", c.clock.Now()}, event{"", operation, s, "", c.clock.Now()})
	c.describe(st)
	if s.Good() {
		c.deleteOutdated(st)
	}
	if s.Gone() {
		c.removeTable(st.now, "", false)
		delete(c.live, name)
	}
}

// Make adds a stack that somebody else created from a template with parameters.
func (c *Cloud) Make(name, template string, params map[string]string) {
	c.Put(name, "CREATE_COMPLETE")
	c.change(c.live[name], content{template: template, params: params}, "")
	c.describe(c.live[name])
}

// Update gives a live stack another template and other parameters, as an update by another person does. Its tags stay.
func (c *Cloud) Update(name, template string, params map[string]string) {
	st := c.live[name]
	project, was := st.project, st.now
	st.now.template, st.now.params = template, params
	if TableOf(was.template) != TableOf(template) {
		c.removeTable(was, "", false)
		c.bringIn(TableOf(template), "")
	}
	c.Set(name, "UPDATE_COMPLETE")
	st.project, st.now.tags = project, was.tags
	c.describe(st)
}

// Tag gives a live stack the tag of a project, without an operation.
func (c *Cloud) Tag(name, project string) { c.live[name].project = project }

// SetIgnored gives a live stack another value of a parameter, as a pipeline does: all else stays.
func (c *Cloud) SetIgnored(name, parameter, value string) {
	params := maps.Clone(c.live[name].now.params)
	params[parameter] = value
	c.Update(name, c.live[name].now.template, params)
}

// SetParameter gives a live stack another value of a parameter, as an update by another person does.
func (c *Cloud) SetParameter(name, parameter, value string) {
	st := c.live[name]
	st.now.params = maps.Clone(st.now.params)
	st.now.params[parameter] = value
	c.Set(name, "UPDATE_COMPLETE")
}

// Use adds a stack outside Stackwright that imports the export of another.
func (c *Cloud) Use(user, name string) {
	c.Put(user, "CREATE_COMPLETE")
	c.change(c.live[user], content{template: "v1 imports " + name}, "")
	c.describe(c.live[user])
}

// Status returns the status of the live stack of that name.
func (c *Cloud) Status(name string) plan.Status {
	if st := c.live[name]; st != nil {
		return st.status
	}
	return ""
}

// Template returns the template and parameters that the live stack of that name was
// last deployed from.
func (c *Cloud) Template(name string) (template string, params map[string]string) {
	if st := c.live[name]; st != nil {
		return st.now.template, st.now.params
	}
	return "", nil
}

// Topics returns the topics of the live stack of that name.
func (c *Cloud) Topics(name string) []string {
	if st := c.live[name]; st != nil {
		return st.now.topics
	}
	return nil
}

// Groups lists the names of the Auto Scaling groups of the live stack of a name in a target.
func (c *Cloud) Groups(in project.Target, name string) []string {
	if st := c.live[c.called(plan.Location{Stack: name, Target: in})]; st != nil {
		return GroupsOf(name, versionOf(st.now.template))
	}
	return nil
}

// TaskServices lists the ARNs of the ECS services of the live stack of a name in a target.
func (c *Cloud) TaskServices(in project.Target, name string) []string {
	if st := c.live[c.called(plan.Location{Stack: name, Target: in})]; st != nil {
		return ServicesOf(name, versionOf(st.now.template))
	}
	return nil
}

// Databases lists the names of the DB instances and clusters, and of other things that are stopped as a whole, of the live stack of a name in a
// target.
func (c *Cloud) Databases(in project.Target, name string) []string {
	if st := c.live[c.called(plan.Location{Stack: name, Target: in})]; st != nil {
		return slices.Concat(DatabasesOf(name, versionOf(st.now.template)), slices.Sorted(maps.Values(MachinesOf(name, versionOf(st.now.template)))))
	}
	return nil
}

// Names lists the names of the live stacks, sorted.
func (c *Cloud) Names() []string { return slices.Sorted(maps.Keys(c.live)) }

// Output returns an output of the live stack of that name.
func (c *Cloud) Output(name, output string) string {
	if st := c.live[name]; st != nil {
		return st.outputs()[output]
	}
	return ""
}

func (c *Cloud) make(name string) *stack {
	c.created[name]++
	st := &stack{id: fmt.Sprintf("arn:stack/%s/%d", name, c.created[name]), name: name}
	c.live[name], c.all[st.id] = st, st
	return st
}

// Live implements action.Cloud.
func (c *Cloud) Live(_ context.Context, p plan.Location) (plan.Live, error) {
	st := c.find(p)
	if err := c.denied(p.Target); err != nil || st == nil {
		return plan.Live{}, err
	}
	return c.seen(st, p), nil
}

// find returns the stack with the location's ID; without an ID, the live stack with
// its name. It returns nil if there is none.
func (c *Cloud) find(p plan.Location) *stack {
	if p.StackID != "" {
		return c.all[p.StackID]
	}
	return c.live[c.called(p)]
}

// Observe implements engine.Clouds.
func (c *Cloud) Observe(_ context.Context, locations []plan.Location) (map[string]plan.Live, error) {
	live, err := c.accessErrors(locations)
	for _, p := range locations {
		if c.denied(p.Target) != nil || err != nil {
			continue
		}
		if st := c.live[c.called(p)]; st != nil {
			live[p.Node] = c.seen(st, p)
		} else if nested, is := c.seenNested(p); is {
			live[p.Node] = nested
		}
	}
	return live, err
}

// DeployedTemplate implements engine.Clouds.
func (c *Cloud) DeployedTemplate(_ context.Context, p plan.Location) ([]byte, error) {
	c.count("GetTemplate", 1)
	if err := c.denied(p.Target); err != nil {
		return nil, err
	}
	st := c.find(p)
	switch {
	case st == nil:
		return nil, fault.New(fault.Missing, "stack %s does not exist", p.Stack)
	case st.status == "IMPORT_ROLLBACK_COMPLETE" && st.now.template == "":
		return nil, fault.New(fault.Missing, "stack %s has no template yet", p.Stack)
	case c.Unreadable[st.name]:
		return nil, fault.New(fault.Denied, "GetTemplate is not allowed")
	}
	return []byte(loss.Of(string(templateOf(st.now.template)))), nil
}

// TemplateDigest implements action.Cloud.
func (c *Cloud) TemplateDigest(ctx context.Context, p plan.Location, recorded string) (string, error) {
	body, err := c.DeployedTemplate(ctx, p)
	if err == nil && loss.Same(string(body), string(templateOf(recorded))) {
		return recorded, nil
	}
	return digestOf(body), err
}

// Resources implements engine.Clouds. A stack has a topic and perhaps a table.
func (c *Cloud) Resources(_ context.Context, p plan.Location, count func()) (map[string]string, error) {
	count()
	if err := c.denied(p.Target); err != nil {
		return nil, err
	}
	st := c.find(p)
	if _, nested := c.seenNested(p); st == nil && nested {
		return map[string]string{"Topic": p.StackID + "/Topic"}, nil
	}
	if st == nil {
		return nil, fault.New(fault.Missing, "stack %s does not exist", p.Stack)
	}
	all := map[string]string{"Topic": st.id + "/Topic"}
	if name := TableOf(st.now.template); name != "" {
		all["Table"] = name
	}
	if id := st.nestedID(); id != "" {
		all[Nested] = id
	}
	return all, nil
}

// Describe implements engine.Clouds.
func (c *Cloud) Describe(_ context.Context, t project.Target, ids []string) (map[string]plan.Live, error) {
	if err := c.denied(t); err != nil {
		return nil, err
	}
	found := make(map[string]plan.Live)
	for _, id := range ids {
		st := c.all[id]
		if st == nil {
			continue
		}
		if live := c.seen(st, plan.Location{StackID: id}); !live.Status.Gone() {
			found[id] = live
		}
	}
	return found, nil
}

// describe records how a stack is described from now on.
func (c *Cloud) describe(st *stack) {
	now := c.clock.Now()
	if st.status.Gone() { // nobody can execute the change sets of a deleted stack
		c.DeleteChangeSets(st.name)
	}
	st.past = append(st.past, description{now, st.status, st.outputs(), st.lastUpdated, len(st.events)})
	for len(st.past) > 1 && st.past[1].from.Before(now.Add(-time.Minute)) {
		st.past = st.past[1:]
	}
}

// returned is what DescribeStacks returns of texts.
func returned(texts map[string]string) map[string]string {
	all := maps.Clone(texts)
	for name, text := range all {
		all[name] = loss.Of(text)
	}
	return all
}

// seen returns what DescribeStacks shows of a stack. With a lag, that is how the stack
// was described some time ago, or first.
func (c *Cloud) seen(st *stack, p plan.Location) plan.Live {
	d := st.past[0]
	for _, later := range st.past {
		if !later.from.After(c.clock.Now().Add(-c.Lag)) {
			d = later
		}
	}
	l := plan.Live{
		StackID: st.id, Status: d.status, Outputs: returned(d.outputs), Exports: st.exportsByOutput(), LastUpdated: d.lastUpdated, Protected: st.protected, Tags: returned(st.now.tags), Deployment: st.deployment,
		Parameters: returned(st.now.params), Project: st.project, Notifications: slices.Clone(st.now.topics), Triggers: st.now.triggers, HasResources: d.status == "CREATE_FAILED" && st.unrolled,
		CreatedByToken: p.Token != "" && p.StackID != st.id && c.createdBy(st, p.Token),
	}
	for _, e := range slices.Backward(st.events[:d.events]) {
		if !slices.Contains(l.Operations, e.operation) {
			l.Operations = append(l.Operations, e.operation)
		}
	}
	return l
}

// createdBy reports whether the first operation on a stack has a token.
func (c *Cloud) createdBy(st *stack, token string) bool {
	return len(st.events) > 0 && st.events[0].token == token
}

func (st *stack) outputs() map[string]string {
	if st.now.value == "" {
		return nil
	}
	return map[string]string{"Name": st.name, "Value": st.now.value}
}

// Events implements action.Cloud.
func (c *Cloud) Events(_ context.Context, t action.Task) (action.Operation, error) {
	st := c.find(t.Location())
	if err := c.denied(t.Location().Target); err != nil || st == nil {
		return action.Operation{}, err
	}
	shown := st.events[:len(st.events)-len(c.late(st.events))]
	first := slices.IndexFunc(shown, func(e event) bool { return e.token == t.Token() })
	if first < 0 {
		return action.Operation{}, nil
	}
	newest := shown[len(shown)-1]
	op := action.Operation{Found: true, Receipt: plan.Receipt{StackID: st.id, Operation: t.Token()}, Newest: newest.status, NewestOperation: newest.operation}
	if first > 0 {
		op.Before = shown[first-1].token
	}
	for _, e := range shown[first:] {
		if !op.Over && e.token == t.CancelToken() && op.Stopped.IsZero() {
			op.Stopped = e.at
		}
		switch {
		case op.Over:
			op.Superseded = op.Superseded || e.status.Busy()
		case !e.status.Busy():
			op.Over, op.Status = true, e.status
			fallthrough
		case op.Why == "":
			op.Why = cmp.Or(op.Why, e.why)
		}
	}
	if t.Request == action.DeleteStack && op.Over {
		op.Left = st.leftBy(op)
	}
	if op.Status.Stuck() {
		op.Unrestored = []string{topic}
	}
	return op, nil
}

// late lists the last events, which are not shown yet.
func (c *Cloud) late(all []event) []event {
	i := slices.IndexFunc(all, func(e event) bool { return c.EventsLag > 0 && e.at.Add(c.EventsLag).After(c.clock.Now()) })
	if i < 0 {
		return nil
	}
	return all[i:]
}

// requestOf is what a task sends under its token.
func requestOf(t action.Task) string {
	return fmt.Sprint(t.Request, t.Node.Template.Digest, t.Want.Parameters, t.Want.Tags, t.Kept, t.Node.Notifications, t.Node.RollbackTriggers)
}

// Begin implements action.Cloud.
func (c *Cloud) Begin(_ context.Context, t action.Task) (plan.Receipt, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return plan.Receipt{}, err
	}
	if id, ok := c.tokens[t.Token()]; ok {
		if was, ok := c.sent[t.Token()]; ok && was != requestOf(t) {
			c.Others = append(c.Others, t.Token())
			return plan.Receipt{}, fault.New(fault.Unavailable, "Token already exists: %s", t.Token())
		}
		return c.all[id].receipt(t), nil // CloudFormation knows the token: this is the same request
	}
	name := c.called(t.Location())
	st := c.find(t.Location())
	switch t.Request {
	case action.CreateStackRefactor:
		return c.createRefactor(t)
	case action.CreateChangeSet:
		return c.propose(st, t)
	case action.DetectStackDrift:
		return c.detect(st, t)
	case action.ImportResources:
		return c.proposeImport(st, t)
	case action.CreateDriftChangeSet:
		return c.proposeRevert(st, t)
	case action.ExecuteChangeSet, action.ExecuteDriftChangeSet:
		return c.executeChangeSet(st, t)
	}
	if t.Request == action.CreateStack {
		if c.live[name] != nil {
			return plan.Receipt{}, fault.New(fault.Taken, "stack [%s] already exists", name)
		}
		if err := c.refuseFull(t.Location().Target); err != nil {
			return plan.Receipt{}, err
		}
		st = c.make(name)
		st.origin, st.lastUpdated = t.Token(), c.clock.Now()
	}
	if t.Request != action.CreateStack && t.Location().StackID == "" && st != nil && st.project != t.Project {
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s exists (%s) but does not have our tag: it is not managed by Stackwright", name, st.status)
	}
	if err := st.refuseRetained(t); err != nil {
		return plan.Receipt{}, err
	}
	if t.Request == action.DeleteStack && st != nil && t.Location().StackID != "" && (st.status == "DELETE_COMPLETE" || st.status == "DELETE_IN_PROGRESS") {
		return plan.Receipt{StackID: st.id}, nil // CloudFormation accepts it, and starts nothing
	}
	want := contentOf(t)
	if t.Request == action.UpdateStack {
		want = want.keeping(st, t.Kept)
	}
	if err := cmp.Or(st.refuse(t, want), refuseTypes(t)); err != nil {
		if t.Request == action.CreateStack { // a creation that is refused makes no stack
			delete(c.live, name)
			delete(c.all, st.id)
		}
		return plan.Receipt{}, err
	}
	if t.Request == action.CreateStack {
		st.protected = t.Node.Protect
	}
	if t.Request == action.UpdateStack && c.Updates != nil {
		c.Updates(t, st.now.params, want.params)
	}
	if t.Request == action.CreateStack && c.Creates != nil {
		c.Creates(t, want.params)
	}
	c.tokens[t.Token()], c.sent[t.Token()] = st.id, requestOf(t)
	c.Requests = append(c.Requests, Request{c.clock.Now(), t.Number, name + "/" + operations[t.Request]})
	if st.deployment = t.Step.Deployment; t.Request == action.CreateStack || t.Request == action.UpdateStack {
		st.project = t.Project
	}
	c.begin(st, t, want)
	return st.receipt(t), nil
}

// receipt returns the answer to the request of a task. DeleteStack and
// ContinueUpdateRollback answer without an operation.
func (st *stack) receipt(t action.Task) plan.Receipt {
	if t.Request == action.DeleteStack || t.Request == action.ContinueUpdateRollback || t.Request == action.ExecuteChangeSet {
		return plan.Receipt{StackID: st.id}
	}
	return plan.Receipt{StackID: st.id, Operation: t.Token()}
}

// Protect implements action.Cloud.
func (c *Cloud) Protect(_ context.Context, t action.Task) error {
	st := c.find(t.Location())
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if st == nil || st.status == "DELETE_COMPLETE" {
		return fault.New(fault.Missing, "stack does not exist")
	}
	st.protected = t.Node.Protect
	return nil
}

// SetStackPolicy implements action.Cloud.
func (c *Cloud) SetStackPolicy(_ context.Context, t action.Task) error {
	st := c.find(t.Location())
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if st == nil || st.status == "DELETE_COMPLETE" {
		return fault.New(fault.Missing, "stack does not exist")
	}
	st.policy = cmp.Or(t.Node.StackPolicy.Body, project.AllowAll)
	return nil
}

// StackPolicy implements action.Cloud.
func (c *Cloud) StackPolicy(_ context.Context, p plan.Location) (project.StackPolicy, error) {
	st := c.find(p)
	if err := c.denied(p.Target); err != nil {
		return project.StackPolicy{}, err
	}
	switch {
	case st == nil || st.status == "DELETE_COMPLETE":
		return project.StackPolicy{}, fault.New(fault.Missing, "stack does not exist")
	case st.policy == "":
		return project.StackPolicy{}, nil
	}
	return project.NewStackPolicy(st.policy), nil
}

// SetOutside changes the termination protection or the stack policy of the live stack of that name, as another person would.
func (c *Cloud) SetOutside(name string, protected bool, policy string) {
	c.live[name].protected, c.live[name].policy = protected, policy
}

// PolicyOf returns the stack policy of the live stack of that name.
func (c *Cloud) PolicyOf(name string) string {
	if st := c.live[name]; st != nil {
		return st.policy
	}
	return ""
}

// refuseTypes refuses a request that may not contain the topic that every stack has here.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (ResourceTypes)
func refuseTypes(t action.Task) error {
	if (t.Request == action.CreateStack || t.Request == action.UpdateStack || t.Request == action.CreateChangeSet) && !t.Node.MayHave("AWS::SNS::Topic") {
		return fault.New(fault.Refused, "Resource type AWS::SNS::Topic is not one of the ResourceTypes")
	}
	return nil
}

// refuse returns the error of an operation that CloudFormation would refuse, or nil.
func (st *stack) refuse(t action.Task, want content) error {
	if st == nil || st.status == "DELETE_COMPLETE" {
		return fault.New(fault.Missing, "stack does not exist")
	}
	s, r := st.status, t.Request
	switch {
	case r == action.CreateStack:
		return nil
	case s.Busy() || s.Cleaning():
		return fault.New(fault.Busy, "stack %s is in %s state", st.name, s)
	case r == action.DeleteStack && st.protected:
		return fault.New(fault.Refused, "stack [%s] cannot be deleted while termination protection is enabled", st.name)
	case r == action.DeleteStack:
		return nil
	case r == action.ContinueUpdateRollback && s.Stuck():
		return skippable(t)
	case r == action.ContinueUpdateRollback, r == action.UpdateStack && !s.Good() && !s.Recoverable() && !st.hasResources():
		return fault.New(fault.Refused, "stack %s is in %s state and can not be changed", st.name, s)
	case r == action.UpdateStack && s.FailedWithoutRollback():
		if !unrolled(t) {
			return fault.New(fault.Refused, "stack %s is in %s state: an update needs disable-rollback", st.name, s)
		}
	case r == action.UpdateStack && st.now.same(want) && st.project == t.Project: // another tag is an update, too
		return fault.New(fault.Unchanged, "no updates are to be performed")
	}
	return nil
}

// topic is the resource of which all operations fail.
const topic = "Topic"

// skippable refuses a continued rollback that skips what has not failed in the rollback before.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html (ResourcesToSkip)
func skippable(t action.Task) error {
	skips, err := t.Step.Skips()
	if err != nil || len(skips) == 0 || slices.Equal(skips, []string{topic}) {
		return err
	}
	return fault.New(fault.Refused, "ResourcesToSkip must be in UPDATE_FAILED state: %v", skips)
}

// hasResources reports whether the creation of the stack has failed and was not rolled back: it can be updated.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
func (st *stack) hasResources() bool { return st.status == "CREATE_FAILED" && st.unrolled }

// unrolled reports whether the request of a task says that a failure is not rolled back.
func unrolled(t action.Task) bool {
	if t.Request == action.CreateStack {
		return t.Node.KeepsFailed()
	}
	return t.Node.DisableRollback || t.Seen != nil && t.Seen.Status.FailedWithoutRollback()
}

// failure returns why an operation fails, or "".
func (c *Cloud) failure(st *stack, operation string, want content) string {
	key := st.name + "/" + operation
	if c.Fail[key] > 0 {
		c.Fail[key]--
		return "Topic (AWS::SNS::Topic): injected"
	}
	if operation == "update" && st.drift != nil && st.drift.Kind == plan.DriftDeleted && !st.now.sameResources(want) {
		return "Topic (AWS::SNS::Topic): not found"
	}
	for _, name := range want.imports() {
		if c.exporter(name) == nil {
			return "no export named " + name
		}
	}
	return ""
}

// Twice lists the steps that started an operation in more than one attempt, as
// "sw-run-7", sorted.
func (c *Cloud) Twice() []string {
	attempts := make(map[string]int)
	for token := range c.tokens {
		attempts[token[:strings.LastIndex(token, "-")]]++
	}
	maps.DeleteFunc(attempts, func(_ string, n int) bool { return n == 1 })
	return slices.Sorted(maps.Keys(attempts))
}

// Origin returns the ID of the stack at a location, and the token of the operation or change set that has
// created it: both are empty if there is no stack, and the token if Stackwright has not created it.
func (c *Cloud) Origin(p plan.Location) (id, token string) {
	if st := c.find(p); st != nil {
		return st.id, st.origin
	}
	return "", ""
}

// NameOf returns the name of the stack of an ID.
func (c *Cloud) NameOf(id string) string {
	if st := c.all[id]; st != nil {
		return st.name
	}
	return ""
}

// OursBut lists the live stacks that Stackwright created and that are not among the given
// ones, sorted.
func (c *Cloud) OursBut(given map[string]bool) []string {
	var names []string
	for name, st := range c.live {
		if !given[name] && st.origin != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
