package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/cron"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// The keys of a schedule, of which one says when it comes up.
var (
	scheduleKeys = []string{"operation", "cron", "rate", "once", "time_zone"}
	whenKeys     = []string{"cron", "rate", "once"}
)

// forms are what EventBridge Scheduler calls what is written under those.
var forms = map[string]string{"cron": "cron", "rate": "rate", "once": "at"}

// scheduledSoon is what a schedule may have done some day.
var scheduledSoon = []string{"drift", "resume", "suspend"}

// readSchedules reads the schedules of the file, or of an environment of it.
func (r *reader) readSchedules(what string, n *yaml.Node) map[string]project.Schedule {
	all := map[string]project.Schedule{}
	for _, p := range r.mapping(what, n) {
		name := p.Key.Value
		if !scheduleName.MatchString(name) {
			r.add(r.place(p.Key), "%s: %q cannot be the name of one: letters, digits, - and _, 32 at most", what, short(name))
			continue
		}
		all[name] = r.schedule(strings.TrimSuffix(what, "s")+" "+name, p)
	}
	return all
}

// schedule reads one schedule.
func (r *reader) schedule(what string, p document.Pair) (s project.Schedule) {
	keys := r.keys(what, p.Value, scheduleKeys, nil)
	if !isMapping(p.Value) {
		return s
	}
	s.Operation = r.scheduledOperation(what, r.place(p.Key), keys["operation"])
	s.Zone = r.zone(what+": time_zone", keys["time_zone"])
	var whens []string
	for _, key := range whenKeys {
		if keys[key] != nil {
			whens = append(whens, key)
		}
	}
	switch len(whens) {
	case 1:
		r.when(what+": "+whens[0], forms[whens[0]], keys[whens[0]], &s)
	case 0:
		r.add(r.place(p.Key), "%s: it is not said when: write cron:, rate: or once:", what)
	default:
		r.add(r.place(keys[whens[1]]), "%s: %s stand together: write one of them", what, strings.Join(whens, " and "))
	}
	return s
}

// scheduledOperation reads what is to be done.
func (r *reader) scheduledOperation(what string, at place, n *yaml.Node) string {
	scheduled := project.Scheduled()
	if n == nil {
		r.add(at, "%s: operation is missing: write one of %s", what, strings.Join(scheduled, ", "))
		return ""
	}
	what += ": operation"
	text, ok := r.literal(what, n)
	switch {
	case !ok:
	case slices.Contains(scheduledSoon, text):
		r.add(r.place(n), "%s: %s: not yet: this is understood, but not carried out yet: remove the schedule", what, text)
	case !slices.Contains(scheduled, text):
		r.add(r.place(n), "%s: %q found, %s is wanted%s", what, short(text), strings.Join(scheduled, " or "), r.hint(text, scheduled))
	default:
		return text
	}
	return ""
}

// zone reads a time zone. None is UTC.
func (r *reader) zone(what string, n *yaml.Node) string {
	if n == nil {
		return "UTC"
	}
	text, ok := r.literal(what, n)
	if !ok {
		return "UTC"
	}
	if _, err := cron.Zone(text); err != nil || text == "" {
		r.add(r.place(n), "%s: %q: there is no such time zone: write one of the IANA database, as in Europe/Berlin", what, short(text))
		return "UTC"
	}
	return text
}

// when reads when a schedule comes up, in its time zone.
func (r *reader) when(what, form string, n *yaml.Node, s *project.Schedule) {
	text, ok := r.literal(what, n)
	if !ok {
		return
	}
	e, err := cron.Parse(form + "(" + short(text) + ")")
	if err != nil {
		r.add(r.place(n), "%s: %q: %v", what, short(text), err)
		return
	}
	zone, err := cron.Zone(s.Zone)
	if err != nil {
		r.add(r.place(n), "%s: %v", what, err)
		return
	}
	s.Expression, s.Every = e.String(), e.Every()
	if once := e.Once(zone); !once.IsZero() {
		s.Once = once.UTC()
	}
}

// literal reads a text that holds no references.
func (r *reader) literal(what string, n *yaml.Node) (string, bool) {
	v, ok := r.scalar(what, n)
	if !ok {
		return "", false
	}
	text, plain := v.literal()
	if !plain {
		r.add(v.at, "%s: references are for parameters, tags and options of stacks: write it out", what)
	}
	return text, plain
}

// schedules are those that hold in an environment: its own, and of those at the
// top the ones that it has no other of the same name for.
func (r *reader) schedules(env *environment) map[string]project.Schedule {
	all := maps.Clone(r.recurring)
	if env != nil {
		maps.Copy(all, env.schedules)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// countSchedules refuses more than there may be.
func (r *reader) countSchedules(at place, what string, env *environment) {
	if n := len(r.schedules(env)); n > MaxSchedules {
		r.add(at, "%s: %d schedules: a project has at most %d in an environment", what, n, MaxSchedules)
	}
}
