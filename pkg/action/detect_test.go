package action_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A drift detection starts on a stack that has resources and on which no operation is in progress.
func TestDetectStarts(t *testing.T) {
	for _, c := range []struct {
		name   string
		status plan.Status
		kind   fault.Kind // "" if it starts
		says   string
	}{
		{"good", "UPDATE_COMPLETE", "", ""},
		{"restored", "UPDATE_ROLLBACK_COMPLETE", "", ""},
		{"stuck", "UPDATE_ROLLBACK_FAILED", "", ""},
		{"busy", "UPDATE_IN_PROGRESS", fault.Busy, "UPDATE_IN_PROGRESS"},
		{"cleaning up", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", fault.Busy, "CLEANUP"},
		{"gone", "DELETE_COMPLETE", fault.Refused, "does not exist any more: refresh forgets it"},
		{"never created", "ROLLBACK_COMPLETE", fault.Refused, "has no resources to compare with its template: deploy it first"},
	} {
		cloud := is(c.status)
		_, err := act(cloud, plan.Detect).Start(t.Context(), task(plan.Detect))
		if c.kind == "" && (err != nil || strings.Join(cloud.calls, "; ") != "live; begin DetectStackDrift") || c.kind != "" && (!fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || len(cloud.calls) != 1) {
			t.Errorf("%s: %v; called %s", c.name, err, cloud.calls)
		}
	}
	in := task(plan.Detect)
	in.Record.Intent = true
	if _, err := act(is("UPDATE_COMPLETE"), plan.Detect).Start(t.Context(), in); err != nil {
		t.Errorf("with an intent, and the recorded stack is there: %v", err)
	}
	_, err := act(is("DELETE_COMPLETE"), plan.Detect).Start(t.Context(), in)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "whether Stackwright made this stack") {
		t.Errorf("with an intent, and the recorded stack is gone: %v", err)
	}
}

// A drift detection records which resources differ. One that could not compare all resources fails, and forgets no drift.
func TestDetectRecords(t *testing.T) {
	modified := plan.Finding{Kind: plan.DriftModified, Resource: "Topic", Property: "DisplayName", Expected: "a", Actual: "b"}
	deleted := plan.Finding{Kind: plan.DriftDeleted, Resource: "Queue"}
	for _, c := range []struct {
		name     string
		finds    plan.Detection
		why      string
		recorded []string // nil if no record is written
		fails    string
	}{
		{"in sync", plan.Detection{}, "no drift", []string{}, ""},
		{"drifted", plan.Detection{Findings: []plan.Finding{deleted, modified, modified}}, "drifted: Queue, Topic", []string{"Queue", "Topic"}, ""},
		{"unchecked", plan.Detection{Findings: []plan.Finding{{Kind: plan.DriftUnchecked, Resource: "Topic", Why: "no"}}}, "1 could not be compared", []string{}, ""},
		{"failed", plan.Detection{Failure: "denied"}, "no drift", nil, "not all resources of stack shop-vpc could be compared: denied. CloudFormation reads them with the permissions of Stackwright, which the setting driftPolicies"},
		{"failed and drifted", plan.Detection{Failure: "denied", Findings: []plan.Finding{modified}}, "drifted: Topic", []string{"Topic"}, "drifted: Topic"},
	} {
		cloud := is("UPDATE_COMPLETE")
		cloud.detection, cloud.ready = c.finds, true
		in := task(plan.Detect)
		in.Receipt = plan.Receipt{StackID: "id", Operation: "detection"}
		got, err := act(cloud, plan.Detect).Poll(t.Context(), in)
		if err != nil || !got.Over || got.Why != c.why || (got.Err != nil) != (c.fails != "") || c.fails != "" && !strings.Contains(got.Err.Error(), c.fails) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if diff := cmp.Diff(c.finds.Findings, got.Result.Findings); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if (got.Record != nil) != (c.recorded != nil) {
			t.Errorf("%s: record %+v", c.name, got.Record)
			continue
		}
		if got.Record == nil {
			continue
		}
		want := in.Record
		want.Drift = &plan.Drift{At: now, Run: "r"}
		want.Drift.Resources = append(want.Drift.Resources, c.recorded...)
		if diff := cmp.Diff(want, *got.Record); diff != "" || got.Record.Drifted() != (len(c.recorded) > 0) {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A drift detection is polled until it has ended. It starts again if its claimer has crashed, and ends after an hour.
func TestDetectIsPolled(t *testing.T) {
	in := task(plan.Detect)
	if got, err := act(is("UPDATE_COMPLETE"), plan.Detect).Poll(t.Context(), in); err != nil || got.Over || got.Started {
		t.Errorf("its claimer may still run: %+v, %v", got, err)
	}
	in.Claimed = now.Add(-2 * time.Minute)
	if got, err := act(is("UPDATE_COMPLETE"), plan.Detect).Poll(t.Context(), in); err != nil || got.Over || !got.Started || !got.Receipt.Known() {
		t.Errorf("its claimer has crashed: %+v, %v", got, err)
	}
	in.Receipt = plan.Receipt{StackID: "id", Operation: "detection"}
	if got, err := act(is("UPDATE_COMPLETE"), plan.Detect).Poll(t.Context(), in); err != nil || got.Over {
		t.Errorf("it is in progress: %+v, %v", got, err)
	}
	nested := is("UPDATE_COMPLETE")
	nested.detection.Operation = "detection and those of nested stacks"
	if got, err := act(nested, plan.Detect).Poll(t.Context(), in); err != nil || got.Over || !got.Soon || got.Receipt != (plan.Receipt{StackID: "id", Operation: nested.detection.Operation}) {
		t.Errorf("detections of nested stacks have started: %+v, %v", got, err)
	}
	nested.detection.Operation = "detection"
	if got, err := act(nested, plan.Detect).Poll(t.Context(), in); err != nil || got.Over || got.Soon || got.Receipt.Known() {
		t.Errorf("none has started: %+v, %v", got, err)
	}
	if got, err := act(failing(is("UPDATE_COMPLETE"), "detection", io.EOF), plan.Detect).Poll(t.Context(), in); err == nil || got.Over {
		t.Errorf("it cannot be read: %+v, %v", got, err)
	}
	in.Claimed = now.Add(-2 * time.Hour)
	if got, err := act(is("UPDATE_COMPLETE"), plan.Detect).Poll(t.Context(), in); err != nil || !got.Over || got.Err == nil {
		t.Errorf("it takes too long: %+v, %v", got, err)
	}
	if got, err := act(failing(is("UPDATE_COMPLETE"), "detection", fault.New(fault.Throttled, "slow down")), plan.Detect).Poll(t.Context(), in); err != nil || !got.Over || !strings.Contains(fmt.Sprint(got.Err), "slow down") {
		t.Errorf("it is throttled for too long: %+v, %v", got, err)
	}
}
