package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/term"
)

// status shows how a run stands, or follows it.
func status(ctx context.Context, c *call) (int, error) {
	enter := c.look
	if c.flags.follow {
		enter = c.open
	}
	s, err := enter(ctx)
	if err != nil {
		return exitFailed, err
	}
	return s.leave(ctx, func() (int, error) {
		id, err := s.chosen(ctx)
		if err != nil {
			return exitFailed, err
		}
		if c.flags.follow {
			r, err := s.follow(ctx, watch{run: id}, c.view())
			if errors.Is(err, errInterrupted) {
				return s.detach(ctx, id)
			}
			return exit(r.State), err
		}
		r, err := s.load(ctx, id)
		if err != nil {
			return exitFailed, err
		}
		if r.State == run.Queued {
			if line := s.queued(ctx, r); line != "" {
				fmt.Fprintln(c.err, line)
			}
		}
		return exitOK, c.picture(r)
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
	for _, r := range runs {
		if holds(r) {
			fmt.Fprintf(s.call.err, "%s is locked by run %s (%s, %s)\n", r.Project, r.ID, r.Operation, r.State)
		}
	}
	return runs[0].ID, nil
}

// holds reports whether a run is the one that may write to its project.
func holds(r run.Run) bool {
	return r.Operation != "plan" && (r.State == run.Going || r.State == run.Parked)
}

// runs lists the runs of the projects that are asked for, newest first.
func (s *session) runs(ctx context.Context) ([]run.Run, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var all []run.Run
	for _, p := range projects {
		runs, err := s.book.List(ctx, p, 0)
		if err != nil {
			return nil, fmt.Errorf("list the runs of %s: %w", p, err)
		}
		all = append(all, runs...)
	}
	slices.SortStableFunc(all, func(a, b run.Run) int { return cmp.Or(b.Asked.Compare(a.Asked), strings.Compare(a.ID, b.ID)) })
	return all, nil
}

// picture shows a run as it stands.
func (c *call) picture(r run.Run) error {
	if c.flags.output == "json" {
		return json.NewEncoder(c.out).Encode(entire(r))
	}
	var lines []string
	next := func(verb, id string) string { return c.spell(verb, id) }
	if len(r.Steps) > 0 && r.Operation != "plan" {
		_, colour := term.Able(c.getenv)
		width := 200
		if c.window != nil {
			width, _ = c.window()
		}
		lines = term.Tree{Run: r, Now: time.Now(), Colour: colour && c.window != nil}.Render(max(width, 40), term.MaxLines)
	}
	if settled(r) {
		lines = append(lines, term.Summary(r, next)...)
	} else if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%s of %s is %s (run %s)", r.Operation, r.Project, r.State, r.ID)}
	}
	_, err := fmt.Fprintln(c.out, strings.Join(lines, "\n"))
	return err
}

// A shownRun is a run as JSON.
type shownRun struct {
	Run       string      `json:"run"`
	Project   string      `json:"project"`
	Operation string      `json:"operation"`
	State     run.State   `json:"state"`
	Wish      run.Wish    `json:"wish"`
	Who       string      `json:"who"`
	Of        string      `json:"of,omitempty"`
	Asked     time.Time   `json:"asked"`
	Ended     time.Time   `json:"ended,omitzero"`
	Unchanged int         `json:"unchanged"`
	Messages  []string    `json:"messages,omitempty"`
	Steps     []shownStep `json:"steps,omitempty"`
}

// A shownStep is a step as JSON.
type shownStep struct {
	Step   string     `json:"step"`
	Stack  string     `json:"stack"`
	Verb   string     `json:"verb"`
	Status run.Status `json:"status"`
	Why    string     `json:"why"`
	After  []string   `json:"after"`
}

// entire is all of a run that is worth showing.
func entire(r run.Run) shownRun {
	shown := shownRun{
		Run: r.ID, Project: r.Project, Operation: r.Operation, State: r.State, Wish: r.Wish, Who: r.Who, Of: r.Of,
		Asked: r.Asked, Ended: r.Ended, Unchanged: r.Unchanged, Messages: r.Messages,
	}
	for _, s := range r.Steps {
		shown.Steps = append(shown.Steps, shownStep{s.ID, s.Node, string(s.Verb), s.Status, s.Why, append([]string{}, s.After...)})
	}
	return shown
}
