package run_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var now = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// parse makes a run of words like "a:done b<a:failed c<a,b d:pending+30": steps
// in order, each with its status, and the seconds until it may start or is due.
func parse(t testing.TB, text string) *run.Run {
	t.Helper()
	r := &run.Run{Command: run.Continue, State: run.StateRunning}
	for n, word := range strings.Fields(text) {
		word, late, isLate := strings.Cut(word, "+")
		word, status, _ := strings.Cut(word, ":")
		id, after, _ := strings.Cut(word, "<")
		s := run.Step{Step: plan.Step{ID: id, Node: id, Verb: plan.Update}, Number: n, Status: run.Status(status)}
		switch status {
		case "":
			s.Status = run.Pending
		case "answered":
			s.Status, s.Answer = run.Waiting, run.Answer{ID: "request"}
		case "declined":
			s.Status, s.Cause = run.Failed, run.Cause{Kind: run.CauseDeclined, Step: id}
		}
		for _, id := range strings.FieldsFunc(after, func(r rune) bool { return r == ',' }) {
			s.After = append(s.After, slices.IndexFunc(r.Steps, func(s run.Step) bool { return s.ID == id }))
		}
		if isLate {
			d, err := time.ParseDuration(late + "s")
			if err != nil {
				t.Fatal(err)
			}
			s.NotBefore, s.Due = now.Add(d), now.Add(d)
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

// What may start, what no longer can, what that makes of the run, and when it is
// polled next.
func TestRun(t *testing.T) {
	const never = time.Duration(-1)
	for _, c := range []struct {
		name, steps string
		command     run.Command
		ready       string
		pruned      string
		state       run.State
		next        time.Duration
	}{
		{"nothing to do", "", run.Continue, "[]", "", run.StateSucceeded, never},
		{"the first", "a b<a", run.Continue, "[0]", "", run.StateReady, never},
		{"those after what is done", "a:done b<a c<a d<b,c", run.Continue, "[1 2]", "", run.StateReady, never},
		{"not after what runs", "a:running+9 b<a", run.Continue, "[]", "", run.StateWatch, 9 * time.Second},
		{"others go on", "a:running+9 b<a c", run.Continue, "[2]", "", run.StateReady, never},
		{"the earliest counts", "a:running+9 b:running+7 c+8", run.Continue, "[]", "", run.StateWatch, 7 * time.Second},
		{"the earliest start counts", "a:running+9 c+8", run.Continue, "[]", "", run.StateWatch, 8 * time.Second},
		{"not before its time", "a+30", run.Continue, "[]", "", run.StateWatch, 30 * time.Second},
		{"just in time", "a+0", run.Continue, "[0]", "", run.StateReady, 0},
		{"all done", "a:done b<a:done", run.Continue, "[]", "", run.StateSucceeded, never},
		{"a failure skips what comes after it", "a:failed b<a c<b d", run.Continue, "[3]", "b after a; c after a", run.StateReady, never},
		{"a failure while another runs", "a:failed b<a c:running+5", run.Continue, "[]", "b after a", run.StateWatch, 5 * time.Second},
		{"failed", "a:failed b<a c:done", run.Continue, "[]", "b after a", run.StateFailed, never},
		{"each names its root cause", "a:failed x:failed b<a y<x z<b,y", run.Continue, "[]", "b after a; y after x; z after a", run.StateFailed, never},
		{"a declined step skips what comes after it", "a:declined b<a c<b d", run.Continue, "[3]", "b after a; c after a", run.StateReady, never},
		{"declined", "a:declined b<a c:done", run.Continue, "[]", "b after a", run.StateFailed, never},
		{"paused at rest", "a:done b<a", run.Pause, "[]", "", run.StateWaiting, never},
		{"paused while something runs", "a:running+3 b<a c", run.Pause, "[]", "", run.StateWatch, 3 * time.Second},
		{"paused, and all that is left cannot start", "a:failed b<a", run.Pause, "[]", "b after a", run.StateFailed, never},
		{"paused after the end", "a:done", run.Pause, "[]", "", run.StateSucceeded, never},
		{"cancelled", "a:done b<a c<b", run.Cancel, "[]", "b cancelled; c cancelled", run.StateCancelled, never},
		{"cancelled while something runs", "a:running+4 b<a", run.Cancel, "[]", "b cancelled", run.StateWatch, 4 * time.Second},
		{"cancelled after a failure", "a:failed b<a c", run.Cancel, "[]", "b after a; c cancelled", run.StateCancelled, never},
		{"cancelled after a failure that left nothing to start", "a:failed b<a", run.Cancel, "[]", "b after a", run.StateCancelled, never},
		{"cancelled during the last step", "a:done", run.Cancel, "[]", "", run.StateCancelled, never},
		{"waiting for an answer", "a:waiting b<a", run.Continue, "[]", "", run.StateWaiting, never},
		{"others go on while one waits for an answer", "a:waiting b<a c", run.Continue, "[2]", "", run.StateReady, never},
		{"one runs while another waits for an answer", "a:waiting c:running+4", run.Continue, "[]", "", run.StateWatch, 4 * time.Second},
		{"answered", "a:answered b<a", run.Continue, "[]", "", run.StateWatch, never},
		{"answered and paused", "a:answered b<a", run.Pause, "[]", "", run.StateWatch, never},
		{"paused while one waits for an answer", "a:waiting b<a", run.Pause, "[]", "", run.StateWaiting, never},
		{"cancelled while one waits for an answer", "a:waiting b<a", run.Cancel, "[]", "a cancelled; b cancelled", run.StateCancelled, never},
		{"a failure while another waits for an answer", "a:failed b<a c:waiting", run.Continue, "[]", "b after a", run.StateWaiting, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.steps)
			r.Command = c.command
			var pruned []string
			for _, was := range r.Prune(now) {
				pruned = append(pruned, was.ID+" "+r.Steps[was.Number].Why)
			}
			if got := strings.Join(pruned, "; "); got != c.pruned {
				t.Errorf("pruned %s", got)
			}
			if again := r.Prune(now); len(again) > 0 {
				t.Errorf("pruned again: %v", again)
			}
			if got := fmt.Sprint(r.Ready(now, 9)); got != c.ready {
				t.Errorf("ready %s", got)
			}
			if got := r.Next(now); got != c.state {
				t.Errorf("it is %s", got)
			}
			want := time.Time{}
			if c.next != never {
				want = now.Add(c.next)
			}
			if got := r.NextPoll(now); !got.Equal(want) {
				t.Errorf("next is %s, want %s", got, want)
			}
		})
	}
}

// A skipped step has the cause of the step that it was skipped for.
func TestSkippedStepsHaveTheCauseOfTheirRoot(t *testing.T) {
	r := parse(t, "a:declined x:failed b<a c<b y<x z<y,b done:done")
	r.Prune(now)
	declined, failed := run.Cause{Kind: run.CauseDeclined, Step: "a"}, run.Cause{Kind: run.CauseFailure, Step: "x"}
	for id, want := range map[string]run.Cause{"a": declined, "b": declined, "c": declined, "x": {}, "y": failed, "z": failed, "done": {}} {
		if got := r.Step(id).Cause; got != want {
			t.Errorf("the cause of %s is %+v, want %+v", id, got, want)
		}
	}
	if got := r.Next(now); got != run.StateFailed {
		t.Errorf("the run is %s", got)
	}
}

// A run that is overdue starts nothing more, and has failed if something was left
// to be started. One that is paused, stopped or superseded is as it would be.
func TestDeadline(t *testing.T) {
	never := time.Duration(-1)
	for _, c := range []struct {
		name    string
		steps   string
		command run.Command
		left    time.Duration // to the deadline
		pruned  string
		state   run.State
		next    time.Duration
	}{
		{"in time", "a:running+9 b<a", run.Continue, 10 * time.Second, "", run.StateWatch, 9 * time.Second},
		{"polled when it is overdue", "a:running+9 b<a", run.Continue, 5 * time.Second, "", run.StateWatch, 5 * time.Second},
		{"not if nothing is left", "a:running+9 b:done", run.Continue, 5 * time.Second, "", run.StateWatch, 9 * time.Second},
		{"overdue", "a:done b<a c<b", run.Continue, 0, "b the run has timed out; c the run has timed out", run.StateFailed, never},
		{"overdue while something runs", "a:running+9 b<a", run.Continue, 0, "b the run has timed out", run.StateWatch, 9 * time.Second},
		{"overdue with nothing left", "a:running+9", run.Continue, -time.Hour, "", run.StateWatch, 9 * time.Second},
		{"overdue and all done", "a:done", run.Continue, -time.Hour, "", run.StateSucceeded, never},
		{"overdue after a failure", "a:failed b<a c", run.Continue, 0, "b after a; c the run has timed out", run.StateFailed, never},
		{"overdue and paused", "a:done b<a", run.Pause, 0, "", run.StateWaiting, never},
		{"paused, and to be overdue", "a:running+9 b<a", run.Pause, 5 * time.Second, "", run.StateWatch, 9 * time.Second},
		{"overdue and cancelled", "a:done b<a", run.Cancel, 0, "b cancelled", run.StateCancelled, never},
		{"overdue while it waits for an answer", "a:waiting b<a", run.Continue, 0, "a the run has timed out; b the run has timed out", run.StateFailed, never},
		{"overdue, paused and waiting for an answer", "a:waiting b<a", run.Pause, 0, "", run.StateWaiting, never},
		{"overdue and superseded", "a:done b<a", run.Supersede, 0, "b superseded by next", run.StateSuperseded, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.steps)
			r.Command, r.SupersededBy, r.Deadline = c.command, "next", now.Add(c.left)
			if len(r.Ready(now, 9)) > 0 {
				t.Error("something is ready")
			}
			if before := r.Next(now); before == run.StateWaiting && c.command == run.Continue {
				t.Errorf("before it is pruned it is %s", before)
			}
			var pruned []string
			for _, was := range r.Prune(now) {
				pruned = append(pruned, was.ID+" "+r.Steps[was.Number].Why)
			}
			if got := strings.Join(pruned, "; "); got != c.pruned {
				t.Errorf("pruned %s", got)
			}
			if got := r.Next(now); got != c.state {
				t.Errorf("it is %s", got)
			}
			want := time.Time{}
			if c.next != never {
				want = now.Add(c.next)
			}
			if got := r.NextPoll(now); !got.Equal(want) {
				t.Errorf("next is %s, want %s", got, want)
			}
			r.Command = run.Supersede
			if s := r.Next(now); s.Over() && s != run.StateSuperseded && s != run.StateSucceeded {
				t.Errorf("superseded since, it is %s", s)
			}
		})
	}
}

