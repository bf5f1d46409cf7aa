package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// projects lists the recorded projects and environments that the call's flags
// choose, as "shop@prod", sorted.
func (s *session) projects(ctx context.Context) ([]string, error) {
	all, err := s.to.Projects(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the projects: %w", err)
	}
	return slices.DeleteFunc(all, func(id string) bool {
		name, environment, _ := strings.Cut(id, "@")
		return !s.call.wants(name, environment)
	}), nil
}

// wants reports whether the call's flags choose a project and environment.
func (c *call) wants(name, environment string) bool {
	f := c.flags
	return (f.project == "" || f.project == name) && (f.env == "" || f.env == environment)
}

// A row is a record of a project.
type row struct {
	project string
	plan.Record
}

// records lists the records of the selected projects.
func (s *session) records(ctx context.Context) ([]row, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, p := range projects {
		records, err := s.to.Records(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("read the records of %s: %w", p, err)
		}
		for _, node := range slices.Sorted(maps.Keys(records)) {
			rows = append(rows, row{p, records[node]})
		}
	}
	return rows, nil
}

// width is the width of the terminal, or 0 if the output is no terminal.
func (c *call) width() int {
	if c.Window == nil {
		return 0
	}
	width, _ := c.Window()
	return width
}

// show opens a session and prints rows: each as an object, or all as a table.
func (c *call) show(ctx context.Context, head []string, list func(*session) (objects []any, cells [][]string, err error)) (int, error) {
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		objects, cells, err := list(s)
		if err != nil {
			return ExitFailed, err
		}
		if column := c.flags.filters.sort; column != "" {
			got, err := sorted{objects, cells}.by(head, column)
			if err != nil {
				return c.refuse(err)
			}
			objects, cells = got.objects, got.cells
		}
		if n := c.flags.filters.most.n; n != nil && *n < len(cells) {
			objects, cells = objects[:*n], cells[:*n]
		}
		if c.flags.output == "json" {
			return ExitOK, c.printJSON(objects...)
		}
		_, err = fmt.Fprintln(c.Out, strings.Join(term.Table(head, cells, c.width()), "\n"))
		return ExitOK, err
	})
}

