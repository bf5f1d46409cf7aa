package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// rollOut makes the stacks with an @ part of the rollout of the stack before it.
func rollOut(r *run.Run) *run.Run {
	for i := range r.Steps {
		if stack, _, several := strings.Cut(r.Steps[i].Node, "@"); several {
			r.Steps[i].Rollout = stack
		}
	}
	return r
}

// When more stacks of a limit have failed than it allows, none of them is started any more. Others go on.
func TestMaxFailures(t *testing.T) {
	for name, c := range map[string]struct {
		steps  string
		limits []project.Limit
		ready  string
		pruned string
		state  run.State
	}{
		"no limit":                            {"a:failed b:failed c", nil, "[2]", "", run.StateReady},
		"as many as allowed":                  {"a:failed b c", []project.Limit{{Most: 1}}, "[1 2]", "", run.StateReady},
		"more":                                {"a:failed b:failed c d<c", []project.Limit{{Most: 1}}, "[]", "c max_failures b, d max_failures b", run.StateFailed},
		"what runs goes on":                   {"a:failed b:running c", []project.Limit{{}}, "[]", "c max_failures a", run.StateWatch},
		"dependents are skipped for theirs":   {"a:failed b<a c", []project.Limit{{}}, "[]", "b failed step a, c max_failures a", run.StateFailed},
		"and do not count":                    {"a:failed b<a:skipped c<a:skipped d", []project.Limit{{Most: 1}}, "[3]", "", run.StateReady},
		"of one rollout":                      {"n@a:failed n@b m@a", []project.Limit{{Rollout: "n"}}, "[2]", "n@b max_failures n@a", run.StateReady},
		"of another rollout":                  {"m@a:failed n@b", []project.Limit{{Rollout: "n"}}, "[1]", "", run.StateReady},
		"of a stack beside a rollout":         {"m:failed n@b", []project.Limit{{Rollout: "n"}}, "[1]", "", run.StateReady},
		"one that is skipped for another":     {"m:failed n@a<m n@b", []project.Limit{{Rollout: "n"}}, "[2]", "n@a failed step m, n@b max_failures m", run.StateFailed},
		"counts in its rollout":               {"m:failed n@a<m:skipped n@b", []project.Limit{{Rollout: "n"}}, "[]", "n@b max_failures m", run.StateFailed},
		"a person who has declined":           {"a:declined b", []project.Limit{{}}, "[]", "b max_failures a", run.StateFailed},
		"a person need not answer any more":   {"a:failed b:waiting", []project.Limit{{}}, "[]", "b max_failures a", run.StateFailed},
		"a stack with several steps is one":   {"a:failed x:failed y", []project.Limit{{Most: 1}}, "[2]", "", run.StateReady},
		"the first of several limits decides": {"n@a:failed n@b", []project.Limit{{}, {Rollout: "n"}}, "[]", "n@b max_failures n@a", run.StateFailed},
	} {
		r := rollOut(parse(t, c.steps))
		for i := range r.Steps {
			switch s := &r.Steps[i]; {
			case s.Node == "x":
				s.Node = "a"
			case s.Status == run.Skipped:
				s.Cause = run.Cause{Kind: run.CauseFailure, Step: r.Steps[s.After[0]].ID}
			}
		}
		r.MaxFailures = c.limits
		if got := fmt.Sprint(r.Ready(now, 9)); got != c.ready {
			t.Errorf("%s: ready are %s, want %s", name, got, c.ready)
		}
		var pruned []string
		for _, was := range r.Prune(now) {
			s := r.Steps[was.Number]
			pruned = append(pruned, fmt.Sprintf("%s %s %s", s.ID, s.Cause.Kind, s.Cause.Step))
			if s.Cause.Kind == run.CauseFailures && s.Why != "more stacks have failed than max_failures allows: after "+s.Cause.Step {
				t.Errorf("%s: %s is skipped because of %q", name, s.ID, s.Why)
			}
		}
		if got := strings.Join(pruned, ", "); got != c.pruned {
			t.Errorf("%s: skipped are %q, want %q", name, got, c.pruned)
		}
		if got := r.Next(now); got != c.state {
			t.Errorf("%s: the run is %s, want %s", name, got, c.state)
		}
	}
}

