package run_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// ran makes a run of words like "a:0-10 b<a:12-20 c<b": steps in order, each with
// when it started and ended, in seconds after now.
func ran(t *testing.T, text string) *run.Run {
	t.Helper()
	r := &run.Run{Request: run.Request{ID: "one"}, State: run.StateRunning, Requested: now.Add(-time.Minute), Started: now}
	words := strings.Fields(text)
	times := make([]string, len(words))
	for i := range words {
		words[i], times[i], _ = strings.Cut(words[i], ":")
	}
	r.Steps = parse(t, strings.Join(words, " ")).Steps
	for i := range r.Steps {
		s := &r.Steps[i]
		if from, to, over := strings.Cut(times[i], "-"); times[i] != "" {
			s.Attempt, s.Status, s.Claimed = 1, run.Running, after(t, from)
			if over {
				s.Status, s.Ended = run.Done, after(t, to)
			}
		}
	}
	return r
}

// after is some seconds after now.
func after(t *testing.T, seconds string) time.Time {
	t.Helper()
	n, err := strconv.Atoi(seconds)
	if err != nil {
		t.Fatal(err)
	}
	return now.Add(time.Duration(n) * time.Second)
}

// The critical path is the chain of dependent steps that took longest, without the time
// that they waited in between.
func TestCriticalPath(t *testing.T) {
	for text, want := range map[string]int{
		"":                                  0,
		"a":                                 0,
		"a:0-10":                            10,
		"a:0-10 b<a:15-20":                  15,
		"a:0-10 b:0-7 c<a,b:12-20":          18,
		"a:0-1 b<a:1-2 c<b:2-3 long:0-9":    9,
		"a:0-10 b<a:10 c<b":                 10,
		"a:0-10 gone<a gone2<gone c<a:10-4": 10,
	} {
		if got := ran(t, text).CriticalPath(); got != time.Duration(want)*time.Second {
			t.Errorf("that of %q is %s, want %ds", text, got, want)
		}
	}
}

// The makespan is that of a run that started a step and has ended.
func TestMakespan(t *testing.T) {
	for text, want := range map[string]time.Duration{"a:0-10": 30 * time.Second, "a": 0, "": 0} {
		r := ran(t, text)
		if got := r.Makespan(); got != 0 {
			t.Errorf("that of %q, which is not over, is %s", text, got)
		}
		r.Ended = after(t, "30")
		if got := r.Makespan(); got != want {
			t.Errorf("that of %q is %s, want %s", text, got, want)
		}
	}
	r := ran(t, "a")
	if waited, ok := r.Waited(); !ok || waited != time.Minute {
		t.Errorf("it waited %s, %t", waited, ok)
	}
	if waited, ok := (&run.Run{Requested: now, Ended: now.Add(time.Hour)}).Waited(); ok {
		t.Errorf("a run that was never planned waited %s", waited)
	}
}

