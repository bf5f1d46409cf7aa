package native

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/cron"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// whenKeys are the keys of a schedule of which exactly one sets its time.
var whenKeys = []string{"cron", "rate", "once"}

// forms are the names that EventBridge Scheduler has for these keys.
var forms = map[string]string{"cron": "cron", "rate": "rate", "once": "at"}

// times reads a mapping of schedules, of the top level or of an environment, or of calendars, by their names.
func times[T any](p *parser, what string, n *yaml.Node, read func(what string, pair document.Pair) T) map[string]T {
	all := map[string]T{}
	for _, pair := range p.mapping(what, n) {
		name := pair.Key.Value
		if !declared.ScheduleName.MatchString(name) {
			p.Add(p.at(pair.Key), "%s: %q is not a valid name: use letters, digits, - and _, at most 32", what, problem.Short(name))
			continue
		}
		all[name] = read(strings.TrimSuffix(what, "s")+" "+name, pair)
	}
	return all
}

// schedule reads one schedule.
func (p *parser) schedule(what string, pair document.Pair) (s project.Schedule) {
	keys := p.keys(what, pair.Value, scheduleKeys, nil)
	if !isMapping(pair.Value) {
		return s
	}
	s.Operation = p.scheduledOperation(what, p.at(pair.Key), keys["operation"])
	s.Zone = p.zone(what+": time_zone", keys["time_zone"])
	s.Except = p.except(what+": except", keys["except"])
	var whens []string
	for _, key := range whenKeys {
		if keys[key] != nil {
			whens = append(whens, key)
		}
	}
	switch len(whens) {
	case 1:
		p.when(what+": "+whens[0], forms[whens[0]], keys[whens[0]], &s)
	case 0:
		p.Add(p.at(pair.Key), "%s: it has no time: write cron:, rate: or once:", what)
	default:
		p.Add(p.at(keys[whens[1]]), "%s: %s exclude each other: write one of them", what, strings.Join(whens, " and "))
	}
	return s
}

// scheduledOperation reads the operation of a schedule.
func (p *parser) scheduledOperation(what string, at problem.Position, n *yaml.Node) string {
	scheduled := plan.AllOperations().Schedulable()
	if n == nil {
		p.Add(at, "%s: operation is missing: write one of %s", what, strings.Join(scheduled, ", "))
		return ""
	}
	what += ": operation"
	text, ok := p.literal(what, n)
	switch {
	case !ok:
	case !slices.Contains(scheduled, text):
		p.Add(p.at(n), "%s: expected %s, found %q%s", what, strings.Join(scheduled, " or "), problem.Short(text), p.Hint(text, scheduled))
	default:
		return text
	}
	return ""
}

// zone reads a time zone; UTC if there is none.
func (p *parser) zone(what string, n *yaml.Node) string {
	if n == nil {
		return "UTC"
	}
	text, ok := p.literal(what, n)
	if !ok {
		return "UTC"
	}
	if _, err := cron.Zone(text); err != nil || text == "" {
		p.Add(p.at(n), "%s: there is no time zone %q: write one of the IANA database, such as Europe/Berlin", what, problem.Short(text))
		return "UTC"
	}
	return text
}

// when reads when a schedule runs, in its time zone.
func (p *parser) when(what, form string, n *yaml.Node, s *project.Schedule) {
	text, ok := p.literal(what, n)
	if !ok {
		return
	}
	e, err := cron.Parse(form + "(" + problem.Short(text) + ")")
	if err != nil {
		p.Add(p.at(n), "%s: %q: %v", what, problem.Short(text), err)
		return
	}
	zone, err := cron.Zone(s.Zone)
	if err != nil {
		p.Add(p.at(n), "%s: %v", what, err)
		return
	}
	s.Expression, s.Every = e.String(), e.Every()
	if once := e.Once(zone); !once.IsZero() {
		s.Once = once.UTC()
	}
}

// literal reads a text without references.
func (p *parser) literal(what string, n *yaml.Node) (string, bool) {
	v, ok := p.scalar(what, n)
	if !ok {
		return "", false
	}
	text, plain := v.Literal()
	if !plain {
		p.Add(v.At, "%s: references are allowed only in parameters, tags and options of stacks: write the value itself", what)
	}
	return text, plain
}
