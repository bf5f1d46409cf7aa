package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/cron"
)

// listSchedules lists the schedules of the selected projects, and when each runs
// next.
func listSchedules(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"SCHEDULE", "PROJECT", "OPERATION", "EXPRESSION", "TIME ZONE", "NEXT"}, func(s *session) (objects []any, cells [][]string, err error) {
		kept, err := s.schedules(ctx)
		for _, k := range kept {
			shown := shownSchedule{
				Schedule: k.Schedule, Project: k.Project, Operation: k.Operation, Expression: k.Expression, Zone: k.Zone, Disabled: k.Off,
			}
			at, when := next(k, time.Now()), "never"
			switch {
			case k.Off:
				when = "disabled"
			case !at.IsZero():
				shown.Next = &at
				when = at.Format("2006-01-02 15:04:05 MST")
			}
			objects = append(objects, shown)
			cells = append(cells, []string{k.Schedule, k.Project, k.Operation, k.Expression, k.Zone, when})
		}
		return objects, cells, err
	})
}

// A shownSchedule is a schedule as JSON.
type shownSchedule struct {
	Schedule   string     `json:"schedule"`
	Project    string     `json:"project"`
	Operation  string     `json:"operation"`
	Expression string     `json:"expression"`
	Zone       string     `json:"time_zone"`
	Disabled   bool       `json:"disabled,omitempty"` // a person has disabled it; the next deploy enables it
	Next       *time.Time `json:"next,omitempty"`     // when it runs next
}

// schedules are those of the selected projects.
func (s *session) schedules(ctx context.Context) ([]schedules.Stored, error) {
	if s.group == "" {
		return nil, fault.New(fault.Missing, "%s does not tell in which group its schedules are: deploy Stackwright anew", s.label)
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	from := schedules.New(scheduler.NewFromConfig(s.config), schedules.Group{Name: s.group})
	var all []schedules.Stored
	for _, p := range projects {
		kept, err := from.List(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("schedules of %s: %w", p, err)
		}
		all = append(all, kept...)
	}
	return all, nil
}

// next is when a schedule runs next, in its time zone, or zero if it does not run
// again or the time is unknown.
func next(k schedules.Stored, now time.Time) time.Time {
	zone, err := cron.Zone(k.Zone)
	if err != nil {
		return time.Time{}
	}
	e, err := cron.Parse(k.Expression)
	if err != nil {
		return time.Time{}
	}
	at := e.Next(now, k.Start, zone)
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}
