package native

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// days reads the days of a calendar.
func (p *parser) days(what string, pair document.Pair) []project.Days {
	n := pair.Value
	var all []project.Days
	items := p.items(what, n)
	if len(items) > declared.MaxDays {
		p.Add(p.at(n), "%s: %d days: a calendar has at most %d: write days that follow each other as 2026-12-24/2027-01-01", what, len(items), declared.MaxDays)
		return nil
	}
	for _, item := range items {
		text, ok := p.literal(what, item)
		if !ok {
			continue
		}
		d, err := project.ParseDays(text)
		if err != nil {
			p.Add(p.at(item), "%s: %q: %v", what, problem.Short(text), err)
			continue
		}
		all = append(all, d)
	}
	return all
}

// except reads when a schedule does not run: the names of calendars. It returns their days.
func (p *parser) except(what string, n *yaml.Node) []project.Days {
	if n == nil {
		return nil
	}
	var all []project.Days
	for _, v := range p.names(what, n) {
		name, plain := v.Literal()
		days, known := p.dates[name]
		switch {
		case !plain:
			p.Add(v.At, "%s: references are allowed only in parameters, tags and options of stacks: write the name of a calendar", what)
		case !known:
			p.Add(v.At, "%s: there is no calendar %q: add it to calendars%s", what, problem.Short(name), p.Hint(name, slices.Sorted(maps.Keys(p.dates))))
		}
		all = append(all, days...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
