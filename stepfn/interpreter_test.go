package stepfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	flowtypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/stepfn"
)

// The other interpreter of state machines. make integration sets these flags.
var (
	interpreter = flag.String("states", "", "the URL of another implementation of Step Functions, which runs the state machine")
	callback    = flag.String("lambda", "", "the address on which to serve the functions to it")
	share       = flag.Int("share", 10, "play one of so many scenarios on it: it becomes slower with each execution that it has ended; 1 is all")
	bootstraps  = flag.String("functions", "../build", "the folder of the functions that make build has built")
)

// realTimeSpeedup divides the times of a scenario when it is played in real time: how
// long CloudFormation works, and how long the scenario waits. The pauses of the engine
// itself stay as they are.
const realTimeSpeedup = 20

// Why a scenario is not played in real time.
const (
	engineWaits    = "the engine waits for minutes, whatever the speed of the scenario"
	longOperations = "CloudFormation works for minutes, even at the higher speed"
	exactMoment    = "a request must arrive at a moment that cannot be hit in real time"
	realTimes      = "a message tells a time, or the digest of one"
	randomNames    = "a message names a change set, and no two runs of the scenario give it the same name"
	planDecides    = "function plan decides what it is about: the state machine has the path of other scenarios"
	suspends       = "the installation with the other interpreter lets no project be suspended"
	noEvents       = "the other interpreter sends no events about executions that have ended"
)