// When a run is cancelled with force, each running step is polled once at once: the poll
// cancels an update in progress.
func TestForced(t *testing.T) {
	r := parse(t, "a:running+50 b:running+60")
	if want := now.Add(50 * time.Second); !r.NextPoll(now).Equal(want) {
		t.Error("it is due already")
	}
	r.Forced = true
	if !r.DueAt(r.Steps[0], nil).IsZero() || !r.DueAt(r.Steps[1], nil).IsZero() || !r.NextPoll(now).IsZero() {
		t.Error("a running step is not due at once")
	}
	r.Command = run.Cancel
	r.Steps[0].Status, r.Steps[1].Status = run.Failed, run.Done
	if s := r.Next(now); s != run.StateCancelled {
		t.Errorf("when all that it did was cancelled it is %s", s)
	}
	r.Steps[0].Status, r.Steps[1].Status = run.Running, run.Running
	r.Steps[0].Forced, r.Steps[1].Forced = true, true
	if want := now.Add(50 * time.Second); !r.NextPoll(now).Equal(want) {
		t.Error("a step that was polled is still due at once")
	}
}

// A step is due if an event arrived that no poll has seen, or its time has come.
func TestDue(t *testing.T) {
	r := parse(t, "a:running+50 b<a")
	s := &r.Steps[0]
	s.Event = run.Event{Status: "UPDATE_COMPLETE"}
	if !s.DueAt().IsZero() || !r.NextPoll(now).IsZero() {
		t.Error("an event does not make it due")
	}
	s.Event.Polls = 1
	if want := now.Add(50 * time.Second); !s.DueAt().Equal(want) || !r.NextPoll(now).Equal(want) {
		t.Error("a poll that has seen the event leaves it due")
	}
}

