package wire

import (
	"context"
	"errors"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Start makes a run of what was uploaded, or a schedule asks for, or steers one; takes up the run whose
// execution went down; or, at its time, looks for all that nobody drives.
func (h *App) Start(ctx context.Context, e events.EventBridgeEvent) (struct{}, error) {
	switch {
	case trigger.Scheduled(e):
		return struct{}{}, h.sweep(ctx, e)
	case trigger.Execution(e):
		return struct{}{}, h.recover(ctx, e)
	}
	q, err := h.requested(ctx, e)
	if err == nil {
		err = h.engine.Start(ctx, q)
	}
	h.note(ctx, err, "start", slog.String("event", e.ID), slog.String("run", q.ID), slog.String("operation", q.Operation), slog.String("project", q.Project))
	return struct{}{}, unlessLate(err)
}

// requested is what an upload, a request or a schedule asks for.
func (h *App) requested(ctx context.Context, e events.EventBridgeEvent) (engine.Request, error) {
	if trigger.Call(e) {
		return trigger.Called(e)
	}
	return trigger.Request(ctx, e, h.bucket)
}

// recover takes up the run whose execution went down.
func (h *App) recover(ctx context.Context, e events.EventBridgeEvent) error {
	d, err := trigger.Failed(e)
	if err == nil {
		err = h.engine.Recover(ctx, d)
	}
	h.note(ctx, err, "recover", slog.String("event", e.ID), slog.String("run", d.Run), slog.Int("epoch", d.Epoch))
	return unlessLate(err)
}

// sweep takes up every run that nobody drives, though somebody should.
func (h *App) sweep(ctx context.Context, e events.EventBridgeEvent) error {
	err := h.engine.Sweep(ctx)
	h.note(ctx, err, "sweep", slog.String("event", e.ID))
	return unlessLate(err)
}

// StackEvent wakes the run that a change of a stack's status is about.
func (h *App) StackEvent(ctx context.Context, e events.EventBridgeEvent) (struct{}, error) {
	heard, err := trigger.StackEvent(e)
	if err == nil {
		err = h.engine.StackEvent(ctx, heard)
	}
	h.note(ctx, err, "event", slog.String("event", e.ID), slog.String("token", heard.Token), slog.String("status", string(heard.Status)))
	return struct{}{}, unlessLate(err)
}

// unlessLate is err, unless the event that led to it is about a run that is not
// there any more: that is logged, and all is done. Whatever else goes wrong is
// returned, so that the event is delivered again, and in the end is a dead letter:
// also one that makes no sense, though it makes no more of it the next time, for
// somebody has sent it and is to hear of it. Of many that are joined, those that
// are late are left out.
func unlessLate(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var left []error
		for _, e := range many.Unwrap() {
			left = append(left, unlessLate(e))
		}
		return errors.Join(left...)
	}
	if fault.Is(err, fault.Missing) {
		return nil
	}
	return err
}

// note logs what a function did, never a value of a parameter or an output.
func (h *App) note(ctx context.Context, err error, what string, attrs ...slog.Attr) {
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("kind", string(fault.KindOf(err))), slog.String("error", err.Error()))
	}
	h.log.LogAttrs(ctx, level, what, attrs...)
}

// Names lists the functions, as they are called in AWS.
func Names() []string {
	return []string{"api", "execute-step", "plan", "stack-event", "start", "wait-status"}
}

// Functions are the functions by name, as lambda.Start takes them.
func (h *App) Functions() map[string]any {
	return map[string]any{
		"api":          fault.Report(h.API),
		"start":        fault.Report(h.Start),
		"plan":         fault.Report(h.Plan),
		"execute-step": fault.Report(h.ExecuteStep),
		"wait-status":  fault.Report(h.WaitStatus),
		"stack-event":  fault.Report(h.StackEvent),
	}
}
