package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/cli/term"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// status shows how a run stands, or follows it.
func status(ctx context.Context, c *call) (int, error) {
	enter := c.look
	if c.flags.follow {
		enter = c.open
	}
	s, err := enter(ctx)
	if err != nil {
		return ExitFailed, err
	}
	return s.leave(ctx, func() (int, error) {
		r, err := s.chosen(ctx, anyRun)
		if err != nil {
			return ExitFailed, err
		}
		if len(c.args) == 0 && !c.flags.quiet {
			if err := s.lines(ctx); err != nil {
				return ExitFailed, err
			}
		}
		if c.flags.follow {
			q, err := s.toTheEnd(ctx, watch{run: r.ID})
			if errors.Is(err, errInterrupted) {
				return s.detach(ctx, q.last(r.ID))
			}
			return q.exit(""), err
		}
		if c.flags.output == "json" {
			l, err := s.line(ctx, r.Project)
			if err != nil {
				return ExitFailed, err
			}
			shown := report.Of(r)
			shown.Lock = l
			return ExitOK, json.NewEncoder(c.Out).Encode(shown)
		}
		if r.State == run.StateQueued && len(c.args) > 0 { // else it has been said
			if line := s.queued(ctx, r); line != "" {
				fmt.Fprintln(c.Err, line)
			}
		}
		return ExitOK, c.picture(r)
	})
}

// lines says of each project that is asked for who holds its lock, and who waits.
func (s *session) lines(ctx context.Context) error {
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		l, err := s.line(ctx, p)
		if err != nil {
			return fmt.Errorf("read the lock of %s: %w", p, err)
		}
		if l != nil {
			tell(s.call, *l)
		}
	}
	return nil
}

// picture shows a run as it stands.
func (c *call) picture(r run.Run) error {
	var lines []string
	if len(r.Steps) > 0 && !plan.AllOperations().Of(r.Operation).Preview {
		_, colour := term.Able(c.Getenv)
		width := 200
		if c.Window != nil {
			width, _ = c.Window()
		}
		lines = term.Tree{Run: r, Now: time.Now(), Colour: colour && c.Window != nil}.Render(max(width, 40), term.MaxLines)
	}
	if settled(r) {
		lines = append(lines, term.Summary(r, c.spell)...)
	} else if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%s of %s is %s (run %s)", r.Operation, r.Project, r.State, r.ID)}
	}
	if r.Restarts > 0 && !r.State.Over() {
		lines = append(lines, fmt.Sprintf("its execution was restarted %s since a step last came to its end", times(r.Restarts)))
	}
	_, err := fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