// notInRealTime are the scenarios that are not played in real time, with the reason.
var notInRealTime = map[string]string{
	"back_after_failure":        realTimes,
	"back_approved":             realTimes,
	"back_before_move":          realTimes,
	"back_failed_rolled_back":   realTimes,
	"back_queued":               realTimes,
	"back_refused":              realTimes,
	"back_removed":              realTimes,
	"back_to_previous":          realTimes,
	"promoted":                  realTimes,
	"promoted_aborted":          noEvents,
	"promoted_approved":         realTimes,
	"promoted_by_itself":        engineWaits,
	"promoted_overtaken":        engineWaits,
	"promoted_refused":          realTimes,
	"promoted_unhealthy":        engineWaits,
	"expired":                   engineWaits,
	"expired_again":             engineWaits,
	"expired_failed_deploy":     engineWaits,
	"expired_never":             engineWaits,
	"expired_only":              engineWaits,
	"expired_policy":            engineWaits,
	"expired_slow":              engineWaits,
	"extended":                  engineWaits,
	"extended_meanwhile":        engineWaits,
	"extended_too_late":         engineWaits,
	"rolled_out":                engineWaits,
	"rolled_out_alarm":          engineWaits,
	"rolled_out_alarm_missing":  engineWaits,
	"rolled_out_bakes":          engineWaits,
	"rolled_out_cancelled":      engineWaits,
	"rolled_out_crash":          engineWaits,
	"rolled_out_dependency":     engineWaits,
	"rolled_out_failed":         engineWaits,
	"rolled_out_paused":         engineWaits,
	"rolled_out_rolled_back":    engineWaits,
	"rolled_out_stopped":        engineWaits,
	"rolled_out_tolerated":      engineWaits,
	"replaced_crashes":          engineWaits,
	"replaced_changed":          planDecides,
	"replaced_importers":        planDecides,
	"replaced_refused":          planDecides,
	"replaced_retained_refused": planDecides,
	"replaced_with_dependents":  planDecides,
	"max_failures_hook":         planDecides,
	"snapshot":                  realTimes,
	"snapshot_approved":         realTimes,
	"snapshot_queued":           engineWaits,
	"snapshot_backup_cancelled": suspends,
	"checked_bucket":            planDecides,
	"snapshot_refused":          realTimes,
	"suspended":                 suspends,
	"suspended_answer_lost":     suspends,
	"suspended_crash_after":     suspends,
	"suspended_clusters":        suspends,
	"suspended_databases":       suspends,
	"suspended_databases_crash": suspends,
	"suspended_instances":       suspends,
	"suspended_planned":         suspends,
	"suspended_services":        suspends,
	"suspended_warehouses":      suspends,
	"suspended_notebooks":       suspends,
	"suspended_nested":          suspends,
	"suspended_saves":           suspends,
	"suspended_services_crash":  suspends,
	"suspended_destroyed":       suspends,
	"suspended_gone":            suspends,
	"suspended_recreated":       suspends,
	"suspended_refused":         suspends,
	"suspended_scheduled":       suspends,
	"suspended_twice":           suspends,
	"aborted":                   noEvents, "aborted_planning": noEvents,
	"cancelled_for_good": exactMoment, "cleaned_up": exactMoment, "schedules_overtaken": exactMoment, "schedules_superseded": exactMoment, "changed_outside_at_end": exactMoment, "adopted_refused": exactMoment, "policy_freeze": exactMoment,
	"forced": longOperations, "forced_lost_answer": longOperations, "forced_alone": longOperations, "forced_back": longOperations, "forced_superseded": longOperations,
	"retained_crash_before": exactMoment, "retained_crash_after": exactMoment, "retained_answer_lost": exactMoment, "retained_throttled": exactMoment,
	"lost_delete": engineWaits, "lost_start": engineWaits,
	"outage_cancelled": engineWaits, "outage_planning": engineWaits, "outage_planning_short": engineWaits, "outage_running": engineWaits,
	"overdue_create": engineWaits, "overdue_delete": engineWaits, "overdue_run": engineWaits, "overdue_run_at_its_end": engineWaits,
	"overdue_run_paused": engineWaits, "overdue_run_rolled_back": engineWaits, "overdue_run_superseded": engineWaits,
	"overdue_update": engineWaits, "overdue_update_done": engineWaits, "overdue_update_stuck": engineWaits, "overdue_update_theirs": engineWaits,
	"approved_late": engineWaits, "import_crashes": engineWaits, "import_rolled_back": exactMoment, "saved_plan": realTimes, "saved_plan_retried": realTimes, "selected_saved": realTimes,
	"adopted_again": planDecides, "adopted_unreadable": planDecides, "adopted_untagged": planDecides, "approved_nothing": planDecides, "approved_other": planDecides,
	"approved_rule": planDecides, "approved_rule_weaker": planDecides, "import_of_another": planDecides, "import_taken": planDecides, "policy_broken": planDecides,
	"policy_costs": planDecides, "policy_everywhere": planDecides, "policy_installed": planDecides, "policy_principal": planDecides, "policy_warns": planDecides,
	"saved_plan_same_files":     planDecides,
	"approved_import_cancelled": exactMoment, "approved_unlocked": engineWaits, "approved_stacks": exactMoment, "approved_replacement": exactMoment, "approved_protection": exactMoment, "approved_change_set_unlocked": engineWaits, "approved_change_set_deleted": exactMoment, "move_rolled_back_later": exactMoment, "approved_rolled_back_unchanged": exactMoment, "policy_continued": exactMoment, "import_deleted": randomNames, "import_unlocked": engineWaits,
	"prompt": longOperations, "slow_without_events": longOperations,
	"move_cancelled": exactMoment, "move_crashes": engineWaits, "move_refused": planDecides, "move_rolled_back": exactMoment,
	"move_interrupted": exactMoment, "move_interrupted_outside": exactMoment, "move_unlocked": engineWaits, "move_hint": planDecides, "approved_rollback_renamed": planDecides,
	"targets-inaccessible": engineWaits, "targets-withheld": engineWaits, "targets-withheld_recorded": engineWaits,
}

// The deployed state machine, run by another interpreter, with the functions as
// binaries, gives the same results as with our interpreter.
func TestScenariosOnAnotherInterpreter(t *testing.T) {
	all := scenarios(t)
	for name := range notInRealTime {
		if !slices.ContainsFunc(all, func(s scenarioText) bool { return s.name == name }) {
			t.Errorf("notInRealTime names %s, but no such scenario exists", name)
		}
	}
	if *interpreter == "" {
		t.Skip("-states names no other interpreter: run make integration")
	}
	calls := newRouter(t)
	played := 0
	for _, s := range all {
		if _, out := notInRealTime[s.name]; out || needsMemory(s.read(t)) || needsEmulators(s.read(t)) {
			continue
		}
		if sum := fnv.New32a(); *share > 1 {
			_, _ = sum.Write([]byte(s.name)) // cannot fail
			if sum.Sum32()%uint32(*share) != 0 {
				continue
			}
		}
		played++
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			compare(t, s.read(t), newOnInterpreter(t, calls, s.name))
		})
	}
	t.Logf("%d of %d scenarios run on another interpreter", played, len(all))
}

