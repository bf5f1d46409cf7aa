package hook

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda has no time zone database

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// windowType waits for a time window.
func windowType() Type {
	const day, clock = `(mon|tue|wed|thu|fri|sat|sun)`, `([01][0-9]|2[0-3]):[0-5][0-9]`
	const span = day + `(-` + day + `)?`
	return Type{
		Name: "window", What: "days, hours and, if it is not UTC, a time zone, such as mon-fri 22:00-06:00 Europe/Berlin or daily 09:00-17:00",
		Form:   pattern.New(`^(daily|` + span + `(,` + span + `)*) ` + clock + `-(` + clock + `|24:00)( [A-Za-z][A-Za-z0-9_+/-]{0,63})?$`),
		Check:  func(on string) error { _, err := parseWindow(on); return err },
		Awaits: awaitedWindow, Local: true, Caller: waitsFor{},
	}
}

// awaitedWindow is a window, and when it is open next.
func awaitedWindow(on string, now time.Time) Awaited {
	a := Awaited{What: "the time window " + on}
	if w, err := parseWindow(on); err == nil {
		a.Opens = w.opens(now)
	}
	return a
}

// waitsFor waits for a time window: it is over at once if the window is open. Nothing runs meanwhile: a poll reads the clock.
type waitsFor struct{}

// Call implements Caller.
func (waitsFor) Call(_ context.Context, _ Services, c Call) (string, error) {
	w, err := parseWindow(c.On())
	if err != nil || w.open(c.Now) {
		return "", err
	}
	return c.On(), nil
}

// Ended implements Caller.
func (waitsFor) Ended(_ context.Context, _ Services, c Call) (bool, error) {
	w, err := parseWindow(c.Started)
	return err == nil && w.open(c.Now), err
}

// Stop implements Caller. There is nothing to stop.
func (waitsFor) Stop(context.Context, Services, Call) error { return nil }

// A window is a span of time on some days of the week, in a time zone. One whose end is not after its begin ends on the next
// day.
type window struct {
	days     [7]bool // on which it begins, by time.Weekday
	from, to int     // minutes since midnight
	zone     *time.Location
}

// weekdays are the days as files write them, by time.Weekday.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseWindow reads a window that is of the form of the type. The error is of kind Invalid.
func parseWindow(text string) (window, error) {
	w := window{zone: time.UTC}
	words := append(strings.Fields(text), "")
	if len(words) < 3 {
		return w, fault.New(fault.Invalid, "%q is no time window", text)
	}
	for part := range strings.SplitSeq(words[0], ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		begin, end := slices.Index(weekdays, first), slices.Index(weekdays, last)
		if part == "daily" {
			begin, end = 0, 6
		}
		for d := begin; ; d = (d + 1) % 7 {
			if d < 0 || end < 0 {
				return w, fault.New(fault.Invalid, "%q is no day: write one of mon, tue, wed, thu, fri, sat, sun, or daily", part)
			}
			if w.days[d] = true; d == end {
				break
			}
		}
	}
	from, to, _ := strings.Cut(words[1], "-")
	var err error
	if w.from, err = minutes(from); err != nil {
		return w, err
	}
	if w.to, err = minutes(to); err != nil {
		return w, err
	}
	if w.from == w.to {
		return w, fault.New(fault.Invalid, "the window %s begins when it ends: write %s for the whole day", words[1], "00:00-24:00")
	}
	if words[2] == "" {
		return w, nil
	}
	if w.zone, err = time.LoadLocation(words[2]); err != nil || words[2] == "Local" {
		return w, fault.New(fault.Invalid, "there is no time zone %s: write one of the IANA database, such as Europe/Berlin", words[2])
	}
	return w, nil
}

// minutes reads a time of the day, as minutes since midnight.
func minutes(clock string) (int, error) {
	hour, minute, _ := strings.Cut(clock, ":")
	h, err := strconv.Atoi(hour)
	m, wrong := strconv.Atoi(minute)
	if err != nil || wrong != nil {
		return 0, fault.New(fault.Invalid, "%q is no time of the day: write it as 09:30", clock)
	}
	return 60*h + m, nil
}

// open reports whether the window is open. It compares what a clock in its zone shows, so that a day on which clocks change
// is as any other.
func (w window) open(at time.Time) bool {
	at = at.In(w.zone)
	today, now := at.Weekday(), 60*at.Hour()+at.Minute()
	if w.from < w.to {
		return w.days[today] && w.from <= now && now < w.to
	}
	return w.days[today] && now >= w.from || w.days[(today+6)%7] && now < w.to
}

// searched is how far ahead the next opening is searched for: a window of a single day may be skipped once, when clocks go forward.
const searched = 15 * 24 * time.Hour

// opens returns when the window is open next, which is now if it is open; zero if it is not open within two weeks. It tries each
// minute, because the time at which a window begins may be one that clocks skip.
func (w window) opens(now time.Time) time.Time {
	if w.open(now) {
		return now
	}
	for at := now.Truncate(time.Minute); at.Before(now.Add(searched)); at = at.Add(time.Minute) {
		if at.After(now) && w.open(at) {
			return at.In(w.zone)
		}
	}
	return time.Time{}
}
