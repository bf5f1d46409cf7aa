package wire

import (
	"context"
	"errors"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Start handles the events of four sources. For an upload, a request object or a
// schedule it starts or controls a run. For a failed execution it restarts the
// execution's run. For the sweep's timer it restarts every run that has no
// execution though it should have one. A schedule that does not run on a day starts no run then. A change of the access file or of a policy goes to the audit log.
func (h *App) Start(ctx context.Context, e events.EventBridgeEvent) (struct{}, error) {
	switch {
	case trigger.IsSweep(e):
		return struct{}{}, h.sweep(ctx, e)
	case trigger.IsExecutionEvent(e):
		return struct{}{}, h.recover(ctx, e)
	case trigger.IsSettingsEvent(e):
		return struct{}{}, h.changed(ctx, e)
	}
	q, err := h.requested(ctx, e)
	if errors.Is(err, trigger.ErrSkipped) {
		h.log.LogAttrs(ctx, slog.LevelInfo, "skipped", slog.String("event", e.ID), slog.String("why", err.Error()))
		return struct{}{}, nil
	}
	if err == nil {
		err = h.engine.Start(ctx, q)
	}
	h.logResult(ctx, err, "start", slog.String("event", e.ID), slog.String("run", q.ID), slog.String("operation", q.Operation), slog.String("project", q.Project))
	return struct{}{}, unlessLate(err)
}

// requested returns the request of an upload, a request object or a schedule. One that is not
// allowed gets that as a problem, so that its run is refused and says so.
func (h *App) requested(ctx context.Context, e events.EventBridgeEvent) (run.Request, error) {
	read := trigger.ScheduleRequest
	if !trigger.IsScheduleCall(e) {
		read = func(e events.EventBridgeEvent) (run.Request, error) { return trigger.Request(ctx, e, h.bucket) }
	}
	q, err := read(e)
	if err != nil {
		return q, err
	}
	by := access.Principal{Account: q.Requester, Schedule: q.Schedule}
	allowed, err := h.allows(ctx, by, q.Role(), q.Project)
	if from := q.PromotedFrom(); allowed && err == nil && from != "" {
		allowed, err = h.allows(ctx, by, access.Reader, from)
	}
	if !allowed {
		q.Upload, q.Problems = false, append(q.Problems, "not allowed")
	}
	return q, err
}

// changed records that the access file or a policy of the installation was changed.
func (h *App) changed(ctx context.Context, e events.EventBridgeEvent) error {
	id, entry, err := trigger.Changed(ctx, e, h.bucket)
	if err == nil {
		err = h.table.RecordChange(ctx, id, entry)
	}
	h.logResult(ctx, err, "changed", slog.String("event", e.ID), slog.String("what", entry.What))
	return unlessLate(err)
}

// recover restarts the run of a failed execution.
func (h *App) recover(ctx context.Context, e events.EventBridgeEvent) error {
	d, err := trigger.FailedExecution(e)
	if err == nil {
		err = h.engine.Recover(ctx, d)
	}
	h.logResult(ctx, err, "recover", slog.String("event", e.ID), slog.String("run", d.Run), slog.Int("epoch", d.Epoch))
	return unlessLate(err)
}

// sweep restarts every run that has no execution though it should have one.
func (h *App) sweep(ctx context.Context, e events.EventBridgeEvent) error {
	err := h.engine.Sweep(ctx)
	h.logResult(ctx, err, "sweep", slog.String("event", e.ID))
	return unlessLate(err)
}

// StackEvent wakes the run whose stack has changed its status.
func (h *App) StackEvent(ctx context.Context, e events.EventBridgeEvent) (struct{}, error) {
	change, err := trigger.StackEvent(e)
	if err == nil {
		err = h.engine.StackEvent(ctx, change)
	}
	h.logResult(ctx, err, "event", slog.String("event", e.ID), slog.String("token", change.Token), slog.String("status", string(change.Status)))
	return struct{}{}, unlessLate(err)
}

// unlessLate returns err without the errors of kind Missing: those come from
// events about a run that no longer exists, and there is nothing left to do. Every
// other error is returned, so that Lambda delivers the event again and finally
// moves it to the dead-letter queue. That includes events that make no sense:
// their sender must be able to find them.
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

// logResult logs what a function did. It never logs the value of a parameter or an
// output.
func (h *App) logResult(ctx context.Context, err error, what string, attrs ...slog.Attr) {
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("kind", string(fault.KindOf(err))), slog.String("error", err.Error()))
	}
	h.log.LogAttrs(ctx, level, what, attrs...)
}

// Names lists the functions by the names that they have in AWS.
func Names() []string {
	return []string{"api", "execute-step", "notify", "plan", "stack-event", "start", "wait-status"}
}

// Functions returns the functions by name, as lambda.Start takes them. The function plan
// checks plans with c.
func (h *App) Functions(c Checker) map[string]any {
	return map[string]any{
		"api":          report(h.API),
		"start":        report(h.Start),
		"plan":         report(func(ctx context.Context, d engine.ExecutionInput) (engine.LoopState, error) { return h.plan(ctx, d, c) }),
		"execute-step": report(h.ExecuteStep),
		"wait-status":  report(h.WaitStatus),
		"stack-event":  report(h.StackEvent),
		"notify":       report(h.Notify),
	}
}
