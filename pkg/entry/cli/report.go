package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// writeReport prints a run as one file of HTML.
func writeReport(ctx context.Context, c *call) (int, error) {
	return c.aboutRun(ctx, func(s *session, r run.Run) error {
		text := ""
		switch plan, _, err := s.changesOf(ctx, r); {
		case err == nil:
			text = strings.Join(term.Plan(plan, reportWidth, false), "\n")
		case fault.Is(err, fault.Broken):
			text = err.Error()
		case !fault.Is(err, fault.Missing): // a run may have no plan
			return err
		}
		html, err := page.Report{Run: r, By: r.By(), Where: s.place(), Plan: text, Now: time.Now()}.HTML()
		if err == nil {
			_, err = c.Out.Write(html)
		}
		return err
	})
}

// reportWidth is how many cells a line of a plan has in a report.
const reportWidth = 120

// drawTimeline shows when the steps of a run were started and ended.
func drawTimeline(ctx context.Context, c *call) (int, error) {
	return c.aboutRun(ctx, func(_ *session, r run.Run) error {
		t := report.TimelineOf(r, time.Now())
		if c.flags.output == "json" {
			return json.NewEncoder(c.Out).Encode(t)
		}
		if len(t.Steps) == 0 && !c.flags.quiet {
			fmt.Fprintf(c.Err, "no step has started: %s\n", strings.Join(append([]string{described(r)}, r.Messages...), "; "))
		}
		d := t.Diagram()
		drawing := map[string]func() string{
			"text": func() string { return strings.Join(term.Timeline(d, c.width()), "\n") + "\n" }, "mermaid": d.Mermaid, "svg": d.SVG,
		}[c.flags.output]
		_, err := fmt.Fprint(c.Out, drawing())
		return err
	})
}

// aboutRun calls f with the run that the call names, or the newest one.
func (c *call) aboutRun(ctx context.Context, f func(*session, run.Run) error) (int, error) {
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		r, err := s.chosen(ctx, currentRun)
		if err == nil {
			err = f(s, r)
		}
		if err != nil {
			return ExitFailed, err
		}
		return ExitOK, nil
	})
}
