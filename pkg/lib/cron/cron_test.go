package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/cron"
)

const minute = "2006-01-02 15:04 MST"

// What comes up after a time, three times on end, in a time zone.
func TestNext(t *testing.T) {
	for _, c := range []struct{ expression, zone, after, want string }{
		{"cron(0 3 * * ? *)", "", "2026-11-21 03:00 UTC", "2026-11-22 03:00 UTC, 2026-11-23 03:00 UTC, 2026-11-24 03:00 UTC"},
		{"cron(*/20 9-10 ? * MON-FRI *)", "", "2026-11-20 10:21 UTC", "2026-11-20 10:40 UTC, 2026-11-23 09:00 UTC, 2026-11-23 09:20 UTC"},
		{"cron(5/25 0 1 JAN,7 ? *)", "", "2026-11-21 00:00 UTC", "2027-01-01 00:05 UTC, 2027-01-01 00:30 UTC, 2027-01-01 00:55 UTC"},
		{"cron(0 12 L * ? *)", "", "2027-01-31 12:00 UTC", "2027-02-28 12:00 UTC, 2027-03-31 12:00 UTC, 2027-04-30 12:00 UTC"},
		{"cron(0 12 LW * ? *)", "", "2027-01-01 00:00 UTC", "2027-01-29 12:00 UTC, 2027-02-26 12:00 UTC, 2027-03-31 12:00 UTC"},
		{"cron(0 12 1W 8-10 ? 2026)", "", "2026-01-01 00:00 UTC", "2026-08-03 12:00 UTC, 2026-09-01 12:00 UTC, 2026-10-01 12:00 UTC"},
		{"cron(0 12 15W 2-8 ? 2026)", "", "2026-01-01 00:00 UTC", "2026-02-16 12:00 UTC, 2026-03-16 12:00 UTC, 2026-04-15 12:00 UTC"},
		{"cron(0 12 31W * ? 2026)", "", "2026-01-01 00:00 UTC", "2026-01-30 12:00 UTC, 2026-03-31 12:00 UTC, 2026-05-29 12:00 UTC"},
		{"cron(15 10 ? * 6L 2026-2027)", "", "2026-11-01 00:00 UTC", "2026-11-27 10:15 UTC, 2026-12-25 10:15 UTC, 2027-01-29 10:15 UTC"},
		{"cron(15 10 ? * fri#5 *)", "", "2026-11-01 00:00 UTC", "2027-01-29 10:15 UTC, 2027-04-30 10:15 UTC, 2027-07-30 10:15 UTC"},
		{"cron(0 0 ? * L *)", "", "2026-11-21 00:00 UTC", "2026-11-28 00:00 UTC, 2026-12-05 00:00 UTC, 2026-12-12 00:00 UTC"},
		{"cron(0 0 ? * 1 *)", "", "2026-11-21 00:00 UTC", "2026-11-22 00:00 UTC, 2026-11-29 00:00 UTC, 2026-12-06 00:00 UTC"},
		{"cron(0 0 29 2 ? *)", "", "2026-11-21 00:00 UTC", "2028-02-29 00:00 UTC, 2032-02-29 00:00 UTC, 2036-02-29 00:00 UTC"},
		{"cron(59 23 31 12 ? 2026/3)", "", "2026-11-21 00:00 UTC", "2026-12-31 23:59 UTC, 2029-12-31 23:59 UTC, 2032-12-31 23:59 UTC"},
		{"cron(0 0 1 1 ? 2199)", "", "2026-11-21 00:00 UTC", "2199-01-01 00:00 UTC, never, never"},
		{"cron(0 3 * * ? *)", "Europe/Berlin", "2026-11-21 01:59 UTC", "2026-11-21 03:00 CET, 2026-11-22 03:00 CET, 2026-11-23 03:00 CET"},
		// On 28 March 2027 the clocks in Berlin go from two to three, and on 31 October back.
		{"cron(30 2 * * ? *)", "Europe/Berlin", "2027-03-26 12:00 UTC", "2027-03-27 02:30 CET, 2027-03-29 02:30 CEST, 2027-03-30 02:30 CEST"},
		{"cron(30 2 * * ? *)", "Europe/Berlin", "2027-10-29 12:00 UTC", "2027-10-30 02:30 CEST, 2027-10-31 02:30 CET, 2027-11-01 02:30 CET"},
		{"cron(0 * * * ? *)", "Europe/Berlin", "2027-10-30 22:59 UTC", "2027-10-31 01:00 CEST, 2027-10-31 02:00 CET, 2027-10-31 03:00 CET"},
		{"rate(36 hours)", "", "2026-11-21 00:00 UTC", "2026-11-22 06:00 UTC, 2026-11-23 18:00 UTC, 2026-11-25 06:00 UTC"},
		{"rate(1 day)", "Europe/Berlin", "2027-03-27 11:00 UTC", "2027-03-28 05:00 CEST, 2027-03-29 05:00 CEST, 2027-03-30 05:00 CEST"},
		{"at(2026-12-31T18:00:00)", "America/New_York", "2026-11-21 00:00 UTC", "2026-12-31 18:00 EST, never, never"},
		{"at(2026-12-31T18:00:00)", "", "2026-12-31 18:00 UTC", "never, never, never"},
	} {
		e, err := cron.Parse(c.expression)
		zone, err2 := cron.Zone(c.zone)
		after, err3 := time.Parse(minute, c.after)
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(c.expression, err, err2, err3)
		}
		start := time.Date(2025, 12, 31, 18, 0, 0, 0, time.UTC)
		if e.Every() == 24*time.Hour {
			start = time.Date(2027, 3, 1, 3, 0, 0, 0, time.UTC)
		}
		var got []string
		for range 3 {
			next := e.Next(after, start, zone)
			if next.IsZero() {
				got = append(got, "never")
				continue
			}
			got, after = append(got, next.In(zone).Format(minute)), next
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s in %q after %s:\n got %s\nwant %s", c.expression, c.zone, c.after, all, c.want)
		}
	}
}

