package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// pick returns one of some values.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// anyTime is a time, or zero.
func anyTime(r *rand.Rand) time.Time {
	return pick(r, time.Time{}, time.Date(2026, 3, 1, 12, r.IntN(50), r.IntN(60), r.IntN(1e9), time.UTC))
}

// randomRun is a run in any state, with steps in any states, also in those that no run has.
func randomRun(r *rand.Rand) run.Run {
	texts := []string{"", "why <not> & \"so\"", "ann@laptop", "two\nlines ✓"}
	x := run.Run{
		Request: run.Request{
			ID: "abcdefghijklmnopqrst", Project: "shop@prod", Operation: pick(r, "deploy", "plan", "destroy", "rollback", "retry"), Of: pick(r, texts...),
			Source: run.Source{Key: pick(r, texts...), Version: pick(r, texts...)}, Who: pick(r, texts...), Claim: pick(r, texts...),
			Requester: pick(r, texts...), Upload: pick(r, true, false), Schedule: pick(r, texts...), Options: run.Options{Reason: pick(r, texts...)},
		},
		Command: pick(r, run.Continue, run.Pause, run.Cancel, run.CancelAndRollBack, run.Supersede), Forced: pick(r, true, false),
		SupersededBy: pick(r, texts...), Epoch: r.IntN(3), Generation: r.IntN(3), Restarts: r.IntN(2), Unchanged: r.IntN(3),
		State:     pick(r, run.StatePending, run.StateQueued, run.StateRunning, run.StateRunning, run.StateWaiting, run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateSuperseded, run.StateRefused),
		Messages:  pick(r, nil, texts[1:]),
		Requested: time.Date(2026, 3, 1, 11, 59, 0, 1, time.UTC), Started: anyTime(r), Deadline: anyTime(r), Ended: anyTime(r),
		MaxParallel: pick(r, nil, []project.Limit{{Prefix: "s1/", Most: 2}}), MaxFailures: pick(r, nil, []project.Limit{{Rollout: "net", Most: 2}}), Token: "secret",
	}
	for range r.IntN(3) {
		x.Commands = append(x.Commands, run.GivenCommand{Command: x.Command, Force: pick(r, true, false), Run: pick(r, texts...), Who: pick(r, texts...), Why: pick(r, texts...), At: anyTime(r)})
	}
	for n := range r.IntN(9) {
		node := fmt.Sprintf("s%d/db", n)
		s := run.Step{
			Step: plan.Step{
				ID: plan.StepID(node, plan.Update, ""), Node: node, Where: pick(r, "", "111111111111/eu-west-1"), Verb: pick(r, plan.Create, plan.Update, plan.Delete),
				Possible: pick(r, true, false), Timeout: pick(r, 0, project.Timeout(time.Hour)), Deployment: pick(r, "", project.Express), Rollout: pick(r, "", "net"), Tolerant: pick(r, true, false), Expected: plan.Seconds(r.IntN(300)),
			},
			Number: n, Status: pick(r, run.Pending, run.Running, run.Waiting, run.Done, run.Failed, run.Skipped), Attempt: r.IntN(3), Nonce: "secret",
			Receipt: plan.Receipt{Unchanged: pick(r, true, false)}, Why: pick(r, texts...), NotBefore: anyTime(r), Claimed: anyTime(r), Ended: anyTime(r),
			Answer: pick(r, run.Answer{}, run.Answer{ID: "x", Yes: true, Who: "ann", Why: "ok", At: x.Requested}),
			Cause:  pick(r, run.Cause{}, run.Cause{Kind: run.CauseFailure, Step: "s0/db/update"}),
			Result: plan.Result{NothingStarted: pick(r, true, false), Status: pick(r, "", plan.Status("UPDATE_COMPLETE"), "UPDATE_FAILED"), Findings: pick(r, nil, []plan.Finding{{Kind: "drift", Actual: "<b>"}})},
		}
		for before := range n {
			if pick(r, true, false, false) {
				s.After = append(s.After, before)
			}
		}
		x.Steps = append(x.Steps, s)
	}
	return x
}

// shown is all that commands show of a run.
func shown(t *testing.T, r run.Run) string {
	t.Helper()
	now := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	next := func(words ...string) string { return fmt.Sprint(words) }
	var b bytes.Buffer
	forecast, _ := r.Forecast(now)
	json, plain := term.NewJSON(&b), term.NewPlain(&b, next)
	for _, err := range []error{json.Show(r), json.End(r), plain.Show(r), plain.End(r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(&b, term.Summary(r, next, 0), term.Tree{Run: r, Now: now, Colour: true, Forecast: forecast}.Render(100, term.MaxLines))
	return b.String() + text(t, report.Of(r, now))
}

// text is v as JSON.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What commands show of a run is the same whether they read the run or its report, and the
// report has no secret.
func TestReportHasAllThatIsShown(t *testing.T) {
	for seed := range uint64(2000) {
		r := randomRun(rand.New(rand.NewPCG(seed, 1)))
		said := text(t, report.Of(r, time.Now()))
		var read report.Run
		if err := json.Unmarshal([]byte(said), &read); err != nil {
			t.Fatal(err)
		}
		again, err := report.RunOf(read)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(shown(t, r), shown(t, again)); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		if bytes.Contains([]byte(said), []byte("secret")) {
			t.Fatalf("seed %d: %s", seed, said)
		}
		if again.Generation != r.Generation || again.Source != r.Source || again.Epoch != r.Epoch || again.Upload != r.Upload {
			t.Fatalf("seed %d: %+v", seed, again.Request)
		}
	}
}

// A report whose steps are not in order is refused.
func TestReportOfUnknownSteps(t *testing.T) {
	_, err := report.RunOf(report.Run{Run: "a", Steps: []report.Step{{Step: "db/create", After: []string{"vpc/create"}}}})
	if err == nil || err.Error() != "run a: step db/create comes after vpc/create, which is not before it" {
		t.Errorf("%v", err)
	}
}
