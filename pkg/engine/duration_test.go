package engine_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A record learns how long each verb took on its stack. Its next plan expects that.
func TestRecordsLearnDurations(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc")
	first := h.requestAndExecute("a", "deploy", "v1")
	if got := first.Steps[0].Expected; got != 60 {
		t.Errorf("before the first deploy it expects %d seconds", got)
	}
	took := plan.SecondsOf(first.Steps[0].Took())
	if got := h.recorded("vpc").Durations; took == 0 || len(got) != 1 || got[plan.Create] != took {
		t.Errorf("the creation took %d seconds, recorded is %v", took, got)
	}
	h.setVersion("v2", "vpc db<vpc")
	second := h.requestAndExecute("b", "deploy", "v2")
	if got := second.Steps[0].Expected; got != plan.SecondsOf(took.Duration()/2) {
		t.Errorf("before the first update it expects %d seconds", got)
	}
	learnt := h.recorded("vpc").Durations
	if learnt[plan.Create] != took || learnt[plan.Update] != plan.SecondsOf(second.Steps[0].Took()) {
		t.Errorf("recorded is %v", learnt)
	}
	h.setVersion("v3", "vpc")
	h.request("c", "deploy", "v3")
	h.planned("c", 1)
	third := h.stored("c")
	if got := third.Step("vpc/update").Expected; got != learnt[plan.Update] {
		t.Errorf("it expects %d seconds, recorded is %v", got, learnt)
	}
}

// Time in which a step could not start does not count.
func TestTimeBeforeStartIsNotLearnt(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.beginErr = fault.New(fault.Throttled, "slow down")
	loop := h.begin("a", "v1")
	h.cloud.beginErr = nil
	h.passTime(time.Hour)
	r := h.executeToEnd(loop)
	if got := h.recorded("vpc").Durations[plan.Create]; r.State != run.StateSucceeded || got == 0 || got > 600 {
		t.Errorf("the run has %s, recorded are %d seconds", r.State, got)
	}
}

// A step that failed, or that found nothing to change, teaches nothing.
func TestOnlyOperationsThatSucceededAreLearnt(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc")
	h.requestAndExecute("a", "deploy", "v1")
	before := h.recorded("vpc").Durations
	h.requestAndExecute("r", "refresh", "v1")
	if got := h.recorded("vpc").Durations; len(got) != 1 {
		t.Errorf("after a refresh recorded is %v", got)
	}
	h.backend.Cloud.Fail["shop-vpc/update"] = 1
	h.setVersion("v2", "vpc db<vpc")
	if r := h.requestAndExecute("b", "deploy", "v2"); r.State != run.StateFailed {
		t.Fatalf("it has %s", r.State)
	}
	if got := h.recorded("vpc").Durations; len(got) != 1 || got[plan.Create] != before[plan.Create] {
		t.Errorf("after a failure recorded is %v", got)
	}
}
