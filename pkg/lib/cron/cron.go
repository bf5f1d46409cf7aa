// Package cron computes the times of schedules in the syntax of EventBridge
// Scheduler: cron(…), rate(…) and at(…).
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
package cron

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda has no time zone database

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// An Expression is the time of a schedule: by the calendar, at a rate, or once. The
// zero Expression has no time.
type Expression struct {
	text     string
	calendar *calendar
	every    time.Duration
	once     time.Time // local time, without a zone
}

// Parse reads an expression. An error is about the text between the brackets.
func Parse(text string) (Expression, error) {
	kind, rest, _ := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if closed {
		switch kind {
		case "cron":
			return parseCron(inner)
		case "rate":
			return parseRate(inner)
		case "at":
			return parseOnce(inner)
		}
	}
	return Expression{}, errors.New("write cron(…), rate(…) or at(…)")
}

func parseCron(text string) (Expression, error) {
	c, err := parseCalendar(text)
	if err != nil {
		return Expression{}, err
	}
	return Expression{text: "cron(" + strings.Join(strings.Fields(text), " ") + ")", calendar: c}, nil
}

// rate matches a rate. The unit may be singular or plural.
var rate = pattern.New(`^([1-9][0-9]{0,4}) (minute|hour|day)s?$`)

var units = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

func parseRate(text string) (Expression, error) {
	parts := rate.FindStringSubmatch(text)
	if parts == nil {
		return Expression{}, errors.New("write a whole number from 1 to 99999 and minutes, hours or days, as in 12 hours")
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return Expression{}, err
	}
	unit := parts[2]
	if n > 1 {
		unit += "s"
	}
	return Expression{text: fmt.Sprintf("rate(%d %s)", n, unit), every: time.Duration(n) * units[parts[2]]}, nil
}

// wall is the format of a one-time schedule.
const wall = "2006-01-02T15:04:05"

func parseOnce(text string) (Expression, error) {
	at, err := time.Parse(wall, text)
	if err != nil || at.Format(wall) != text {
		return Expression{}, errors.New("write a date and a time of day without a zone, as in 2026-12-31T18:00:00")
	}
	return Expression{text: "at(" + text + ")", once: at}, nil
}

// Zone returns the time zone of a name such as Europe/Berlin. The empty name is UTC.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, errors.New("there is no such time zone: write one of the IANA database, as in Europe/Berlin or UTC")
	}
	return zone, nil
}

// String returns the expression as EventBridge Scheduler reads it.
func (e Expression) String() string { return e.text }

// Every returns the interval of a rate, or 0 for other expressions.
func (e Expression) Every() time.Duration { return e.every }

// Once returns the time of a one-time schedule, or zero for other expressions. If
// the day has that time twice, it is the first.
func (e Expression) Once(zone *time.Location) time.Time {
	if e.once.IsZero() {
		return time.Time{}
	}
	y, m, d := e.once.Date()
	at := time.Date(y, m, d, e.once.Hour(), e.once.Minute(), e.once.Second(), 0, zone)
	for _, back := range []time.Duration{time.Hour, 30 * time.Minute} { // as clocks are put back
		if first := at.Add(-back); first.Format(wall) == e.once.Format(wall) {
			return first
		}
	}
	return at
}

// Next returns the first time of the expression after the given one, or zero if
// there is none. A rate counts from start, which is its first time.
func (e Expression) Next(after, start time.Time, zone *time.Location) time.Time {
	first := after
	if start.After(after) {
		first = start.Add(-1)
	}
	switch {
	case e.calendar != nil:
		return e.calendar.next(first.In(zone))
	case e.every > 0 && start.After(after):
		return start
	case e.every > 0:
		return start.Add((after.Sub(start)/e.every + 1) * e.every)
	}
	if at := e.Once(zone); at.After(first) {
		return at
	}
	return time.Time{}
}
