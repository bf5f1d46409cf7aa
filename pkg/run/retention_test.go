package run_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Old runs are those that ended long ago, are not among the newest, and that nothing names.
func TestOldRuns(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	k := run.Retention{OlderThan: 30 * day, Keep: 2}
	for what, c := range map[string]struct {
		change func(runs []run.Run, l *run.Lock)
		want   string
	}{
		"nothing names them":                 {func([]run.Run, *run.Lock) {}, "[r4 r5 r6 r7]"},
		"one has not ended":                  {func(runs []run.Run, _ *run.Lock) { runs[5].State = run.StateWaiting }, "[r4 r6 r7]"},
		"a retry of one stays":               {func(runs []run.Run, _ *run.Lock) { runs[0].Of = "r4" }, "[r5 r6 r7]"},
		"a retry of one goes":                {func(runs []run.Run, _ *run.Lock) { runs[4].Of = "r6" }, "[r4 r5 r6 r7]"},
		"one owns the lock":                  {func(_ []run.Run, l *run.Lock) { l.Owner.Run = "r4" }, "[r5 r6 r7]"},
		"one is queued":                      {func(_ []run.Run, l *run.Lock) { l.Waiting = []run.Writer{{Run: "r6"}} }, "[r4 r5 r7]"},
		"one was attempted last":             {func(_ []run.Run, l *run.Lock) { l.LastAttempted.Run = "r4" }, "[r5 r6 r7]"},
		"one was cancelled":                  {func(_ []run.Run, l *run.Lock) { l.CancelledBy = "r7" }, "[r4 r5 r6]"},
		"one has moved resources":            {func(_ []run.Run, l *run.Lock) { l.Moved = []string{"r5"} }, "[r4 r6 r7]"},
		"two have deployed what is deployed": {func(_ []run.Run, l *run.Lock) { l.LastSuccessful = run.Source{Key: "old"} }, "[r4 r5 r7]"},
		"one is a saved plan":                {func(runs []run.Run, _ *run.Lock) { runs[4].Operation, runs[4].Changes = "plan", "digest" }, "[r5 r6 r7]"},
		"one has an approved plan":           {func(runs []run.Run, _ *run.Lock) { runs[4].Changes = "digest" }, "[r4 r5 r6 r7]"},
	} {
		var runs []run.Run
		for n := range 8 {
			r := run.Run{Request: run.Request{ID: fmt.Sprint("r", n), Operation: "deploy", Source: run.Source{Key: fmt.Sprint("k", n)}}, State: run.StateSucceeded, Ended: now.Add(-time.Duration(n) * 9 * day)}
			if n > 5 {
				r.Source.Key = "old"
			}
			runs = append(runs, r)
		}
		var l run.Lock
		c.change(runs, &l)
		var got []string
		for _, r := range k.Old(runs, l, map[string]plan.Record{"a": {Run: "r3"}}, now) {
			got = append(got, r.ID)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", what, got, c.want)
		}
	}
	runs := []run.Run{{Request: run.Request{ID: "a"}, State: run.StateSucceeded}, {Request: run.Request{ID: "b"}, State: run.StateSucceeded}, {Request: run.Request{ID: "c"}, State: run.StateSucceeded}}
	for _, r := range []plan.Record{{Run: "c"}, {Drift: &plan.Drift{Run: "c"}}} {
		if old := k.Old(runs, run.Lock{}, map[string]plan.Record{"x": r}, now); len(old) != 0 {
			t.Errorf("a record names the run, and %v is old", old)
		}
	}
}
