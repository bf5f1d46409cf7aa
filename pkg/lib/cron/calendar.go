package cron

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A calendar is the set of times of a cron expression.
type calendar struct {
	minutes, hours, days, months, years set
	weekdays                            set // 1 is Sunday

	last    bool // day of the month
	working int  // the weekday, as opposed to the weekend, next to this day; 32 is next to the last
	lastOf  int  // the last such day of the week in its month
	nth     int  // and the nth one: of day
	day     int
}

// A set holds numbers. The zero set is empty.
type set map[int]bool

// The months and the days of the week as they may be written, in order.
var (
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

// parseCalendar reads the six fields of a cron expression.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
func parseCalendar(text string) (*calendar, error) {
	words := strings.Fields(text)
	if len(words) != 6 {
		return nil, fmt.Errorf("%d fields found, but cron(…) has six: minutes, hours, day of the month, month, day of the week, year, as in 0 3 * * ? *", len(words))
	}
	if (words[2] == "?") == (words[4] == "?") {
		return nil, errors.New("exactly one of day of the month and day of the week must be ?, as in 0 3 * * ? * or 0 3 ? * MON-FRI *")
	}
	c := &calendar{}
	var err error
	for i, f := range []struct {
		field
		to *set
	}{
		{field{"minutes", 0, 59, nil, true}, &c.minutes},
		{field{"hours", 0, 23, nil, true}, &c.hours},
		{field{"day of the month", 1, 31, nil, true}, &c.days},
		{field{"month", 1, 12, monthNames, true}, &c.months},
		{field{"day of the week", 1, 7, weekdayNames, false}, &c.weekdays},
		{field{"year", 1970, 2199, nil, true}, &c.years},
	} {
		word := strings.ToUpper(words[i])
		if i == 2 && c.dayOfMonth(word) || i == 4 && c.dayOfWeek(word) {
			continue
		}
		if *f.to, err = f.parse(word); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if c.next(time.Date(1969, 12, 31, 23, 59, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("no year has such a day")
	}
	return c, nil
}

// dayOfMonth reads the special values of a day of the month: ?, L, 15W, LW.
func (c *calendar) dayOfMonth(word string) bool {
	before, working := strings.CutSuffix(word, "W")
	switch {
	case word == "?":
	case word == "L":
		c.last = true
	case working && before == "L":
		c.working = 32
	case working:
		n, ok := number(before)
		if !ok || n < 1 || n > 31 {
			return false
		}
		c.working = n
	default:
		return false
	}
	return true
}

// dayOfWeek reads the special values of a day of the week: ?, L (which is
// Saturday), 6L and FRIL, the last Friday, and 6#2 and FRI#2, the second.
func (c *calendar) dayOfWeek(word string) bool {
	f := field{"", 1, 7, weekdayNames, false}
	if word == "?" {
		return true
	}
	if word == "L" {
		c.weekdays = set{7: true}
		return true
	}
	if before, ok := strings.CutSuffix(word, "L"); ok {
		day, err := f.one(before)
		c.lastOf = day
		return err == nil
	}
	if before, after, ok := strings.Cut(word, "#"); ok {
		day, err := f.one(before)
		n, counts := number(after)
		c.day, c.nth = day, n
		return err == nil && counts && n >= 1 && n <= 5
	}
	return false
}

// has reports whether a day is in the calendar.
func (c *calendar) has(day time.Time) bool {
	if !c.years[day.Year()] || !c.months[int(day.Month())] {
		return false
	}
	d, weekday := day.Day(), int(day.Weekday())+1
	switch {
	case c.last:
		return d == length(day)
	case c.working > 0:
		return d == workday(day, c.working)
	case c.lastOf > 0:
		return weekday == c.lastOf && d+7 > length(day)
	case c.nth > 0:
		return weekday == c.day && (d-1)/7+1 == c.nth
	case c.weekdays != nil:
		return c.weekdays[weekday]
	}
	return c.days[d]
}

// next returns the first minute of the calendar after the given time, in its time
// zone, or zero. When clocks are put forward, times that the day does not have are
// skipped. When they are put back, times that it has twice count once.
func (c *calendar) next(after time.Time) time.Time {
	y, m, d := after.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC) // only its date counts
	for ; day.Year() <= 2199; day = day.AddDate(0, 0, 1) {
		if !c.years[day.Year()] {
			day = time.Date(day.Year(), 12, 31, 0, 0, 0, 0, time.UTC)
			continue
		}
		if !c.has(day) {
			continue
		}
		for _, h := range slices.Sorted(maps.Keys(c.hours)) {
			for _, minute := range slices.Sorted(maps.Keys(c.minutes)) {
				at := time.Date(day.Year(), day.Month(), day.Day(), h, minute, 0, 0, after.Location())
				if at.After(after) && at.Hour() == h && at.Minute() == minute {
					return at
				}
			}
		}
	}
	return time.Time{}
}

// length returns how many days the month of a day has.
func length(day time.Time) int {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// workday returns the day from Monday to Friday next to the nth of the month of day,
// in the same month; 0 if the month has no nth day.
func workday(day time.Time, n int) int {
	most := length(day)
	if n == 32 {
		n = most
	}
	if n > most {
		return 0
	}
	switch time.Date(day.Year(), day.Month(), n, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if n == 1 {
			return 3
		}
		return n - 1
	case time.Sunday:
		if n == most {
			return n - 2
		}
		return n + 1
	}
	return n
}
