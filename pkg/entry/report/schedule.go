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

// mostTimes is how many of its next times a schedule shows, and mostTried how many are tried to find them, of which its exception may
// have some.
const (
	mostTimes = 10
	mostTried = 10_000
)

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
	at := e.Next(now, s.Start, zone)
	for tried := 0; !at.IsZero() && len(times) < most && tried < mostTried; tried++ {
		skipped, err := s.Except.On(at)
		if err != nil {
			return nil
		}
		if skipped == "" {
			times = append(times, at.In(zone))
		}
		at = e.Next(at, s.Start, zone)
	}
	return times
}
