package trigger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// fired is the event of a schedule.
func fired(t testing.TB, at, detail string) events.EventBridgeEvent {
	t.Helper()
	text := `{"version":"0","id":"1","source":"stackwright.schedule","detail-type":"Stackwright Schedule","time":"` + at + `","detail":` + detail + `}`
	var e events.EventBridgeEvent
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

const (
	dev     = "arn:aws:iam::111122223333:role/dev"
	nightly = `{"project":"shop@prod","schedule":"nightly","operation":"deploy","authors":["` + dev + `"]}`
)

// What a schedule asks for is one request for each time that it comes up,
// however often that is reported.
func TestCalled(t *testing.T) {
	got, err := trigger.ScheduleRequest(fired(t, "2026-11-21T03:00:00Z", nightly))
	want := run.Request{
		ID: engine.RunID("schedule", "shop@prod", "nightly", "2026-11-21T03:00:00Z"), Project: "shop@prod", Operation: "deploy", Schedule: "nightly", Who: "schedule nightly", Subject: "schedule nightly",
		Authors: []string{dev},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	again, err := trigger.ScheduleRequest(fired(t, "2026-11-21T04:00:00+01:00", nightly))
	if err != nil || again.ID != got.ID {
		t.Errorf("the same event makes another request: %v", err)
	}
	for _, other := range []events.EventBridgeEvent{
		fired(t, "2026-11-22T03:00:00Z", nightly),
		fired(t, "2026-11-21T03:00:00Z", strings.Replace(nightly, "prod", "test", 1)),
		fired(t, "2026-11-21T03:00:00Z", strings.Replace(nightly, "nightly", "weekly", 1)),
	} {
		if q, err := trigger.ScheduleRequest(other); err != nil || q.ID == got.ID {
			t.Errorf("another one is the same: %s, %v", other.Detail, err)
		}
	}
}

// A schedule whose authors AWS does not say has an unknown author, and not none.
func TestCalledByUnknownAuthors(t *testing.T) {
	for _, authors := range []string{``, `,"authors":[]`, `,"authors":["", "` + dev + `"]`} {
		detail := `{"project":"shop@prod","schedule":"nightly","operation":"destroy"` + authors + `}`
		q, err := trigger.ScheduleRequest(fired(t, "2026-11-21T03:00:00Z", detail))
		if err != nil || !slices.Equal(q.Authors, []string{""}) {
			t.Errorf("%s: %q, %v", detail, q.Authors, err)
		}
	}
}

// On the days of its exception, in its time zone, a schedule requests nothing.
func TestCalledSkips(t *testing.T) {
	detail := strings.TrimSuffix(nightly, "}") + `,"except":{"time_zone":"Europe/Berlin","days":["2026-12-24/2026-12-26"]}}`
	for at, skips := range map[string]bool{"2026-12-23T22:30:00Z": false, "2026-12-23T23:30:00Z": true, "2026-12-26T12:00:00Z": true, "2026-12-27T12:00:00Z": false} {
		q, err := trigger.ScheduleRequest(fired(t, at, detail))
		if errors.Is(err, trigger.ErrSkipped) != skips || skips != (q.ID == "") || skips && !strings.HasPrefix(err.Error(), "schedule nightly of shop@prod, 2026-12-2") {
			t.Errorf("%s: %+v, %v", at, q, err)
		}
	}
	if _, err := trigger.ScheduleRequest(fired(t, "2026-12-24T12:00:00Z", strings.Replace(detail, "Europe/Berlin", "Nowhere", 1))); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// An event that makes no sense as a schedule's is refused.
func TestCalledRefuses(t *testing.T) {
	for detail, want := range map[string]string{
		`[]`: "the detail of this schedule call cannot be read",
		`{}`: `"" is not a project and environment`,
		`{"project":"shop","schedule":"nightly","operation":"deploy"}`:        `"shop" is not a project and environment`,
		`{"project":"shop@../x","schedule":"nightly","operation":"deploy"}`:   `"shop@../x" is not a project`,
		`{"project":"shop@prod","schedule":"a b","operation":"deploy"}`:       `"a b" is not the name of a schedule`,
		`{"project":"shop@prod","schedule":"nightly","operation":"unlock"}`:   `schedules cannot request the operation "unlock"`,
		`{"project":"shop@prod","schedule":"nightly","operation":"rollback"}`: `schedules cannot request the operation "rollback"`,
	} {
		if _, err := trigger.ScheduleRequest(fired(t, "2026-11-21T03:00:00Z", detail)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", detail, err, want)
		}
	}
	e := fired(t, "0001-01-01T00:00:00Z", nightly)
	if _, err := trigger.ScheduleRequest(e); !fault.Is(err, fault.Invalid) {
		t.Errorf("without a time: %v", err)
	}
	e = fired(t, "2026-11-21T03:00:00Z", nightly)
	e.DetailType = "Scheduled Event"
	if _, err := trigger.ScheduleRequest(e); !fault.Is(err, fault.Invalid) || !trigger.IsScheduleCall(e) || trigger.IsSweep(e) {
		t.Errorf("of another type: %v", err)
	}
}
