package project

import (
	"slices"
	"time"
)

// A Schedule requests an operation on a project regularly, or once. It is not
// part of any stack.
type Schedule struct {
	Operation  string        `json:"operation"`        // deploy, destroy or refresh
	Expression string        `json:"expression"`       // as EventBridge Scheduler reads it: cron(…), rate(…), at(…)
	Zone       string        `json:"time_zone"`        // an IANA name, for cron(…) and at(…)
	Every      time.Duration `json:"every,omitempty"`  // the interval of rate(…)
	Once       time.Time     `json:"once,omitzero"`    // the time of at(…)
	Except     []Days        `json:"except,omitempty"` // when it does not run, in its time zone
}

// Call returns the request of the schedule, which has a name, of a project, and which authors have deployed.
func (s Schedule) Call(project, name string, authors []string) Call {
	c := Call{Project: project, Schedule: name, Operation: s.Operation, Authors: authors}
	if len(s.Except) > 0 {
		c.Except = &Exception{Zone: s.Zone, Days: s.Except}
	}
	return c
}

// Equal reports whether two schedules are the same.
func (s Schedule) Equal(other Schedule) bool {
	return s.Operation == other.Operation && s.Expression == other.Expression && s.Zone == other.Zone && s.Every == other.Every && s.Once.Equal(other.Once) && slices.Equal(s.Except, other.Except)
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

	Except *Exception `json:"except,omitempty"` // when it requests nothing; nil if there is no such time

	Authors []string `json:"authors,omitempty"` // the subjects of the deploy that has made it what it is; "" is one that AWS does not say
}

// KnownAuthors reports whether AWS says who has made the schedule what it is.
func (c Call) KnownAuthors() bool { return len(c.Authors) > 0 && !slices.Contains(c.Authors, "") }

// A Scheduled is a schedule as EventBridge Scheduler has it.
type Scheduled struct {
	Call
	Expression string    `json:"expression"`
	Zone       string    `json:"time_zone"`
	Start      time.Time `json:"start,omitzero"`     // of rate(…): a time at which it runs
	Off        bool      `json:"disabled,omitempty"` // a person has disabled it; the next deploy enables it
}
