package term

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A JSON view prints one object a line: one for each change of a step, and
// finally one for the run.
type JSON struct {
	out  *json.Encoder
	seen run.Run
}

// NewJSON returns a view that prints to out.
func NewJSON(out io.Writer) *JSON {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return &JSON{out: e}
}

// moved is the object for a change of a step.
type moved struct {
	Time     time.Time  `json:"time"`
	Run      string     `json:"run"`
	Step     string     `json:"step"`
	Stack    string     `json:"stack"` // empty for the barrier
	Verb     plan.Verb  `json:"verb"`
	Possible bool       `json:"possible,omitempty"` // see Change
	Status   run.Status `json:"status"`
	Why      string     `json:"why"`

	Deadline time.Time `json:"deadline,omitzero"` // when it is overdue
}

// ended is the object for a run that has ended or waits for a person.
type ended struct {
	Run       string    `json:"run"`
	Operation string    `json:"operation"`
	Of        string    `json:"of,omitempty"` // the run that it retries, or rolls back
	State     run.State `json:"state"`
	By        string    `json:"superseded_by,omitempty"`
	Steps     int       `json:"steps"`
	Seconds   float64   `json:"seconds"` // since the run was requested
	Messages  []string  `json:"messages,omitempty"`
}

// Show prints the changes of r since it was last shown.
func (j *JSON) Show(r run.Run) error {
	for _, c := range Diff(j.seen, r) {
		if err := j.out.Encode(moved{c.Time.UTC(), c.Run, c.Step, c.Stack, c.Verb, c.Possible, c.Status, c.Why, c.Deadline.UTC()}); err != nil {
			return err
		}
	}
	j.seen = r
	return nil
}

// End prints the last changes, then the run as a whole.
func (j *JSON) End(r run.Run) error {
	if err := j.Show(r); err != nil {
		return err
	}
	seconds := math.Round(latest(r).Sub(r.Requested).Seconds()*1000) / 1000
	return j.out.Encode(ended{r.ID, r.Operation, r.Of, r.State, r.SupersededBy, len(r.Steps), max(seconds, 0), r.Messages})
}
