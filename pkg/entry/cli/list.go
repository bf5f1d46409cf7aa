package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// filters are the flags that select the entries of a list.
type filters struct {
	operation, state, who, since, until, changed, target, status, stack, event, kind, physical, sort string
	tags                                                                                             []string
	most                                                                                             count
}

// listRuns lists runs, newest first.
func listRuns(ctx context.Context, c *call) (int, error) {
	f := c.flags.filters
	var states []string
	for _, s := range run.StoredStates() {
		states = append(states, string(s))
	}
	since, until, err := c.between()
	if err == nil {
		err = oneOf("--state", f.state, states)
	}
	if err == nil {
		err = oneOf("--operation", f.operation, plan.AllOperations().Names(func(plan.Operation) bool { return true }))
	}
	if err != nil {
		return c.refuse(err)
	}
	return c.show(ctx, []string{"RUN", "PROJECT", "OPERATION", "STATE", "REQUESTED", "TOOK", "BY"}, func(s *session) (objects []any, cells [][]string, err error) {
		runs, err := s.to.ListRuns(ctx, report.RunFilter{
			Scope: c.scope(), Operation: f.operation, State: run.State(f.state), Who: f.who, Since: since, Until: until,
		}, c.atMost())
		for _, r := range runs {
			took := ""
			if !r.Ended.IsZero() {
				took = r.Ended.Sub(r.Requested).Round(time.Second).String()
			}
			state := string(r.State)
			if r.State == run.StateSuperseded && r.SupersededBy != "" {
				state += " by " + r.SupersededBy
			}
			objects = append(objects, report.Of(r, time.Now()))
			cells = append(cells, []string{r.ID, r.Project, r.Operation, state, r.Requested.Local().Format(time.DateTime), took, r.By()})
		}
		return objects, cells, err
	})
}

// listEvents lists what has happened to runs and their steps, of the newest run first.
func listEvents(ctx context.Context, c *call) (int, error) {
	f := c.flags.filters
	var kinds []string
	for _, k := range report.EventKinds() {
		kinds = append(kinds, string(k))
	}
	since, until, err := c.between()
	if err == nil {
		err = oneOf("--event", f.event, kinds)
	}
	if err != nil {
		return c.refuse(err)
	}
	return c.show(ctx, []string{"TIME", "PROJECT", "RUN", "EVENT", "STEP", "RESULT", "BY", "WHY"}, func(s *session) (objects []any, cells [][]string, err error) {
		all, cut, err := s.to.ListEvents(ctx, report.EventFilter{Scope: c.scope(), Stack: f.stack, Event: report.EventKind(f.event), Since: since, Until: until}, c.atMost())
		for _, e := range all {
			result := cmp.Or(string(e.Status), string(e.State), string(e.Command))
			if e.Event.Event == report.StepAnswered {
				result = map[bool]string{true: "yes", false: "no"}[e.Yes]
			}
			objects = append(objects, e)
			cells = append(cells, []string{e.Time.Local().Format(time.DateTime), e.Project, e.Run, string(e.Event.Event), cmp.Or(e.Step, "-"), cmp.Or(result, "-"), cmp.Or(e.Who, "-"), firstLine(e.Why)})
		}
		for _, id := range cut {
			fmt.Fprintf(c.Err, "run %s has more than %d such events: %s lists them\n", id, report.MostOfRun, c.commandLine("status", id, "--follow", "-o", "json"))
		}
		return objects, cells, err
	})
}

// listStacks lists the recorded stacks, with their statuses.
func listStacks(ctx context.Context, c *call) (int, error) {
	f := c.flags.filters
	changed, err := readTime("--changed-since", f.changed, time.Now())
	if err != nil {
		return c.refuse(err)
	}
	filter := report.StackFilter{Scope: c.scope(), Target: f.target, Stack: f.stack, Since: changed}
	return c.show(ctx, []string{"STACK", "PROJECT", "NAME", "STATUS", "CHANGED", "DEPENDS ON"}, func(s *session) (objects []any, cells [][]string, err error) {
		rows, err := s.records(ctx)
		if err != nil {
			return nil, nil, err
		}
		rows = slices.DeleteFunc(rows, func(r row) bool { return !filter.Wants(r.project, r.Record) })
		live, inaccessible, err := s.statuses(ctx, rows)
		for _, r := range rows {
			st := live.find(r)
			if inaccessible[r.Target] {
				st.status = "not readable"
			}
			if r.LastUpdated.IsZero() {
				r.LastUpdated = st.changed
			}
			if !report.Matches(f.status, string(st.status)) || !st.tagged(f.tags) {
				continue
			}
			text, object := st.text(), map[string]any{
				"stack": r.Node, "project": r.project, "name": r.Stack, "id": st.id, "status": st.status, "account": r.Target.Account, "region": r.Target.Region,
				"target": r.Target.Name, "needs": append([]string{}, r.Needs...), "run": r.Run, "tags": st.tags,
			}
			if !r.LastUpdated.IsZero() {
				object["changed"] = r.LastUpdated
			}
			if r.Suspended != nil {
				text, object["suspended"] = text+", suspended", r.Suspended.Since
			}
			if r.Drifted() {
				text, object["drifted"] = text+", drifted", r.Drift.Resources
			}
			objects = append(objects, object)
			cells = append(cells, []string{r.Node, r.project, r.Stack, text, moment(r.LastUpdated), strings.Join(r.Needs, " ")})
		}
		return objects, cells, err
	})
}