// A run is stuck if it should be executed and no step has started or ended for an hour.
func TestStuck(t *testing.T) {
	patient := func(r *run.Run) { r.Steps[0].Timeout = project.Timeout(2 * time.Hour) }
	for _, c := range []struct {
		name, steps string
		change      func(*run.Run)
		after       time.Duration
		want        bool
	}{
		{"just started", "a", nil, time.Hour - time.Second, false},
		{"no step was started", "a", nil, time.Hour, true},
		{"a stack takes long", "a:0", nil, time.Hour, true},
		{"it may take long", "a:0", patient, time.Hour, false},
		{"it is overdue", "a:0", patient, 2 * time.Hour, true},
		{"a step ended since", "a:0-3000 b", nil, time.Hour, false},
		{"a step was started since", "a:0 b:1200", nil, time.Hour, false},
		{"nothing since", "a:0-100 b", nil, time.Hour + 100*time.Second, true},
		{"waiting", "a", func(r *run.Run) { r.State = run.StateWaiting }, 9 * time.Hour, false},
		{"queued", "", func(r *run.Run) { r.State = run.StateQueued }, 9 * time.Hour, false},
		{"over", "a", func(r *run.Run) { r.State = run.StateFailed }, 9 * time.Hour, false},
		{"never planned", "", func(r *run.Run) { r.State, r.Started = run.StatePending, time.Time{} }, time.Hour, true},
	} {
		r := ran(t, c.steps)
		if c.change != nil {
			c.change(r)
		}
		if got := r.Stuck(now.Add(c.after)); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// The backlog counts what is not over; those that wait for a person are not old.
func TestBacklog(t *testing.T) {
	waiting, over, stuck, young := *ran(t, "a"), *ran(t, "a"), *ran(t, "a"), *ran(t, "a")
	waiting.State, waiting.Requested = run.StateWaiting, now.Add(-99*time.Hour)
	over.State = run.StateSucceeded
	young.Started = now.Add(time.Hour)
	unread := run.Run{}
	queued := run.Run{Request: run.Request{ID: "queued"}, State: run.StateQueued, Requested: now.Add(-22 * time.Hour)}
	if got := run.NewBacklog([]run.Run{waiting, queued}, now.Add(time.Hour)); got.Stuck != nil {
		t.Errorf("%v is stuck after 23 hours in the queue", got.Stuck)
	}
	if got := run.NewBacklog([]run.Run{waiting, queued}, now.Add(2*time.Hour)); !slices.Equal(got.Stuck, []string{"queued"}) {
		t.Errorf("%v is stuck after a day in the queue, want queued", got.Stuck)
	}
	got := run.NewBacklog([]run.Run{waiting, over, stuck, young, unread}, now.Add(time.Hour))
	if d := cmp.Diff(run.Backlog{Open: 3, Stuck: []string{"one"}, Oldest: time.Hour + time.Minute}, got); d != "" {
		t.Error(d)
	}
	if got := run.NewBacklog(nil, now); got.Open != 0 || got.Oldest != 0 {
		t.Errorf("that of nothing is %+v", got)
	}
}

// The chain of the steps that decided the end goes back over the dependency that ended last, and begins with a step that waited for none.
func TestLastChain(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	step := func(n, ended int, after ...int) run.Step {
		s := run.Step{Step: plan.Step{After: after}, Number: n, Attempt: 1, Claimed: start, Status: run.Done, Ended: start.Add(time.Duration(ended) * time.Second)}
		if ended == 0 {
			s.Ended = time.Time{}
		}
		return s
	}
	skipped := run.Step{Step: plan.Step{After: []int{0}}, Number: 4, Status: run.Skipped, Ended: start.Add(time.Hour)}
	for want, r := range map[string]run.Run{
		"[0 2 3]": {Steps: []run.Step{step(0, 5), step(1, 4), step(2, 9, 0, 1), step(3, 12, 2, 1), skipped}},
		"[1]":     {Steps: []run.Step{step(0, 5), step(1, 0), step(2, 9, 0)}},
		"[]":      {},
	} {
		if got := fmt.Sprint(r.LastChain()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The metrics of a run are what its end reports; the longest chain says nothing as long as nothing was started. A run that does more costs more,
// in the order of cents.
func TestMetrics(t *testing.T) {
	r := ran(t, "a:0-10 b:0-7 c<a,b:12-20")
	r.Ended, r.Events = now.Add(36*time.Second), 400
	r.Steps[1].Attempt = 3
	got := r.Metrics()
	cost := got.Cost
	got.Cost = 0
	if want := (run.Metrics{Makespan: 36 * time.Second, CriticalPath: 18 * time.Second, QueueWait: time.Minute, Planned: true, Starts: 5}); got != want || got.Ratio() != 2 {
		t.Errorf("%+v with the ratio %g, want %+v", got, got.Ratio(), want)
	}
	r.Events = 15_000
	refused := run.Run{State: run.StateRefused, Requested: now, Ended: now}
	nothing, large := refused.Metrics(), r.Metrics().Cost
	if nothing.Cost <= 0 || cost <= nothing.Cost || large <= cost || large > 0.2 || nothing.Planned || nothing.Ratio() != 0 || nothing.Makespan != 0 {
		t.Errorf("%+v; the runs cost %g and %g", nothing, cost, large)
	}
}
