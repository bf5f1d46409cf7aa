package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

const eventsOfRun = list + "/{run}/events"

// deploying is an app whose newest run has some steps, that end a second after each other.
func deploying(steps int) *app {
	h := newApp()
	h.runs[0].Started, h.runs[0].Steps = noon.Add(time.Second), nil
	for n := range steps {
		h.runs[0].Steps = append(h.runs[0].Steps, run.Step{
			Step: plan.Step{ID: fmt.Sprintf("s%d/create", n), Node: fmt.Sprint("s", n), Verb: plan.Create}, Number: n, Status: run.Done, Nonce: "secret",
			Attempt: 1, Claimed: noon.Add(2 * time.Second), Ended: noon.Add(time.Duration(3+n) * time.Second),
		})
	}
	return h
}

// listed describes events in one text each.
func listed(events []report.Event) (all []string) {
	for _, e := range events {
		all = append(all, strings.TrimSpace(fmt.Sprint(e.Event, " ", e.Step)))
	}
	return all
}

// The pages of events are together all events, each once and in their order.
func TestPagesOfEvents(t *testing.T) {
	h := deploying(3)
	h.runs[0].State, h.runs[0].Ended = run.StateSucceeded, noon.Add(time.Minute)
	want := []string{"requested", "started", "step_started s0/create", "step_started s1/create", "step_started s2/create",
		"step_ended s0/create", "step_ended s1/create", "step_ended s2/create", "ended"}
	for limit := 1; limit < 11; limit++ {
		var got []string
		for after := ""; ; {
			page := read[report.EventPage](t, h, eventsOfRun, "query.after="+after, fmt.Sprint("query.limit=", limit))
			got, after = append(got, listed(page.Events)...), page.After
			if !page.More {
				if end := read[report.EventPage](t, h, eventsOfRun, "query.after="+after); len(end.Events) > 0 || end.After != after || end.State != run.StateSucceeded {
					t.Errorf("behind the last event are %+v", end)
				}
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d a page: %q, want %q", limit, got, want)
		}
	}
}

// An event that becomes known after later ones were listed is listed too.
func TestLateEventsAreListed(t *testing.T) {
	h := deploying(3)
	h.runs[0].Steps[0].Status = run.Running
	first := read[report.EventPage](t, h, eventsOfRun)
	h.runs[0].Steps[0].Status = run.Done // it ended before the others, and this is written after them
	second := read[report.EventPage](t, h, eventsOfRun, "query.after="+first.After)
	if got := listed(second.Events); !slices.Contains(got, "step_ended s0/create") {
		t.Errorf("%q", got)
	}
	seen := map[string]bool{}
	for _, e := range first.Events {
		seen[e.ID] = true
	}
	if fresh := slices.DeleteFunc(second.Events, func(e report.Event) bool { return seen[e.ID] }); len(fresh) != 1 {
		t.Errorf("by their IDs, %+v are new", fresh)
	}
}

// A request for events waits until there is one, and reads the run about once a second meanwhile.
func TestEventsAreWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name          string
		wait          string
		limit         time.Duration // of the function; 0 is none
		happens, ends time.Duration
		events        int
	}{
		{"something happens", "", 0, 5 * time.Second, 6 * time.Second, 1},
		{"nothing happens", "", 0, 0, 20 * time.Second, 0},
		{"a short wait", "query.wait=3", 0, 0, 3 * time.Second, 0},
		{"no wait", "query.wait=0", 0, 0, 0, 0},
		{"the function has to end", "", 10 * time.Second, 0, 6 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := deploying(2)
			h.runs[0].Steps[1].Status = run.Running
			first := read[report.EventPage](t, h, eventsOfRun)
			began, reads := time.Now(), 0
			h.followed = func() {
				reads++
				if c.happens > 0 && time.Since(began) >= c.happens {
					h.runs[0].Steps[1].Status = run.Done
				}
			}
			ctx := t.Context()
			if c.limit > 0 {
				limited, cancel := context.WithTimeout(ctx, c.limit)
				defer cancel()
				ctx = limited
			}
			r, err := h.api().Answer(ctx, call(eventsOfRun, "", "query.after="+first.After, c.wait))
			took := time.Since(began)
			if err != nil || r.StatusCode != 200 || strings.Count(r.Body, `"id"`) != c.events || took > c.ends || took < c.ends-2*time.Second || reads > int(took/time.Second)+2 {
				t.Errorf("%s: after %s and %d reads: %d %s %v", c.name, took, reads, r.StatusCode, r.Body, err)
			}
		})
	}
}

// A cursor of another run is refused.
func TestCursorsAreOfTheirRun(t *testing.T) {
	h := newApp()
	other := read[report.EventPage](t, h, eventsOfRun, "run="+middle).After
	for _, after := range []string{other, "x", newest + "-1-2", newest + "-1-2-z", newest + "-1-2-3-4", strings.Repeat("x", 1000)} {
		r, said := h.ask(t, call(eventsOfRun, "", "query.after="+after))
		if r.StatusCode != 400 || !strings.Contains(said.Detail, "is not from an answer about the events of run "+newest) {
			t.Errorf("%.40s: %d %s", after, r.StatusCode, r.Body)
		}
	}
}
