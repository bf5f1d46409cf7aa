package cli

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

// A run whose executions die says so; one that is over has other things to say.
func TestStatusSaysHowOftenItWasRestarted(t *testing.T) {
	for want, r := range map[string]run.Run{
		"running (run abc)\nits execution was restarted once since a step last finished\n":    {State: run.StateRunning, Restarts: 1},
		"pending (run abc)\nits execution was restarted 3 times since a step last finished\n": {State: run.StatePending, Restarts: 3},
		"running (run abc)\n":           {State: run.StateRunning},
		"nothing was done\n  run abc\n": {State: run.StateSuperseded, Restarts: 3},
	} {
		var out strings.Builder
		c := &call{Shell: Shell{Out: &out, Getenv: func(string) string { return "" }}}
		r.ID, r.Project, r.Operation = "abc", "shop@prod", "deploy"
		if err := c.picture(r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("%q is not the end of %q", want, out.String())
		}
	}
}
