package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
)

// suspend stops what costs money in the recorded stacks, and can be started again as it was.
func suspend() Operation {
	return Operation{
		Name: "suspend", Plan: SuspendStacks,
		Requestable: true, Approvable: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionReason, OptionRefuse),
		Effect:  "it stops what runs in the stacks, until a resume starts it again",
	}
}

// suspensionTimeout is how long it may take to stop or start what a stack has. A large database takes half an hour.
const suspensionTimeout = project.Timeout(time.Hour)

// A Suspension is what a suspend has stopped, or was to stop, in a stack. It is written before anything is stopped.
type Suspension struct {
	Since     time.Time `json:"since"`            // of the first suspend after which no resume has succeeded
	Run       string    `json:"run"`              // that suspend
	Resumed   time.Time `json:"resumed,omitzero"` // when the first resume since then began: from then on some of it may run
	Resources []Stopped `json:"resources"`
}

// A Stopped is a resource that a suspend stops.
type Stopped struct {
	Type string `json:"type"` // as AWS::AutoScaling::AutoScalingGroup
	ID   string `json:"id"`   // the physical ID
	Was  string `json:"was"`  // how it was before, as its kind writes it

	Charged string `json:"charged,omitempty"` // what it was charged by the hour, for package price; missing if that is not known
}

// Hourly is what the stopped resources were charged by the hour, an estimate, and those whose price is not known.
func (s *Suspension) Hourly(region string) (sum price.Dollars, unknown []Stopped) {
	for _, r := range s.Resources {
		d, ok := price.Charged(r.Charged, region)
		if !ok {
			unknown = append(unknown, r)
		}
		sum += d
	}
	return sum, unknown
}

// With returns the suspension with what runs now. What it has already stays as it was written first: what runs now may be left of a
// suspend that has crashed, or what somebody has started meanwhile.
func (s *Suspension) With(running []Stopped, run string, now time.Time) *Suspension {
	if s == nil {
		s = &Suspension{Since: now, Run: run}
	}
	all := *s
	all.Resources = slices.Clone(s.Resources)
	for _, r := range running {
		if !slices.ContainsFunc(s.Resources, func(o Stopped) bool { return o.Type == r.Type && o.ID == r.ID }) {
			all.Resources = append(all.Resources, r)
		}
	}
	return &all
}

// SuspendStacks plans to stop what runs in the recorded stacks, in each stack after all that depend on it. The hooks of a suspend are called
// before and after that, if it is about all stacks.
func SuspendStacks(v View) (Plan, error) {
	about, refusals := v.selected()
	if !v.Suspendable {
		refusals = append(refusals, fault.New(fault.Denied, "%s may not be suspended: ask the owner of the installation to add it to the setting suspend", v.Desired.ID()))
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if about != nil && !about[name] || !v.exists(name) {
			continue
		}
		if live := v.Live[name]; live.Status.Busy() {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it is %s: wait until this operation has ended, then suspend the stack", v.Recorded[name].displayName(), live.Status))
		}
		names = append(names, name)
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	p := v.inOrder(names, Suspend, true)
	if already, since := v.suspended(); len(already) > 0 {
		which := "all stacks"
		if len(already) < len(names) || v.Partial() {
			which = listed(already)
		}
		p.Messages = append(p.Messages, fmt.Sprintf("suspended already since %s: %s: a suspend stops there only what was started since, and what a resume starts stays as it was recorded first", since.UTC().Format(time.RFC3339), which))
	}
	if v.Partial() || len(p.Steps) == 0 {
		return p, nil
	}
	return v.calling(p, project.BeforeSuspend, project.AfterSuspend, "")
}

// inOrder plans the same verb for recorded stacks, each after those that depend on it, or else after its dependencies. A stack between two
// of them that is not among them orders these too.
func (v View) inOrder(names []string, verb Verb, dependentsFirst bool) Plan {
	var needs graph.Graph[string]
	for name, r := range v.Recorded {
		needs.Add(name, r.Needs...)
	}
	before := &needs
	if dependentsFirst {
		before = needs.Reverse()
	}
	var order graph.Graph[string]
	var edges []graph.Edge[string]
	for _, name := range names {
		order.Add(name)
		for _, earlier := range nearest(before, name, names) {
			edges = append(edges, graph.Edge[string]{Later: name, Earlier: earlier})
		}
	}
	order.AddAcyclic(edges) // while an update is in flight, a record has its old and its new dependencies
	sorted, _ := graph.Sort(order.Keys(), order.After)
	p := Plan{Steps: make([]Step, len(sorted))}
	place := make(map[string]int, len(sorted))
	for i, name := range sorted {
		p.Steps[i], place[name] = Step{ID: StepID(name, verb, ""), Node: name, Where: v.where(name), Verb: verb, Timeout: suspensionTimeout}, i
		for _, earlier := range order.After(name) {
			p.Steps[i].After = append(p.Steps[i].After, place[earlier])
		}
		slices.Sort(p.Steps[i].After)
	}
	return p
}

// nearest lists the first of some sorted names on each way from a name to what it comes after.
func nearest(g *graph.Graph[string], from string, names []string) []string {
	var found []string
	seen, next := map[string]bool{from: true}, g.After(from)
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, among := slices.BinarySearch(names, name); among {
			found = append(found, name)
			continue
		}
		next = append(next, g.After(name)...)
	}
	return found
}

// suspended lists the suspended stacks that the request is about, sorted, and since when the first of them is.
func (v View) suspended() (names []string, since time.Time) {
	about, _ := v.selected()
	if v.Importers != nil { // a replace changes more than what is selected
		about = make(map[string]bool)
		for name := range v.replacement().all() {
			about[name] = true
		}
	}
	some := maps.Clone(v.Recorded)
	maps.DeleteFunc(some, func(name string, _ Record) bool { return about != nil && !about[name] })
	return Suspended(some)
}

// Suspended lists the suspended stacks among some records, sorted, and since when the first of them is.
func Suspended(records map[string]Record) (names []string, since time.Time) {
	for _, name := range slices.Sorted(maps.Keys(records)) {
		r := records[name]
		if r.Suspended == nil {
			continue
		}
		if names = append(names, r.displayName()); since.IsZero() || r.Suspended.Since.Before(since) {
			since = r.Suspended.Since
		}
	}
	return names, since
}

// Make makes the plan of a run. An operation that needs running stacks is refused for suspended ones, unless the request says otherwise.
func (o Operation) Make(v View) (Plan, error) {
	p, err := o.Plan(v)
	p.Messages = slices.Concat(p.Messages, v.sayCreated(p), v.Unreachable.messages("not reachable for now, and kept in the records"), v.remains(o), v.unplaced())
	names, since := v.suspended()
	if !o.NeedsRunning || len(names) == 0 {
		return p, err
	}
	said := fmt.Sprintf("suspended since %s: %s", since.UTC().Format(time.RFC3339), listed(names))
	if !v.WhileSuspended && !o.Preview {
		return p, errors.Join(fault.New(fault.Refused, "%s: resume the project first (stackwright resume), or repeat the request with while_suspended (--while-suspended): what CloudFormation starts meanwhile runs", said), err)
	}
	p.Messages = append(p.Messages, said+": a resume starts what is stopped there")
	return p, err
}
