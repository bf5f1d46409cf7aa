package project

import (
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A Timeout is how long an operation on a stack, or a run, may take. 0 is no
// limit.
type Timeout time.Duration

// The limits of a timeout.
const (
	LeastTimeout = Timeout(time.Minute)
	MostTimeout  = Timeout(7 * 24 * time.Hour)
)

// ParseTimeout reads a timeout, such as 30m, 2h or 1h30m.
func ParseTimeout(text string) (Timeout, error) {
	d, err := time.ParseDuration(text)
	t := Timeout(d)
	if err != nil || d%time.Second != 0 {
		return 0, fault.New(fault.Invalid, "%q is not a duration: write hours, minutes and seconds, such as 30m, 2h or 1h30m", text)
	}
	if t < LeastTimeout || t > MostTimeout {
		return 0, fault.New(fault.Invalid, "%s: write a duration from %s to %s", text, LeastTimeout, MostTimeout)
	}
	return t, nil
}

// String writes a timeout as ParseTimeout reads it.
func (t Timeout) String() string {
	s := time.Duration(t).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Minutes is the timeout in minutes, rounded up.
func (t Timeout) Minutes() int { return int((time.Duration(t) + time.Minute - 1) / time.Minute) }

// MarshalText is encoding.TextMarshaler.
func (t Timeout) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is encoding.TextUnmarshaler.
func (t *Timeout) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*t = Timeout(d)
	return err
}
