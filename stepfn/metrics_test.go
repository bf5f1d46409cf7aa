package stepfn_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/run"
)

// A measure is a line of metrics in the log of the functions.
type measure struct {
	AWS *struct{} `json:"_aws"`

	Installation, Run, Project, Operation string

	RunsSucceeded, RunsFailed, RunsOpen, RunsStuck, CloudFormationCalls int

	Makespan, CriticalPathRatio, QueueWait, OldestRun, RunCost float64
}

// measures returns all lines of metrics so far.
func (r *recorded) measures() []measure {
	r.trace.mu.Lock()
	defer r.trace.mu.Unlock()
	var all []measure
	for line := range strings.Lines(r.trace.text["log"].String()) {
		var m measure
		if err := json.Unmarshal([]byte(line), &m); err == nil && m.AWS != nil {
			all = append(all, m)
		}
	}
	return all
}

// The end of each run is measured once, with all that an alarm or a dashboard needs.
// Every request to CloudFormation is counted. A run in which nothing has happened for
// more than an hour is counted as stuck.
func TestMetricsOnEmulators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorded(t)
		before := r.cloudFormationRequests()
		done := r.deploy(secretive, run.StateSucceeded)
		r.inject(local.Fault{Stack: "shop-db", Operation: "update", Reason: "injected", Times: 1})
		failed := r.deploy(with(secretive, visible, visible+"x"), run.StateFailed)
		r.inject(local.Fault{Stack: "shop-db", Seconds: 2 * 3600})
		slow := r.follow("retry", failed, run.StateSucceeded)

		ends, calls, stuck := make(map[string][]measure), 0, 0
		for _, m := range r.measures() {
			if m.Installation != "stackwright" {
				t.Errorf("a metric has the installation %q, want stackwright", m.Installation)
			}
			if m.Operation != "" {
				ends[m.Run] = append(ends[m.Run], m)
			}
			calls += m.CloudFormationCalls
			if m.RunsStuck > 0 && m.RunsOpen == 1 && m.OldestRun > 3600 {
				stuck++
			}
		}
		for id, good := range map[string]bool{done: true, failed: false, slow: true} {
			m := ends[id]
			if len(m) != 1 || (m[0].RunsSucceeded == 1) != good || (m[0].RunsFailed == 1) == good || m[0].Project != "shop@default" {
				t.Errorf("the end of %s is measured as %+v", id, m)
				continue
			}
			if m[0].Makespan < operationSeconds || m[0].CriticalPathRatio < 1 || m[0].CriticalPathRatio > 1.1 || m[0].RunCost <= 0 || m[0].QueueWait > 5 {
				t.Errorf("run %s is measured as %+v", id, m)
			}
		}
		if sent := r.cloudFormationRequests() - before; calls != sent || calls == 0 {
			t.Errorf("the metrics count %d requests to CloudFormation, but %d were sent", calls, sent)
		}
		if stuck != 6 { // the update takes 90 minutes: the sweeps of the last half hour find the run stuck
			t.Errorf("%d sweeps found the run stuck, want 6", stuck)
		}
	})
}

// cloudFormationRequests counts the requests to CloudFormation so far.
func (r *recorded) cloudFormationRequests() int {
	n := 0
	for call, times := range r.cloud.Gateway.Calls() {
		if call.Service == "cloudformation" {
			n += times
		}
	}
	return n
}
