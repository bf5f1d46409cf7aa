// Package cloudwatch writes the metrics of runs, and reads the states of alarms.
package cloudwatch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// Namespace and Dimension identify the metrics in CloudWatch. The dimension's value
// is the installation. Everything else is a property of the log line, because each
// value of a dimension is a metric of its own and is charged as one.
const (
	Namespace = "Stackwright"
	Dimension = "Installation"
)

// The names of the metrics.
const (
	Succeeded    = "RunsSucceeded"
	Failed       = "RunsFailed"
	Refused      = "RunsRefused"
	Denied       = "RequestsDenied"
	Unusable     = "AccessFileUnusable"
	Open         = "RunsOpen"
	Stuck        = "RunsStuck"
	Oldest       = "OldestRun"
	Makespan     = "Makespan"
	CriticalPath = "CriticalPathRatio"
	QueueWait    = "QueueWait"
	RunCost      = "RunCost"
	Differing    = "StacksDiffering"
	Calls        = "CloudFormationCalls"
	Throttles    = "CloudFormationThrottles"
)

// A Meter writes metrics to a function's log in the embedded metric format, from
// which CloudWatch reads them. It is an engine.Meter, and sends no request.
type Meter struct {
	log          *slog.Logger
	installation string
}

// New returns the meter of an installation. The log must be JSON, one object a
// line.
func New(log *slog.Logger, installation string) *Meter {
	return &Meter{log: log, installation: installation}
}

// Ended implements engine.Meter.
func (m *Meter) Ended(ctx context.Context, r run.Run) {
	var all []value
	switch r.State {
	case run.StateSucceeded:
		all = append(all, value{Succeeded, count, 1})
	case run.StateFailed:
		all = append(all, value{Failed, count, 1})
	case run.StateRefused:
		all = append(all, value{Refused, count, 1})
	}
	took := r.Metrics()
	if took.Makespan > 0 {
		all = append(all, value{Makespan, seconds, took.Makespan.Seconds()})
	}
	if ratio := took.Ratio(); ratio > 0 {
		all = append(all, value{CriticalPath, none, ratio})
	}
	if took.Planned {
		all = append(all, value{QueueWait, seconds, took.QueueWait.Seconds()})
	}
	if took.Compared {
		all = append(all, value{Differing, count, float64(took.Differing)})
	}
	all = append(all, value{RunCost, none, took.Cost})
	m.write(ctx, all, slog.String("run", r.ID), slog.String("project", r.Project), slog.String("operation", r.Operation), slog.String("state", string(r.State)))
}

// mostNamed is how many runs a line names.
const mostNamed = 20

// Swept implements engine.Meter. It writes nothing if no run is open: CloudWatch charges for a metric in each hour in which
// it has a value, and an installation in which nothing runs should cost next to nothing.
func (m *Meter) Swept(ctx context.Context, b run.Backlog) {
	if b.Open == 0 {
		return
	}
	m.write(ctx, []value{
		{Open, count, float64(b.Open)},
		{Stuck, count, float64(len(b.Stuck))},
		{Oldest, seconds, b.Oldest.Seconds()},
	}, slog.Any("stuck", append([]string{}, b.Stuck[:min(len(b.Stuck), mostNamed)]...)))
}

// Denied counts a request that the access file does not allow.
func (m *Meter) Denied(ctx context.Context) { m.write(ctx, []value{{Denied, count, 1}}) }

// Unusable counts a decision that was made without the access file, because it cannot be used.
func (m *Meter) Unusable(ctx context.Context) { m.write(ctx, []value{{Unusable, count, 1}}) }

// A Tally counts the requests to CloudFormation in one invocation of a function. It
// may be used by many goroutines.
type Tally struct{ calls, throttles atomic.Int64 }

// Add counts a request, and whether it was throttled. A nil Tally counts nothing.
func (t *Tally) Add(throttled bool) {
	if t == nil {
		return
	}
	t.calls.Add(1)
	if throttled {
		t.throttles.Add(1)
	}
}

// Called writes the number of requests to CloudFormation for a run, if there were
// any.
func (m *Meter) Called(ctx context.Context, id string, t *Tally) {
	calls := t.calls.Load()
	if calls == 0 {
		return
	}
	m.write(ctx, []value{
		{Calls, count, float64(calls)}, {Throttles, count, float64(t.throttles.Load())},
	}, slog.String("run", id))
}

// A value is the value of one metric.
type value struct {
	name, unit string
	is         float64
}

// The units, as CloudWatch calls them. It has none for money.
const (
	count   = "Count"
	seconds = "Seconds"
	none    = "None"
)

// The metadata of a line.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
type (
	metadata struct {
		Timestamp         int64       // in milliseconds
		CloudWatchMetrics []directive // always one
	}
	directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	definition struct{ Name, Unit string }
)

// write writes a line with the given values, and properties by which to find it.
func (m *Meter) write(ctx context.Context, values []value, properties ...slog.Attr) {
	d := directive{Namespace: Namespace, Dimensions: [][]string{{Dimension}}}
	line := []slog.Attr{slog.String(Dimension, m.installation)}
	for _, v := range values {
		d.Metrics = append(d.Metrics, definition{v.name, v.unit})
		line = append(line, slog.Float64(v.name, v.is))
	}
	meta := metadata{Timestamp: time.Now().UnixMilli(), CloudWatchMetrics: []directive{d}}
	line = append(append(line, properties...), slog.Any("_aws", meta))
	m.log.LogAttrs(ctx, slog.LevelInfo, "metrics", line...)
}
