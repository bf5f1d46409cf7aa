package project

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// A TTL is how long an environment lives. 0 is for ever.
type TTL time.Duration

const day = 24 * time.Hour

// The limits of a TTL.
const (
	LeastTTL = TTL(time.Hour)
	MostTTL  = TTL(365 * day)
)

// days is the part of a TTL that time.ParseDuration does not read.
var days = pattern.New(`^(?:(\d{1,4})d)?(.*)$`)

// ParseTTL reads a TTL, such as 3d, 12h or 1d12h.
func ParseTTL(text string) (TTL, error) {
	parts := days.FindStringSubmatch(text)
	if parts == nil || text == "" {
		return 0, notTTL(text)
	}
	n, _ := strconv.Atoi(parts[1]) // digits, or none
	d := time.Duration(n) * day
	if parts[2] != "" {
		rest, err := time.ParseDuration(parts[2])
		if err != nil || rest < 0 || strings.HasPrefix(parts[2], "+") || rest%time.Second != 0 || rest > time.Duration(MostTTL) {
			return 0, notTTL(text)
		}
		d += rest
	}
	t := TTL(d)
	if t < LeastTTL || t > MostTTL {
		return 0, fault.New(fault.Invalid, "%s: write a duration from %s to %s", text, LeastTTL, MostTTL)
	}
	return t, nil
}

func notTTL(text string) error {
	return fault.New(fault.Invalid, "%q is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h", text)
}

// String writes a TTL as ParseTTL reads it.
func (t TTL) String() string {
	n, rest := time.Duration(t)/day, Timeout(time.Duration(t)%day)
	switch {
	case n == 0:
		return rest.String()
	case rest == 0:
		return fmt.Sprintf("%dd", n)
	}
	return fmt.Sprintf("%dd%s", n, rest)
}

// MarshalText is encoding.TextMarshaler.
func (t TTL) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is encoding.TextUnmarshaler.
func (t *TTL) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTTL(string(text))
	return err
}

// A Lifetime says until when an environment lives. It is stored apart from the lock, because a person may extend it while a run holds the
// lock. An environment that lives for ever has the zero Lifetime.
type Lifetime struct {
	Project string    `json:"project"` // "shop@pr-42"
	Version int64     `json:"version"` // raised by every change, and never the same again; 0 if it is not stored
	Pattern string    `json:"pattern,omitempty"`
	TTL     TTL       `json:"ttl,omitzero"` // of the files that were deployed last
	Expires time.Time `json:"ends"`
	Set     time.Time `json:"set"`           // when Expires was set
	Run     string    `json:"run"`           // the run that has set it
	Who     string    `json:"who,omitempty"` // requested that run

	Warned   bool      `json:"warned,omitempty"`    // the warning was requested
	Attempts int       `json:"attempts,omitempty"`  // how many destroys were requested since it has expired
	Attempt  string    `json:"attempt,omitempty"`   // the run of the newest
	Next     time.Time `json:"next,omitzero"`       // when the next is due
	Destroys string    `json:"destroyer,omitempty"` // the run that destroys the environment, from when that has started
}

// What happens to an environment that has expired, and before.
const (
	warnedBefore = day              // it expires
	firstAgain   = time.Hour        // until a destroy that has failed is requested again; each time twice as long
	mostAgain    = day              // the longest such time
	MostAttempts = 8                // destroys that are requested of an expired environment
	LeastExtends = 10 * time.Minute // from now to the time that an environment is extended to
)

// Known reports whether the environment has a lifetime.
func (l Lifetime) Known() bool { return !l.Expires.IsZero() }

// Raised is the lifetime with its next version. One that is set again after it was deleted does not get a version that it had before.
func (l Lifetime) Raised() Lifetime {
	l.Version = max(l.Version+1, l.Set.UnixMilli())
	return l
}

// Expired reports whether the environment has expired.
func (l Lifetime) Expired(now time.Time) bool { return l.Known() && !now.Before(l.Expires) }

// WarnedAt is when the warning is due: a day before it expires, but no earlier than after half of the time that it was given.
func (l Lifetime) WarnedAt() time.Time {
	return l.Expires.Add(-min(warnedBefore, l.Expires.Sub(l.Set)/2))
}

// Warns reports whether the warning is due now.
func (l Lifetime) Warns(now time.Time) bool {
	return l.Known() && !l.Warned && !l.Expired(now) && !now.Before(l.WarnedAt())
}

// Destroy reports whether a destroy is due now.
func (l Lifetime) Destroy(now time.Time) bool {
	return l.Expired(now) && l.Attempts < MostAttempts && !now.Before(l.Next)
}

// GivenUp reports whether no destroy is requested any more.
func (l Lifetime) GivenUp() bool { return l.Attempts >= MostAttempts }

// Attempted is the lifetime after a run was requested, at a time, to destroy the environment.
func (l Lifetime) Attempted(run string, now time.Time) Lifetime {
	l.Attempt, l.Next = run, now.Add(min(firstAgain<<l.Attempts, mostAgain))
	l.Attempts++
	return l
}

// Until is the lifetime that a run sets, at a time, to another end.
func (l Lifetime) Until(end time.Time, run, who string, now time.Time) Lifetime {
	l.Expires, l.Set, l.Run, l.Who = end, now, run, who
	l.Warned, l.Attempts, l.Attempt, l.Next, l.Destroys = false, 0, "", time.Time{}, ""
	return l
}

// Deployed is the lifetime after a run has started, or finished, to deploy the files of p: its TTL from then, unless it ends later already. It is
// zero if the files have no TTL.
func (l Lifetime) Deployed(p Project, run, who string, now time.Time) Lifetime {
	if p.TTL == 0 {
		return l.Ended()
	}
	l.Project, l.Pattern, l.TTL = p.ID(), p.Pattern, p.TTL
	return l.atLeast(run, who, now)
}

// Ended is the lifetime of an environment that does not expire any more: because it lives for ever, or because it is destroyed.
func (l Lifetime) Ended() Lifetime { return Lifetime{Project: l.Project, Version: l.Version} }

// Attempting says, for people, which attempt to destroy the environment is made, and when the next one is.
func (l Lifetime) Attempting() string {
	text := fmt.Sprintf("%s expired at %s: attempt %d of %d to destroy it", l.Project, l.Expires.UTC().Format(time.RFC3339), l.Attempts, MostAttempts)
	if l.GivenUp() {
		return text + ": if it fails, there is no other: destroy the environment, or extend it"
	}
	return text + fmt.Sprintf(": if it fails, the next is after %s, unless the environment is extended", l.Next.UTC().Format(time.RFC3339))
}

// Finished is the lifetime after the run that has deployed the environment has succeeded.
func (l Lifetime) Finished(run, who string, now time.Time) Lifetime {
	if !l.Known() || l.TTL == 0 {
		return l
	}
	return l.atLeast(run, who, now)
}

func (l Lifetime) atLeast(run, who string, now time.Time) Lifetime {
	if end := now.Add(time.Duration(l.TTL)).Truncate(time.Second); end.After(l.Expires) {
		return l.Until(end, run, who, now)
	}
	l.Destroys = ""
	return l
}