// printJSON prints values as JSON, a line each.
func (c *call) printJSON(values ...any) error {
	out := json.NewEncoder(c.Out)
	out.SetEscapeHTML(false)
	for _, v := range values {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// A shownStack is what a list shows of a stack.
type shownStack struct {
	id      string
	status  plan.Status
	changed time.Time         // when CloudFormation last changed it, or created it
	tags    map[string]string // without those that Stackwright and AWS add
	of      string            // the project and node that the tags of Stackwright name
}

// text is the status for people. A record without an ID is that of a stack which is to be created.
func (s shownStack) text() string {
	if s.id == "" && s.status == "" {
		return "not created"
	}
	return s.status.String()
}

// ownerTags are the values of the tags by which a stack is found that has no recorded ID yet.
func ownerTags(project, node string) string { return project + " " + node }

// A liveStacks has the stacks of some targets, by ID, and by their names.
type liveStacks struct {
	byID   map[string]shownStack
	byName map[plan.Place]shownStack
}

// find returns the live stack of a row. The ID of a new stack is recorded when its creation is over: until then, the stack is that of the
// name, if its tags name the project and the node.
func (l liveStacks) find(r row) shownStack {
	if st, exists := l.byID[r.StackID]; exists {
		return st
	}
	if st := l.byName[r.Place()]; st.of == ownerTags(r.project, r.Node) {
		return st
	}
	return shownStack{id: r.StackID}
}

// tagged reports whether a stack has some tags, each as in team or team=web.
func (s shownStack) tagged(wanted []string) bool {
	for _, w := range wanted {
		key, value, valued := strings.Cut(w, "=")
		if is, has := s.tags[key]; !has || valued && is != value {
			return false
		}
	}
	return true
}

// statuses reads all stacks in the targets of rows, and whether each target denies access.
func (s *session) statuses(ctx context.Context, rows []row) (all liveStacks, inaccessible map[project.Target]bool, err error) {
	all = liveStacks{make(map[string]shownStack), make(map[plan.Place]shownStack)}
	inaccessible = make(map[project.Target]bool)
	for _, r := range rows {
		if _, polled := inaccessible[r.Target]; polled {
			continue
		}
		cfg, _, err := s.places.In(ctx, r.Target)
		if err != nil {
			err = fmt.Errorf("target %s: %w", r.Target.Name, err)
		} else {
			err = eachStack(ctx, cloudformation.NewFromConfig(cfg), "describe the stacks of target "+r.Target.Name, func(st types.Stack) {
				one := shownOf(st)
				all.byID[one.id], all.byName[plan.PlaceOf(aws.ToString(st.StackName), r.Target)] = one, one
			})
		}
		inaccessible[r.Target] = fault.Is(err, fault.Denied)
		if err != nil && !inaccessible[r.Target] {
			return liveStacks{}, nil, err
		}
	}
	return all, inaccessible, nil
}

// shownOf is what a list shows of a stack.
func shownOf(st types.Stack) shownStack {
	one := shownStack{id: aws.ToString(st.StackId), status: plan.Status(st.StackStatus), tags: make(map[string]string)}
	one.changed = aws.ToTime(cmp.Or(st.LastUpdatedTime, st.CreationTime))
	ours := make(map[string]string)
	for _, t := range st.Tags {
		switch key := aws.ToString(t.Key); {
		case strings.HasPrefix(key, "stackwright:"):
			ours[key] = aws.ToString(t.Value)
		case !strings.HasPrefix(key, "aws:"):
			one.tags[key] = aws.ToString(t.Value)
		}
	}
	one.of = ownerTags(ours[project.ProjectTag], ours[project.StackTag])
	return one
}

// eachStack calls f with each stack of an account and region. An error says that it
// could not do what.
func eachStack(ctx context.Context, client *cloudformation.Client, what string, f func(types.Stack)) error {
	pages := cloudformation.NewDescribeStacksPaginator(client, &cloudformation.DescribeStacksInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return awserr.Fault(what, "all stacks", err, nil)
		}
		for _, s := range page.Stacks {
			f(s)
		}
	}
	return nil
}

// noStack says that a stack does not exist, and lists the stacks that do.
func (c *call) noStack(rows []row) error {
	var all []string
	for _, r := range rows {
		all = append(all, r.Node)
	}
	return fault.New(fault.Missing, "there is no stack %s%s", quoted(c.args[0]), suggest.Hint(c.args[0], all))
}

// listSchedules lists the schedules of the selected projects, and when each runs
// next.
func listSchedules(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"SCHEDULE", "PROJECT", "OPERATION", "EXPRESSION", "TIME ZONE", "NEXT"}, func(s *session) (objects []any, cells [][]string, err error) {
		kept, err := s.schedules(ctx)
		for _, k := range kept {
			shown := shownSchedule{
				Schedule: k.Schedule, Project: k.Project, Operation: k.Operation, Expression: k.Expression, Zone: k.Zone, Disabled: k.Off,
			}
			times, when := report.NextTimes(k, time.Now(), 1), "never"
			switch {
			case k.Off:
				when = "disabled"
			case len(times) > 0:
				shown.Next = &times[0]
				when = times[0].Format("2006-01-02 15:04:05 MST")
			}
			objects = append(objects, shown)
			cells = append(cells, []string{k.Schedule, k.Project, k.Operation, k.Expression, k.Zone, when})
		}
		return objects, cells, err
	})
}

// A shownSchedule is a schedule as JSON.
type shownSchedule struct {
	Schedule   string     `json:"schedule"`
	Project    string     `json:"project"`
	Operation  string     `json:"operation"`
	Expression string     `json:"expression"`
	Zone       string     `json:"time_zone"`
	Disabled   bool       `json:"disabled,omitempty"` // a person has disabled it; the next deploy enables it
	Next       *time.Time `json:"next,omitempty"`     // when it runs next
}

// schedules are those of the selected projects.
func (s *session) schedules(ctx context.Context) ([]project.Scheduled, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var all []project.Scheduled
	for _, p := range projects {
		kept, err := s.to.Schedules(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("schedules of %s: %w", p, err)
		}
		all = append(all, kept...)
	}
	return all, nil
}
