package wire

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdksecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/aws/secretsmanager"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/entry/page"
	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/download"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Notify delivers an event of a run to the destinations of the installation. If one has not got it, Lambda delivers the event again,
// and finally moves it to the dead-letter queue; the others do not get it again.
func (h *App) Notify(ctx context.Context, event json.RawMessage) (struct{}, error) {
	e, err := notify.ReadEvent(event)
	if err == nil {
		err = h.deliverer.Deliver(ctx, e)
	}
	h.logResult(ctx, err, "notify", slog.String("event", e.ID), slog.String("run", e.Run), slog.String("state", string(e.State)))
	return struct{}{}, err
}

// deliverer returns what delivers events.
func deliverer(cfg aws.Config, env Environment, table *dynamodb.Table, bucket *s3.Bucket, log *slog.Logger) *notify.Deliverer {
	if env.Servers == nil {
		env.Servers = servers{}
	}
	return &notify.Deliverer{
		Destinations: env.Notify,
		Deliveries:   deliveries{table},
		Secrets:      ownSecrets{sdksecretsmanager.NewFromConfig(cfg)},
		Servers:      env.Servers,
		Reports:      htmlReports{table, bucket, env.place()},
		Page:         env.Page,
		Now:          time.Now,
		Wait:         wait,
		Failed: func(ctx context.Context, d notify.Delivery, err error) {
			log.WarnContext(ctx, "an event was not delivered", "event", d.Event, "run", d.Run, "destination", d.Destination, "why", err.Error())
		},
	}
}

// wait returns after a time, or with an error when the context ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// deliveries are those in the table.
type deliveries struct{ *dynamodb.Table }

// Claim implements notify.Deliveries.
func (t deliveries) Claim(ctx context.Context, d notify.Delivery, until time.Time) (thread string, done bool, err error) {
	return t.ClaimDelivery(ctx, d.Run, d.Destination, d.Event, until)
}

// Delivered implements notify.Deliveries.
func (t deliveries) Delivered(ctx context.Context, d notify.Delivery, thread string) error {
	return t.Table.Delivered(ctx, d.Run, d.Destination, d.Event, thread)
}

// Release implements notify.Deliveries.
func (t deliveries) Release(ctx context.Context, d notify.Delivery) error {
	return t.ReleaseDelivery(ctx, d.Run, d.Destination, d.Event)
}

// ownSecrets are those of the account and region of the installation.
type ownSecrets struct{ *sdksecretsmanager.Client }

// Secret implements notify.Secrets.
func (s ownSecrets) Secret(ctx context.Context, arn string) ([]byte, error) {
	return secretsmanager.Value(ctx, s.Client, arn)
}

// htmlReports writes reports of the runs in a table into a bucket.
type htmlReports struct {
	table  *dynamodb.Table
	bucket *s3.Bucket
	place  string // of the installation
}

// reportWidth is how many cells a line of a plan has in a report.
const reportWidth = 120

// WriteReport implements notify.Reports.
func (h htmlReports) WriteReport(ctx context.Context, id string) error {
	r, err := h.table.Load(ctx, id)
	if fault.Is(err, fault.Missing) { // its lock was released because it could not be read
		return nil
	}
	if err != nil {
		return err
	}
	text, err := h.plan(ctx, r)
	if err != nil {
		return err
	}
	html, err := page.Report{Run: r, By: r.By(), Where: h.place, Plan: text, Now: time.Now()}.HTML()
	if err != nil {
		return fault.New(fault.Broken, "the report of run %s: %w", id, err)
	}
	return h.bucket.PutReport(ctx, r.Project, r.ID, html)
}

// plan is what the plan of a run changes, for people; "" if it has none.
func (h htmlReports) plan(ctx context.Context, r run.Run) (string, error) {
	text, err := reports.Changes(ctx, h.bucket, r)
	switch {
	case r.Changes == "" || fault.Is(err, fault.Missing):
		return "", nil
	case err != nil:
		return "", err
	}
	var c plan.Changes
	if err := json.Unmarshal(text, &c); err != nil {
		return "", fault.New(fault.Broken, "what the plan of run %s changes cannot be read: %w", r.ID, err)
	}
	return strings.Join(term.Plan(c, reportWidth, false), "\n"), nil
}

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 16 << 10

// servers are those of the Internet.
type servers struct{ download.Client }

// Post implements notify.Servers.
func (s servers) Post(ctx context.Context, url string, header map[string]string, body []byte) (notify.Answer, error) {
	all := make(http.Header)
	for name, value := range header {
		all.Set(name, value)
	}
	a, err := s.Client.Post(ctx, url, all, body, mostAnswer)
	switch {
	case errors.Is(err, download.ErrFinal):
		return notify.Answer{}, fault.As(fault.Refused, err)
	case err != nil:
		return notify.Answer{}, fault.As(fault.Unavailable, err)
	}
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		seconds = 0 // it is a date, or says nothing
	}
	return notify.Answer{Status: a.Status, RetryAfter: time.Duration(seconds) * time.Second, Body: a.Body}, nil
}