// A step for failures starts although more stacks have failed than a limit allows.
func TestMaxFailuresLetHooksForFailuresStart(t *testing.T) {
	r := parse(t, "a:failed b hook<a,b")
	r.Steps[2].OnFailure, r.MaxFailures = true, []project.Limit{{}}
	r.Prune(now)
	if got := fmt.Sprint(r.Ready(now, 9), " ", r.Steps[1].Status, " ", r.Steps[2].Status); got != "[2] skipped pending" {
		t.Errorf("got %s", got)
	}
}

// A step that tolerates failures starts when all before it are over and one of them is done. If none is, it is skipped.
func TestTolerantSteps(t *testing.T) {
	for steps, want := range map[string]string{
		"a:done b:running w<a,b": "[] pending", "a:done b:failed w<a,b": "[2] pending", "a:failed b:skipped w<a,b": "[] skipped", "a:done b:done w<a,b": "[2] pending",
		"a:failed b w<a,b": "[1] pending",
	} {
		r := parse(t, steps)
		r.Steps[2].Tolerant = true
		r.Prune(now)
		if got := fmt.Sprint(r.Ready(now, 9), " ", r.Steps[2].Status); got != want {
			t.Errorf("%s: got %s, want %s", steps, got, want)
		}
	}
}

// A step that only waits ends when its run starts no more steps: it is cancelled, it has timed out, or too many stacks have failed.
func TestIdleStepsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*run.Run)
		want   string
	}{
		"nothing":   {func(*run.Run) {}, "running"},
		"paused":    {func(r *run.Run) { r.Command = run.Pause }, "running"},
		"cancelled": {func(r *run.Run) { r.Command = run.Cancel }, "skipped cancelled"},
		"overdue":   {func(r *run.Run) { r.Deadline = now }, "skipped timeout"},
		"failures":  {func(r *run.Run) { r.MaxFailures, r.Steps[0].Status = []project.Limit{{}}, run.Failed }, "skipped max_failures"},
	} {
		r := parse(t, "a:done b:done w<b:running")
		r.Steps[2].Idle, r.Steps[2].Attempt = true, 1
		c.change(r)
		r.Prune(now)
		s := r.Steps[2]
		if got := strings.TrimSpace(fmt.Sprint(s.Status, " ", s.Cause.Kind)); got != c.want {
			t.Errorf("%s: it is %s, want %s", name, got, c.want)
		}
		if s.Over() && s.Acted() {
			t.Errorf("%s: it has changed something", name)
		}
	}
}

// The forecast of a run counts the time to bake, also after a failure that is tolerated.
func TestForecastOfBake(t *testing.T) {
	r := expect(parse(t, "a:done b:failed w<a,b c<w"), map[string]plan.Seconds{"w": 600, "c": 60})
	r.Steps[2].Tolerant = true
	if f, ok := r.Forecast(now); !ok || f.End.Sub(now) != 660*time.Second {
		t.Errorf("the end is %s away", f.End.Sub(now))
	}
}

