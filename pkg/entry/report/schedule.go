package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/lib/cron"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Schedule is a schedule, and when it runs next.
type Schedule struct {
	project.Scheduled
	Next []time.Time `json:"next,omitempty"` // its next times, at most ten; none if it is disabled, or does not run again
}

// mostTimes is how many of its next times a schedule shows.
const mostTimes = 10

// ScheduleOf reports a schedule.
func ScheduleOf(s project.Scheduled, now time.Time) Schedule {
	shown := Schedule{Scheduled: s}
	if !s.Off {
		shown.Next = NextTimes(s, now, mostTimes)
	}
	return shown
}

// NextTimes lists at most so many of the times at which a schedule runs next, in its time zone. It is empty if the schedule does not
// run again, or if its expression is not understood.
func NextTimes(s project.Scheduled, now time.Time, most int) []time.Time {
	zone, err := cron.Zone(s.Zone)
	if err != nil {
		return nil
	}
	e, err := cron.Parse(s.Expression)
	if err != nil {
		return nil
	}
	var times []time.Time
	for at := e.Next(now, s.Start, zone); !at.IsZero() && len(times) < most; at = e.Next(at, s.Start, zone) {
		times = append(times, at.In(zone))
	}
	return times
}
