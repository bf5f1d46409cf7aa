package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// status shows a run, or follows it.
func status(ctx context.Context, c *call) (int, error) {
	enter := c.openReadOnly
	if c.flags.follow {
		enter = c.open
	}
	return c.in(ctx, enter, func(s *session) (int, error) {
		r, err := s.chosen(ctx, currentRun)
		if err != nil {
			return ExitFailed, err
		}
		var failed []report.Run
		var texts string
		if len(c.args) == 0 && !c.flags.quiet {
			if failed, texts, err = s.attention(ctx, r); err != nil {
				return ExitFailed, err
			}
		}
		if r.State == run.StateWaiting && texts != "" && !c.flags.follow && c.flags.output == "text" { // what waits for a person comes first
			if err := c.picture(r); err != nil {
				return ExitFailed, err
			}
			_, err := fmt.Fprint(c.Out, "\n"+strings.TrimSuffix(texts, "\n"))
			return ExitOK, err
		}
		if c.flags.output == "text" {
			if _, err := fmt.Fprint(c.Out, texts); err != nil {
				return ExitFailed, err
			}
		}
		if c.flags.follow {
			return s.watch(ctx, watch{run: r.ID})
		}
		if c.flags.output == "json" {
			l, err := report.QueueEntryOf(ctx, s.to, r.Project)
			if err != nil {
				return ExitFailed, err
			}
			shown := report.Of(r, time.Now())
			records, err := s.to.Records(ctx, r.Project)
			if err != nil {
				return ExitFailed, fmt.Errorf("read the records of %s: %w", r.Project, err)
			}
			shown.Lock, shown.Attention, shown.Suspended = l, failed, report.SuspendedOf(records)
			return ExitOK, json.NewEncoder(c.Out).Encode(shown)
		}
		if r.State == run.StateQueued && len(c.args) > 0 { // without RUN it was printed before
			if line := s.queued(ctx, r); line != "" {
				fmt.Fprintln(c.Err, line)
			}
		}
		if isPlan(r) && r.State == run.StateSucceeded {
			err := s.printPlan(ctx, r)
			if !fault.Is(err, fault.Missing, fault.Broken) {
				return ExitOK, err
			}
			fmt.Fprintln(c.Err, err)
		}
		return ExitOK, c.picture(r)
	})
}

// attention finds what needs attention in each selected project: the newest
// failed run that no later run has repaired, unless it is run shown. It returns these
// runs, and what to print about them. It prints the owner of the lock, the queue, and which stacks are suspended.
func (s *session) attention(ctx context.Context, shown run.Run) (failed []report.Run, texts string, err error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, p := range projects {
		runs, err := s.to.List(ctx, p, 0)
		if err != nil {
			return nil, "", fmt.Errorf("list the runs of %s: %w", p, err)
		}
		if f, ok := report.Unrepaired(runs); ok && f.ID != shown.ID {
			r, err := s.load(ctx, f.ID)
			if err != nil {
				return nil, "", err
			}
			failed = append(failed, report.Of(r, time.Now()))
			texts += "needs attention: " + strings.Join(term.Summary(r, s.call.next, s.call.width()), "\n") + "\n\n"
		}
		if r, ok := report.Promoting(runs); ok && r.ID != shown.ID {
			texts += s.promoting(r)
		}
		l, err := report.QueueEntryOf(ctx, s.to, p)
		if err != nil {
			return nil, "", fmt.Errorf("read the lock of %s: %w", p, err)
		}
		if l != nil {
			printQueue(s.call, *l)
		}
		records, err := s.to.Records(ctx, p)
		if err != nil {
			return nil, "", fmt.Errorf("read the records of %s: %w", p, err)
		}
		if x := report.SuspendedOf(records); x != nil {
			fmt.Fprintf(s.call.Err, "%s is suspended since %s: %s\n", p, x.Since.Local().Format(time.DateTime), strings.Join(x.Stacks, ", ")+saving(*x))
		}
	}
	return failed, texts, nil
}

// saving says what a suspension saves an hour, as far as that is known.
func saving(s report.Suspended) string {
	switch unknown := term.Plural(s.Unpriced, "resource") + " whose price is not known"; {
	case s.Hourly == 0 && s.Unpriced == 0:
		return ""
	case s.Hourly == 0:
		return "; what this saves is not known"
	case s.Unpriced > 0:
		return fmt.Sprintf("; this saves about %s, an estimate without %s", price.PerHour(s.Hourly.Dollars()), unknown)
	}
	return fmt.Sprintf("; this saves about %s, an estimate", price.PerHour(s.Hourly.Dollars()))
}

// promoting says where the promotion stands that follows the deploy of another environment: when it begins, or why it was refused.
func (s *session) promoting(r run.Run) string {
	if r.State.Over() {
		return "needs attention: " + strings.Join(term.Summary(r, s.call.next, s.call.width()), "\n") + "\n\n"
	}
	return fmt.Sprintf("run %s promotes run %s of %s to %s at %s, if nothing else is deployed there until then and its alarms are OK; to stop it: %s\n\n",
		r.ID, r.Follows, r.PromotedFrom(), r.Project, r.NotBefore.Local().Format(time.DateTime), s.call.commandLine("cancel", r.ID))
}

// picture prints a run: the tree of its steps, and its summary.
func (c *call) picture(r run.Run) error {
	var lines []string
	if len(r.Steps) > 0 && !isPlan(r) {
		_, colour := term.Able(c.Getenv)
		width := 200
		if c.Window != nil {
			width, _ = c.Window()
		}
		now := time.Now()
		forecast, _ := r.Forecast(now)
		t := term.Tree{Run: r, Now: now, Colour: colour && c.Window != nil, Forecast: forecast, Targets: c.flags.targets}
		if !finished(r) { // the summary below has the commands
			t.Next = c.next
		}
		lines = t.Render(max(width, 40), term.MaxLines)
	}
	if c.command.name == "cost" && r.Operation == c.command.operation {
		r.Operation = c.command.name // as the user has called it
	}
	if finished(r) {
		lines = append(lines, term.Summary(r, c.next, c.width())...)
	} else if r.Soaks(time.Now()) {
		lines = []string{fmt.Sprintf("%s of %s begins at %s (run %s)", plan.CommandOf(r.Operation), r.Project, r.NotBefore.Local().Format(time.DateTime), r.ID)}
	} else if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%s of %s is %s (run %s)", plan.CommandOf(r.Operation), r.Project, r.State, r.ID)}
	}
	if r.Restarts > 0 && !r.State.Over() {
		lines = append(lines, fmt.Sprintf("its execution was restarted %s since a step last finished", times(r.Restarts)))
	}
	_, err := fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

// times returns "once", or "3 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// printQueue prints the owner of a lock and the queue.
func printQueue(c *call, l report.QueueEntry) {
	o := l.Owner
	fmt.Fprintf(c.Err, "%s is locked by run %s (%s, %s) of %s: %s\n", l.Project, o.Run, o.Operation, o.State, cmp.Or(o.By(), "somebody"), o.Does)
	for i, p := range l.Waiting {
		fmt.Fprintf(c.Err, "  %d. run %s (%s) of %s waits since %s: %s\n",
			i+1, p.Run, p.Operation, cmp.Or(p.By(), "somebody"), p.Requested.Local().Format(time.TimeOnly), p.Does)
	}
}