// needsEmulators reports whether a scenario has hooks, backups or accounts of an organization, which need emulators that the other interpreter does not have, or
// detects drift, whose time the records tell.
func needsEmulators(lines []statement) bool {
	return slices.ContainsFunc(lines, func(st statement) bool {
		return slices.Contains([]string{"hook", "drift", "account", "organizations", "backups", "restored"}, st.word.name)
	})
}

// compare plays a scenario twice, with our interpreter in virtual time and with the
// other one in real time, and compares the results.
func compare(t *testing.T, lines []statement, other *emulators) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		ours := newEmulators(t)
		(&scenario{TB: t, backend: ours}).play(lines)
		want = ours.outcome()
	})
	started := time.Now()
	(&scenario{TB: t, backend: other, realTime: true}).play(lines)
	if t.Failed() {
		return
	}
	if !other.WaitIdle() {
		t.Error("at the end something is still running")
	}
	t.Logf("played in %s", time.Since(started).Round(time.Millisecond))
	if diff := cmp.Diff(want, other.outcome()); diff != "" {
		t.Errorf("the result differs from that of our interpreter (-ours +theirs):\n%s", diff)
	}
}

// newOnInterpreter returns a backend in which the other interpreter runs the state
// machine, and the functions are processes.
func newOnInterpreter(t testing.TB, calls *router, name string) *emulators {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{}
	t.Cleanup(func() { _ = server.Close() })       // it served only this test
	name = fmt.Sprintf("%s-%d", name, os.Getpid()) // the name of an execution can never be used again
	machine := strings.Replace(installation, "stackwright", name, 1)
	r := newEmulators(t, func(o *cloud.Options) {
		o.Seconds, o.StateMachine = 0.3, name
		o.Definition, err = asl.Substitute(stepfn.Run, map[string]string{
			"Plan": arn(name + "--plan"), "ExecuteStep": arn(name + "--execute-step"), "WaitStatus": arn(name + "--wait-status"),
		})
		if err != nil {
			t.Fatal(err)
		}
		o.Getenv = func(key string) string {
			return map[string]string{"AWS_ENDPOINT_URL_SFN": *interpreter}[key]
		}
		o.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) {
			server.Handler = c
			go func() { _ = server.Serve(listener) }() // until it is closed
			calls.connect(name, c)
			return lambda.NewBinaries(*bootstraps, append(c.Environ("http://"+listener.Addr().String()),
				"STACKWRIGHT_TABLE=stackwright", "STACKWRIGHT_BUCKET=stackwright", "STACKWRIGHT_ACCOUNT=000000000000",
				"STACKWRIGHT_STACK=stackwright", "STACKWRIGHT_PROJECTS=*@*", "STACKWRIGHT_STATE_MACHINE="+machine, "STACKWRIGHT_SCHEDULE_GROUP="+scheduleGroup.Name,
				"STACKWRIGHT_SCHEDULE_ROLE="+scheduleGroup.Role, "STACKWRIGHT_START="+scheduleGroup.Function), c.Host())
		}
	})
	r.speedup = realTimeSpeedup
	if r.cloud.Machine != machine {
		t.Fatalf("the state machine is %s, not %s", r.cloud.Machine, machine)
	}
	return r
}

// A router passes the calls of the interpreter, which knows one Lambda, to the
// functions of all backends. A function's name there is scenario--function.
type router struct {
	mu     sync.Mutex
	clouds map[string]*cloud.Cloud
}

