package project_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

func TestParseDays(t *testing.T) {
	for _, text := range []string{"2026-12-25", "2026-12-24/2027-01-01", "2028-02-29", "2026-12-25/2026-12-25"} {
		if d, err := project.ParseDays(text); err != nil || string(d) != text {
			t.Errorf("%s: %q, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "2026-02-29", "25.12.2026", "2026-12-5", "2026-12-25/", "/2026-12-25", "2027-01-01/2026-12-24", "2026-12-24/2026-12-25/2026-12-26", "2026-12-25T00:00:00"} {
		if d, err := project.ParseDays(text); !fault.Is(err, fault.Invalid) || d != "" {
			t.Errorf("%q: %q, %v", text, d, err)
		}
	}
}

// A day begins and ends in the time zone of the schedule.
func TestException(t *testing.T) {
	e := &project.Exception{Zone: "Europe/Berlin", Days: []project.Days{"2026-12-24/2026-12-26", "2027-01-01"}}
	for at, want := range map[string]string{
		"2026-12-23T22:59:59Z": "", "2026-12-23T23:00:00Z": "2026-12-24", "2026-12-26T22:59:59Z": "2026-12-26", "2026-12-26T23:00:00Z": "",
		"2026-12-31T23:30:00Z": "2027-01-01", "2027-01-01T23:00:00Z": "",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.On(when); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", at, got, err, want)
		}
	}
	if got, err := (*project.Exception)(nil).On(time.Now()); err != nil || got != "" {
		t.Errorf("without an exception: %q, %v", got, err)
	}
	if _, err := (&project.Exception{Zone: "Nowhere"}).On(time.Now()); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
