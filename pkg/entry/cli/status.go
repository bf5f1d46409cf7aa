package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/cli/term"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
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
		id, err := s.chosen(ctx)
		if err != nil {
			return ExitFailed, err
		}
		if c.flags.follow {
			q, err := s.toTheEnd(ctx, watch{run: id})
			if errors.Is(err, errInterrupted) {
				return s.detach(ctx, q.last(id))
			}
			return q.exit(""), err
		}
		r, err := s.load(ctx, id)
		if err != nil {
			return ExitFailed, err
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

// chosen is the run that is asked for, or the newest one, before which it is
// said who holds the locks.
func (s *session) chosen(ctx context.Context) (string, error) {
	if len(s.call.args) > 0 {
		return s.call.args[0], nil
	}
	runs, err := s.runs(ctx)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", fault.New(fault.Missing, "there is no run yet: deploy a project")
	}
	return runs[0].ID, s.lines(ctx)
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

// runs lists the runs of the projects that are asked for, newest first.
func (s *session) runs(ctx context.Context) ([]run.Run, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var all []run.Run
	for _, p := range projects {
		runs, err := s.reader.List(ctx, p, 0)
		if err != nil {
			return nil, fmt.Errorf("list the runs of %s: %w", p, err)
		}
		all = append(all, runs...)
	}
	slices.SortStableFunc(all, func(a, b run.Run) int { return cmp.Or(b.Requested.Compare(a.Requested), strings.Compare(a.ID, b.ID)) })
	return all, nil
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
