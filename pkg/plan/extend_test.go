package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// An extension sets a later end, or is refused with all its reasons.
func TestExtend(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ends := project.Lifetime{Project: "shop@pr-7"}.Until(now.Add(24*time.Hour), "deploy", "ann", now.Add(-48*time.Hour))
	destroyed := ends
	destroyed.Destroys = "destroy"
	givenUp := ends
	givenUp.Attempts = project.MostAttempts
	for _, c := range []struct {
		name  string
		is    project.Lifetime
		x     plan.Extension
		until time.Duration // 0 is refused
		says  string
	}{
		{"for", ends, plan.Extension{For: project.TTL(48 * time.Hour)}, 48 * time.Hour, "shop@pr-7 lives until 2026-03-03T12:00:00Z; before, until 2026-03-02T12:00:00Z"},
		{"until", ends, plan.Extension{Until: now.Add(30 * time.Hour)}, 30 * time.Hour, "shop@pr-7 lives until 2026-03-02T18:00:00Z; before, until 2026-03-02T12:00:00Z"},
		{"the same end", ends, plan.Extension{Until: ends.Expires}, 24 * time.Hour, "shop@pr-7 lives until 2026-03-02T12:00:00Z"},
		{"after the last attempt", givenUp, plan.Extension{For: project.TTL(2 * time.Hour)}, 2 * time.Hour, "shop@pr-7 lives until 2026-03-01T14:00:00Z; before, until 2026-03-02T12:00:00Z"},
		{"after a destroy", destroyed, plan.Extension{For: project.TTL(48 * time.Hour), Destroyed: true}, 48 * time.Hour, "shop@pr-7 lives until 2026-03-03T12:00:00Z; before, until 2026-03-02T12:00:00Z"},
		{"earlier", ends, plan.Extension{For: project.TTL(2 * time.Hour)}, 0, "shop@pr-7 already lives until 2026-03-02T12:00:00Z, which is later: to end it earlier, destroy it"},
		{"during a destroy", destroyed, plan.Extension{For: project.TTL(48 * time.Hour)}, 0, "run destroy destroys shop@pr-7 now: cancel it (stackwright cancel destroy), and then extend the environment, or deploy it again"},
		{"neither", ends, plan.Extension{}, 0, "it does not say until when: write for (--for 2d) or until (--until TIME), and not both"},
		{
			"both, of what lives for ever", project.Lifetime{}, plan.Extension{For: project.TTL(2 * time.Hour), Until: now.Add(time.Hour)}, 0,
			"it does not say until when: write for (--for 2d) or until (--until TIME), and not both\nshop@pr-7 has no end: an environment has one if it was deployed with a ttl",
		},
		{"past", destroyed, plan.Extension{Until: now.Add(-time.Hour)}, 0, "until: 2026-03-01T11:00:00Z is past, or less than 10m away: write a later time\nrun destroy destroys shop@pr-7 now: cancel it (stackwright cancel destroy), and then extend the environment, or deploy it again"},
		{"too soon", ends, plan.Extension{Until: now.Add(9 * time.Minute)}, 0, "until: 2026-03-01T12:09:00Z is past, or less than 10m away: write a later time"},
		{"too late", ends, plan.Extension{Until: now.Add(366 * 24 * time.Hour)}, 0, "until: 2027-03-02T12:00:00Z is more than 365d away: write an earlier time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.x.Lifetime, c.x.Project, c.x.Run, c.x.Who, c.x.Requested = c.is, "shop@pr-7", "extend", "eve", now
			got, says, err := plan.Extend(c.x)
			if c.until == 0 {
				if refused := strings.Join(fault.Messages(err), "\n"); refused != c.says || !fault.Is(err, fault.Refused) || got != c.is {
					t.Errorf("%s\n%+v", refused, got)
				}
				return
			}
			if err != nil || says != c.says || !got.Expires.Equal(now.Add(c.until)) {
				t.Errorf("%s, %v: %+v", says, err, got)
			}
			if c.name != "the same end" && (got.Run != "extend" || got.Who != "eve" || got.Attempts != 0 || got.Destroys != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A warning says when the environment expires, and what to do; one that comes too late says so. It changes nothing.
func TestWarn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := project.Lifetime{Project: "shop@pr-7"}.Until(now.Add(24*time.Hour), "deploy", "ann", now.Add(-48*time.Hour))
	for expiry, want := range map[time.Time]string{
		l.Expires: "shop@pr-7 expires at 2026-03-02T12:00:00Z, in 1d: all its stacks are destroyed then, unless it is deployed again or extended: stackwright extend --project shop --env pr-7 --for 2d",
		now:       "shop@pr-7 no longer expires at 2026-03-01T12:00:00Z: there is nothing to warn of",
	} {
		if got, says, err := plan.Warn(plan.Extension{Lifetime: l, Project: "shop@pr-7", Expiry: expiry, Requested: now}); err != nil || got != l || says != want {
			t.Errorf("%s, %v, %+v", says, err, got)
		}
	}
}
