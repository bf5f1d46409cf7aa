package cloudwatch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var _ engine.Meter = (*cloudwatch.Meter)(nil)

// written returns what a meter writes for a call: nothing, or one line.
func written(t *testing.T, call func(*cloudwatch.Meter)) string {
	t.Helper()
	var log bytes.Buffer
	call(cloudwatch.New(slog.New(slog.NewJSONHandler(&log, nil)), "stackwright"))
	if strings.Count(log.String(), "\n") > 1 {
		t.Fatalf("more than a line: %s", log.String())
	}
	return log.String()
}

// units are the units of CloudWatch that we use.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
var units = []string{"Count", "Seconds", "None"}

// extract reads a line as CloudWatch does, and fails the test if CloudWatch would
// drop it. It returns the metrics as "name=value unit", and the properties.
func extract(t *testing.T, line string) (metrics []string, properties map[string]any) {
	t.Helper()
	var meta struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal([]byte(line), &meta); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if err := json.Unmarshal([]byte(line), &properties); err != nil {
		t.Fatal(err)
	}
	if at := time.UnixMilli(meta.AWS.Timestamp); time.Since(at).Abs() > time.Minute {
		t.Errorf("its time is %s", at)
	}
	if len(meta.AWS.CloudWatchMetrics) != 1 {
		t.Fatalf("it has %d directives: %s", len(meta.AWS.CloudWatchMetrics), line)
	}
	d := meta.AWS.CloudWatchMetrics[0]
	if d.Namespace != "Stackwright" || cmp.Diff([][]string{{"Installation"}}, d.Dimensions) != "" || properties["Installation"] != "stackwright" {
		t.Errorf("namespace %q, dimensions %v", d.Namespace, d.Dimensions)
	}
	if len(d.Metrics) == 0 || len(d.Metrics) > 100 {
		t.Errorf("it has %d metrics", len(d.Metrics))
	}
	for _, m := range d.Metrics {
		v, ok := properties[m.Name].(float64)
		if !ok || !slices.Contains(units, m.Unit) {
			t.Errorf("%s is %v, in %q", m.Name, properties[m.Name], m.Unit)
		}
		metrics = append(metrics, fmt.Sprintf("%s=%.4g %s", m.Name, v, m.Unit))
		delete(properties, m.Name)
	}
	for _, other := range []string{"_aws", "Installation", "time", "level", "msg"} {
		delete(properties, other)
	}
	return metrics, properties
}

var requested = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a time some seconds after the request.
func at(seconds int) time.Time { return requested.Add(time.Duration(seconds) * time.Second) }

// ended returns a run with two steps of 40 seconds, one after the other.
func ended(s run.State) run.Run {
	return run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy"},
		State:   s, Requested: requested, Started: at(10), Ended: at(110), Events: 86, Steps: []run.Step{
			{Step: plan.Step{ID: "vpc/create"}, Status: run.Done, Attempt: 1, Claimed: at(12), Ended: at(52)},
			{Step: plan.Step{ID: "db/create", After: []int{0}}, Status: run.Done, Attempt: 1, Claimed: at(60), Ended: at(100), Why: "secret-why"},
		},
	}
}

// The metrics of a run that has ended depend on its state.
func TestEnded(t *testing.T) {
	queued := run.Run{Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy"}, State: run.StateSuperseded, Requested: requested, Ended: at(10)}
	unchanged := ended(run.StateSucceeded)
	unchanged.Steps, unchanged.Events = nil, 0
	all := []string{"Makespan=100 Seconds", "CriticalPathRatio=1.25 None", "QueueWait=10 Seconds", "RunCost=0.0007095 None"}
	for _, c := range []struct {
		name string
		r    run.Run
		want []string
	}{
		{"succeeded", ended(run.StateSucceeded), append([]string{"RunsSucceeded=1 Count"}, all...)},
		{"failed", ended(run.StateFailed), append([]string{"RunsFailed=1 Count"}, all...)},
		{"cancelled", ended(run.StateCancelled), all},
		{"refused", ended(run.StateRefused), append([]string{"RunsRefused=1 Count"}, all...)},
		{"unchanged", unchanged, []string{"RunsSucceeded=1 Count", "QueueWait=10 Seconds", "RunCost=9.457e-05 None"}},
		{"never started", queued, []string{"RunCost=9.457e-05 None"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := written(t, func(m *cloudwatch.Meter) { m.Ended(t.Context(), c.r) })
			got, properties := extract(t, line)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			want := map[string]any{"run": "one", "project": "shop@prod", "operation": "deploy", "state": string(c.r.State)}
			if d := cmp.Diff(want, properties); d != "" {
				t.Error(d)
			}
		})
	}
}

// A sweep writes its metrics if a run is open, and nothing otherwise.
func TestSwept(t *testing.T) {
	line := written(t, func(m *cloudwatch.Meter) {
		m.Swept(t.Context(), run.Backlog{Open: 3, Stuck: []string{"one", "two"}, Oldest: time.Hour})
	})
	got, properties := extract(t, line)
	if d := cmp.Diff([]string{"RunsOpen=3 Count", "RunsStuck=2 Count", "OldestRun=3600 Seconds"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"stuck": []any{"one", "two"}}, properties); d != "" {
		t.Error(d)
	}
	if line := written(t, func(m *cloudwatch.Meter) { m.Swept(t.Context(), run.Backlog{}) }); line != "" {
		t.Errorf("without open runs it writes %s", line)
	}
}

// A line names some of many stuck runs, and counts all.
func TestManyStuckRuns(t *testing.T) {
	b := run.Backlog{Open: 5000}
	for i := range 5000 {
		b.Stuck = append(b.Stuck, fmt.Sprint(i))
	}
	got, properties := extract(t, written(t, func(m *cloudwatch.Meter) { m.Swept(t.Context(), b) }))
	if named := properties["stuck"].([]any); len(named) != 20 || got[1] != "RunsStuck=5000 Count" {
		t.Errorf("%d are named, %v", len(named), got)
	}
}

// The number of requests to CloudFormation is written unless it is zero.
func TestCalled(t *testing.T) {
	var tally cloudwatch.Tally
	call := func(m *cloudwatch.Meter) { m.Called(t.Context(), "one", &tally) }
	if line := written(t, call); line != "" {
		t.Errorf("without requests it writes %s", line)
	}
	tally.Add(false)
	tally.Add(true)
	got, properties := extract(t, written(t, call))
	if d := cmp.Diff([]string{"CloudFormationCalls=2 Count", "CloudFormationThrottles=1 Count"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"run": "one"}, properties); d != "" {
		t.Error(d)
	}
	var none *cloudwatch.Tally
	none.Add(true)
}