// The end of a run says how far its rollouts have come, and what stopped them.
func TestEnding(t *testing.T) {
	for name, c := range map[string]struct {
		steps  string
		limits []project.Limit
		state  run.State
		want   string
	}{
		"it has succeeded": {"n@a:done n@b:done", []project.Limit{{Rollout: "n"}}, run.StateSucceeded, ""},
		"it is cancelled":  {"n@a:done n@b:skipped", []project.Limit{{Rollout: "n"}}, run.StateCancelled, ""},
		"another stack":    {"m:failed n@a:done n@b:done", []project.Limit{{Rollout: "n"}}, run.StateFailed, ""},
		"the rollout": {"n@a:done n@b:failed n@c:skipped", []project.Limit{{Rollout: "n"}}, run.StateFailed,
			"rollout of n: of 3 targets, 1 deployed, 1 failed (n@b), 1 not started (n@c); max_failures allows 0 to fail: a retry goes on with the rest, and a rollback goes back (stackwright rollback --to current)"},
		"tolerated": {"n@a:done n@b:failed n@c:done", []project.Limit{{Rollout: "n", Most: 1}}, run.StateFailed,
			"rollout of n: of 3 targets, 2 deployed, 1 failed (n@b): a retry goes on with the rest, and a rollback goes back (stackwright rollback --to current)"},
		"an alarm": {"n@a:done bake:failed n@b<bake:skipped", []project.Limit{{Rollout: "n"}}, run.StateFailed,
			"rollout of n: of 2 targets, 1 deployed, 1 not started (n@b): a retry goes on with the rest, and a rollback goes back (stackwright rollback --to current)"},
		"all":       {"a:failed b:failed c:skipped", []project.Limit{{Most: 1}}, run.StateFailed, "max_failures: 2 stacks failed (a, b), more than 1: no other was started after that"},
		"fewer":     {"a:failed b:done", []project.Limit{{Most: 1}}, run.StateFailed, ""},
		"unlimited": {"a:failed b:done", nil, run.StateFailed, ""},
	} {
		r := rollOut(parse(t, c.steps))
		for i := range r.Steps {
			switch s := &r.Steps[i]; {
			case s.ID == "bake":
				s.Node, s.Rollout = "", "n"
			case s.Status != run.Skipped:
				s.Attempt = 1
			}
		}
		r.MaxFailures = c.limits
		if got := strings.Join(r.Ending(c.state), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A stack is deployed, has failed, is in progress, was stopped between two steps, or was not started. Many stacks are counted and not named.
func TestStanding(t *testing.T) {
	r := rollOut(parse(t, "n@a:done n@b:failed n@c:running n@d:done n@e:skipped n@f m:done n@g:waiting"))
	r.Steps = append(r.Steps, r.Steps[4])
	r.Steps[8].ID, r.Steps[8].Node, r.Steps[8].Number = "n@d/hook", "n@d", 8
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status != run.Skipped && s.Status != run.Pending {
			s.Attempt = 1
		}
	}
	r.Steps[7].Approval = &project.Approval{}
	at := r.Standing(project.Limit{Rollout: "n"})
	if got := fmt.Sprint(at.Deployed, at.Failed, at.Started, at.Stopped, at.NotStarted); got != "[n@a] [n@b] [n@c] [n@d] [n@e n@f n@g]" {
		t.Errorf("got %s", got)
	}
	text := "n@x:failed"
	for i := range 12 {
		text += fmt.Sprintf(" n@%02d:skipped", i)
	}
	r = rollOut(parse(t, text))
	r.MaxFailures = []project.Limit{{Rollout: "n"}}
	if got := strings.Join(r.Ending(run.StateFailed), ""); !strings.Contains(got, "12 not started (n@00, n@01, n@02, n@03, n@04, n@05, n@06, n@07, n@08, n@09 and 2 more)") {
		t.Errorf("got %s", got)
	}
}

// A stack was changed before a step if one of its steps has changed it, whichever of them the step comes after.
func TestChangedBefore(t *testing.T) {
	for steps, want := range map[string]bool{"a:done b:done w<a": true, "a:skipped b:done w<a": false, "a:failed b:done w<a": true, "b:done w": false} {
		r := parse(t, steps)
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Status == run.Done || s.Status == run.Failed {
				s.Attempt = 1
			}
		}
		last := &r.Steps[len(r.Steps)-1]
		last.Node = ""
		if got := r.ChangedBefore(*last); got != want {
			t.Errorf("%s: %t", steps, got)
		}
		r.Steps[0].Receipt.Unchanged = true
		if r.ChangedBefore(*last) {
			t.Errorf("%s: an update that has found nothing to change counts", steps)
		}
	}
}
