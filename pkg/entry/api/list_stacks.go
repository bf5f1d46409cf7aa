package api

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A place is where a page of a list of stacks begins: behind a stack or, with a token, within it.
type place struct{ project, stack, token string }

// String is the place in a cursor.
func (p place) String() string { return strings.TrimSpace(p.project + " " + p.stack + " " + p.token) }

// place is the place that a request names as its cursor; the zero place is the beginning.
func (q question) place() (place, error) {
	text := q.QueryStringParameters["after"]
	if text == "" {
		return place{}, nil
	}
	of, at, _ := strings.Cut(decoded(text), "\n")
	parts := strings.SplitN(at, " ", 3)
	if of != q.route.id || len(parts) < 2 {
		return place{}, badPlace(text)
	}
	return place{parts[0], parts[1], strings.Join(parts[2:], "")}, nil
}

// badPlace is the fault of a cursor that is not from the list of the request.
func badPlace(cursor string) error {
	return fault.New(fault.Invalid, "after: %.80q is not from an answer of this list: begin without it", cursor)
}

// eachStack calls each with the records of the projects that the caller may read, sorted by project and name, until it says that the page is full, or the
// request has read as many projects as it may. It returns the place of the next page; the zero place if there is none.
func (a API) eachStack(ctx context.Context, q question, each func(project string, r plan.Record, from place) (next place, full bool, err error)) (place, error) {
	from, err := q.place()
	if err != nil {
		return place{}, err
	}
	projects, err := a.readable(ctx, q)
	if err != nil {
		return place{}, err
	}
	last, read := from, 0
	for _, id := range slices.Sorted(slices.Values(projects)) {
		if id < from.project {
			continue
		}
		if read++; read > mostProjects {
			return last, nil
		}
		records, err := a.Records.Records(ctx, id)
		if err != nil {
			return place{}, err
		}
		for _, name := range slices.Sorted(maps.Keys(records)) {
			within := id == from.project && name == from.stack && from.token != ""
			if id == from.project && name <= from.stack && !within {
				continue
			}
			begin := place{}
			if within {
				begin = from
			}
			next, full, err := each(id, records[name], begin)
			if err != nil || full {
				return next, err
			}
		}
		last = place{project: id, stack: lastName}
	}
	return place{}, nil
}

// lastName sorts behind the names of all stacks.
const lastName = "~"

// allStacks lists the recorded stacks of the projects that the caller may read.
func (a API) allStacks(ctx context.Context, q question) (answer, error) {
	given, most := q.QueryStringParameters, q.number("limit")
	f := report.StackFilter{Scope: q.scope(), Target: given["target"], Stack: given["stack"], Recorded: given["recorded"], Since: q.moment("changed_since")}
	page := report.StackList{Stacks: []report.StackOfProject{}}
	next, err := a.eachStack(ctx, q, func(project string, r plan.Record, _ place) (place, bool, error) {
		if f.Wants(project, r) {
			shown := report.StackOf(r)
			shown.Outputs = nil
			page.Stacks = append(page.Stacks, report.StackOfProject{Project: project, Stack: shown})
		}
		return place{project: project, stack: r.Node}, len(page.Stacks) == most, nil
	})
	page.After = cursorTo(q.route.id, next.String())
	return answer{body: page}, err
}

// allResources lists the resources of the recorded stacks of the projects that the caller may read, as CloudFormation reports them now. It sends at most
// one request for each stack of the page.
func (a API) allResources(ctx context.Context, q question) (answer, error) {
	given, most := q.QueryStringParameters, q.number("limit")
	f := report.StackFilter{Scope: q.scope(), Target: given["target"], Stack: given["stack"]}
	page, requests, last := report.ResourceList{Resources: []report.ResourceOfStack{}}, 0, place{}
	next, err := a.eachStack(ctx, q, func(project string, r plan.Record, from place) (place, bool, error) {
		at := place{project: project, stack: r.Node}
		if !f.Wants(project, r) || r.StackID == "" {
			last = at
			return at, false, nil
		}
		some, token, err := a.Inside.Resources(ctx, r.Location(), from.token)
		requests++
		switch {
		case fault.Is(err, fault.Throttled) && requests > 1: // the next page begins with it
			return last, true, nil
		case from.token != "" && fault.Is(err, fault.Refused): // CloudFormation does not know the token any more
			return at, false, badPlace(q.QueryStringParameters["after"])
		case fault.Is(err, fault.Missing, fault.Denied):
			page.Unread = append(page.Unread, report.UnreadStack{Project: project, Stack: r.Node, Why: err.Error()})
		case err != nil:
			return at, false, err
		}
		for _, x := range some {
			if report.Matches(given["type"], x.Type) && report.Matches(given["physical_id"], x.PhysicalID) {
				page.Resources = append(page.Resources, report.ResourceOfStack{Project: project, Stack: r.Node, Target: r.Target.Name, StackResource: x})
			}
		}
		at.token, last = token, at
		return at, requests == most || token != "", nil
	})
	page.After = cursorTo(q.route.id, next.String())
	return answer{body: page}, err
}