// A step whose start an event has reported waits for the event about its end. It is
// polled nevertheless: first when it takes longer than expected, then hardly ever, and
// at its deadline.
func TestReportedStepWaitsForEvent(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*run.Step)
		lossy   bool
		want    time.Duration // after the claim
	}{
		"reported":                  {func(*run.Step) {}, false, 15 * time.Minute},
		"events are lost":           {func(*run.Step) {}, true, 10 * time.Second},
		"not reported":              {func(s *run.Step) { s.Reported = false }, false, 10 * time.Second},
		"its end was reported":      {func(s *run.Step) { s.Event = run.Event{Status: "CREATE_COMPLETE", Polls: 1} }, false, 10 * time.Second},
		"expected to take long":     {func(s *run.Step) { s.Expected = 3600 }, false, 150 * time.Minute},
		"polled once":               {func(s *run.Step) { s.Due = now.Add(20 * time.Minute) }, false, 4 * time.Hour},
		"its deadline comes before": {func(s *run.Step) { s.Timeout = project.Timeout(2 * time.Minute) }, false, 2 * time.Minute},
		"its deadline is over":      {func(s *run.Step) { s.Timeout, s.Due = project.Timeout(2*time.Minute), now.Add(3*time.Minute) }, false, 3 * time.Minute},
	} {
		r := parse(t, "a:running+10")
		s := &r.Steps[0]
		s.Claimed, s.Reported = now, true
		c.prepare(s)
		if got := r.DueAt(*s, map[string]bool{s.Where: c.lossy}).Sub(now); got != c.want {
			t.Errorf("%s: it is due after %s, not %s", name, got, c.want)
		}
	}
}

