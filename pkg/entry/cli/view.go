package cli

import (
	"time"

	"github.com/stackwright/stackwright/pkg/entry/cli/term"
	"github.com/stackwright/stackwright/pkg/run"
)

// A view shows a run.
type view interface {
	Show(run.Run) error // its current state
	End(run.Run) error  // after it has ended, or while it waits for a person
}

// view is how this call shows a run: as JSON, as a tree on a terminal, else as
// lines.
func (c *call) view() view {
	if c.flags.quiet {
		return quietView{c.loud()}
	}
	return c.loud()
}

// A quietView shows only how a run ended.
type quietView struct{ view }

// Show is view.
func (quietView) Show(run.Run) error { return nil }

// loud is the view of a call that is not quiet.
func (c *call) loud() view {
	live, colour := term.Able(c.Getenv)
	switch {
	case c.flags.output == "json":
		return term.NewJSON(c.Out)
	case live && c.Window != nil:
		return &term.Live{Out: c.Out, Size: c.Window, Now: time.Now, Colour: colour, Next: c.spell}
	}
	return term.NewPlain(c.Out, c.spell)
}

// exit is the exit code for the state of a run.
func exit(s run.State) int {
	switch s {
	case run.StateSucceeded:
		return ExitOK
	case run.StateRefused:
		return ExitRefused
	case run.StateCancelled, run.StateSuperseded:
		return ExitStopped
	case run.StateWaiting:
		return ExitWaiting
	}
	return ExitFailed
}
