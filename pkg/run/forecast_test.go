package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// forecast describes the forecast of r: the seconds until its end, and the critical path.
func forecast(r *run.Run) string {
	f, ok := r.Forecast(now)
	if !ok {
		return "none"
	}
	var path []string
	for _, n := range f.Path {
		path = append(path, r.Steps[n].ID)
	}
	return strings.TrimSpace(fmt.Sprintf("%g %s", f.End.Sub(now).Round(time.Second).Seconds(), strings.Join(path, " ")))
}

// A forecast says when the run will end, and names the steps that decide it.
func TestForecast(t *testing.T) {
	times := map[string]plan.Seconds{"a": 60, "b": 100, "c": 30, "d": 10, "data/a": 50, "data/b": 40, "data/c": 30}
	since := func(seconds int) func(*run.Run) {
		return func(r *run.Run) { r.Steps[0].Claimed = now.Add(-time.Duration(seconds) * time.Second) }
	}
	all := func(most int) func(*run.Run) {
		return func(r *run.Run) { r.MaxParallel = []project.Limit{{Most: most}} }
	}
	none := func(*run.Run) {}
	for name, c := range map[string]struct {
		steps  string
		change func(*run.Run)
		want   string
	}{
		"a chain":                          {"a b<a c<b", none, "190 a b c"},
		"the longest chain counts":         {"a b c<a d<b", none, "110 b d"},
		"what is done is over":             {"a:done b<a c<b", none, "130 b c"},
		"what runs has run for a while":    {"a:running b<a", since(45), "115 a b"},
		"late, so it takes a while more":   {"a:running d<a", since(160), "34 a d"},
		"it found nothing to change":       {"a:running d<a", func(r *run.Run) { since(1)(r); r.Steps[0].Receipt.Unchanged = true }, "11 a d"},
		"what may change nothing is short": {"a b<a", func(r *run.Run) { r.Steps[1].Possible = true }, "62 a b"},
		"one at a time":                    {"a b c d", all(1), "200 d"},
		"two at a time":                    {"a b c d", all(2), "100 b"},
		"a named group one at a time": {"b data/a data/b data/c", func(r *run.Run) {
			r.MaxParallel = []project.Limit{{Group: "few", Most: 1}}
			for i := range r.Steps[1:] {
				r.Steps[i+1].Group = "few"
			}
		}, "120 data/c"},
		"a group one at a time":              {"b data/a data/b data/c", func(r *run.Run) { r.MaxParallel = []project.Limit{{Prefix: "data/", Most: 1}} }, "120 data/c"},
		"the budget of an account":           {strings.Repeat("d ", 41), func(r *run.Run) { place(r, "here") }, "20 d"},
		"each account has its budget":        {strings.Repeat("d ", 41), func(r *run.Run) { place(r, "here", "there") }, "15 d"},
		"after a failure less is left":       {"b:failed a<b c d<c", none, "40 c d"},
		"a paused run":                       {"a b<a", func(r *run.Run) { r.Command = run.Pause }, "none"},
		"a cancelled run finishes what runs": {"a:running b", func(r *run.Run) { since(20)(r); r.Command = run.Cancel }, "40 a"},
		"an overdue run starts nothing":      {"a:running b", func(r *run.Run) { since(20)(r); r.Deadline = now }, "40 a"},
		"a queued run":                       {"a", func(r *run.Run) { r.State = run.StateQueued }, "none"},
		"a run without steps":                {"", none, "none"},
	} {
		r := expect(parse(t, c.steps), times)
		c.change(r)
		if got := forecast(r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// place puts the steps of r in some accounts, in turn.
func place(r *run.Run, accounts ...string) {
	for i := range r.Steps {
		r.Steps[i].Where = accounts[i%len(accounts)]
	}
}

// An estimate is that of the plan, however far the run has come.
func TestEstimate(t *testing.T) {
	r := expect(parse(t, "a:done b<a:failed c<b:skipped"), map[string]plan.Seconds{"a": 60, "b": 100, "c": 30})
	r.State = run.StateFailed
	if got := r.Estimate(); got != 190*time.Second {
		t.Errorf("it is %s", got)
	}
	if got := new(run.Run).Estimate(); got != 0 {
		t.Errorf("of no plan it is %s", got)
	}
}

// A run whose steps take longer than expected, or shorter, will probably go on so. Steps
// of other verbs, steps that failed and steps that found nothing to change do not count.
func TestForecastCorrectsItself(t *testing.T) {
	for name, c := range map[string]struct {
		took   []int // seconds of steps that are done; the expected are 10
		change func(*run.Step)
		want   string
	}{
		"nothing is done":             {nil, nil, "10 last"},
		"as expected":                 {[]int{10, 10, 10}, nil, "10 last"},
		"one step took much longer":   {[]int{90}, nil, "30 last"},
		"many took four times longer": {slices.Repeat([]int{40}, 27), nil, "37 last"},
		"many took half as long":      {slices.Repeat([]int{5}, 27), nil, "6 last"},
		"of another verb":             {[]int{90, 90}, func(s *run.Step) { s.Verb = plan.Delete }, "10 last"},
		"unchanged":                   {[]int{1, 1, 1}, func(s *run.Step) { s.Receipt.Unchanged = true }, "10 last"},
		"failed":                      {[]int{1, 1, 1}, func(s *run.Step) { s.Status = run.Failed }, "10 last"},
		"still running":               {[]int{90}, func(s *run.Step) { s.Status, s.Ended = run.Running, time.Time{} }, "30 last"},
		"still running, but not late": {[]int{9}, func(s *run.Step) { s.Status, s.Ended = run.Running, time.Time{} }, "10 last"},
	} {
		r := parse(t, strings.Repeat("x ", len(c.took))+"last")
		for i, took := range c.took {
			s := &r.Steps[i]
			s.Status, s.Attempt, s.Claimed, s.Ended = run.Done, 1, now.Add(-time.Duration(took)*time.Second), now
			if c.change != nil {
				c.change(s)
			}
		}
		for i := range r.Steps {
			r.Steps[i].Expected = 10
		}
		if got := forecast(r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
