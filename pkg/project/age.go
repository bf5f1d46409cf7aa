package project

import (
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// mostDays is how many days an age has at most: a time.Duration holds 292 years.
const mostDays = 36500

// ParseAge reads how long ago something was: days, such as 90d, or a positive duration, such as 12h or 30m.
func ParseAge(text string) (time.Duration, error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		n, err := strconv.Atoi(days)
		if err == nil && n > 0 && n <= mostDays {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fault.New(fault.Invalid, "%.40q is not an age: write days, such as 90d, or hours and minutes, such as 12h or 30m", text)
	}
	return d, nil
}
