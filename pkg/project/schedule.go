package project

import "time"

// A Schedule has something done with a project again and again, or once, though
// nobody asks for it. It is no part of any stack.
type Schedule struct {
	Operation  string        `json:"operation"`       // deploy, destroy or refresh
	Expression string        `json:"expression"`      // as EventBridge Scheduler reads it: cron(…), rate(…), at(…)
	Zone       string        `json:"time_zone"`       // an IANA name, in which cron(…) and at(…) are meant
	Every      time.Duration `json:"every,omitempty"` // between two times of rate(…)
	Once       time.Time     `json:"once,omitzero"`   // when at(…) comes up
}

// Past reports whether the schedule comes up no more.
func (s Schedule) Past(now time.Time) bool { return !s.Once.IsZero() && !s.Once.After(now) }

// What the events of schedules are known by.
const (
	ScheduleSource = "stackwright.schedule"
	ScheduleEvent  = "Stackwright Schedule"
)

// A Call is what a schedule asks for when it comes up: the detail of its event.
type Call struct {
	Project   string `json:"project"`  // "shop@prod"
	Schedule  string `json:"schedule"` // its name
	Operation string `json:"operation"`
}
