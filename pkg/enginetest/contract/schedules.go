package contract

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Calendar is schedules that a test can read.
type Calendar interface {
	engine.Schedules

	// Kept returns the schedules of a project: their operations, expressions and
	// time zones.
	Kept(ctx context.Context, project string) (map[string]project.Schedule, error)
}

// Schedules tests schedules against the contract of engine.Schedules. open returns
// those of an installation that has none.
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
		},
		"projects are apart": func(d diary) {
			d.arrange(shop, nightly)
			d.arrange("shop@testing", end)
			d.arrange("shop-a@test", end)
			d.arrange("shop@tes")
			d.has(shop, nightly)
			d.arrange("shop@testing")
			d.has(shop, nightly)
			d.has("shop-a@test", end)
		},
		"what is past is not made, and not removed": func(d diary) {
			d.now = d.now.Add(-time.Hour)
			d.arrange(shop, nightly, end)
			d.now = end.Once
			d.arrange("shop-a@test", end, nightly)
			d.has("shop-a@test", nightly)
			d.arrange(shop, nightly, end)
			d.has(shop, nightly, end)
		},
		"what is put to a time that is past is gone": func(d diary) {
			d.arrange(shop, nightly, end)
			past := end
			past.Expression, past.Once = "at(2020-12-31T18:00:00)", time.Date(2020, 12, 31, 18, 0, 0, 0, time.UTC)
			d.arrange(shop, nightly, past)
			d.has(shop, nightly)
			d.arrange(shop, nightly, past)
			d.has(shop, nightly)
		},
	} {
		t.Run(name, func(t *testing.T) { law(diary{t, open(t), time.Now()}) })
	}
}

// A named schedule.
type named struct {
	name string
	project.Schedule
}

var (
	nightly = named{"nightly", project.Schedule{Operation: "deploy", Expression: "cron(0 3 * * ? *)", Zone: "Europe/Berlin"}}
	end     = named{"end", project.Schedule{Operation: "destroy", Expression: "at(2199-12-31T18:00:00)", Zone: "UTC", Once: time.Date(2199, 12, 31, 18, 0, 0, 0, time.UTC)}}
)

// A diary is schedules under test.
type diary struct {
	*testing.T
	Calendar
	now time.Time
}

func (d diary) arrange(id string, all ...named) {
	d.Helper()
	wanted := make(map[string]project.Schedule)
	for _, n := range all {
		wanted[n.name] = n.Schedule
	}
	if err := d.SetSchedules(d.Context(), id, wanted, d.now); err != nil {
		d.Fatal(err)
	}
}

func (d diary) has(id string, all ...named) {
	d.Helper()
	want := make(map[string]project.Schedule)
	for _, n := range all {
		want[n.name] = project.Schedule{Operation: n.Operation, Expression: n.Expression, Zone: n.Zone}
	}
	got, err := d.Kept(d.Context(), id)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		d.Errorf("of %s, %v:\n%s", id, err, diff)
	}
}
