package stepfn_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// The invariants of suspended stacks.
const (
	writtenFirst invariant = "written first: before a resource is stopped, the record of its stack says how it was before the first suspension"
	switchedAll  invariant = "switched all: when a suspend or a resume of a stack is done, everything in its record is stopped, or as it was before"
	asBefore     invariant = "as before: after a resume without faults, no stack is suspended, everything is as it was before, and the hooks of a resume were called"
)

// suspendingSeeds is of how many seeds one has stacks that are suspended.
const suspendingSeeds = 8

// suspends lets stacks of a scenario have Auto Scaling groups and be suspended. It draws from numbers of its own, so that other scripts stay as
// they are.
func (a *generator) suspends(seed uint64) {
	if seed%suspendingSeeds == 5 && !a.emulated && !a.contests && a.following == nil {
		a.suspending = rand.New(rand.NewPCG(seed, 23))
	}
}

// suspend adds a suspension before the request of a round. Often a resume ends it.
func (a *generator) suspend() {
	if a.suspending == nil || len(a.last) == 0 || a.suspending.IntN(3) == 0 {
		return
	}
	for _, what := range [][]string{{"suspend"}, {"suspend", "resume"}, {"suspend", "suspend"}, {"suspend", "resume", "suspend"}, {"resume"}}[a.suspending.IntN(5)] {
		for range a.suspending.IntN(3) {
			if st := a.last[a.suspending.IntN(len(a.last))]; !a.plain {
				of := []string{"group-" + st.physical + "-a", "group-" + st.physical + "-b", "db-" + st.physical, "cluster-" + st.physical, "service-" + st.physical, "instance-" + st.physical, "graph-" + st.physical, "document-" + st.physical, "warehouse-" + st.physical, "notebook-" + st.physical}
				a.add("group-fault", faultNames[a.suspending.IntN(len(faultNames))], of[a.suspending.IntN(len(of))])
			}
		}
		a.add(what)
		if a.plain || a.suspending.IntN(2) == 0 {
			a.add("wait-idle")
		} else {
			a.add("pass", fmt.Sprint(a.suspending.IntN(100)))
		}
	}
}

// faultNames are the faults of requests that set sizes.
var faultNames = []string{"crash-before", "crash-after", "answer-lost", "late-process", "throttled"}

// resized checks a request that has set the sizes of a group. A late process whose clock is behind does not know that it is late.
func (w *monitor) resized(group string, to suspend.Size) {
	if w.skewed() {
		return
	}
	w.holds(asBefore, to == suspend.Size{} || to == sim.FirstSize, "%s gets the size %+v, which it never had", group, to)
	first, err := json.Marshal(sim.FirstSize)
	if err != nil {
		w.Fatal(err)
	}
	said := ""
	for _, r := range w.p.Store.LendRecords("shop@default") {
		for _, one := range recordedIn(r) {
			if one.ID == group {
				said = one.Was
			}
		}
	}
	w.holds(writtenFirst, said == string(first), "%s gets the size %+v, and the record says that it was %q before", group, to, said)
}

// counted checks a request that has set how many tasks an ECS service has.
func (w *monitor) counted(arn string, to int) {
	if w.skewed() {
		return
	}
	w.holds(asBefore, to == 0 || to == sim.FirstTasks, "%s gets %d tasks, which it never had", arn, to)
	w.holds(writtenFirst, slices.ContainsFunc(recordsOf(w.p.Store.LendRecords("shop@default")), func(r plan.Record) bool {
		return slices.ContainsFunc(recordedIn(r), func(one plan.Stopped) bool { return one.ID == arn && one.Was == fmt.Sprint(sim.FirstTasks) })
	}), "%s gets %d tasks, and no record says that it had %d before", arn, to, sim.FirstTasks)
}

// switches checks a request that has stopped or started a database.
func (w *monitor) switches(name string) {
	if w.skewed() {
		return
	}
	w.holds(writtenFirst, slices.ContainsFunc(recordsOf(w.p.Store.LendRecords("shop@default")), func(r plan.Record) bool {
		return slices.ContainsFunc(recordedIn(r), func(one plan.Stopped) bool { return one.ID == name })
	}), "%s is stopped or started, and no record has it", name)
}

// recordedIn lists what is suspended in a stack.
func recordedIn(r plan.Record) []plan.Stopped {
	if r.Suspended == nil {
		return nil
	}
	return r.Suspended.Resources
}

