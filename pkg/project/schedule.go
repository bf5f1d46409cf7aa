package project

import "time"

// A Schedule requests an operation on a project regularly, or once. It is not
// part of any stack.
type Schedule struct {
	Operation  string        `json:"operation"`       // deploy, destroy or refresh
	Expression string        `json:"expression"`      // as EventBridge Scheduler reads it: cron(…), rate(…), at(…)
	Zone       string        `json:"time_zone"`       // an IANA name, for cron(…) and at(…)
	Every      time.Duration `json:"every,omitempty"` // the interval of rate(…)
	Once       time.Time     `json:"once,omitzero"`   // the time of at(…)
}

// Past reports whether the schedule has had its last time.
func (s Schedule) Past(now time.Time) bool { return !s.Once.IsZero() && !s.Once.After(now) }

// The source and the detail type of the events of schedules.
const (
	ScheduleSource = "stackwright.schedule"
	ScheduleEvent  = "Stackwright Schedule"
)

// A Call is the request of a schedule: the detail of its event.
type Call struct {
	Project   string `json:"project"`  // "shop@prod"
	Schedule  string `json:"schedule"` // its name
	Operation string `json:"operation"`
}

// A Scheduled is a schedule as EventBridge Scheduler has it.
type Scheduled struct {
	Call
	Expression string    `json:"expression"`
	Zone       string    `json:"time_zone"`
	Start      time.Time `json:"start,omitzero"`     // of rate(…): a time at which it runs
	Off        bool      `json:"disabled,omitempty"` // a person has disabled it; the next deploy enables it
}