// Events are lost in an account and region if more than one of ten did not arrive.
func TestLossy(t *testing.T) {
	step := func(status run.Status, reported bool, end plan.Status, claimed time.Duration) run.Step {
		return run.Step{Step: plan.Step{Where: "eu"}, Status: status, Reported: reported, Event: run.Event{Status: end}, Receipt: plan.Receipt{StackID: "id"}, Claimed: now.Add(-claimed)}
	}
	unchanged := step(run.Done, false, "", time.Hour)
	unchanged.Receipt.Unchanged = true
	arrived := step(run.Done, true, "CREATE_COMPLETE", time.Hour)
	for name, c := range map[string]struct {
		steps []run.Step
		want  bool
	}{
		"nothing is known":              {nil, false},
		"all arrived":                   {[]run.Step{arrived, step(run.Running, true, "", time.Minute)}, false},
		"a start may still be reported": {[]run.Step{step(run.Running, false, "", 5*time.Second)}, false},
		"a start was not reported":      {[]run.Step{step(run.Running, false, "", 11*time.Second)}, true},
		"an end was not reported":       {[]run.Step{step(run.Done, true, "", time.Hour)}, true},
		"one of many was lost":          {append(slices.Repeat([]run.Step{arrived}, 5), step(run.Done, true, "", time.Hour)), false},
		"two of many were lost":         {append(slices.Repeat([]run.Step{arrived}, 5), step(run.Done, true, "", time.Hour), step(run.Failed, true, "", time.Hour)), true},
		"an unchanged stack has none":   {[]run.Step{unchanged}, false},
		"a step without an operation":   {[]run.Step{{Step: plan.Step{Where: "eu"}, Status: run.Done}}, false},
	} {
		r := run.Run{Steps: c.steps}
		if got := r.Lossy(now)["eu"]; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Events arrive if few were lost, and the newest start that should have been reported by
// now was reported.
func TestEventsArrive(t *testing.T) {
	step := func(where string, reported bool, claimed time.Duration) run.Step {
		return run.Step{Step: plan.Step{Where: where}, Status: run.Running, Reported: reported, Receipt: plan.Receipt{StackID: "id"}, Claimed: now.Add(-claimed)}
	}
	known := func(steps ...run.Step) []run.Step {
		return append(slices.Repeat([]run.Step{step("eu", true, time.Hour)}, 20), steps...)
	}
	unchanged := step("eu", false, time.Minute)
	unchanged.Receipt.Unchanged = true
	for name, c := range map[string]struct {
		steps []run.Step
		want  bool
	}{
		"nothing is known":              {nil, false},
		"a start was reported":          {[]run.Step{step("eu", true, time.Second)}, true},
		"elsewhere":                     {[]run.Step{step("us", true, time.Minute)}, false},
		"a start may still be reported": {known(step("eu", false, 5*time.Second)), true},
		"the newest was not reported":   {known(step("eu", false, time.Minute)), false},
		"the newest was reported":       {known(step("eu", true, time.Minute), step("eu", false, 2*time.Minute)), true},
		"many were lost":                {known(slices.Repeat([]run.Step{step("eu", false, 2*time.Hour)}, 3)...), false},
		"an unchanged stack has none":   {known(unchanged), true},
		"a step without an operation":   {known(run.Step{Step: plan.Step{Where: "eu"}, Status: run.Running, Claimed: now.Add(-time.Minute)}), true},
	} {
		r := run.Run{Steps: c.steps}
		if got := r.EventsArrive(now)["eu"]; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestReadyIsBounded(t *testing.T) {
	r := parse(t, strings.Repeat("a ", 50))
	for i := range r.Steps {
		r.Steps[i].ID = fmt.Sprint(i)
	}
	if got := r.Ready(now, 40); len(got) != 40 || got[39] != 39 {
		t.Errorf("ready are %v", got)
	}
	if got := r.Ready(now, 0); got == nil || len(got) > 0 {
		t.Errorf("none is %v, and not an empty list", got)
	}
}

func TestStart(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{{ID: "a/create", Node: "a", Verb: plan.Create}, {ID: "barrier", Verb: plan.Barrier, After: []int{0}}}, Unchanged: []string{"b"}}
	r := run.Run{State: run.StatePending}
	r.Start(p, map[string]string{"a": "digest"})
	if r.State != run.StateRunning || r.Unchanged != len(p.Unchanged) || len(r.Steps) != 2 {
		t.Errorf("got %+v", r)
	}
	if s := r.Step("barrier"); s == nil || s.Number != 1 || s.Status != run.Pending || s.Spec != "" || r.Step("a/create").Spec != "digest" {
		t.Errorf("got %+v", r.Steps)
	}
	if r.Step("b/create") != nil {
		t.Error("there is a step that is not in the plan")
	}
}

func TestStates(t *testing.T) {
	ends := []run.State{run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateSuperseded, run.StateRefused}
	for _, s := range []run.State{"", run.StatePending, run.StateRunning, run.StateReady, run.StateWatch, run.StatePoll, run.StateFencedOff, run.StateWaiting} {
		if s.Over() || slices.Contains(ends, s) {
			t.Errorf("%s is over", s)
		}
	}
	for _, s := range ends {
		if !s.Over() {
			t.Errorf("%s is not over", s)
		}
	}
	for status, over := range map[run.Status]bool{"": false, run.Pending: false, run.Running: false, run.Done: true, run.Failed: true, run.Skipped: true} {
		if (run.Step{Status: status}).Over() != over {
			t.Errorf("a step that is %q: over %t", status, !over)
		}
	}
}

// However steps end, a run ends: every step is over, what is skipped has a cause
// that is there, nothing is ready that comes after what is not done, and never do more
// steps run than the limits allow.
func TestAnyRunEnds(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 1 + rng.IntN(12)
		r := &run.Run{Command: run.Continue, State: run.StateRunning}
		for i := range n {
			s := run.Step{Step: plan.Step{ID: fmt.Sprint(i), Node: fmt.Sprintf("%c%d", 'a'+rng.IntN(2), i)}, Number: i, Status: run.Pending}
			s.Expected = plan.Seconds(rng.IntN(100))
			for j := range i {
				if rng.IntN(4) == 0 {
					s.After = append(s.After, j)
				}
			}
			r.Steps = append(r.Steps, s)
		}
		if rng.IntN(2) == 0 {
			r.MaxParallel = []project.Limit{{Most: 1 + rng.IntN(4)}, {Prefix: "b", Most: 1 + rng.IntN(2)}}
		}
		clock, cancelAt := now, rng.IntN(4*n)
		for turn := 0; !r.Next(clock).Over(); turn++ {
			if turn > 10*n {
				t.Fatalf("seed %d: it never ends: %+v", seed, r.Steps)
			}
			if turn == cancelAt {
				r.Command = run.Cancel
			}
			for _, k := range r.Ready(clock, 1+rng.IntN(3)) {
				for _, a := range r.Steps[k].After {
					if r.Steps[a].Status != run.Done {
						t.Fatalf("seed %d: %d is ready before %d is done", seed, k, a)
					}
				}
				r.Steps[k].Status, r.Steps[k].Due = run.Running, clock.Add(time.Duration(rng.IntN(9))*time.Second)
			}
			for _, l := range r.MaxParallel {
				if running := runningWithin(r, l.Prefix); running > l.Most {
					t.Fatalf("seed %d: %d stacks %q are changed, at most %d may be", seed, running, l.Prefix, l.Most)
				}
			}
			clock = clock.Add(5 * time.Second)
			for i := range r.Steps {
				if s := &r.Steps[i]; s.Status == run.Running && !s.DueAt().After(clock) {
					s.Status = []run.Status{run.Done, run.Done, run.Done, run.Failed}[rng.IntN(4)]
				}
			}
			r.Prune(clock)
		}
		for _, s := range r.Steps {
			c := s.Cause
			if !s.Over() || s.Status == run.Skipped && c.Kind != run.CauseCancelled && (c.Kind != run.CauseFailure || r.Step(c.Step).Status != run.Failed) {
				t.Fatalf("seed %d: %+v", seed, s)
			}
		}
	}
}

// runningWithin counts the running steps of stacks whose names begin with a prefix.
func runningWithin(r *run.Run, prefix string) int {
	n := 0
	for _, s := range r.Steps {
		if s.Status == run.Running && strings.HasPrefix(s.Node, prefix) {
			n++
		}
	}
	return n
}

// large is a run of n steps, 40 wide, half of them done.
func large(b *testing.B, n int) *run.Run {
	var words []string
	for i := range n {
		word := fmt.Sprintf("s%d", i)
		if i >= 40 {
			word += fmt.Sprintf("<s%d,s%d", i-40, i-40+1-i%40/39)
		}
		if i < n/2 {
			word += ":done"
		}
		words = append(words, word)
	}
	return parse(b, strings.Join(words, " "))
}

func BenchmarkRun(b *testing.B) {
	r := large(b, 10_000)
	for name, do := range map[string]func(){
		"Ready":    func() { r.Ready(now, 40) },
		"Prune":    func() { r.Prune(now) },
		"Standing": func() { r.Next(now) },
		"Next":     func() { r.NextPoll(now) },
		"Forecast": func() { r.Forecast(now) },
	} {
		b.Run(name+" of 10000", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// A failed step leaves its stack broken unless it started nothing, or the stack is
// whole, rolled back or gone.
func TestLeftBroken(t *testing.T) {
	for want, result := range map[string]plan.Result{
		"unknown":          {},
		"dead":             {Status: "ROLLBACK_COMPLETE"},
		"stuck":            {Status: "UPDATE_ROLLBACK_FAILED"},
		"not deleted":      {Status: "DELETE_FAILED"},
		"half updated":     {Status: "UPDATE_FAILED"},
		"a new status":     {Status: "UNHEARD_OF"},
		"-nothing started": {NothingStarted: true, Status: "ROLLBACK_COMPLETE"},
		"-rolled back":     {Status: "UPDATE_ROLLBACK_COMPLETE"},
		"-gone":            plan.ResultOf(plan.Live{}),
		"-deleted":         {Status: "DELETE_COMPLETE"},
		"-as it was":       {Status: "CREATE_COMPLETE"},
		"-being tidied":    {Status: "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"},
	} {
		r := parse(t, "a:failed b:done c:skipped")
		r.Steps[0].Result = result
		nodes, known := r.LeftBroken()
		got := strings.Join(nodes, " ")
		if clean := strings.HasPrefix(want, "-"); clean != (got == "") || !clean && got != "a" || !known {
			t.Errorf("%s: left broken: %q, %t", want, got, known)
		}
	}
	started := run.Run{Started: now}
	if nodes, known := started.LeftBroken(); len(nodes) > 0 || known {
		t.Errorf("a run that was loaded without its steps: %q, %t", nodes, known)
	}
	if nodes, known := new(run.Run).LeftBroken(); len(nodes) > 0 || !known {
		t.Errorf("a run without a plan: %q, %t", nodes, known)
	}
}

// A run that a user has continued starts nothing before the policies are checked, and a check does not take back a
// command that was given meanwhile.
func TestContinuedRunIsChecked(t *testing.T) {
	r := parse(t, "a:done b<a")
	give := func(c run.GivenCommand) error { return r.Give(c) }
	want := func(unchecked bool, ready int) {
		t.Helper()
		if got := len(r.Ready(now, 9)); r.Unchecked() != unchecked || got != ready {
			t.Errorf("unchecked: %v, %d steps are ready, want %d", r.Unchecked(), got, ready)
		}
	}
	want(false, 1)
	checked := run.GivenCommand{ID: "check", Command: run.Continue, Checked: true}
	for _, c := range []run.GivenCommand{{Command: run.Pause}, {Command: run.Continue}} {
		if err := give(c); err != nil {
			t.Fatal(err)
		}
	}
	want(true, 0)
	if got := r.Next(now); got != run.StateWatch {
		t.Errorf("it is %s, and waits for nobody", got)
	}
	if err := give(checked); err != nil {
		t.Fatal(err)
	}
	want(false, 1)
	for _, c := range []run.GivenCommand{{Command: run.Continue}, {Command: run.Pause}} {
		if err := give(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := give(checked); !fault.Is(err, fault.Refused) || r.Command != run.Pause {
		t.Errorf("the run has the command %s after a check that was late (%v)", r.Command, err)
	}
	want(false, 0)
}
