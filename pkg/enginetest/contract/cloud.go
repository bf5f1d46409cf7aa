package contract

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Sky is a cloud that a test controls. An operation takes 10 seconds, and a
// rollback half of that.
type Sky interface {
	action.Cloud
	engine.Clouds

	// Node is a desired stack of the given version that imports from the named
	// stacks.
	Node(stack, version string, imports ...string) project.Node

	// Now is its time, and Pass lets time pass.
	Now() time.Time
	Pass(time.Duration)

	// Fail makes the next such operation on a stack fail: that of a verb, or
	// "rollback".
	Fail(stack string, v plan.Verb)

	// Drift changes the topic of a stack without CloudFormation, or deletes it.
	Drift(stack string, deleted bool)

	// Slow makes every operation on a stack take so long, from now on.
	Slow(stack string, d time.Duration)

	// Lag makes the descriptions of all stacks so much older than their events, from
	// now on.
	Lag(time.Duration)
}

// Cloud tests a cloud against the contracts of action.Cloud and engine.Clouds. open
// returns an empty one. It is called in the goroutine of the test.
func Cloud(t *testing.T, on func(t *testing.T, holds func(*testing.T, Sky))) {
	for name, law := range CloudLaws() {
		t.Run(name, func(t *testing.T) { on(t, func(t *testing.T, sky Sky) { law(t, sky) }) })
	}
}