// switched checks a step that has ended.
func (w *monitor) switched(r run.Run, s run.Step) {
	if s.Status != run.Done || s.Verb != plan.Suspend && s.Verb != plan.Resume || w.skewed() {
		return
	}
	record := w.p.Store.LendRecords(r.Project)[s.Node]
	want := suspend.Size{}
	if s.Verb == plan.Resume {
		want = sim.FirstSize
	}
	w.holds(switchedAll, s.Verb == plan.Suspend || record.Suspended == nil, "%s of run %s is done, and the record still has %v", s.ID, r.ID, recordedIn(record))
	for _, group := range w.p.Cloud.Groups(record.Target, record.Stack) {
		if size := w.p.Cloud.Size(group); slices.ContainsFunc(recordedIn(record), func(one plan.Stopped) bool { return one.ID == group }) || s.Verb == plan.Resume {
			w.holds(switchedAll, size == want, "%s of run %s is done, and %s has the size %+v", s.ID, r.ID, group, size)
		}
	}
	for _, arn := range w.p.Cloud.TaskServices(record.Target, record.Stack) {
		n := w.p.Cloud.TasksOf(arn)
		if s.Verb == plan.Resume {
			w.holds(switchedAll, n == sim.FirstTasks, "%s of run %s is done, and %s has %d tasks", s.ID, r.ID, arn, n)
		} else if slices.ContainsFunc(recordedIn(record), func(one plan.Stopped) bool { return one.ID == arn }) {
			w.holds(switchedAll, n == 0, "%s of run %s is done, and %s has %d tasks", s.ID, r.ID, arn, n)
		}
	}
	for _, name := range w.p.Cloud.Databases(record.Target, record.Stack) {
		status := w.p.Cloud.DatabaseStatus(name)
		if s.Verb == plan.Resume {
			w.holds(switchedAll, status == "available", "%s of run %s is done, and %s is %s", s.ID, r.ID, name, status)
		} else if slices.ContainsFunc(recordedIn(record), func(one plan.Stopped) bool { return one.ID == name }) {
			w.holds(switchedAll, status == "stopped", "%s of run %s is done, and %s is %s", s.ID, r.ID, name, status)
		}
	}
}

// resumeAll ends all suspensions, without faults.
func (g *player) resumeAll() {
	p, ok := g.backend.(*memoryBackend)
	if !ok || !slices.ContainsFunc(recordsOf(g.Recorded()), func(r plan.Record) bool { return r.Suspended != nil }) {
		return
	}
	g.submit(line{"resume"})
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	g.holds(asBefore, r.State == run.StateSucceeded, "the resume is %s: %s%v", r.State, failedSteps(r), r.Messages)
	for _, h := range p.hooks {
		if m := project.Moment(h.moment); m == project.BeforeResume || m == project.AfterResume {
			done := slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.ID == "hook:"+h.name && s.Status == run.Done })
			g.holds(asBefore, done, "the resume %s has not called %s", r.ID, h.name)
		}
	}
	for _, record := range recordsOf(g.Recorded()) {
		g.holds(asBefore, record.Suspended == nil, "%s is suspended after a resume", record.Node)
		for _, group := range p.Cloud.Groups(record.Target, record.Stack) {
			g.holds(asBefore, g.skewed() || p.Cloud.Size(group) == sim.FirstSize, "%s of %s has the size %+v after a resume", group, record.Node, p.Cloud.Size(group))
		}
		for _, arn := range p.Cloud.TaskServices(record.Target, record.Stack) {
			g.holds(asBefore, g.skewed() || p.Cloud.TasksOf(arn) == sim.FirstTasks, "%s of %s has %d tasks after a resume", arn, record.Node, p.Cloud.TasksOf(arn))
		}
		for _, name := range p.Cloud.Databases(record.Target, record.Stack) {
			g.holds(asBefore, g.skewed() || p.Cloud.DatabaseStatus(name) == "available", "%s of %s is %s after a resume", name, record.Node, p.Cloud.DatabaseStatus(name))
		}
	}
}

// recordsOf lists records by name.
func recordsOf(all map[string]plan.Record) []plan.Record {
	var some []plan.Record
	for _, name := range slices.Sorted(maps.Keys(all)) {
		some = append(some, all[name])
	}
	return some
}
