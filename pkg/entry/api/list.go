package api

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// How much one request for a list over all projects reads at most.
const (
	mostScanned    = 1000 // runs, whether they are selected or not
	mostProjects   = 50   // projects whose records are read
	mostFollowed   = 20   // runs that are read with their steps
	mostRequested  = 20   // stacks whose resources are requested from CloudFormation
	usualRequested = 10
)

// ofProjects are the parameters of a list over all projects.
func ofProjects() []parameter {
	return []parameter{
		{name: "project", text: "only projects with this name"},
		{name: "environment", text: "only environments with this name"},
	}
}

// readable lists the projects of a scope that the caller may read, sorted.
func (a API) readable(ctx context.Context, q question) ([]string, error) {
	all, err := a.Records.Projects(ctx)
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, id := range all {
		if q.scope().Has(id) {
			wanted = append(wanted, id)
		}
	}
	return a.Among(ctx, q.by, access.Reader, wanted)
}

// scope selects the projects that a request names.
func (q question) scope() report.Scope {
	return report.Scope{Project: q.QueryStringParameters["project"], Environment: q.QueryStringParameters["environment"]}
}

// moment returns a parameter that is a time. It has been found valid.
func (q question) moment(name string) time.Time {
	at, _ := readMoment(q.QueryStringParameters[name])
	return at
}

// readMoment reads a time.
func readMoment(text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	err = at.UnmarshalText([]byte(text)) // it is stricter than time.Parse
	return at, err
}

// after is the run that a list of runs begins behind: that of the cursor, or any that is as late as the parameter until.
func (q question) after() (run.Run, error) {
	before, err := q.beforeOf()
	if until := q.moment("until"); err == nil && !until.IsZero() && (before.ID == "" || before.Requested.After(until)) {
		before = run.Run{Requested: until}
	}
	return before, err
}

// behind is the cursor of a list of runs behind one of them.
func (q question) behind(r run.Run) string {
	return cursorTo(q.route.id, r.Requested.UTC().Format(time.RFC3339Nano)+" "+r.ID)
}

// allRuns lists the runs of the projects that the caller may read.
func (a API) allRuns(ctx context.Context, q question) (answer, error) {
	given := q.QueryStringParameters
	f := report.RunFilter{Scope: q.scope(), Operation: given["operation"], State: run.State(given["state"]), Who: given["who"], Since: q.moment("since"), Until: q.moment("until")}
	page := report.RunPage{Runs: []report.Run{}}
	most := q.number("limit")
	before, err := a.scan(ctx, q, f.Since, most, func(r run.Run) (int, error) {
		if f.Wants(r) {
			page.Runs = append(page.Runs, report.Of(r, time.Now()))
		}
		return len(page.Runs), nil
	})
	page.Before = before
	return answer{body: page}, err
}

// scan calls each with the runs of the projects that the caller may read, newest first, until one is older than since, or each has as many entries as a
// page has at most, or the request has read as many as it may. It returns the cursor of the next page, if there may be one.
func (a API) scan(ctx context.Context, q question, since time.Time, most int, each func(run.Run) (entries int, err error)) (before string, err error) {
	from, err := q.after()
	if err != nil {
		return "", err
	}
	projects, err := a.readable(ctx, q)
	if err != nil {
		return "", err
	}
	scanned := 0
	for r, err := range report.NewestRuns(ctx, a.Reader, projects, from, some(most, len(projects))) {
		if err != nil || r.Requested.Before(since) {
			return "", err
		}
		entries, err := each(r)
		if err != nil {
			return "", err
		}
		if scanned++; entries >= most || scanned >= mostScanned {
			return q.behind(r), nil
		}
	}
	return "", nil
}

// some is how many runs of each project are read at once for a page: few of many projects.
func some(most, projects int) int { return max(2, min(most, 4*most/max(projects, 1))) }

// allEvents lists what has happened to runs of the projects that the caller may read. A run is read with its steps, unless it cannot have an
// event of the time.
func (a API) allEvents(ctx context.Context, q question) (answer, error) {
	given := q.QueryStringParameters
	f := report.EventFilter{Scope: q.scope(), Stack: given["stack"], Event: report.EventKind(given["event"]), Since: q.moment("since"), Until: q.moment("until")}
	page, followed := report.EventList{Events: []report.EventOfRun{}}, 0
	before, err := a.scan(ctx, q, time.Time{}, q.number("limit"), func(r run.Run) (int, error) {
		if !f.MayHave(r) {
			return followed, nil
		}
		whole, err := a.Reader.Follow(ctx, r.ID)
		if err != nil {
			if fault.Is(err, fault.Missing) { // it has expired since
				err = nil
			}
			return followed, err
		}
		followed++
		events, more := report.EventsIn(whole, f, report.MostOfRun)
		if page.Events = append(page.Events, events...); more {
			page.Cut = append(page.Cut, r.ID)
		}
		return followed, nil
	})
	page.Before = before
	return answer{body: page}, err
}