func newRouter(t *testing.T) *router {
	s := &router{clouds: make(map[string]*cloud.Cloud)}
	listener, err := net.Listen("tcp", *callback)
	if err != nil {
		t.Fatal(err)
	}
	api := lambda.NewAPI(s, lambda.Host{Account: "000000000000", Region: "us-east-1"})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amzn-Requestid", "00000000-0000-4000-8000-000000000000") // the interpreter requires one
		api.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *router) connect(name string, c *cloud.Cloud) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clouds[name] = c
}

// Invoke calls a function of one backend.
func (s *router) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	name, function, _ := strings.Cut(lambda.Name(function), "--")
	s.mu.Lock()
	c := s.clouds[name]
	s.mu.Unlock()
	if c == nil {
		return nil, &lambda.NotFound{Function: function + " of " + name}
	}
	return c.Invoke(ctx, function, payload)
}

// Names lists no functions: the interpreter does not list them.
func (s *router) Names() []string { return nil }

// idleInRealTime waits in real time until every run has ended or waits for a person,
// and nothing else is in progress.
func (r *emulators) idleInRealTime() bool {
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		r.requested = slices.DeleteFunc(r.requested, func(id string) bool { return r.run(id).State != "" })
		if len(r.requested) == 0 && r.allWait() && r.idle() {
			return true
		}
	}
	return false
}

// idle reports whether no execution is running, no event is undelivered, and no
// operation is in progress on a stack.
func (r *emulators) idle() bool {
	out, err := sfn.NewFromConfig(r.retrying()).ListExecutions(r.Context(), &sfn.ListExecutionsInput{
		StateMachineArn: &r.cloud.Machine, StatusFilter: flowtypes.ExecutionStatusRunning,
	})
	if err != nil {
		r.Fatal(err)
	}
	return len(out.Executions) == 0 && r.cloud.Bus.Undelivered() == 0 && !slices.ContainsFunc(r.targets(), func(target string) bool {
		for _, s := range r.everStacksIn(target) {
			if status := plan.Status(s.StackStatus); status.Busy() || status.Cleaning() {
				return true
			}
		}
		return false
	})
}

// targets lists the targets that stacks may be in.
func (r *emulators) targets() []string {
	all := []string{"default"}
	for target := range r.registered {
		all = append(all, target)
	}
	return sorted(all)
}

// outcome describes the runs with their steps, the records, the lock, and all stacks
// that ever existed. Runs are numbered in the order of their requests.
func (r *emulators) outcome() string {
	runs, err := r.store.List(r.Context(), "shop@default", 0)
	if err != nil {
		r.Fatal(err)
	}
	var b bytes.Buffer
	var names []string
	for i, head := range slices.Backward(runs) {
		names = append(names, head.ID, fmt.Sprintf("run%d", len(runs)-i))
		full := r.ExecutionStatus(head.ID)
		fmt.Fprintf(&b, "run %s: %s %s, %q\n", full.ID, full.Operation, full.State, full.Messages)
		for _, s := range full.Steps {
			fmt.Fprintf(&b, "  %s %s, attempt %d: %s\n", s.ID, s.Status, s.Attempt, s.Why)
		}
	}
	records := r.Recorded()
	for _, name := range slices.Sorted(maps.Keys(records)) {
		rec := records[name]
		rec.Deployed, _, _ = strings.Cut(rec.Deployed, "-") // its end depends on the key of the run
		rec.StackID, rec.LastUpdated, rec.Token, rec.Revision, rec.Durations = "", time.Time{}, "", "", nil
		text, err := json.Marshal(rec)
		if err != nil {
			r.Fatal(err)
		}
		fmt.Fprintf(&b, "record %s\n", text)
	}
	lock := r.Lock()
	fmt.Fprintf(&b, "lock: %s %v\n", lock.Owner.Run, lock.Waiting)
	var stacks []string
	for _, target := range r.targets() {
		for _, s := range r.everStacksIn(target) {
			stacks = append(stacks, fmt.Sprintf("stack %s in %s: %s\n", aws.ToString(s.StackName), target, s.StackStatus))
		}
	}
	b.WriteString(strings.Join(sorted(stacks), ""))
	return strings.NewReplacer(names...).Replace(b.String())
}
