package term

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Plain view prints a line for each change of a step: for pipes and logs.
type Plain struct {
	out  io.Writer
	next Next
	seen run.Run
	said []string // the messages that were printed before the first step
}

// NewPlain returns a view that prints to out, and at the end says what to do
// next.
func NewPlain(out io.Writer, next Next) *Plain { return &Plain{out: out, next: next} }

// Show prints the changes of r since it was last shown.
func (p *Plain) Show(r run.Run) error {
	if isPreview(r) {
		return nil // the end shows the plan
	}
	var b strings.Builder
	if len(p.seen.Steps) == 0 && len(r.Steps) > 0 {
		by := ""
		if who := r.By(); who != "" {
			by = ", requested by " + who
		}
		fmt.Fprintf(&b, "%s %s: run %s, %s, %d unchanged%s\n", plan.CommandOf(r.Operation), r.Project, r.ID, Plural(len(r.Steps), "step"), r.Unchanged, by)
		p.said = r.Messages
		for _, m := range r.Messages {
			b.WriteString("  " + oneLine(printable(m)) + "\n")
		}
	}
	for _, c := range Diff(p.seen, r) {
		if c.Status == run.Pending && c.Why == "" {
			continue // a new plan has no changes yet
		}
		b.WriteString(c.String() + "\n")
	}
	p.seen = r
	_, err := io.WriteString(p.out, b.String())
	return err
}

// End prints the summary, without the messages that were printed before.
func (p *Plain) End(r run.Run) error {
	r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m string) bool { return slices.Contains(p.said, m) })
	_, err := io.WriteString(p.out, strings.Join(Summary(r, p.next, 0), "\n")+"\n")
	return err
}

// String shows the change on one line: time, status, step, and the reason or the duration.
func (c Change) String() string {
	words := []string{c.Time.Format(time.TimeOnly), pad(string(c.Status), 7), c.Step}
	switch {
	case c.Status == run.Waiting && !c.Deadline.IsZero():
		words = append(words, "(for approval until "+c.Deadline.Format(time.DateTime)+")")
	case c.Why != "":
		words = append(words, "("+oneLine(printable(c.Why))+")")
	case !c.Deadline.IsZero():
		words = append(words, "(overdue at "+c.Deadline.Format(time.TimeOnly)+")")
	case c.Took > 0:
		words = append(words, "("+exactly(c.Took)+")")
	}
	return strings.Join(words, "  ")
}

// A JSON view prints one object a line: one for each change of a step, and
// finally one for the run.
type JSON struct {
	Where string // where the run changes something; "" is not said

	out  *json.Encoder
	seen run.Run
}

// NewJSON returns a view that prints to out.
func NewJSON(out io.Writer) *JSON {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return &JSON{out: e}
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
	Where     string    `json:"where,omitempty"` // where it changes something
}

// Show prints the changes of r since it was last shown.
func (j *JSON) Show(r run.Run) error {
	for _, c := range Diff(j.seen, r) {
		if err := j.out.Encode(c); err != nil {
			return err
		}
	}
	j.seen = r
	return nil
}

// End prints the run as a whole.
func (j *JSON) End(r run.Run) error {
	seconds := math.Round(latest(r).Sub(r.Requested).Seconds()*1000) / 1000
	return j.out.Encode(ended{r.ID, r.Operation, r.Of, r.State, r.SupersededBy, len(r.Steps), max(seconds, 0), r.Messages, j.Where})
}