// Nothing comes up before its start, and a rate does so at its start.
func TestStart(t *testing.T) {
	now, start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"rate(2 days)": start, "cron(0 12 * * ? *)": start, "cron(0 11 * * ? *)": start.Add(23 * time.Hour),
		"at(2026-11-23T12:00:00)": start, "at(2026-11-22T12:00:00)": {},
	} {
		e, err := cron.Parse(text)
		if got := e.Next(now, start, time.UTC); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, want %s: %v", text, got, want, err)
		}
	}
}

// An expression is written as EventBridge Scheduler reads it.
func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"rate(1 days)": "rate(1 day)", "rate(2 hour)": "rate(2 hours)", "rate(90 minutes)": "rate(90 minutes)",
		"cron( 0  3 * * ?  *)": "cron(0 3 * * ? *)", "at(2026-12-31T18:00:00)": "at(2026-12-31T18:00:00)",
	} {
		if e, err := cron.Parse(text); err != nil || e.String() != want {
			t.Errorf("%s is written %s: %v", text, e, err)
		}
	}
}

// What is no expression is refused, with the field and what may stand there.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"0 3 * * ? *":               "write cron",
		"every(5 minutes)":          "write cron",
		"cron(0 3 * * ? *":          "write cron",
		"cron()":                    "0 fields found, but cron(…) has six",
		"cron(0 3 * * ?)":           "5 fields found, but cron(…) has six",
		"cron(0 0 3 * * ? *)":       "7 fields found, but cron(…) has six",
		"cron(0 3 * * * *)":         "one of day of the month and day of the week must be ?",
		"cron(0 3 ? * ? *)":         "must be ?",
		"cron(60 3 * * ? *)":        `minutes: "60" is none: write numbers from 0 to 59`,
		"cron(0 24 * * ? *)":        `hours: "24" is none`,
		"cron(0 3 32 * ? *)":        `day of the month: "32" is none`,
		"cron(0 3 0 * ? *)":         `day of the month: "0" is none`,
		"cron(0 3 32W * ? *)":       `day of the month: "32W" is none`,
		"cron(0 3 L,3 * ? *)":       `day of the month: "L" is none`,
		"cron(0 3 * 13 ? *)":        `month: "13" is none: write numbers from 1 to 12 or JAN to DEC`,
		"cron(0 3 ? * 0 *)":         `day of the week: "0" is none: write numbers from 1 to 7 or SUN to SAT`,
		"cron(0 3 ? * MON/2 *)":     `day of the week: "MON/2" is none`,
		"cron(0 3 ? * FRI-MON *)":   "day of the week: FRI-MON ends before it begins",
		"cron(0 3 ? * FRI#6 *)":     `day of the week: "FRI#6" is none`,
		"cron(0 3 ? * 3#1,6#3 *)":   `day of the week: "3#1" is none`,
		"cron(0 3 * * ? 1969)":      `year: "1969" is none: write numbers from 1970 to 2199`,
		"cron(*/0 3 * * ? *)":       `minutes: "*/0" is none`,
		"cron(,1 3 * * ? *)":        `minutes: "" is none`,
		"cron(+1 3 * * ? *)":        `minutes: "+1" is none`,
		"cron(0 3 31 2,4 ? *)":      "no year has such a day",
		"cron(0 3 29 2 ? 2027)":     "no year has such a day",
		"rate(0 minutes)":           "write a whole number",
		"rate(1 week)":              "write a whole number",
		"rate(1.5 hours)":           "write a whole number",
		"rate(5)":                   "write a whole number",
		"at(2026-12-31)":            "write a date and a time of day",
		"at(2026-12-31T18:00:00Z)":  "write a date and a time of day",
		"at(2026-02-30T18:00:00)":   "write a date and a time of day",
		"at(2026-12-31T18:00:00.5)": "write a date and a time of day",
	} {
		if _, err := cron.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, name := range []string{"Berlin", "Local", "../etc/passwd", "CEST", "europe/Nowhere"} {
		if _, err := cron.Zone(name); err == nil {
			t.Errorf("%s is a time zone", name)
		}
	}
}

