package hook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
)

// A hook that waits for a window is over while the window is open, in its time zone, and reaches nothing that an
// installation would have to list. 2030-01-04 is a Friday.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		window, at string
		open       bool
	}{
		{"daily 09:00-17:00", "2030-01-04T09:00:00Z", true}, {"daily 09:00-17:00", "2030-01-04T08:59:59Z", false}, {"daily 09:00-17:00", "2030-01-04T17:00:00Z", false},
		{"fri 00:00-24:00", "2030-01-04T23:59:59Z", true}, {"fri 00:00-24:00", "2030-01-05T00:00:00Z", false}, {"mon-thu,sat 00:00-24:00", "2030-01-04T12:00:00Z", false},
		{"fri 22:00-06:00", "2030-01-04T22:00:00Z", true}, {"fri 22:00-06:00", "2030-01-05T05:59:00Z", true}, {"fri 22:00-06:00", "2030-01-05T06:00:00Z", false},
		{"fri 22:00-06:00", "2030-01-04T05:00:00Z", false}, {"fri-mon 10:00-11:00", "2030-01-06T10:30:00Z", true}, {"fri-mon 10:00-11:00", "2030-01-08T10:30:00Z", false},
		{"sat 22:00-06:00", "2030-01-06T05:00:00Z", true}, // past the end of the week
		{"fri 09:00-10:00 Europe/Berlin", "2030-01-04T08:30:00Z", true}, {"fri 09:00-10:00 Europe/Berlin", "2030-07-05T08:30:00Z", false}, {"fri 09:00-10:00 Europe/Berlin", "2030-07-05T07:30:00Z", true},
		{"sat 00:00-01:00 Pacific/Auckland", "2030-01-04T11:30:00Z", true}, {"sun 02:00-03:00 Europe/Berlin", "2030-03-31T01:30:00Z", false}, // clocks go from 02:00 to 03:00
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		n := call("window", c.window)
		n.Now, n.Started = at, ""
		started, err := hook.Services{}.Call(t.Context(), n)
		if err != nil || (started == "") != c.open {
			t.Errorf("%s at %s: started %q, %v", c.window, c.at, started, err)
		}
		n.Started = c.window
		if ended, err := (hook.Services{}).Ended(t.Context(), n); ended != c.open || err != nil {
			t.Errorf("%s at %s: ended is %t, %v", c.window, c.at, ended, err)
		}
	}
}

// A window that is never open, or that nobody can read, is refused.
func TestWrongWindows(t *testing.T) {
	for text, want := range map[string]string{
		"fri": "is not days, hours", "fri 9-17": "is not days, hours", "daily,fri 09:00-17:00": "is not days, hours", "fri 25:00-26:00": "is not days, hours", "fri 24:00-06:00": "is not days, hours",
		"fri 09:00-17:00 ../x": "is not days, hours", "fri 09:00-09:00": "begins when it ends", "fri 09:00-17:00 Local": "no time zone Local", "fri 09:00-17:00 Europe/Atlantis": "no time zone Europe/Atlantis",
	} {
		_, err := hook.Services{}.Call(t.Context(), call("window", text))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A window says when it is open next, on the clock of its zone. 2030-01-04 is a Friday.
func TestWindowOpensNext(t *testing.T) {
	typ, _ := hook.Named("window")
	for _, c := range []struct{ window, at, want string }{
		{"daily 09:00-17:00", "2030-01-04T10:00:00Z", "2030-01-04T10:00:00Z"}, {"daily 09:00-17:00", "2030-01-04T17:00:00Z", "2030-01-05T09:00:00Z"},
		{"fri 09:00-10:00", "2030-01-04T10:00:00Z", "2030-01-11T09:00:00Z"}, {"mon 22:00-06:00 Europe/Berlin", "2030-01-04T10:00:00Z", "2030-01-07T21:00:00Z"},
		{"sun 02:00-03:00 Europe/Berlin", "2030-03-30T10:00:00Z", "2030-04-07T00:00:00Z"}, // on the next Sunday, clocks go from 02:00 to 03:00
		{"daily 02:30-05:00 Europe/Berlin", "2030-03-30T10:00:00Z", "2030-03-31T01:00:00Z"},
		{"daily 02:30-05:00 America/New_York", "2026-03-08T04:00:00Z", "2026-03-08T07:00:00Z"},
		{"daily 02:00-04:00 America/New_York", "2026-03-08T04:00:00Z", "2026-03-08T07:00:00Z"},
		{"daily 18:01-19:00", "2026-11-23T18:00:30Z", "2026-11-23T18:01:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		a := typ.Awaits(c.window, at)
		if got := a.Opens.UTC().Format(time.RFC3339); got != c.want || !strings.Contains(a.String(), c.window) || !strings.HasSuffix(a.String(), c.want) {
			t.Errorf("%s at %s: %s, want %s", c.window, c.at, a, c.want)
		}
	}
}
