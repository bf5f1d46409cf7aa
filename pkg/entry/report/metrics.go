package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// Metrics are those of a run: the same that its end writes to CloudWatch, and how many of its steps have each status.
type Metrics struct {
	Run          string             `json:"run"`
	Project      string             `json:"project"`
	Operation    string             `json:"operation"`
	State        run.State          `json:"state"`
	Requested    time.Time          `json:"requested"`
	Ended        time.Time          `json:"ended,omitzero"`
	Makespan     float64            `json:"makespan_seconds,omitempty"`      // from the plan to the end, if a step was started
	CriticalPath float64            `json:"critical_path_seconds,omitempty"` // the longest chain of the steps that have ended
	Ratio        float64            `json:"critical_path_ratio,omitempty"`   // makespan divided by the critical path: 1 is the best
	QueueWait    *float64           `json:"queue_wait_seconds,omitempty"`    // from the request to the plan; absent if there was none
	Cost         float64            `json:"cost_usd"`                        // an estimate of what the run itself cost, without its stacks
	Steps        map[run.Status]int `json:"steps_by_status"`
	Starts       int                `json:"starts"` // of steps: more than there are steps if some were started again
	Unchanged    int                `json:"unchanged"`
	Differing    int                `json:"differing"` // stacks that the run has found to differ from what is known of them
}

// MetricsOf returns the metrics of a run with its steps.
func MetricsOf(r run.Run) Metrics {
	took := r.Metrics()
	m := Metrics{
		Run: r.ID, Project: r.Project, Operation: r.Operation, State: r.State, Requested: r.Requested, Ended: r.Ended, Cost: took.Cost, Starts: took.Starts, Unchanged: r.Unchanged, Differing: took.Differing,
		Makespan: took.Makespan.Seconds(), CriticalPath: took.CriticalPath.Seconds(), Ratio: took.Ratio(), Steps: make(map[run.Status]int),
	}
	if took.Planned {
		m.QueueWait = new(took.QueueWait.Seconds())
	}
	for _, s := range r.Steps {
		m.Steps[s.Status]++
	}
	return m
}