// Whatever is read is written so that it is read again, and comes up in order.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cron(0 3 * * ? *)", "cron(0 12 LW 1-3/2 ? 2026)", "cron(0 0 ? * 6#3 *)", "rate(5 minutes)", "at(2026-12-31T18:00:00)"} {
		f.Add(text)
	}
	zone, err := cron.Zone("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := cron.Parse(text)
		if err != nil {
			return
		}
		again, err := cron.Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q is written %q, which is %q: %v", text, e, again, err)
		}
		first := e.Next(now, now, zone)
		if first.IsZero() {
			return
		}
		if second := e.Next(first, now, zone); !first.After(now) || !second.IsZero() && !second.After(first) {
			t.Errorf("%s comes up at %s and then %s", e, first, second)
		}
	})
}

// A time that a day has twice, as the clocks are put back, is the first of the two,
// wherever that is.
func TestOnceWhereADayHasATimeTwice(t *testing.T) {
	for zone, c := range map[string]struct{ text, want string }{
		"Europe/Berlin":       {"at(2026-10-25T02:30:00)", "2026-10-25T00:30:00Z"},
		"America/New_York":    {"at(2026-11-01T01:30:00)", "2026-11-01T05:30:00Z"},
		"Australia/Lord_Howe": {"at(2026-04-05T01:45:00)", "2026-04-04T14:45:00Z"},
		"UTC":                 {"at(2026-10-25T02:30:00)", "2026-10-25T02:30:00Z"},
	} {
		e, err := cron.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		in, err := cron.Zone(zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Once(in).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s is %s, want %s", c.text, zone, got, c.want)
		}
	}
}
