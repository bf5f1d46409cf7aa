package contract

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Calendar is an engine.Schedules whose schedules the contract can read.
type Calendar interface {
	engine.Schedules

	// Stored returns the stored schedules of a project by name, with only their
	// operation, expression and time zone.
	Stored(ctx context.Context, project string) (map[string]project.Schedule, error)

	// StoredAuthors returns the authors of the stored schedules of a project by name.
	StoredAuthors(ctx context.Context, project string) (map[string][]string, error)
}

// Schedules tests an implementation of engine.Schedules. open returns one without
// schedules.
func Schedules(t *testing.T, open func(*testing.T) Calendar) {
	for name, law := range map[string]func(diary){
		"new schedules are created": func(d diary) {
			d.arrange(shop, nightly, end)
			d.has(shop, nightly, end)
		},
		"the same schedules again change nothing": func(d diary) {
			d.arrange(shop, nightly, end)
			d.arrange(shop, nightly, end)
			d.has(shop, nightly, end)
		},
		"schedules that are removed are deleted": func(d diary) {
			d.arrange(shop, nightly, end)
			d.arrange(shop, end)
			d.has(shop, end)
			d.arrange(shop)
			d.has(shop)
			d.arrange(shop)
		},
		"schedules that changed are updated": func(d diary) {
			d.arrange(shop, nightly)
			other := nightly
			other.Operation, other.Expression, other.Every, other.Zone = "refresh", "rate(12 hours)", 12*time.Hour, "UTC"
			d.arrange(shop, other)
			d.has(shop, other)
			d.arrange(shop, nightly)
			d.has(shop, nightly)
			quiet := nightly
			quiet.Except = []project.Days{"2026-12-24/2027-01-01"}
			d.arrange(shop, quiet)
			d.has(shop, quiet)
			d.arrange(shop, nightly)
			d.has(shop, nightly)
		},
		"a schedule has the authors who have made it what it is": func(d diary) {
			d.by = []string{"bob"}
			d.arrange(shop, nightly)
			d.by = []string{"alice"}
			d.arrange(shop, nightly, end)
			d.made(shop, map[string][]string{"nightly": {"bob"}, "end": {"alice"}})
			other := nightly
			other.Operation = "destroy"
			d.arrange(shop, other, end)
			d.made(shop, map[string][]string{"nightly": {"alice"}, "end": {"alice"}})
		},
		"an unknown author of a schedule stays until somebody changes it": func(d diary) {
			d.by = []string{"", "carol"}
			d.arrange(shop, nightly)
			d.made(shop, map[string][]string{"nightly": {"", "carol"}})
			d.by = []string{"bob"}
			d.arrange(shop, nightly)
			d.made(shop, map[string][]string{"nightly": {"", "carol"}})
			other := nightly
			other.Zone = "UTC"
			d.arrange(shop, other)
			d.made(shop, map[string][]string{"nightly": {"bob"}})
		},
		"schedules of other projects do not change": func(d diary) {
			d.arrange(shop, nightly)
			d.arrange("shop@testing", end)
			d.arrange("shop-a@test", end)
			d.arrange("shop@tes")
			d.has(shop, nightly)
			d.arrange("shop@testing")
			d.has(shop, nightly)
			d.has("shop-a@test", end)
		},
		"a one-time schedule of the past is not created, and not deleted if it exists": func(d diary) {
			d.now = d.now.Add(-time.Hour)
			d.arrange(shop, nightly, end)
			d.now = end.Once
			d.arrange("shop-a@test", end, nightly)
			d.has("shop-a@test", nightly)
			d.arrange(shop, nightly, end)
			d.has(shop, nightly, end)
		},
		"a schedule that is moved to a past time is deleted": func(d diary) {
			d.arrange(shop, nightly, end)
			past := end
			past.Expression, past.Once = "at(2020-12-31T18:00:00)", time.Date(2020, 12, 31, 18, 0, 0, 0, time.UTC)
			d.arrange(shop, nightly, past)
			d.has(shop, nightly)
			d.arrange(shop, nightly, past)
			d.has(shop, nightly)
		},
	} {
		t.Run(name, func(t *testing.T) { law(diary{t, open(t), time.Now(), []string{"ann"}}) })
	}
}

// A named is a schedule and its name.
type named struct {
	name string
	project.Schedule
}

var (
	nightly = named{"nightly", project.Schedule{Operation: "deploy", Expression: "cron(0 3 * * ? *)", Zone: "Europe/Berlin"}}
	end     = named{"end", project.Schedule{Operation: "destroy", Expression: "at(2199-12-31T18:00:00)", Zone: "UTC", Once: time.Date(2199, 12, 31, 18, 0, 0, 0, time.UTC)}}
)

// A diary is a Calendar under test.
type diary struct {
	*testing.T
	Calendar
	now time.Time
	by  []string // the authors of deploys
}

// made checks the authors of the schedules of a project.
func (d diary) made(id string, want map[string][]string) {
	d.Helper()
	got, err := d.StoredAuthors(d.Context(), id)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		d.Errorf("authors of the schedules of %s (- want, + got), %v:\n%s", id, err, diff)
	}
}

func (d diary) arrange(id string, all ...named) {
	d.Helper()
	wanted := make(map[string]project.Schedule)
	for _, n := range all {
		wanted[n.name] = n.Schedule
	}
	if err := d.SetSchedules(d.Context(), id, wanted, d.by, d.now); err != nil {
		d.Fatal(err)
	}
}

func (d diary) has(id string, all ...named) {
	d.Helper()
	want := make(map[string]project.Schedule)
	for _, n := range all {
		want[n.name] = project.Schedule{Operation: n.Operation, Expression: n.Expression, Zone: n.Zone, Except: n.Except}
	}
	got, err := d.Stored(d.Context(), id)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		d.Errorf("schedules of %s (- want, + got), %v:\n%s", id, err, diff)
	}
}
