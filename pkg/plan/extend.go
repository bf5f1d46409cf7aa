package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// extend sets until when the environment lives.
func extend() Operation {
	return Operation{
		Name: "extend", Lifetime: Extend,
		Requestable: true,
		Options:     []Option{OptionFor, OptionUntil, OptionReason},
		Effect:      "it sets until when the environment lives, and changes no stack",
	}
}

// An Extension is a request about the lifetime of an environment.
type Extension struct {
	Lifetime  project.Lifetime // as it is
	Project   string
	Run       string // that requests it
	Who       string // who requested the run
	For       project.TTL
	Until     time.Time
	Expiry    time.Time // the end of the lifetime that has requested it, if one has
	Requested time.Time
	Destroyed bool // no run destroys the environment now
}

// end is the time to which the environment is extended; zero if the request does not say that, or says it twice.
func (x Extension) end() time.Time {
	switch {
	case x.For != 0 && x.Until.IsZero():
		return x.Requested.Add(time.Duration(x.For)).Truncate(time.Second)
	case x.For == 0:
		return x.Until
	}
	return time.Time{}
}

// Extend is the lifetime with another end. It never ends earlier than before.
func Extend(x Extension) (project.Lifetime, string, error) {
	var refusals []error
	refuse := func(format string, args ...any) {
		refusals = append(refusals, fault.New(fault.Refused, format, args...))
	}
	end, l := x.end(), x.Lifetime
	switch {
	case end.IsZero():
		refuse("it does not say until when: write for (--for 2d) or until (--until TIME), and not both")
	case end.Before(x.Requested.Add(project.LeastExtends)):
		refuse("until: %s is past, or less than %s away: write a later time", shown(end), project.Timeout(project.LeastExtends))
	case end.After(x.Requested.Add(time.Duration(project.MostTTL))):
		refuse("until: %s is more than %s away: write an earlier time", shown(end), project.MostTTL)
	case l.Known() && end.Before(l.Expires) && !l.GivenUp():
		refuse("%s already lives until %s, which is later: to end it earlier, destroy it", x.Project, shown(l.Expires))
	}
	if !l.Known() {
		refuse("%s has no end: an environment has one if it was deployed with a ttl", x.Project)
	}
	if l.Destroys != "" && !x.Destroyed {
		refuse("run %s destroys %s now: cancel it (stackwright cancel %s), and then extend the environment, or deploy it again", l.Destroys, x.Project, l.Destroys)
	}
	if len(refusals) > 0 {
		return l, "", errors.Join(refusals...)
	}
	message := fmt.Sprintf("%s lives until %s", x.Project, shown(end))
	if end.Equal(l.Expires) {
		return l, message, nil
	}
	return l.Until(end, x.Run, x.Who, x.Requested), message + "; before, until " + shown(l.Expires), nil
}

func shown(t time.Time) string { return t.UTC().Format(time.RFC3339) }
