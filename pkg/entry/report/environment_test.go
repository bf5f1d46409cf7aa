package report_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// Where a promotion stands that follows another run is said until it has started, or until something was deployed after it was refused.
func TestPromoting(t *testing.T) {
	follows := func(s run.State) run.Run {
		return run.Run{Request: run.Request{ID: string(s), Operation: "promote", Follows: "a"}, State: s}
	}
	requested := func(s run.State) run.Run {
		return run.Run{Request: run.Request{ID: "by-hand", Operation: "promote"}, State: s}
	}
	for name, c := range map[string]struct {
		runs []run.Run
		want string
	}{
		"none":                       {nil, ""},
		"soaking":                    {[]run.Run{follows(run.StatePending)}, "pending"},
		"refused":                    {[]run.Run{{Request: run.Request{Operation: "refresh"}, State: run.StateSucceeded}, follows(run.StateRefused), follows(run.StateSucceeded)}, "refused"},
		"refused, promoted since":    {[]run.Run{requested(run.StateSucceeded), follows(run.StateRefused)}, ""},
		"refused, not promoted then": {[]run.Run{requested(run.StateRefused), follows(run.StateRefused)}, "refused"},
		"given up":                   {[]run.Run{follows(run.StateSuperseded), follows(run.StateSucceeded), follows(run.StateRefused)}, ""},
	} {
		if r, ok := report.Promoting(c.runs); r.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", name, r.ID, ok)
		}
	}
}