// listResources lists the resources of the recorded stacks, as CloudFormation reports them to the user.
func listResources(ctx context.Context, c *call) (int, error) {
	f := c.flags.filters
	filter := report.StackFilter{Scope: c.scope(), Target: f.target, Stack: f.stack}
	return c.show(ctx, []string{"RESOURCE", "TYPE", "PHYSICAL ID", "STATUS", "STACK", "PROJECT"}, func(s *session) (objects []any, cells [][]string, err error) {
		rows, err := s.records(ctx)
		reader := cloudformation.Reader{Clients: func(ctx context.Context, t project.Target) (cloudformation.ReadClient, error) {
			cfg, _, err := s.places.In(ctx, t)
			return sdk.NewFromConfig(cfg), err
		}}
		for _, r := range rows {
			if !filter.Wants(r.project, r.Record) || r.StackID == "" {
				continue
			}
			all, err := resourcesOf(ctx, reader, r.Location())
			switch {
			case fault.Is(err, fault.Missing, fault.Denied):
				fmt.Fprintf(c.Err, "not read: %s of %s: %v\n", r.Node, r.project, err)
			case err != nil:
				return nil, nil, err
			}
			for _, x := range all {
				if report.Matches(f.kind, x.Type) && report.Matches(f.physical, x.PhysicalID) {
					objects = append(objects, report.ResourceOfStack{Project: r.project, Stack: r.Node, Target: r.Target.Name, StackResource: x})
					cells = append(cells, []string{x.ID, x.Type, x.PhysicalID, x.Status, r.Node, r.project})
				}
			}
		}
		return objects, cells, err
	})
}

// resourcesOf reads all resources of a stack.
func resourcesOf(ctx context.Context, from cloudformation.Reader, at plan.Location) ([]plan.StackResource, error) {
	var all []plan.StackResource
	for after := ""; ; {
		page, next, err := from.Resources(ctx, at, after)
		if all = append(all, page...); err != nil || next == "" {
			return all, err
		}
		after = next
	}
}

// scope is what the flags --project and --env select.
func (c *call) scope() report.Scope {
	return report.Scope{Project: c.flags.project, Environment: c.flags.env}
}

// atMost is how many entries a list shall have; 0 is all. A list that is sorted is read whole.
func (c *call) atMost() int {
	if n := c.flags.filters.most.n; n != nil && c.flags.filters.sort == "" {
		return *n
	}
	return 0
}

// between are the times of --since and --until.
func (c *call) between() (since, until time.Time, err error) {
	now := time.Now()
	if since, err = readTime("--since", c.flags.filters.since, now); err == nil {
		until, err = readTime("--until", c.flags.filters.until, now)
	}
	return since, until, err
}

// readTime reads the time of a flag: a time, a day, or how long ago it was.
func readTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := project.ParseAge(text); err == nil {
		return now.Add(-ago), nil
	}
	if at, err := readMoment(flag, text); err == nil {
		return at, nil
	}
	return time.Time{}, fault.New(fault.Invalid, "%s %s: give a time such as 2026-03-01T12:00:00Z, a day such as 2026-03-01, or how long ago it was, such as 12h or 7d", flag, quoted(text))
}

// readMoment reads the time of a flag: a time, or a day of this machine's time zone.
func readMoment(flag, text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid, "%s %s: give a time such as 2026-03-01T12:00:00Z, or a day such as 2026-03-01", flag, quoted(text))
}

// oneOf refuses the value of a flag that is none of some.
func oneOf(flag, value string, all []string) error {
	if value == "" || slices.Contains(all, value) {
		return nil
	}
	return fault.New(fault.Invalid, "%s %s: use one of %s", flag, quoted(value), strings.Join(all, ", "))
}

// A sorted is the entries of a list, each with the cells of its row.
type sorted struct {
	objects []any
	cells   [][]string
}

// by sorts the entries by a column of the table; a minus before its name is the other direction.
func (s sorted) by(head []string, column string) (sorted, error) {
	name, down := strings.CutPrefix(column, "-")
	i := slices.IndexFunc(head, func(title string) bool { return columnName(title) == name })
	if i < 0 {
		var all []string
		for _, title := range head {
			all = append(all, columnName(title))
		}
		return s, fault.New(fault.Invalid, "--sort %s: sort by one of %s, or with a minus before it for the other direction", quoted(column), strings.Join(all, ", "))
	}
	order := make([]int, len(s.cells))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := s.cells[a][i], s.cells[b][i]
		c := cmp.Compare(x, y)
		if p, err := time.ParseDuration(x); err == nil {
			if q, err := time.ParseDuration(y); err == nil {
				c = cmp.Compare(p, q)
			}
		}
		if down {
			return -c
		}
		return c
	})
	var got sorted
	for _, n := range order {
		got.objects, got.cells = append(got.objects, s.objects[n]), append(got.cells, s.cells[n])
	}
	return got, nil
}

// columnName is the name of a column for --sort.
func columnName(title string) string { return strings.ToLower(strings.ReplaceAll(title, " ", "-")) }

// moment is a time in a table.
func moment(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}
