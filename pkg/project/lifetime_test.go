package project_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

const day = 24 * time.Hour

// A TTL is days and a duration, from an hour to a year, and nothing else. It is written as it is read.
func TestParseTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{"3d": 3 * day, "12h": 12 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "2d30m": 2*day + 30*time.Minute, "365d": 365 * day, "1h": time.Hour, "36h": 36 * time.Hour} {
		got, err := project.ParseTTL(text)
		if err != nil || got != project.TTL(want) {
			t.Errorf("%s is %v, %v", text, got, err)
		}
		if again, err := project.ParseTTL(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s, which is read as %v, %v", text, got, again, err)
		}
	}
	for text, want := range map[string]string{
		"": `"" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`, "3": `"3" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`,
		"d": `"d" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`, "1d-1h": `"1d-1h" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`,
		"1h1ms": `"1h1ms" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`,
		"1d3d":  `"1d3d" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`, "9999999h": `"9999999h" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`,
		"59m": "59m: write a duration from 1h to 365d", "366d": "366d: write a duration from 1h to 365d", "0d": "0d: write a duration from 1h to 365d", "365d1s": "365d1s: write a duration from 1h to 365d",
	} {
		if got, err := project.ParseTTL(text); err == nil || err.Error() != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}

// An environment is warned a day before it expires, or after half of its time; then it is destroyed, and again with growing pauses, eight times in all.
func TestLifetime(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return start.Add(d) }
	if l := (project.Lifetime{}); l.Known() || l.Warns(start) || l.Destroy(start) || l.Expired(start) {
		t.Errorf("what lives for ever: %+v", l)
	}
	for _, c := range []struct{ lives, warned time.Duration }{{3 * day, 2 * day}, {2 * day, day}, {day, 12 * time.Hour}, {time.Hour, 30 * time.Minute}} {
		l := project.Lifetime{}.Until(after(c.lives), "run", "ann", start)
		if !l.WarnedAt().Equal(after(c.warned)) || l.Warns(after(c.warned-1)) || !l.Warns(after(c.warned)) || l.Warns(after(c.lives)) {
			t.Errorf("%s: the warning is due at %s", c.lives, l.WarnedAt())
		}
		if l.Destroy(after(c.lives-1)) || !l.Destroy(after(c.lives)) {
			t.Errorf("%s: the destroy is not due at the end", c.lives)
		}
		if l.Warned = true; l.Warns(after(c.warned)) {
			t.Errorf("%s: it warns twice", c.lives)
		}
	}
	l := project.Lifetime{}.Until(after(day), "run", "ann", start)
	at := l.Expires
	for n, pause := range []time.Duration{1, 2, 4, 8, 16, 24, 24, 24} {
		if l.GivenUp() || !l.Destroy(at) {
			t.Fatalf("attempt %d is not due at %s: %+v", n+1, at, l)
		}
		l = l.Attempted("attempt", at)
		if at = at.Add(pause * time.Hour); l.Destroy(at.Add(-1)) || !l.Next.Equal(at) {
			t.Errorf("after attempt %d, the next is due at %s, want %s", n+1, l.Next, at)
		}
	}
	if l.Destroy(at.Add(day)) || !l.GivenUp() {
		t.Errorf("there is a ninth attempt: %+v", l)
	}
	if l = l.Until(at.Add(2*day), "extend", "ann", at); l.GivenUp() || l.Destroy(at) || l.Warned || !l.Destroy(at.Add(2*day)) {
		t.Errorf("an extension does not start over: %+v", l)
	}
}

// A deploy sets the end to its TTL from then, and never earlier than it was.
func TestLifetimeOfDeploy(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := project.Project{Name: "shop", Environment: "pr-7", TTL: project.TTL(day), Pattern: "pr-*"}
	l := project.Lifetime{}.Deployed(p, "one", "ann", start)
	if l.Project != "shop@pr-7" || l.Pattern != "pr-*" || !l.Expires.Equal(start.Add(day)) || l.Run != "one" || l.Who != "ann" {
		t.Errorf("%+v", l)
	}
	l.Destroys, l.Attempts, l.Warned = "destroy", 3, true
	late := l.Finished("one", "ann", start.Add(time.Hour))
	if !late.Expires.Equal(start.Add(25*time.Hour)) || late.Attempts != 0 || late.Warned || late.Destroys != "" {
		t.Errorf("%+v", late)
	}
	longer := late.Until(start.Add(9*day), "extend", "eve", start)
	if got := longer.Deployed(p, "two", "ann", start.Add(day)); !got.Expires.Equal(longer.Expires) || got.Run != "extend" {
		t.Errorf("a deploy ends it earlier: %+v", got)
	}
	p.TTL = 0
	if got := longer.Deployed(p, "two", "ann", start); got.Known() || got.Project != "shop@pr-7" {
		t.Errorf("without a TTL: %+v", got)
	}
	if got := (project.Lifetime{}).Finished("two", "ann", start); got.Known() {
		t.Errorf("what lives for ever: %+v", got)
	}
	set := project.Lifetime{Set: start}
	if first := set.Raised(); first.Version != start.UnixMilli() || first.Raised().Version != first.Version+1 {
		t.Errorf("versions: %+v", first)
	}
}
