package project

import (
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Days are a day, as 2026-12-25, or all days from one to another, as 2026-12-24/2027-01-01: an interval as ISO 8601 writes it.
type Days string

// ParseDays reads days. An error is of kind Invalid.
func ParseDays(text string) (Days, error) {
	d := Days(text)
	first, last := d.ends()
	for _, day := range []string{first, last} {
		if at, err := time.Parse(time.DateOnly, day); err != nil || at.Format(time.DateOnly) != day {
			return "", fault.New(fault.Invalid, "write a day as 2026-12-25, or several as 2026-12-24/2027-01-01")
		}
	}
	if first > last {
		return "", fault.New(fault.Invalid, "%s is after %s: write the first day before the last", first, last)
	}
	return d, nil
}

// ends returns the first and the last day.
func (d Days) ends() (first, last string) {
	first, last, several := strings.Cut(string(d), "/")
	if !several {
		return first, first
	}
	return first, last
}

// Has reports whether a day, as 2026-12-25, is among the days.
func (d Days) Has(day string) bool {
	first, last := d.ends()
	return first <= day && day <= last
}

// An Exception is when a schedule does not run.
type Exception struct {
	Zone string `json:"time_zone"` // an IANA name
	Days []Days `json:"days"`
}

// On returns the day of a time if the exception has it. It returns an empty text if it does not, or if it is nil.
func (e *Exception) On(at time.Time) (string, error) {
	if e == nil {
		return "", nil
	}
	zone, err := time.LoadLocation(e.Zone)
	if err != nil {
		return "", fault.New(fault.Invalid, "the exception of a schedule: %w", err)
	}
	day := at.In(zone).Format(time.DateOnly)
	for _, d := range e.Days {
		if d.Has(day) {
			return day, nil
		}
	}
	return "", nil
}