// CloudLaws are the contracts of action.Cloud and engine.Clouds, by name. Each is for an empty cloud.
func CloudLaws() map[string]func(testing.TB, Sky) {
	laws := map[string]func(fixture){
		"nothing is there": func(s fixture) {
			s.status("vpc", "")
			s.received(s.task("vpc", plan.Update, "v1"), false, false, "")
			s.begin(s.task("vpc", plan.Update, "v1"), fault.Missing)
			s.begin(s.task("vpc", plan.Delete, "v1"), fault.Missing)
		},
		"a stack comes up": func(s fixture) {
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.busy(t, "CREATE_IN_PROGRESS")
			s.Pass(30 * time.Second)
			s.received(t, true, true, "CREATE_COMPLETE")
			if live := s.status("vpc", "CREATE_COMPLETE"); live.Outputs["Name"] != "vpc" || live.LastUpdated.IsZero() || live.StackID != t.Receipt.StackID {
				s.Errorf("live is %+v", live)
			}
		},
		"a token starts one operation": func(s fixture) {
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			again := t
			again.Receipt = plan.Receipt{}
			if again = s.begin(again, ""); again.Receipt.StackID != t.Receipt.StackID {
				s.Errorf("started again it is %v, not %v", again.Receipt, t.Receipt)
			}
			s.Pass(30 * time.Second)
			s.status("vpc", "CREATE_COMPLETE")
		},
		"a name is taken once": func(s fixture) {
			s.up("vpc", "v1")
			s.begin(s.task("vpc", plan.Create, "v2"), fault.Taken)
		},
		"a busy stack refuses": func(s fixture) {
			s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.begin(s.task("vpc", plan.Update, "v2"), fault.Busy)
		},
		"what is as it was is unchanged": func(s fixture) {
			s.up("vpc", "v1")
			s.begin(s.task("vpc", plan.Update, "v1"), fault.Unchanged)
		},
		"an update is over before its cleanup ends": func(s fixture) {
			s.up("vpc", "v1")
			before := s.status("vpc", "CREATE_COMPLETE").LastUpdated
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(30 * time.Second)
			s.received(t, true, true, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			if live := s.status("vpc", "UPDATE_COMPLETE"); !live.LastUpdated.After(before) {
				s.Errorf("last updated %s, and %s before", live.LastUpdated, before)
			}
		},
		"a create that fails is rolled back, and says why": func(s fixture) {
			s.Fail("vpc", plan.Create)
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.Pass(40 * time.Second)
			s.why(s.received(t, true, true, "ROLLBACK_COMPLETE"), "injected")
			s.begin(s.task("vpc", plan.Update, "v1"), fault.Refused)
		},
		"an update that fails is rolled back": func(s fixture) {
			s.up("vpc", "v1")
			value := s.status("vpc", "CREATE_COMPLETE").Outputs["Value"]
			s.Fail("vpc", plan.Update)
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(40 * time.Second)
			s.why(s.received(t, true, true, "UPDATE_ROLLBACK_COMPLETE"), "injected")
			if live := s.status("vpc", "UPDATE_ROLLBACK_COMPLETE"); live.Outputs["Value"] != value {
				s.Errorf("the output is %q, and was %q", live.Outputs["Value"], value)
			}
		},
		"an update is cancelled under a token of its own, once": func(s fixture) {
			s.up("vpc", "v1")
			value := s.status("vpc", "CREATE_COMPLETE").Outputs["Value"]
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(time.Second)
			before := s.Now()
			s.cancel(t, "")
			s.busy(t, "UPDATE_ROLLBACK_IN_PROGRESS")
			s.cancel(t, "")
			s.Pass(40 * time.Second)
			w := s.received(t, true, true, "UPDATE_ROLLBACK_COMPLETE")
			if w.Why != "" || w.Stopped.Before(before) || w.Stopped.After(before.Add(time.Second)) {
				s.Errorf("cancelled at %s, it says %q and %s", before, w.Why, w.Stopped)
			}
			if live := s.status("vpc", "UPDATE_ROLLBACK_COMPLETE"); live.Outputs["Value"] != value {
				s.Errorf("the output is %q, and was %q", live.Outputs["Value"], value)
			}
			t = s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(30 * time.Second)
			if w := s.received(t, true, true, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"); !w.Stopped.IsZero() {
				s.Error("what comes after has been cancelled too")
			}
		},
		"the rollback of what was cancelled may fail": func(s fixture) {
			s.up("vpc", "v1")
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Fail("vpc", "rollback")
			s.Pass(time.Second)
			s.cancel(t, "")
			s.Pass(40 * time.Second)
			s.why(s.received(t, true, true, "UPDATE_ROLLBACK_FAILED"), "injected")
		},
		"nothing but an update is cancelled": func(s fixture) {
			s.cancel(s.task("vpc", plan.Update, "v1"), fault.Missing)
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.Pass(time.Second)
			s.cancel(t, fault.Refused)
			s.Pass(30 * time.Second)
			s.cancel(t, fault.Refused)
			s.received(t, true, true, "CREATE_COMPLETE")
		},
		"events report the end of a creation before its description does": func(s fixture) {
			s.Lag(3 * time.Second)
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.Pass(11 * time.Second)
			s.received(t, true, true, "CREATE_COMPLETE")
			if live := s.status("vpc", "CREATE_IN_PROGRESS"); len(live.Outputs) > 0 {
				s.Errorf("the description has the outputs %v before the stack is created", live.Outputs)
			}
			s.Pass(3 * time.Second)
			if live := s.status("vpc", "CREATE_COMPLETE"); live.Outputs["Name"] != "vpc" {
				s.Errorf("live is %+v", live)
			}
		},
		"events report the end of an update before its description does": func(s fixture) {
			s.up("vpc", "v1")
			before := s.status("vpc", "CREATE_COMPLETE")
			s.Lag(5 * time.Second)
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(time.Second)
			if live := s.status("vpc", "CREATE_COMPLETE"); !live.LastUpdated.Equal(before.LastUpdated) {
				s.Errorf("the description says that it was updated at %s, and its status says that it was not", live.LastUpdated)
			}
			s.Pass(10 * time.Second)
			if w, err := s.Events(s.Context(), t); err != nil || !w.Over || !w.Status.Good() || !w.Newest.Good() || w.NewestOperation == "" {
				s.Errorf("the events say %+v, %v", w, err)
			}
			if live := s.status("vpc", "UPDATE_IN_PROGRESS"); live.Outputs["Value"] != before.Outputs["Value"] {
				s.Errorf("the description has the outputs %v before the stack is updated", live.Outputs)
			}
			s.Pass(20 * time.Second)
			w := s.received(t, true, true, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			if live := s.status("vpc", "UPDATE_COMPLETE"); live.Outputs["Value"] == before.Outputs["Value"] || !slices.Contains(live.Operations, w.NewestOperation) {
				s.Errorf("live is %+v, and was %+v; the newest operation is %s", live, before, w.NewestOperation)
			}
		},
		"events report the end of a deletion before its description does": func(s fixture) {
			s.up("vpc", "v1")
			s.Lag(3 * time.Second)
			t := s.begin(s.task("vpc", plan.Delete, "v1"), "")
			s.Pass(11 * time.Second)
			s.received(t, true, true, "DELETE_COMPLETE")
			live, err := s.Live(s.Context(), t.Location())
			if err != nil || live.Status != "DELETE_IN_PROGRESS" {
				s.Errorf("by its ID it is %s, %v", live.Status, err)
			}
			s.Pass(3 * time.Second)
			s.status("vpc", "")
		},
		"a create that takes longer than it may is rolled back": func(s fixture) {
			s.Slow("vpc", 10*time.Minute)
			t := s.task("vpc", plan.Create, "v1")
			t.Step.Timeout = project.Timeout(90 * time.Second) // which CloudFormation counts in minutes
			t = s.begin(t, "")
			s.Pass(119 * time.Second)
			s.status("vpc", "CREATE_IN_PROGRESS")
			s.Pass(2 * time.Second)
			s.status("vpc", "ROLLBACK_IN_PROGRESS")
			s.Pass(11 * time.Minute)
			s.why(s.received(t, true, true, "ROLLBACK_COMPLETE"), "exceeded the specified timeout")
		},
		"a create that takes no longer than it may comes up": func(s fixture) {
			t := s.task("vpc", plan.Create, "v1")
			t.Step.Timeout = project.LeastTimeout
			t = s.begin(t, "")
			s.Pass(2 * time.Minute)
			s.received(t, true, true, "CREATE_COMPLETE")
		},
		"a rollback that fails is continued": func(s fixture) {
			s.up("vpc", "v1")
			s.begin(s.task("vpc", plan.Continue, "v1"), fault.Refused)
			s.Fail("vpc", plan.Update)
			s.Fail("vpc", "rollback")
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(40 * time.Second)
			s.received(t, true, true, "UPDATE_ROLLBACK_FAILED")
			s.begin(s.task("vpc", plan.Update, "v2"), fault.Refused)
			t = s.begin(s.task("vpc", plan.Continue, "v2"), "")
			s.Pass(40 * time.Second)
			s.received(t, true, true, "UPDATE_ROLLBACK_COMPLETE")
		},
		"a continued rollback skips only resources of which the rollback has failed": func(s fixture) {
			s.up("vpc", "v1")
			s.Fail("vpc", plan.Update)
			s.Fail("vpc", "rollback")
			t := s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.Pass(40 * time.Second)
			failed := s.received(t, true, true, "UPDATE_ROLLBACK_FAILED").Unrestored
			if !slices.Equal(failed, []string{"Topic"}) {
				s.Errorf("the rollback failed because of %q", failed)
			}
			skipping := func(names ...string) action.Task {
				t := s.task("vpc", plan.Continue, "v2")
				var err error
				if t.Step.Arguments, err = plan.NewArguments(plan.SkipVersion, plan.Skip{Resources: names}); err != nil {
					s.Fatal(err)
				}
				return t
			}
			s.begin(skipping("Nobody"), fault.Refused)
			s.begin(skipping("Topic", "vpc-Nobody-1.Topic"), fault.Refused)
			s.Fail("vpc", "continue")
			t = s.begin(skipping("Topic"), "")
			s.Pass(40 * time.Second)
			if op := s.received(t, true, true, "UPDATE_ROLLBACK_COMPLETE"); op.Unrestored != nil {
				s.Errorf("it says that %q are not restored", op.Unrestored)
			}
		},
		"a stack goes, and is found by its ID": func(s fixture) {
			s.up("vpc", "v1")
			t := s.begin(s.task("vpc", plan.Delete, "v1"), "")
			s.Pass(30 * time.Second)
			s.received(t, true, true, "DELETE_COMPLETE")
			s.status("vpc", "")
			live, err := s.Live(s.Context(), t.Location())
			if err != nil || live.Status != "DELETE_COMPLETE" {
				s.Errorf("by its ID it is %s, %v", live.Status, err)
			}
		},
		"what is missing is not imported": func(s fixture) {
			t := s.begin(s.task("app", plan.Create, "v1", "vpc"), "")
			s.Pass(40 * time.Second)
			s.why(s.received(t, true, true, "ROLLBACK_COMPLETE"), "o export named")
		},
		"what is in use stays": func(s fixture) {
			s.up("vpc", "v1")
			s.up("app", "v1", "vpc")
			t := s.begin(s.task("vpc", plan.Delete, "v1"), "")
			s.Pass(30 * time.Second)
			s.why(s.received(t, true, true, "CREATE_COMPLETE"), "in use")
		},
		"exports are read by name, with the stacks that make them": func(s fixture) {
			s.up("vpc", "v1")
			s.up("app", "v1", "vpc")
			found, err := s.Exports(s.Context(), s.Node("vpc", "v1").Target, []string{"vpc-Name", "nobody-Name"}, func() {})
			if want := (map[string]plan.Export{"vpc-Name": {Stack: "vpc", Value: "vpc"}}); err != nil || !maps.Equal(found, want) {
				s.Errorf("found %v, %v", found, err)
			}
		},
		"the stacks that import from one are listed": func(s fixture) {
			s.up("vpc", "v1")
			s.up("app", "v1", "vpc")
			s.up("web", "v1", "vpc")
			count := 0
			users, err := s.Importers(s.Context(), s.Node("vpc", "v1").Target, []string{"vpc-Name", "app-Name"}, func() { count++ })
			if want := []string{"app", "web"}; err != nil || !slices.Equal(users["vpc-Name"], want) || users["app-Name"] != nil || count == 0 {
				s.Errorf("importers %v, %v, with %d requests", users, err, count)
			}
			if live, err := s.Observe(s.Context(), []plan.Location{s.task("vpc", plan.Update, "v1").Location()}); err != nil || live["vpc"].Exports["Name"] != "vpc-Name" {
				s.Errorf("exports %v, %v", live["vpc"].Exports, err)
			}
		},
		"the resources of a stack are listed with their physical IDs": func(s fixture) {
			s.up("vpc", "v1")
			count := 0
			all, err := s.Resources(s.Context(), plan.Location{Stack: "vpc", StackID: s.ids["vpc"], Target: s.Node("vpc", "v1").Target}, func() { count++ })
			if err != nil || len(all) == 0 || all["Topic"] == "" || count == 0 {
				s.Errorf("resources %v, %v, with %d requests", all, err, count)
			}
			if _, err := s.Resources(s.Context(), plan.Location{Stack: "no", StackID: s.ids["vpc"] + "0", Target: s.Node("vpc", "v1").Target}, func() {}); !fault.Is(err, fault.Missing) {
				s.Errorf("the resources of no stack: %v", err)
			}
		},
		"a stack is known by the token of its birth": func(s fixture) {
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.created(t)
			seen, err := s.Observe(s.Context(), []plan.Location{{Node: "n", Stack: "unknown", Target: t.Node.Target}})
			if err != nil || len(seen) != 0 && !seen["n"].Status.Gone() {
				s.Errorf("of nothing it sees %v, %v", seen, err)
			}
		},
		"a description lists its newest operation first, if CloudFormation has named it": func(s fixture) {
			t := s.begin(s.task("vpc", plan.Create, "v1"), "")
			s.Pass(30 * time.Second)
			s.newest(t, t.Receipt.Operation)
			s.ids["vpc"] = t.Receipt.StackID
			t = s.begin(s.task("vpc", plan.Update, "v2"), "")
			before := t
			s.newest(t, t.Receipt.Operation)
			s.Pass(30 * time.Second)
			if live := s.newest(t, t.Receipt.Operation); live.LastUpdated.Before(t.Claimed) {
				s.Errorf("it was updated at %s, and requested at %s", live.LastUpdated, t.Claimed)
			}
			s.Fail("vpc", plan.Update)
			t = s.begin(s.task("vpc", plan.Update, "v3"), "")
			s.Pass(40 * time.Second)
			op := s.received(t, true, true, "UPDATE_ROLLBACK_COMPLETE")
			if s.newest(t, op.NewestOperation); op.NewestOperation == t.Receipt.Operation || op.Before != before.Token() {
				s.Errorf("the rollback has the operation %s, the update %s; before it came %q", op.NewestOperation, t.Receipt.Operation, op.Before)
			}
			if t = s.begin(s.task("vpc", plan.Delete, "v3"), ""); t.Receipt.Operation != "" {
				s.Errorf("DeleteStack names the operation %s", t.Receipt.Operation)
			}
		},
		"the deletion of a stack that is being deleted, or is gone, is accepted": func(s fixture) {
			s.up("vpc", "v1")
			s.begin(s.task("vpc", plan.Delete, "v1"), "")
			s.Pass(time.Second)
			again := s.begin(s.task("vpc", plan.Delete, "v1"), "")
			s.Pass(30 * time.Second)
			s.received(again, false, false, "")
			s.received(s.begin(s.task("vpc", plan.Delete, "v1"), ""), false, false, "")
			s.begin(s.task("vpc", plan.Update, "v2"), fault.Missing)
		},
		"express mode ends sooner, and a failure is rolled back": func(s fixture) {
			express := func(v plan.Verb, version string, want project.Deployment) action.Task {
				t := s.task("vpc", v, version)
				t.Step.Deployment = want
				t = s.begin(t, "")
				s.Pass(4 * time.Second)
				s.ids["vpc"] = t.Receipt.StackID
				return t
			}
			s.Fail("vpc", plan.Create)
			express(plan.Create, "v1", project.Express)
			s.Pass(26 * time.Second)
			s.status("vpc", "ROLLBACK_COMPLETE")
			express(plan.Delete, "v1", project.Express)
			s.status("vpc", "")
			s.ids["vpc"] = ""
			s.received(express(plan.Create, "v1", project.Express), true, true, "CREATE_COMPLETE")
			if live := s.status("vpc", "CREATE_COMPLETE"); live.Deployment != project.Express {
				s.Errorf("live is %+v", live)
			}
			s.Fail("vpc", plan.Update)
			express(plan.Update, "v2", project.Express)
			s.Pass(26 * time.Second)
			s.status("vpc", "UPDATE_ROLLBACK_COMPLETE")
			if live := s.described(express(plan.Update, "v3", "")); !live.Status.Busy() || live.Deployment != "" {
				s.Errorf("live is %+v", live)
			}
		},
		"a change set says what an update would change, and changes nothing": func(s fixture) {
			s.up("vpc", "v1")
			before := s.status("vpc", "CREATE_COMPLETE")
			for version, changes := range map[string]bool{"v1": false, "v2": true} {
				t := s.begin(s.task("vpc", plan.Propose, version), "")
				if again := s.begin(t, ""); again.Receipt != t.Receipt {
					s.Errorf("created again it is %v, not %v", again.Receipt, t.Receipt)
				}
				s.Pass(30 * time.Second)
				p, ready, err := s.Proposal(s.Context(), t)
				if err != nil || !ready || p.Failure != "" || (len(p.Resources) > 0) != changes {
					s.Errorf("%s: %+v, %v, %v", version, p, ready, err)
				}
				for range 2 {
					if err := s.Withdraw(s.Context(), t); err != nil {
						s.Error(err)
					}
				}
				if _, _, err := s.Proposal(s.Context(), t); !fault.Is(err, fault.Missing) {
					s.Errorf("it is deleted, and its error is %v", err)
				}
			}
			if after := s.status("vpc", "CREATE_COMPLETE"); !after.LastUpdated.Equal(before.LastUpdated) {
				s.Error("the stack was updated")
			}
		},
		"a drift detection finds what was changed without CloudFormation, and changes nothing": func(s fixture) {
			s.up("vpc", "v1")
			before := s.status("vpc", "CREATE_COMPLETE")
			s.drifts("vpc", "")
			s.Drift("vpc", false)
			s.drifts("vpc", "modified Topic.DisplayName drifted")
			s.Drift("vpc", true)
			s.drifts("vpc", "deleted Topic. ")
			if after := s.status("vpc", "CREATE_COMPLETE"); !after.LastUpdated.Equal(before.LastUpdated) {
				s.Error("the stack was updated")
			}
		},
		"a change set that reverts drift brings back what was changed or deleted, and nothing else": func(s fixture) {
			s.up("vpc", "v1")
			value := s.status("vpc", "CREATE_COMPLETE").Outputs["Value"]
			for _, deleted := range []bool{false, true} {
				s.Drift("vpc", deleted)
				p := s.reverted("vpc", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
				if len(p.Resources) != 1 || p.Resources[0].ID != "Topic" || (p.Resources[0].Action == "add") != deleted {
					s.Errorf("the change set is %+v", p)
				}
				s.Pass(30 * time.Second)
				s.drifts("vpc", "")
				if live := s.status("vpc", "UPDATE_COMPLETE"); live.Outputs["Value"] != value {
					s.Errorf("the output is %q, and was %q", live.Outputs["Value"], value)
				}
			}
		},
		"there is nothing to revert without drift": func(s fixture) {
			s.up("vpc", "v1")
			t := s.begin(s.task("vpc", plan.ProposeRevert, "v1"), "")
			s.Pass(30 * time.Second)
			if p, ready, err := s.Proposal(context.Background(), t); err != nil || !ready || !p.Unchanged {
				s.Errorf("%+v, %v, %v", p, ready, err)
			}
		},
		"a revert that fails leaves the stack as it was, with its drift": func(s fixture) {
			s.up("vpc", "v1")
			s.Drift("vpc", false)
			s.Fail("vpc", plan.Update)
			s.reverted("vpc", "UPDATE_ROLLBACK_COMPLETE")
			s.drifts("vpc", "modified Topic.DisplayName drifted")
		},
		"an update overwrites what was changed, and fails for what was deleted": func(s fixture) {
			s.up("vpc", "v1")
			s.Drift("vpc", false)
			s.received(s.updated("vpc", "v2"), true, true, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			s.drifts("vpc", "")
			s.Drift("vpc", true)
			s.received(s.updated("vpc", "v3"), true, true, "UPDATE_ROLLBACK_COMPLETE")
			s.drifts("vpc", "deleted Topic. ")
		},
		"one drift detection of a stack is in progress, and none of a stack that is busy, dead or gone": func(s fixture) {
			s.begin(s.task("vpc", plan.Detect, "v1"), fault.Missing)
			s.up("vpc", "v1")
			t := s.begin(s.task("vpc", plan.Detect, "v1"), "")
			if _, ready, err := s.Detection(s.Context(), t); ready || err != nil {
				s.Errorf("it has ended at once: %v", err)
			}
			s.begin(s.task("vpc", plan.Detect, "v1"), fault.Busy)
			s.Pass(30 * time.Second)
			s.begin(s.task("vpc", plan.Detect, "v1"), "")
			s.Pass(30 * time.Second)
			s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.begin(s.task("vpc", plan.Detect, "v2"), fault.Busy)
			s.Fail("db", plan.Create)
			s.begin(s.task("db", plan.Create, "v1"), "")
			s.Pass(40 * time.Second)
			s.begin(s.task("db", plan.Detect, "v1"), fault.Refused)
		},
		"a stack that is busy or gone has no new change set": func(s fixture) {
			s.begin(s.task("vpc", plan.Propose, "v1"), fault.Missing)
			s.up("vpc", "v1")
			s.begin(s.task("vpc", plan.Update, "v2"), "")
			s.begin(s.task("vpc", plan.Propose, "v3"), fault.Busy)
		},
		"an import brings a resource into a stack, and changes nothing else": func(s fixture) {
			t := s.task("vpc", plan.Create, "v1")
			t.Node.Template = templateOf(topicText)
			t = s.begin(t, "")
			s.Pass(30 * time.Second)
			s.ids["vpc"] = t.Receipt.StackID
			before := s.status("vpc", "CREATE_COMPLETE")
			s.held("")
			t = s.imports("vpc", plan.Import, topicText+tableText, "")
			if after := s.status("vpc", "CREATE_COMPLETE"); !after.LastUpdated.Equal(before.LastUpdated) {
				s.Error("the change set alone has changed the stack")
			}
			s.executed(t, "IMPORT_COMPLETE")
			s.held("vpc")
			if after := s.status("vpc", "IMPORT_COMPLETE"); !after.LastUpdated.After(before.LastUpdated) {
				s.Error("the stack was not updated")
			}
			s.empty("other")
			s.imports("other", plan.Import, template.Empty+tableText, "already exists in stack")
		},
		"an import does not create a stack": func(s fixture) { // CloudFormation refuses a role and tags in it
			s.begin(s.imported("vpc", plan.Import, template.Empty+tableText), fault.Missing)
			s.status("vpc", "")
		},
		"an empty stack holds nothing, and what is imported into it": func(s fixture) {
			t := s.empty("vpc")
			s.created(t)
			s.held("")
			s.executed(s.imports("vpc", plan.Import, template.Empty+tableText, ""), "IMPORT_COMPLETE")
			s.created(t)
			s.held("vpc")
		},
		"a failed import is rolled back": func(s fixture) {
			s.empty("vpc")
			s.Fail("vpc", plan.Import)
			s.executed(s.imports("vpc", plan.Import, template.Empty+tableText, ""), "IMPORT_ROLLBACK_COMPLETE")
			s.held("")
		},
		"a change set that was deleted is not executed": func(s fixture) {
			s.empty("vpc")
			t := s.imports("vpc", plan.Import, template.Empty+tableText, "")
			for range 2 {
				if err := s.Withdraw(s.Context(), t); err != nil {
					s.Error(err)
				}
			}
			if err := s.Execute(s.Context(), t); !fault.Is(err, fault.Missing) {
				s.Error(err)
			}
			s.status("vpc", "CREATE_COMPLETE")
		},
		"termination protection forbids deletion": func(s fixture) {
			t := s.task("vpc", plan.Create, "v1")
			t.Node.Protect = true
			s.begin(t, "")
			s.Pass(30 * time.Second)
			if !s.status("vpc", "CREATE_COMPLETE").Protected {
				s.Error("it is not protected")
			}
			remove := s.task("vpc", plan.Delete, "v1")
			remove.Node.Protect = true
			s.begin(remove, fault.Refused)
			s.protect(s.task("vpc", plan.Delete, "v1"), false) // the project does not protect it any more
			s.begin(s.task("vpc", plan.Delete, "v1"), "")
		},
	}
	maps.Copy(laws, refactorLaws)
	maps.Copy(laws, requestLaws)
	maps.Copy(laws, lossLaws)
	all := make(map[string]func(testing.TB, Sky), len(laws))
	for name, law := range laws {
		all[name] = func(t testing.TB, sky Sky) { law(fixture{judge{t}, sky, new(int), make(map[string]string)}) }
	}
	return all
}

// A judge is a test. Its methods are one level deeper than those of a Sky, which has a Fail of its own.
type judge struct{ testing.TB }

// A fixture is a sky under test.
type fixture struct {
	judge
	Sky
	count *int
	ids   map[string]string // of the stacks that were created, by name
}

// task makes a step of a run of its own on a stack.
func (s fixture) task(stack string, v plan.Verb, version string, imports ...string) action.Task {
	*s.count++
	n := s.Node(stack, version, imports...)
	return action.Task{
		Run: "run", Project: shop, Number: *s.count, Attempt: 1, Step: plan.Step{ID: stack + "/" + string(v), Node: stack, Verb: v},
		Request: action.Named(action.All(nil, nil, nil, nil, nil)...).Of(v).Request,
		Node:    n, Want: project.Resolved{Parameters: map[string]string{}}, Claimed: s.Now(), Now: s.Now(),
		Record: plan.Record{Node: stack, Stack: stack, Target: n.Target, StackID: s.ids[stack]},
	}
}

// The texts of templates whose digests are their content.
const (
	topicText = "Description: v1 imports\nResources:\n  Topic:\n    Type: AWS::SNS::Topic\n"
	tableText = "  Table:\n    Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain\n    Properties:\n      TableName: orders\n" +
		"      BillingMode: PAY_PER_REQUEST\n      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]\n      KeySchema: [{ AttributeName: id, KeyType: HASH }]\n"
)

func templateOf(text string) project.Template {
	return project.Template{Digest: text, Bytes: len(text), Pinned: true}
}

// created checks that a stack is known as one that the operation of t has created.
func (s fixture) created(t action.Task) {
	s.Helper()
	for token, want := range map[string]bool{t.Token(): true, "sw-other-0-1": false, "": false} {
		seen, err := s.Observe(s.Context(), []plan.Location{{Node: "n", Stack: "vpc", Target: t.Node.Target, Token: token}})
		if err != nil || seen["n"].CreatedByToken != want || seen["n"].StackID != t.Receipt.StackID {
			s.Errorf("with token %q: %+v, %v", token, seen, err)
		}
	}
}

// empty creates a stack without resources, and returns its task.
func (s fixture) empty(stack string) action.Task {
	s.Helper()
	t := s.task(stack, plan.CreateEmpty, "v1")
	t.Node.Template = templateOf(template.Empty)
	t = s.begin(t, "")
	s.Pass(30 * time.Second)
	s.status(stack, "CREATE_COMPLETE")
	s.ids[stack] = t.Receipt.StackID
	return t
}

// imported returns a task that imports the table orders, with a template.
func (s fixture) imported(stack string, v plan.Verb, text string) action.Task {
	s.Helper()
	t := s.task(stack, v, "v1")
	t.Node.Template = templateOf(text)
	t.Import = plan.Importation{Template: text, Bytes: len(text), Resources: []plan.ImportedResource{{ID: "Table", Type: "AWS::DynamoDB::Table", Identifier: map[string]string{"TableName": "orders"}}}}
	live := s.described(t)
	t.Seen = &live
	return t
}

// imports makes the change set of an import, which imports the table or fails for a reason.
func (s fixture) imports(stack string, v plan.Verb, text, failure string) action.Task {
	s.Helper()
	t := s.begin(s.imported(stack, v, text), "")
	if _, ready, err := s.Proposal(s.Context(), t); ready || err != nil {
		s.Errorf("the change set is ready at once: %v", err)
	}
	live := s.described(t)
	t.Seen = &live
	if again := s.begin(t, ""); again.Receipt != t.Receipt {
		s.Errorf("created again it is %v, not %v", again.Receipt, t.Receipt)
	}
	s.Pass(30 * time.Second)
	p, ready, err := s.Proposal(s.Context(), t)
	imports := len(p.Resources) == 1 && p.Resources[0].ID == "Table" && p.Resources[0].Imported()
	if err != nil || !ready || imports != (failure == "") || !strings.Contains(p.Failure, failure) {
		s.Fatalf("%+v, %v, %v", p, ready, err)
	}
	return t
}

// executed executes the change set of t, twice, and waits for the end of the import.
func (s fixture) executed(t action.Task, want plan.Status) {
	s.Helper()
	for range 2 {
		if err := s.Execute(s.Context(), t); err != nil {
			s.Fatal(err)
		}
	}
	s.busy(t, "IMPORT_IN_PROGRESS")
	s.Pass(30 * time.Second)
	s.received(t, true, true, want)
}

// held checks which stack has the table orders.
func (s fixture) held(want string) {
	s.Helper()
	got, err := s.Holder(s.Context(), s.Node("vpc", "v1").Target, "orders")
	if err != nil || got != want {
		s.Errorf("the stack %q has the table, %v; want %q", got, err, want)
	}
}

// begin begins t and expects an error of a kind, or none.
func (s fixture) begin(t action.Task, want fault.Kind) action.Task {
	s.Helper()
	receipt, err := s.Begin(context.Background(), t)
	if fault.KindOf(err) != want || want == "" && err != nil {
		s.Fatalf("%s: got %v (%s), want %q", t.Step.ID, err, fault.KindOf(err), want)
	}
	if err == nil && receipt.StackID == "" {
		s.Errorf("%s: the receipt is %v", t.Step.ID, receipt)
	}
	t.Receipt = receipt
	return t
}

// protect changes the termination protection of t's stack.
func (s fixture) protect(t action.Task, want bool) {
	s.Helper()
	t.Node.Protect = want
	if err := s.Protect(context.Background(), t); err != nil {
		s.Fatal(err)
	}
	if live := s.described(t); live.Protected != want {
		s.Errorf("the description is %+v", live)
	}
}

// described returns the description of t's stack.
func (s fixture) described(t action.Task) plan.Live {
	s.Helper()
	live, err := s.Live(context.Background(), t.Location())
	if err != nil {
		s.Fatal(err)
	}
	return live
}

// newest checks the newest operation in the description of t's stack.
func (s fixture) newest(t action.Task, operation string) plan.Live {
	s.Helper()
	live := s.described(t)
	if operation == "" || len(live.Operations) == 0 || live.Operations[0] != operation {
		s.Errorf("the operations are %q, and the newest is %q", live.Operations, operation)
	}
	return live
}

// cancel cancels t and expects an error of a kind, or none.
func (s fixture) cancel(t action.Task, want fault.Kind) {
	s.Helper()
	if err := s.Cancel(context.Background(), t); fault.KindOf(err) != want || want == "" && err != nil {
		s.Fatalf("cancel %s: got %v (%s), want %q", t.Step.ID, err, fault.KindOf(err), want)
	}
}

// up creates a stack.
func (s fixture) up(stack, version string, imports ...string) {
	s.Helper()
	t := s.begin(s.task(stack, plan.Create, version, imports...), "")
	s.Pass(30 * time.Second)
	s.received(t, true, true, "CREATE_COMPLETE")
	s.ids[stack] = t.Receipt.StackID
}

// updated starts the update of a stack and waits for its end.
func (s fixture) updated(stack, version string) action.Task {
	s.Helper()
	t := s.begin(s.task(stack, plan.Update, version), "")
	s.Pass(40 * time.Second)
	return t
}

// reverted executes a change set that reverts the drift of a stack, whose operation ends in a status. It returns what the change set says.
func (s fixture) reverted(stack string, end plan.Status) plan.Proposal {
	s.Helper()
	set := s.begin(s.task(stack, plan.ProposeRevert, "v1"), "")
	s.Pass(30 * time.Second)
	p, ready, err := s.Proposal(context.Background(), set)
	if err != nil || !ready {
		s.Fatalf("the change set is %+v, %v, %v", p, ready, err)
	}
	t := s.task(stack, plan.Revert, "v1")
	t.ChangeSet = set.Token()
	t = s.begin(t, "")
	s.Pass(40 * time.Second)
	s.received(t, true, true, end)
	return p
}

// drifts checks what a drift detection finds in a stack: the kind, the property and the actual value of one finding, or nothing.
func (s fixture) drifts(stack, want string) {
	s.Helper()
	t := s.begin(s.task(stack, plan.Detect, "v1"), "")
	s.Pass(30 * time.Second)
	d, ready, err := s.Detection(context.Background(), t)
	var found []string
	for _, f := range d.Findings {
		found = append(found, f.Kind+" "+f.Resource+"."+f.Property+" "+f.Actual)
	}
	if got := strings.Join(found, "; "); err != nil || !ready || d.Failure != "" || got != want {
		s.Errorf("it finds %q, %+v, %v, %v; want %q", got, d, ready, err, want)
	}
}

// status checks the status of the live stack of a name.
func (s fixture) status(stack string, want plan.Status) plan.Live {
	s.Helper()
	live, err := s.Live(context.Background(), plan.Location{Node: stack, Stack: stack, Target: s.Node(stack, "v1").Target})
	if err != nil || live.Status != want {
		s.Fatalf("%s is %s, %v; want %s", stack, live.Status, err, want)
	}
	return live
}

// busy checks that an operation is in progress.
func (s fixture) busy(t action.Task, want plan.Status) {
	s.Helper()
	s.Pass(time.Second)
	s.received(t, true, false, "")
	s.status(t.Node.Stack, want)
}

// received checks the events of an operation.
func (s fixture) received(t action.Task, found, over bool, status plan.Status) action.Operation {
	s.Helper()
	t.Now = s.Now()
	w, err := s.Events(context.Background(), t)
	if err != nil || w.Found != found || w.Over != over || w.Status != status {
		s.Fatalf("%s: the events say %+v, %v; want %v %v %s", t.Step.ID, w, err, found, over, status)
	}
	return w
}

// why checks a reason.
func (s fixture) why(w action.Operation, want string) {
	s.Helper()
	if !strings.Contains(w.Why, want) {
		s.Errorf("the reason is %q, not %q", w.Why, want)
	}
}
