package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A played installation takes answers from the bucket, and has a run with the given states, one after the other.
type played struct {
	installation
	states   []run.Run
	answered []string // the steps that were answered
}

// Follow is installation.
func (p *played) Follow(_ context.Context, id string) (run.Run, error) {
	r := p.states[0]
	if r.ID != id {
		return run.Run{}, fault.New(fault.Missing, "no such run")
	}
	if len(p.states) > 1 {
		p.states = p.states[1:]
	}
	return r, nil
}

// Command is installation.
func (p *played) Command(_ context.Context, q run.Request) (string, error) {
	p.answered = append(p.answered, q.Step)
	return "answer to " + q.Step, nil
}

// asking is a run that waits for approval of each stack. Those that were answered have been rejected.
func asking(state run.State, generation int, answered ...string) run.Run {
	r := run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy"}, State: state, Command: run.Continue, Digest: "abc",
		Generation: generation, ObservedGeneration: generation,
	}
	for n, stack := range []string{"db", "web"} {
		r.Steps = append(r.Steps, run.Step{
			Step:   plan.Step{ID: stack + "/approve", Node: stack, Verb: plan.Approve, Approval: &project.Approval{Approvals: 1}, Timeout: project.DefaultExpiry},
			Number: n, Status: run.Waiting, Claimed: time.Now(), Why: "waits for approval",
		})
		if strings.Contains(strings.Join(answered, " "), stack) {
			r.Steps[n].Status, r.Steps[n].Answer = run.Failed, run.Answer{ID: "answer to " + stack + "/approve"}
		}
	}
	return r
}

// A command that answers several stacks follows the run until each answer has taken effect: a run that has taken only the
// first one may wait again in between, and steps are read after the run: their answers may be newer than what the run says.
func TestAnswersAreFollowedUntilAllHaveTakenEffect(t *testing.T) {
	p := &played{states: []run.Run{
		asking(run.StateWaiting, 0), asking(run.StateWaiting, 0), asking(run.StateWaiting, 1, "db"), asking(run.StateWaiting, 1, "db", "web"),
		asking(run.StateWaiting, 2, "db"), // somebody else has given a command, too
		asking(run.StateFailed, 3, "db", "web"),
	}}
	c := &call{
		Shell: Shell{Out: io.Discard, Err: io.Discard, Self: "stackwright", Getenv: func(string) string { return "" }},
		args:  []string{"one"}, command: command{name: "reject"},
	}
	c.flags.output, c.flags.reason = "text", "not today"
	control, _ := run.ControlNamed("reject")
	s := &session{call: c, to: p, site: site{pace: time.Millisecond, timeout: time.Minute}}
	code, err := runCommand{which: askingRun, success: run.StateFailed, done: answered}.giveTo(t.Context(), s, control)
	if err != nil || code != ExitOK {
		t.Errorf("code %d, %v", code, err)
	}
	if got := strings.Join(p.answered, " "); got != "db/approve web/approve" {
		t.Errorf("it answers %s", got)
	}
}

// A command without RUN is about the run that works, not about those that wait in the queue behind it.
func TestOpenRunIsTheFirstOfItsQueue(t *testing.T) {
	of := func(p string, s run.State) run.Run {
		return run.Run{Request: run.Request{Project: p}, State: s}
	}
	for _, c := range []struct {
		name string
		runs []run.Run // the newest first
		want []int
	}{
		{"one that works, two in its queue", []run.Run{of("a@x", run.StateQueued), of("a@x", run.StateQueued), of("a@x", run.StateRunning)}, []int{2}},
		{"one that waits for a person", []run.Run{of("a@x", run.StateQueued), of("a@x", run.StateWaiting)}, []int{1}},
		{"the queue alone", []run.Run{of("a@x", run.StateQueued), of("a@x", run.StateFailed)}, []int{0}},
		{"another project", []run.Run{of("a@x", run.StateQueued), of("b@x", run.StateRunning)}, []int{0, 1}},
	} {
		var got []int
		for i := range c.runs {
			if first(c.runs, i) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
