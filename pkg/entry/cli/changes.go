package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// view is how the session shows a run: as its call does, except for a plan that is only
// shown.
func (s *session) view(ctx context.Context) view {
	v := s.call.view()
	if j, is := v.(*term.JSON); is && s.call.alters() {
		j.Where = s.place()
	}
	return planView{v, s, ctx}
}

// A planView shows the end of a plan as what the plan would change.
type planView struct {
	shown   view
	session *session
	ctx     context.Context
}

// Show is view. The steps of a plan that is only shown do not change.
func (v planView) Show(r run.Run) error {
	if isPlan(r) && v.session.call.flags.output != "text" {
		return nil
	}
	return v.shown.Show(r)
}

// Clear removes what the view has drawn, so that a line can be printed in its place.
func (v planView) Clear() error {
	if screen, ok := v.shown.(interface{ Clear() error }); ok {
		return screen.Clear()
	}
	return nil
}

// End is view.
func (v planView) End(r run.Run) error {
	if !isPlan(r) || r.State != run.StateSucceeded {
		return v.shown.End(r)
	}
	if err := v.Clear(); err != nil {
		return err
	}
	return v.session.printPlan(v.ctx, r)
}

// isPlan reports whether the plan of r is only shown.
func isPlan(r run.Run) bool { return plan.IsPreview(r.Operation) }

// changesOf returns what the plan of a run would change, and the same as JSON.
func (s *session) changesOf(ctx context.Context, r run.Run) (plan.Changes, []byte, error) {
	var c plan.Changes
	text, err := s.to.Changes(ctx, r)
	if err != nil {
		return c, nil, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, nil, fault.New(fault.Broken, "what the plan of run %s changes cannot be read: %w", r.ID, err)
	}
	return c, text, nil
}

// printPlan prints what the plan of a run would change.
func (s *session) printPlan(ctx context.Context, r run.Run) error {
	c, text, err := s.changesOf(ctx, r)
	if err != nil {
		return err
	}
	if show := s.call.command.shows; show != nil {
		return show(s, ctx, c)
	}
	s.changes, s.denied = c.Differs(), len(plan.Denials(c.Policies)) > 0
	call := s.call
	if call.flags.targets {
		c.Targets = nil
	}
	if call.flags.out != "" {
		if err := call.savePlan(r); err != nil {
			return err
		}
	}
	switch call.flags.output {
	case "json":
		_, err = fmt.Fprintln(call.Out, string(text))
	case "markdown":
		_, err = fmt.Fprint(call.Out, term.Markdown(c))
	default:
		_, colour := term.Able(call.Getenv)
		_, err = fmt.Fprintln(call.Out, strings.Join(term.Plan(c, call.width(), colour && call.Window != nil), "\n"))
	}
	return err
}
