package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the template
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

//go:embed report.html
var reportText string

//go:embed static/style.css
var style string

// A Report is a run as one file of HTML, which needs neither scripts nor a network. All texts are escaped.
type Report struct {
	Run   run.Run // with its steps
	By    string  // who requested it
	Where string  // where the installation is
	Plan  string  // what its plan changes, as the command line prints it; empty if that is unknown
	Now   time.Time
}

// mostDrawn is how many steps a report draws: the drawing of more is too large to be read.
const mostDrawn = 2500

// An entry is a line of the log of a run.
type entry struct {
	at   time.Time
	Text string
}

// Clock is the time of day, in UTC.
func (e entry) Clock() string { return e.at.UTC().Format(time.TimeOnly) }

// Machine is the time for programs.
func (e entry) Machine() string { return e.at.UTC().Format(time.RFC3339) }

// reportTemplate is the template of a report.
var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"moment": moment, "place": func(where string) string { return strings.Replace(where, "#", " · ", 1) },
	"tone": func(state any) string { return cmp.Or(tones[fmt.Sprint(state)], "calm") }, "took": took,
}).Parse(reportText))

// HTML returns the file.
func (r Report) HTML() ([]byte, error) {
	sum := sha256.Sum256([]byte(style))
	shown := report.Of(r.Run, r.Now)
	data := struct {
		Run                   report.Run
		By, Where, Plan       string
		Now                   time.Time
		Environment, Progress string
		Style                 template.CSS
		StyleDigest           template.HTMLAttr
		Graph, Timeline       template.HTML
		Preview               bool
		Failed                []report.Step
		Log                   []entry
	}{
		Run: shown, By: r.By, Where: r.Where, Plan: r.Plan, Now: r.Now, Environment: strings.Replace(shown.Project, "@", " / ", 1), Progress: progress(shown, r.Now),
		Style: template.CSS(style), StyleDigest: template.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(sum[:])),
		Preview: plan.IsPreview(shown.Operation), Log: logOf(shown, r.By),
		Graph:    drawing(len(shown.Steps), func() string { return report.GraphOfRun(r.Run).Diagram().SVG() }),
		Timeline: drawing(len(shown.Steps), func() string { return report.TimelineOf(r.Run, r.Now).Diagram().SVG() }),
	}
	for _, s := range shown.Steps {
		if s.Status == run.Failed {
			data.Failed = append(data.Failed, s)
		}
	}
	var b bytes.Buffer
	err := reportTemplate.Execute(&b, data)
	return b.Bytes(), err
}

// drawing is a drawing of some steps, or why there is none.
func drawing(steps int, draw func() string) template.HTML {
	switch {
	case steps == 0:
		return "<p>No step is part of this run.</p>"
	case steps > mostDrawn:
		return template.HTML(fmt.Sprintf("<p>%d steps are too many for one drawing.</p>", steps))
	}
	return template.HTML(draw()) // which escapes all texts
}

// tones are the classes of the states of runs and steps, which have their colours. Others are calm.
var tones = map[string]string{
	string(run.StateSucceeded): "good", string(run.Done): "good", string(run.Failed): "bad", string(run.StateRefused): "bad",
	string(run.Running): "busy", string(run.Waiting): "wait",
}

// progress says how far a run is.
func progress(r report.Run, now time.Time) string {
	count := make(map[run.Status]int)
	for _, s := range r.Steps {
		count[s.Status]++
	}
	text := fmt.Sprintf("%d of %d steps done", count[run.Done], len(r.Steps))
	for _, status := range []run.Status{run.Running, run.Failed, run.Skipped} {
		if count[status] > 0 {
			text += fmt.Sprintf(", %d %s", count[status], status)
		}
	}
	if r.Unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", r.Unchanged)
	}
	if !r.Started.IsZero() {
		end := r.Ended
		if end.IsZero() {
			end = now
		}
		text += fmt.Sprintf(" · %s", end.Sub(r.Started).Round(time.Second))
	}
	return text
}

// moment is a time for people, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// took is how long a step took.
func took(s report.Step) string {
	if s.Started.IsZero() || s.Ended.IsZero() {
		return "–"
	}
	return s.Ended.Sub(s.Started).Round(100 * time.Millisecond).String()
}

// logOf lists what happened to a run, oldest first.
func logOf(r report.Run, by string) []entry {
	all := []entry{{r.Requested, "requested by " + by}, {r.Started, "started"}}
	for _, s := range r.Steps {
		all = append(all, entry{s.Started, s.Step + " started"}, entry{s.Ended, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", s.Step, s.Status, s.Why), ": ")})
	}
	for _, c := range r.Commands {
		all = append(all, entry{c.Given, strings.TrimSuffix(fmt.Sprintf("%s by %s: %s", c.Command, cmp.Or(c.Who, "somebody"), c.Reason), ": ")})
	}
	all = append(all, entry{r.Ended, string(r.State)})
	all = slices.DeleteFunc(all, func(e entry) bool { return e.at.IsZero() })
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	return all
}
